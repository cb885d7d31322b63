# SPDX-License-Identifier: Apache-2.0


"""The definitions of hints that Glance shows."""

import json

from oslotest import base

from pcloud.rules.placing import hints
from pcloud.rules.placing import locality
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
