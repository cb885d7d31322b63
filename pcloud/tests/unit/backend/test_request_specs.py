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

"""Request specs, as Nova keeps them."""

import testtools

from pcloud.backend import request_specs
from pcloud.rules import hints


def _key(**given):
    return request_specs.Kept({'nova_object.data': {
        'project_id': 'p', 'scheduler_hints': given}}).key


class KeyTest(testtools.TestCase):

    def test_hints_tell_servers_apart(self):
        self.assertEqual(_key(group=['g']), _key(group=['g']))
        for other in ({}, {'group': ['h']}, {
                'group': ['g'], hints.DOMAIN_RECORD: ['d1']}):
            self.assertNotEqual(_key(group=['g']), _key(**other))
        self.assertEqual(_key(), request_specs.Kept({
            'nova_object.data': {'project_id': 'p',
                                 'scheduler_hints': None}}).key)
