# SPDX-License-Identifier: Apache-2.0
"""Names in paths that nothing can have: no database is asked about them."""

import functools

from pcloud.api import routes
from pcloud.tests.support import base
from pcloud.tests.support import calls
from pcloud.tests.support import counting
from pcloud.tests.support import shared_cloud

# As a client sends the names.
ODD = ['%F0%9F%98%80', 'a%F0%9F%98%80', '%D9%A3', '%EF%BC%91', '%C3%A4',
       '%E2%80%A8', '%25', "a'b", '%5C', 'a%3Bb', 'x' * 256,
       '%E2%98%83' * 255]
# No UTF-8, or with a control character.
BROKEN = ['%ff', '%ED%A0%80', '%00', 'web%0A', '%7F']


class PathTest(shared_cloud.SharedCloudTestCase):

    hosts = {'node-1': 'az1', 'node-2': 'az1'}

    def furnish(self):
        super().furnish()
        self.make_pool('gpu', 'node-1')
        self.pcloud = self.make_pcloud(self.alice)
        self.add_host(self.alice, self.pcloud, 'web', 'gpu')

    def _calls(self, odd):
        """Give calls of all routes, with a text in place of each name."""
        for route in routes.ROUTES:
            known = {
                'id': 'gpu' if 'flavors' in route.path else self.pcloud,
                'host': 'node-1', 'name': 'web', 'tenant': base.BOB,
                'entry': '3f1c2ab4-5d6e-4f70-8a9b-0c1d2e3f4a5b',
                'project': base.ALICE, 'scope': 'pcloud'}
            for name in routes.forms_of(route.path):
                yield (route.method,
                       route.path.format(**{**known, name: odd})
                       + calls.query(route), calls.body(route))

    def test_names_that_nothing_can_have(self):
        for odd in ODD:
            for call in self._calls(odd):
                for user in (self.bob, self.admin):
                    answer = user.call(*call)
                    self.assertEqual(404, answer.status_code, call)
                    self.assertIn('it has to be',
                                  answer.json()['itemNotFound']['message'])

    def test_no_database_is_asked(self):
        for call in self._calls(ODD[0]):
            self.assertEqual([], counting.statements(
                functools.partial(self.admin.call, *call)), call)

    def test_texts_that_are_none(self):
        for odd in BROKEN:
            for call in self._calls(odd):
                answer = self.admin.call(*call)
                self.assertIn(answer.status_code, (400, 404), call)
                self.assertNotIn('Traceback', answer.text)

    def test_a_message(self):
        self.assertEqual(
            "Nothing can have the name 'a b' in this place of a path; it has "
            'to be 1 to 63 letters, digits, ".", "_" and "-", and neither "." '
            'nor "..".', self.alice.call(
                'GET', f'/os-pclouds/{self.pcloud}/hosts/a%20b').json()[
                    'itemNotFound']['message'])
