# SPDX-License-Identifier: Apache-2.0

"""What an audit trail states of each call, by keystonemiddleware's rules."""

import configparser
import importlib
import pathlib
import re

from keystonemiddleware.audit import _api
import testtools
import webob

from pcloud.api import routes

MAP = pathlib.Path(__file__).parents[4] / 'etc/pcloud/api_audit_map.conf'
# Calls that neither show what their path names nor change it as their method
# says.
ACTIONS = {
    'GET /os-pcloud': 'read',
    'GET /os-pcloud-audit': 'read',
    'GET /os-pcloud-room': 'read',
    'GET /os-pclouds/{id}/explain': 'read',
    'GET /os-pclouds/{id}/rebalance': 'read',
    'GET /os-pclouds/{id}/rehearsal': 'read',
    'GET /os-pclouds/{id}/usage': 'read',
    'POST /os-pclouds/{id}/rebalance': 'update',
    'POST /os-pclouds/{id}/simulate': 'read',
}
METHODS = {'GET': 'read/list', 'POST': 'create', 'PUT': 'update',
           'DELETE': 'delete'}


class AuditMapTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.audit = _api.OpenStackAuditApi(str(MAP))
        self.calls = [*routes.ROUTES, *(
            each for wing in routes.WINGS
            for each in importlib.import_module(wing).ROUTES)]
        self.assertGreater(len(self.calls), 40)

    def request(self, call):
        # What a path names looks like no word of a path.
        path = re.sub('{[a-z]+}', 'x-1', call.path)
        return webob.Request.blank(f'/v2.1{path}', method=call.method)

    def test_actions(self):
        for call in self.calls:
            expected = 'read' if (
                call.method == 'GET' and call.path.endswith('}')
            ) else METHODS[call.method]
            name = f'{call.method} {call.path}'
            self.assertEqual(ACTIONS.get(name, expected),
                             self.audit.get_action(self.request(call)), name)

    def test_every_exception_is_a_call(self):
        self.assertEqual(set(), ACTIONS.keys() - {
            f'{call.method} {call.path}' for call in self.calls})

    def test_targets(self):
        """Each part of a path is in the name of the target."""
        for call in self.calls:
            target = self.audit._build_typeURI(
                self.request(call), 'service/compute')
            given = call.path.strip('/').split('/')
            named = target.removeprefix('service/compute/').split('/')
            # Scopes of policies have two names, of which the map takes one.
            if 'os-pcloud-policies' in given:
                given.remove('{id}')
            self.assertEqual(
                [each.startswith('{') for each in given],
                [each not in given for each in named], (call.path, target))

    def test_nothing_but_calls(self):
        words = {word for call in self.calls for word in call.path.split('/')}
        parser = configparser.ConfigParser()
        parser.read(MAP)
        self.assertEqual(set(), parser['path_keywords'].keys() - words)
        self.assertEqual(set(), {
            name.partition('/')[0] for name in parser['custom_actions']} -
            words)
