# Licensed under the Apache License, Version 2.0 (the "License"); you may
# not use this file except in compliance with the License. You may obtain
# a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the
# License for the specific language governing permissions and limitations
# under the License.

"""Why servers do not leave their hosts."""

import ddt
from oslotest import base

from pcloud.rules import blockers


@ddt.ddt
class WhyTest(base.BaseTestCase):
    """The rows of the table."""

    @ddt.data(
        (('soft-delete', 'x', True, ['running']), 'soft_deleted'),
        (('error', 'x', True, ['finished']), 'error'),
        (('resized', None, True, []), 'resize_not_confirmed'),
        (('stopped', None, True, ['finished']), 'resize_not_confirmed'),
        (('resized', 'resize_reverting', False, ['reverting']), 'migration'),
        (('active', 'migrating', True, ['running']), 'migration'),
        (('active', None, False, ['preparing']), 'migration'),
        (('active', 'powering-off', True, []), 'task'),
        (('building', None, True, []), 'task'),
        (('building', 'spawning', False, []), 'task'),
        (('shelved', None, True, []), 'shelved'),
        (('active', None, True, []), 'locked'),
        (('rescued', None, True, []), 'locked'),
        (('active', None, False, []), None),
        (('paused', None, False, []), None),
        (('stopped', None, False, []), None),
        (('suspended', None, False, []), 'not_migratable'),
        (('rescued', None, False, []), 'not_migratable'),
        (('', None, False, []), 'not_migratable'))
    @ddt.unpack
    def test_table(self, server, rule):
        found = blockers.why(blockers.Server(*server))
        self.assertEqual(rule, found and found[0])

    def test_reasons_name_what_is_going_on(self):
        def reason(*server):
            return blockers.why(blockers.Server(*server))[1]

        self.assertIn('powering-off', reason('active', 'powering-off', False))
        self.assertIn('suspended', reason('suspended', None, False))
