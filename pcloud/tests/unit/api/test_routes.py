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
"""The forms of the names in the paths of the route table."""

from oslotest import base

from pcloud.api import routes


class FormsTest(base.BaseTestCase):

    def test_every_name_has_a_form(self):
        for route in routes.ROUTES:
            forms = routes.forms_of(route.path)
            self.assertEqual(route.path.count('{'), len(forms))
            for form in forms.values():
                self.assertIn('description', form)

    def test_no_form_is_left_over(self):
        self.assertEqual([], [path for path in routes._FORMS if not any(
            route.path.startswith(path) for route in routes.ROUTES)])
