# SPDX-License-Identifier: Apache-2.0

"""What callers may do whose token is of no project."""

from unittest import mock

import fixtures
from nova import context as nova_context

from pcloud.api.nova_calls import servers
from pcloud.api import routes
from pcloud.tests.support import base
from pcloud.tests.support import shared_cloud

# What Keystone says of tokens that are of no project.
SCOPES = {
    'system': {'OpenStack-System-Scope': 'all'},
    'domain': {'X-Domain-Id': 'default'},
    'nothing': {},
}
MEMBER, ADMIN = 'reader,member', 'reader,member,admin'
# The scopes and roles of tokens. Keystone gives no roles without a scope.
WITH_ROLES = [('system', ADMIN), ('domain', ADMIN), ('domain', MEMBER)]
TOKENS = [*WITH_ROLES, ('nothing', '')]
# Calls that need no role. Nova lets tokens of a project and tokens without any
# scope make such calls, and no others.
FOR_ALL = {'/os-host-flavors', '/os-host-flavors/{id}', '/os-pcloud'}
# What these calls cannot do without.
QUERIES = {'/os-pclouds/{id}/explain': '?flavor=1',
           '/os-pclouds/{id}/rebalance': '?goal=free_hosts',
           '/os-pcloud-room': '?flavor=1',
           '/os-pcloud-attributes/{name}': '?host=node-1'}


class NoProjectTest(shared_cloud.SharedCloudTestCase):
    """Tokens of the system, of a domain, and of nothing."""

    hosts = {'node-1': 'az1', 'node-2': 'az1'}

    def furnish(self):
        super().furnish()
        self.make_pool('gpu', 'node-1')
        self.pcloud = self.make_pcloud(self.alice)
        self.add_host(self.alice, self.pcloud, 'web', 'gpu')

    def setUp(self):
        super().setUp()
        if 'enforce_scope' in base.CONF.oslo_policy:
            # As by default, but not in the fixtures of earlier series.
            self.flags(enforce_scope=True, group='oslo_policy')
        # Nova's fixture gives every token a project.
        self.useFixture(fixtures.MonkeyPatch(
            'nova.api.auth.NovaKeystoneContext._create_context',
            nova_context.RequestContext.from_environ))

    def _status(self, scope, roles, method, path, body=None):
        return self.alice.call(method, path, body, headers={
            'X-User-Id': 'someone', 'X-Roles': roles, **SCOPES[scope],
        }).status_code

    def _path(self, route):
        return route.path.format(
            id='gpu' if 'flavors' in route.path else self.pcloud,
            host='node-1', name='web', tenant=base.BOB, project=base.ALICE,
            entry='3f1c2ab4-5d6e-4f70-8a9b-0c1d2e3f4a5b',
            scope='pcloud') + QUERIES.get(route.path, '')

    def test_no_call_is_theirs(self):
        """Each is refused as Nova refuses its own calls."""
        self.assertEqual(
            {'system': 403, 'domain': 403, 'nothing': 403},
            {scope: self._status(scope, MEMBER if SCOPES[scope] else '',
                                 'GET', '/servers') for scope in SCOPES})
        without_body = [route for route in routes.ROUTES if not route.schema]
        for route in without_body:
            for scope, roles in WITH_ROLES:
                self.assertEqual(403, self._status(
                    scope, roles, route.method, self._path(route)), route)
            open_ = route.method == 'GET' and route.path in FOR_ALL
            self.assertEqual(200 if open_ else 403, self._status(
                'nothing', '', route.method, self._path(route)), route)

    def test_scopes_that_nova_does_not_enforce(self):
        """As with an option of earlier series, or rules that are open."""
        self.useFixture(fixtures.MonkeyPatch(
            'oslo_policy.policy.Enforcer._enforce_scope',
            lambda *args, **more: True))
        for scope, roles in WITH_ROLES:
            for path in ('/os-pclouds', '/os-pclouds?all_tenants=1',
                         f'/os-pclouds/{self.pcloud}', '/os-host-flavors'):
                self.assertEqual(
                    403, self._status(scope, roles, 'GET', path), path)
        self.useFixture(fixtures.MonkeyPatch(
            'pcloud.api.enforcer.Enforcer.allow', lambda *args: True))
        self.assertEqual(403, self._status('nothing', '', 'POST',
                                           '/os-pclouds', {
                                               'pcloud': {'name': 'a'}}))

    def test_no_change_is_theirs(self):
        pcloud = f'/os-pclouds/{self.pcloud}'
        for method, path, body in (
                ('POST', '/os-pclouds', {'pcloud': {'name': 'a'}}),
                ('PUT', pcloud, {'pcloud': {'name': 'a'}}),
                ('POST', f'{pcloud}/hosts',
                 {'host': {'name': 'a', 'host_flavor': 'gpu'}}),
                ('PUT', f'{pcloud}/hosts/web',
                 {'host': {'state': 'disabled'}}),
                ('POST', f'{pcloud}/simulate', {'simulate': {
                    'servers': [{'flavor': '1', 'count': 1}]}}),
                ('POST', '/os-host-flavors',
                 {'host_flavor': {'id': 'a', 'units': 1}}),
                ('PUT', '/os-host-flavors/gpu',
                 {'host_flavor': {'units': 2}}),
                ('PUT', f'/os-pcloud-quotas/{base.ALICE}',
                 {'quota': {'units': {'limit': -1}}}),
                ('PUT', f'/os-pcloud-policies/pcloud/{self.pcloud}',
                 {'policy': {'constraints': 'cpu=1'}})):
            for scope, roles in TOKENS:
                self.assertEqual(403, self._status(
                    scope, roles, method, path, body), (scope, path))

    def test_launches_are_answered_as_by_nova(self):
        body = {'server': self._build_server(flavor_id='1', networks='none')}
        for said in ({}, {'pcloud': self.pcloud},
                     {'pcloud_prefer': self.pcloud}):
            for scope, roles in TOKENS:
                launch = {**body, 'os:scheduler_hints': said}
                with mock.patch.object(servers, 'prepare', return_value=None):
                    stock = self._status(
                        scope, roles, 'POST', '/servers', launch)
                self.assertEqual((403, 403), (stock, self._status(
                    scope, roles, 'POST', '/servers', launch)))
