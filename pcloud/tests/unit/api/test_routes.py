# SPDX-License-Identifier: Apache-2.0
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
