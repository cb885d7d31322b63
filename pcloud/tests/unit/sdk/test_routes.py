# SPDX-License-Identifier: Apache-2.0

"""Each call of the API has a call of the SDK, and what is sent is right."""

import inspect
import re
from urllib import parse

import ddt
import jsonschema
from openstack import proxy as openstack_proxy
from webob import multidict

from pcloud.api import routes
from pcloud.sdk import proxy
from pcloud.tests.unit.client import base as client_base
from pcloud.tests.unit.sdk import base

ID = client_base.PCLOUD_ID
OTHER = client_base.OTHER_ID
PROJECT = client_base.PROJECT

# Method of the proxy, arguments, the call of the API.
CALLS = (
    ('host_flavors', (), {}, 'GET', '/os-host-flavors'),
    ('get_host_flavor', ('gold',), {}, 'GET', '/os-host-flavors/{id}'),
    ('find_host_flavor', ('gold',), {}, 'GET', '/os-host-flavors/{id}'),
    ('create_host_flavor', (), {
        'id': 'gold', 'units': 4, 'description': 'big', 'price': '1.5'},
        'POST', '/os-host-flavors'),
    ('update_host_flavor', ('gold',), {'units': 2, 'price': None},
        'PUT', '/os-host-flavors/{id}'),
    ('delete_host_flavor', ('gold',), {}, 'DELETE', '/os-host-flavors/{id}'),
    ('pool_hosts', ('gold',), {}, 'GET', '/os-host-flavors/{id}'),
    ('add_pool_host', ('gold', 'node-1'), {},
        'POST', '/os-host-flavors/{id}/hosts'),
    ('add_pool_hosts', ('gold', ['node-1', 'node-2']), {},
        'POST', '/os-host-flavors/{id}/hosts'),
    ('remove_pool_host', ('gold', 'node-1'), {},
        'DELETE', '/os-host-flavors/{id}/hosts/{host}'),
    ('set_maintenance', ('gold', 'node-1', '2030-01-01T00:00:00Z', 'disks'),
        {}, 'PUT', '/os-host-flavors/{id}/hosts/{host}'),
    ('unset_maintenance', ('gold', 'node-1'), {},
        'PUT', '/os-host-flavors/{id}/hosts/{host}'),
    ('set_fenced', ('gold', 'node-1', True), {},
        'PUT', '/os-host-flavors/{id}/hosts/{host}'),
    ('waiting_for', ('gold',), {}, 'GET', '/os-host-flavors/{id}/waiting'),
    ('attributes', (), {'name': 'rack'}, 'GET', '/os-pcloud-attributes'),
    ('set_attribute', ('rack', 'r1', ['node-1']), {},
        'PUT', '/os-pcloud-attributes/{name}'),
    ('unset_attribute', ('rack',), {},
        'DELETE', '/os-pcloud-attributes/{name}'),
    ('unset_attribute', ('my rack', ['node-1', 'node-2']), {},
        'DELETE', '/os-pcloud-attributes/{name}'),
    ('audit', (), {}, 'GET', '/os-pcloud-audit'),
    ('get_api', (), {}, 'GET', '/os-pcloud'),

    ('pclouds', (), {}, 'GET', '/os-pclouds'),
    ('pclouds', (), {'details': True, 'all_projects': True, 'name': 'farm'},
        'GET', '/os-pclouds'),
    ('get_pcloud', (ID,), {}, 'GET', '/os-pclouds/{id}'),
    ('find_pcloud', (ID,), {}, 'GET', '/os-pclouds/{id}'),
    ('create_pcloud', (), {'name': 'farm'}, 'POST', '/os-pclouds'),
    ('create_pcloud_if_absent', ('farm',), {}, 'POST', '/os-pclouds'),
    ('update_pcloud', (ID,), {
        'name': 'plant', 'cpu_allocation_ratio': 2.0,
        'ram_allocation_ratio': None, 'maintenance_policy': 'migrate',
        'host_recovery': 'replace', 'pin_by_tenants': True,
        'placement': 'pack', 'flavors': ['1'], 'images': [OTHER],
        'shrink': {'after_hours': 1, 'min_hosts': 1, 'keep_spare': 0}},
        'PUT', '/os-pclouds/{id}'),
    ('delete_pcloud', (ID,), {}, 'DELETE', '/os-pclouds/{id}'),
    ('delete_pcloud', (ID,), {'force': True}, 'DELETE', '/os-pclouds/{id}'),
    ('tenants', (ID,), {}, 'GET', '/os-pclouds/{id}/tenants'),
    ('add_tenant', (ID, PROJECT), {},
        'PUT', '/os-pclouds/{id}/tenants/{tenant}'),
    ('cap_tenant', (ID, PROJECT), {
        'max_servers': 2, 'max_vcpus': None, 'max_memory_mb': 4096},
        'PUT', '/os-pclouds/{id}/tenants/{tenant}'),
    ('add_tenant_by_name', (ID, 'film'), {},
        'POST', '/os-pclouds/{id}/tenants'),
    ('add_tenant_by_name', (ID, 'film', 'studio'), {},
        'POST', '/os-pclouds/{id}/tenants'),
    ('remove_tenant', (ID, PROJECT), {'force': True},
        'DELETE', '/os-pclouds/{id}/tenants/{tenant}'),
    ('get_quota', (), {}, 'GET', '/os-pcloud-quotas/{project}'),
    ('get_quota', (PROJECT,), {}, 'GET', '/os-pcloud-quotas/{project}'),
    ('update_quota', (PROJECT, -1), {}, 'PUT', '/os-pcloud-quotas/{project}'),
    ('delete_quota', (PROJECT,), {}, 'DELETE', '/os-pcloud-quotas/{project}'),

    ('hosts', (ID,), {}, 'GET', '/os-pclouds/{id}/hosts'),
    ('get_host', ('web', ID), {}, 'GET', '/os-pclouds/{id}/hosts/{name}'),
    ('add_host', (ID,), {
        'name': 'web', 'host_flavor': 'gold', 'availability_zone': 'az1',
        'until': '2030-01-01T00:00:00Z', 'move': 'live'},
        'POST', '/os-pclouds/{id}/hosts'),
    ('add_host', (ID,), {'name': 'web', 'constraints': 'ram=64G'},
        'POST', '/os-pclouds/{id}/hosts'),
    ('add_hosts', (ID, 'web', 3), {'host_flavor': 'gold', 'first': 2},
        'POST', '/os-pclouds/{id}/hosts'),
    ('add_or_wait_for_host', (ID,), {
        'name': 'web', 'host_flavor': 'gold',
        'wait_until': '2030-01-01T00:00:00Z'},
        'POST', '/os-pclouds/{id}/hosts'),
    ('update_host', ('web', ID), {'state': 'spare'},
        'PUT', '/os-pclouds/{id}/hosts/{name}'),
    ('update_host', ('web', ID), {'until': None},
        'PUT', '/os-pclouds/{id}/hosts/{name}'),
    ('enable_host', ('web', ID), {}, 'PUT', '/os-pclouds/{id}/hosts/{name}'),
    ('disable_host', ('web', ID), {}, 'PUT', '/os-pclouds/{id}/hosts/{name}'),
    ('drain_host', ('web', ID), {
        'move': 'any', 'release': True, 'deadline': '2030-01-01T00:00:00Z',
        'dry_run': True, 'together_with': ['db']},
        'PUT', '/os-pclouds/{id}/hosts/{name}'),
    ('remove_host', ('web', ID), {},
        'DELETE', '/os-pclouds/{id}/hosts/{name}'),
    ('waiting_entries', (ID,), {}, 'GET', '/os-pclouds/{id}/waiting'),
    ('cancel_waiting', (OTHER, ID), {},
        'DELETE', '/os-pclouds/{id}/waiting/{entry}'),
    ('placed_servers', (), {}, 'GET', '/os-pcloud-servers'),
    ('placed_servers', ([OTHER, ID],), {}, 'GET', '/os-pcloud-servers'),
    ('hidden_servers', (), {}, 'GET', '/os-pcloud-hidden-servers'),

    ('get_room', (['1'],), {}, 'GET', '/os-pcloud-room'),
    ('get_room', (['1', '2:volume'], ID), {'parent': 'db', 'count': 3},
        'GET', '/os-pcloud-room'),
    ('explain', (ID, '1'), {}, 'GET', '/os-pclouds/{id}/explain'),
    ('simulate', (ID, [{'flavor': '1', 'count': 2, 'apart': True}]), {
        'include_disabled': True, 'without': ['web']},
        'POST', '/os-pclouds/{id}/simulate'),
    ('rehearse', (ID,), {}, 'GET', '/os-pclouds/{id}/rehearsal'),
    ('rehearse', (ID, 'rack'), {}, 'GET', '/os-pclouds/{id}/rehearsal'),
    ('plan_rebalance', (ID, 'fit'), {
        'flavor': '1', 'count': 2, 'max_moves': 3, 'move': 'any'},
        'GET', '/os-pclouds/{id}/rebalance'),
    ('rebalance', (ID, 'plan'), {}, 'POST', '/os-pclouds/{id}/rebalance'),
    ('rebalance', (ID, 'plan'), {'goal': 'free_hosts', 'max_moves': 1},
        'POST', '/os-pclouds/{id}/rebalance'),
    ('end_rebalance', (ID,), {}, 'DELETE', '/os-pclouds/{id}/rebalance'),

    ('get_policy', ('domain', PROJECT), {},
        'GET', '/os-pcloud-policies/{scope}/{id}'),
    ('get_effective_policy', ('pcloud', ID), {},
        'GET', '/os-pcloud-policies/{scope}/{id}'),
    ('update_policy', ('project', PROJECT), {
        'constraints': 'ram=2G', 'customer_keys': ['A=1:1'],
        'system_keys': [], 'share': None},
        'PUT', '/os-pcloud-policies/{scope}/{id}'),
    ('delete_policy', ('role', 'web'), {},
        'DELETE', '/os-pcloud-policies/{scope}/{id}'),
    ('get_default_pcloud', (), {},
        'GET', '/os-pcloud-policies/{scope}/{id}'),
    ('set_default_pcloud', (ID, 'grow'), {
        'host_flavor': 'gold', 'max_hosts': 5, 'availability_zone': 'az1'},
        'PUT', '/os-pcloud-policies/{scope}/{id}'),
    ('set_default_pcloud', (None,), {'scope': 'cloud'},
        'PUT', '/os-pcloud-policies/{scope}/{id}'),

    ('usages', (), {}, 'GET', '/os-pcloud-usage'),
    ('usages', ('2026-11',), {}, 'GET', '/os-pcloud-usage'),
    ('get_usage', (), {}, 'GET', '/os-pcloud-usage/{project}'),
    ('get_usage', (PROJECT, '2026-11'), {},
        'GET', '/os-pcloud-usage/{project}'),
    ('get_usage_by_day', (), {}, 'GET', '/os-pcloud-usage/{project}'),
    ('get_usage_by_day', (PROJECT, '2026-11'), {},
        'GET', '/os-pcloud-usage/{project}'),
    ('get_pcloud_use', (ID,), {}, 'GET', '/os-pclouds/{id}/usage'),
)

# Waits ask what other methods ask.
WAITS = {'wait_for_drain', 'wait_for_host'}

# An answer to whatever is asked.
ANSWER = {
    **dict.fromkeys((
        'pcloud', 'host', 'host_flavor', 'tenant', 'quota', 'attribute',
        'policy', 'usage', 'room', 'explain', 'simulate', 'rehearsal',
        'rebalance', 'pcloud_api'), {}),
    **{name: [] for name in (
        'pclouds', 'hosts', 'host_flavors', 'tenants', 'attributes',
        'findings', 'usages', 'servers', 'waiting', 'hidden_servers')}}


@ddt.ddt
class RoutesTest(base.SdkTestCase):
    """The table of the API's calls, and the requests of the SDK."""

    def setUp(self):
        super().setUp()
        for method in ('GET', 'POST', 'PUT', 'DELETE'):
            self.http.register_uri(
                method, re.compile(f'^{client_base.NOVA}/os-'), json=(
                    ANSWER if method == 'GET' else
                    {**ANSWER, 'waiting': {}}))

    @ddt.idata(CALLS)
    @ddt.unpack
    def test_request(self, name, arguments, options, method, path):
        """What is sent has the form of a row of the table, all of it."""
        answer = getattr(self.pcloud, name)(*arguments, **options)
        if inspect.isgenerator(answer):
            self.assertEqual([], list(answer))

        call, = self.calls()

        found = routes.mapper().match(parse.unquote(call.path))
        self.assertEqual((method, path), (call.method, found['template']))
        for parameter, form in routes.forms_of(path).items():
            jsonschema.validate(found[parameter], form)
        route = routes.methods_of(path)[method]
        self._check_query(route)
        if call.body is None:
            self.assertTrue(route.schema is None or route.is_optional)
        else:
            jsonschema.validate(call.body, route.schema)

    def _check_query(self, route):
        """Check the query as Nova reads queries."""
        query = multidict.MultiDict(parse.parse_qsl(
            parse.urlsplit(self.http.last_request.url).query))
        if not query or route.query is None:
            self.assertEqual({}, query.mixed())
            return
        jsonschema.validate(query.mixed(), route.query)

    def test_every_call_of_the_api(self):
        self.assertEqual(
            {(route.method, route.path) for route in routes.ROUTES},
            {call[3:] for call in CALLS})

    def test_every_method(self):
        own = {name for name in dir(proxy.Proxy) if not name.startswith('_')
               and not hasattr(openstack_proxy.Proxy, name)}
        self.assertEqual(own, {call[0] for call in CALLS} | WAITS)

    def test_bodies_are_whole(self):
        """What a caller gives is sent, and nothing else."""
        self.pcloud.set_default_pcloud(ID, 'prefer', scope='domain',
                                       scope_id=PROJECT)
        self.assertEqual(
            ('PUT', f'/os-pcloud-policies/domain/{PROJECT}', {'policy': {
                'default_pcloud': {'pcloud': ID, 'mode': 'prefer'}}}),
            self.last_call())
        self.pcloud.update_host('web', ID, until=None)
        self.assertEqual({'host': {'until': None}}, self.last_call()[2])
        self.pcloud.update_pcloud(ID, shrink=None)
        self.assertEqual({'pcloud': {'shrink': None}}, self.last_call()[2])
        self.pcloud.add_tenant(ID, PROJECT)
        self.assertIsNone(self.last_call()[2])
        self.pcloud.update_quota(PROJECT, 7)
        self.assertEqual({'quota': {'units': {'limit': 7}}},
                         self.last_call()[2])
        self.pcloud.add_pool_host('gold', 'node-1')
        self.assertEqual({'host': {'host': 'node-1'}}, self.last_call()[2])
        self.pcloud.unset_attribute('rack', ['node-1', 'node-2'])
        self.assertEqual({'host': ['node-1', 'node-2']},
                         self.calls()[-1].query)
