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


"""The definitions of hints that Glance shows."""

import json

from oslotest import base

from pcloud.rules import hints
from pcloud.rules import locality
from pcloud_sandbox.configuration import own_files


class HintDefinitionsTest(base.BaseTestCase):

    def setUp(self):
        super().setUp()
        path = own_files.path(own_files.HINT_DEFINITIONS)
        self.namespace = json.loads(path.read_text())

    def test_every_hint_that_users_give_is_defined(self):
        self.assertEqual(sorted(hints.GIVEN),
                         sorted(self.namespace['properties']))

    def test_hints_are_offered_for_servers(self):
        self.assertEqual(
            [{'name': 'OS::Nova::Server',
              'properties_target': 'scheduler_hints'}],
            self.namespace['resource_type_associations'])

    def test_every_hint_has_a_title_and_a_description(self):
        for name, hint in self.namespace['properties'].items():
            self.assertTrue(hint['title'] and hint['description'], name)
            # A form gives the text to Nova as it is.
            self.assertEqual('string', hint['type'], name)

    def test_words(self):
        self.assertEqual([locality.STRICT],
                         self.namespace['properties']['locality']['enum'])
