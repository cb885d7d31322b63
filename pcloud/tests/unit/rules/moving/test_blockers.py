# SPDX-License-Identifier: Apache-2.0

"""Why servers do not leave their hosts."""

import ddt
from oslotest import base

from pcloud.rules.moving import blockers


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
        found = blockers.why(blockers.ServerState(*server))
        self.assertEqual(rule, found and found[0])

    def test_reasons_name_what_is_going_on(self):
        def reason(*server):
            return blockers.why(blockers.ServerState(*server))[1]

        self.assertIn('powering-off', reason('active', 'powering-off', False))
        self.assertIn('suspended', reason('suspended', None, False))
