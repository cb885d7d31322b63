# SPDX-License-Identifier: Apache-2.0

"""The REST API, call by call, role by role."""

import json
import random
from unittest import mock

import ddt
from keystoneauth1 import exceptions as ks_exc
from nova import objects
from nova.scheduler.client import report
from oslo_db import exception as db_exc

from pcloud.backend.aggregates import lists
from pcloud.objects.changing_hands import choosing
from pcloud.objects.changing_hands import pool_hosts
from pcloud.tests.support import base
from pcloud.tests.support import shared_cloud

UNKNOWN = '3f1c2ab4-5d6e-4f70-8a9b-0c1d2e3f4a5b'
FAULTS = {400: 'badRequest', 403: 'forbidden', 404: 'itemNotFound',
          405: 'badMethod', 409: 'conflictingRequest',
          503: 'serviceUnavailable'}


class ApiTestCase(shared_cloud.SharedCloudTestCase):
    """What the tests of all resources need."""

    hosts = {'node-1': 'az1', 'node-2': 'az2'}

    def check(self, code, user, method, path, body=None):
        """Call, hold the answer against a code and Nova's shape of errors.

        :returns: the body, or an error's message
        """
        response = user.call(method, path, body)
        self.assertEqual(code, response.status_code, response.text)
        if code == 204:
            self.assertEqual(b'', response.content)
            return None
        found = response.json()
        if code < 400:
            return found
        self.assertEqual([FAULTS[code]], list(found))
        self.assertEqual(code, found[FAULTS[code]]['code'])
        self.assertTrue(found[FAULTS[code]]['message'])
        return found[FAULTS[code]]['message']

    def traits(self, host):
        """Return the traits of a host that are no state of the host."""
        provider = self._get_provider_uuid_by_name(f'{host}.hv.example.org')
        return sorted(set(self._get_provider_traits(provider)) -
                      {'COMPUTE_STATUS_DISABLED'})


@ddt.ddt
class HostFlavorTest(ApiTestCase):

    def _create(self, code=201, user=None, **values):
        return self.check(code, user or self.admin, 'POST',
                          '/os-host-flavors', {'host_flavor': values})

    def test_life(self):
        made = self._create(id='gpu.x', description='Fast', units=4)
        flavor = {'id': 'gpu.x', 'description': 'Fast', 'units': 4,
                  'vcpus': None, 'memory_mb': None, 'disk_gb': None,
                  'available': {}, 'settling': 0, 'resources': None,
                  'traits': None, 'hosts': []}
        self.assertEqual({'host_flavor': flavor}, made)
        path = '/os-host-flavors/gpu.x'
        self.assertEqual(made, self.check(200, self.admin, 'GET', path))
        del flavor['hosts']
        self.assertEqual({'host_flavor': flavor},
                         self.check(200, self.alice, 'GET', path))
        self.assertEqual({'host_flavors': [flavor]}, self.check(
            200, self.alice, 'GET', '/os-host-flavors'))
        changed = self.check(200, self.admin, 'PUT', path, {
            'host_flavor': {'units': 2.0}})
        self.assertEqual(2, changed['host_flavor']['units'])
        self.assertEqual('Fast', changed['host_flavor']['description'])
        self.check(204, self.admin, 'DELETE', path)
        self.check(404, self.admin, 'GET', path)
        self.check(404, self.admin, 'DELETE', path)
        self.check(404, self.admin, 'PUT', path, {'host_flavor': {}})

    def test_create_again(self):
        self._create(id='gpu', units=1)
        self.assertIn('exists already', self._create(409, id='gpu', units=2))

    def test_bad_bodies(self):
        good = {'id': 'gpu', 'units': 1}
        for change in ({'id': ''}, {'id': 'a b'}, {'id': 'x' * 65},
                       {'id': 'a\n'}, {'id': 7}, {'id': None}, {'id': 'ä'},
                       {'units': -1}, {'units': 1.5}, {'units': '1'},
                       {'units': True}, {'units': None}, {'units': 10 ** 30},
                       {'description': 'x' * 256}, {'description': None},
                       {'description': 'a\x00b'}, {'description': '\ud800'},
                       {'description': '\U0001f600'}, {'more': 1}):
            message = self._create(400, **{**good, **change})
            self.assertIn('Invalid input', message)
        for missing in ('id', 'units'):
            values = {key: value for key, value in good.items()
                      if key != missing}
            self.assertIn(f"'{missing}' is a required property",
                          self._create(400, **values))
        for body in ('', '{', '[]', 'null', '7', '{}', '{"host_flavor": 1}',
                     '{"host_flavor": {"id": "a", "units": NaN}}',
                     '{"host_flavor": {"id": "a", "units": 1}, "x": 1}',
                     '[' * 50000, '\xff'.encode('latin-1')):
            response = self.admin.api_request(
                'os-host-flavors', method='POST', body=body)
            self.assertEqual(400, response.status_code, body[:80])
        self.assertEqual([], self.admin.get_json(
            '/os-host-flavors')['host_flavors'])

    def test_pool(self):
        self._create(id='gpu', units=1)
        path = '/os-host-flavors/gpu/hosts'
        body = {'host': {'host': 'node-1'}}
        self.assertIn('disable it first',
                      self.check(409, self.admin, 'POST', path, body))
        self.check(404, self.admin, 'POST', path,
                   {'host': {'host': 'node-9'}})
        self.check(404, self.admin, 'POST', '/os-host-flavors/x/hosts', body)
        self.disable_service('node-1')
        added = self.check(201, self.admin, 'POST', path, body)
        self.assertEqual({'host': {
            'host': 'node-1', 'availability_zone': 'az1', 'pcloud': None,
            'settling': None, 'status': 'enabled', 'state': 'up',
            'vcpus': 10, 'vcpus_used': 0, 'memory_mb': 8192,
            'memory_mb_used': 512,
            'hypervisor_hostname': 'node-1.hv.example.org'}}, added)
        # The service is enabled, and need not be disabled to be told.
        self.assertIn("is in the pool 'gpu' already",
                      self.check(409, self.admin, 'POST', path, body))
        flavor = self.check(200, self.alice, 'GET', '/os-host-flavors/gpu')
        self.assertEqual(
            {'id': 'gpu', 'description': '', 'units': 1, 'vcpus': 10,
             'memory_mb': 8192, 'disk_gb': 1028, 'available': {'az1': 1},
             'settling': 0, 'traits': self.traits('node-1'), 'resources': {
                 'VCPU': 10, 'MEMORY_MB': 8192, 'DISK_GB': 1028}},
            flavor['host_flavor'])
        self.check(409, self.admin, 'DELETE', '/os-host-flavors/gpu')
        self.check(204, self.admin, 'DELETE', f'{path}/node-1')
        self.check(404, self.admin, 'DELETE', f'{path}/node-1')
        service = self.admin.get_services(
            binary='nova-compute', host='node-1')[0]
        self.assertEqual('disabled', service['status'])

    def test_host_in_another_pool(self):
        for flavor_id in ('gpu', 'big'):
            self._create(id=flavor_id, units=1)
        self.disable_service('node-1')
        body = {'host': {'host': 'node-1'}}
        self.check(201, self.admin, 'POST', '/os-host-flavors/gpu/hosts',
                   body)
        self.disable_service('node-1')
        self.assertIn("in the pool 'gpu'", self.check(
            409, self.admin, 'POST', '/os-host-flavors/big/hosts', body))

    def test_several_hosts_at_once(self):
        self._create(id='gpu', units=1)
        path = '/os-host-flavors/gpu/hosts'
        self.disable_service('node-1')
        before = self.dump()
        message = self.check(409, self.admin, 'POST', path, {
            'hosts': ['node-1', 'node-2', 'node-9']})
        self.assertIn('No host was added. node-2: The compute service of '
                      "host 'node-2' is enabled", message)
        self.assertIn("node-9: Compute host 'node-9' could not", message)
        self.assertNotIn('node-1:', message)
        self.assertEqual(before, self.dump())
        self.disable_service('node-2')
        added = self.check(201, self.admin, 'POST', path, {
            'hosts': ['node-2', 'node-1']})['hosts']
        self.assertEqual(['node-2', 'node-1'],
                         [each['host'] for each in added])
        shown = self.admin.get_json('/os-host-flavors/gpu')['host_flavor']
        self.assertEqual(['node-1', 'node-2'],
                         [each['host'] for each in shown['hosts']])
        self.assertEqual({'enabled'}, {each['status'] for each in added})
        self.assertIn("node-2' is in the pool 'gpu'", self.check(
            409, self.admin, 'POST', path, {'hosts': ['node-2']}))

    @ddt.data({'hosts': []}, {'hosts': ['node-1'] * 2}, {'hosts': [7]},
              {'hosts': 'node-1'}, {'hosts': {'host': 'node-1'}}, {},
              {'hosts': ['node-1'], 'host': {'host': 'node-1'}},
              {'hosts': [f'node-{number}' for number in range(101)]})
    def test_bodies_with_wrong_hosts(self, body):
        self._create(id='gpu', units=1)
        self.check(400, self.admin, 'POST', '/os-host-flavors/gpu/hosts',
                   body)

    def test_host_whose_rows_no_pcloud_could_keep(self):
        self._create(id='gpu', units=1)
        pcloud = self.make_pcloud(self.alice)
        node = objects.ComputeNode.get_first_node_by_host_for_old_compat(
            self.context, 'node-1')
        node.hypervisor_hostname, name = (
            'x' * 238, node.hypervisor_hostname)
        node.save()
        self.disable_service('node-1')
        pool = '/os-host-flavors/gpu/hosts', {'host': {'host': 'node-1'}}
        self.assertIn('xxx', self.check(400, self.admin, 'POST', *pool))
        # A node that is renamed afterwards: owners do not see the name.
        with mock.patch.object(pool_hosts, '_check_names'):
            self.check(201, self.admin, 'POST', *pool)
        self.assertNotIn('xxx', self.check(
            409, self.alice, 'POST', f'/os-pclouds/{pcloud}/hosts',
            {'host': {'name': 'a', 'host_flavor': 'gpu'}}))
        self.assertEqual([], self.alice.get_json(
            f'/os-pclouds/{pcloud}/hosts')['hosts'])
        node.hypervisor_hostname = name
        node.save()

    def test_host_with_a_server(self):
        self.boot(self.alice, zone='az1')
        self._create(id='gpu', units=1)
        self.disable_service('node-1')
        message = self.check(
            409, self.admin, 'POST', '/os-host-flavors/gpu/hosts',
            {'host': {'host': 'node-1'}})
        self.assertIn('1 server is on it', message)
        self.assertEqual([], self.admin.get_json(
            '/os-host-flavors/gpu')['host_flavor']['hosts'])

    def test_host_in_a_pcloud_stays_in_its_pool(self):
        self.make_pool('gpu', 'node-1')
        pcloud = self.make_pcloud(self.alice)
        self.add_host(self.alice, pcloud, 'web', 'gpu')
        self.check(409, self.admin, 'DELETE',
                   '/os-host-flavors/gpu/hosts/node-1')
        shown = self.admin.get_json('/os-host-flavors/gpu')['host_flavor']
        self.assertEqual(pcloud, shown['hosts'][0]['pcloud'])
        self.assertEqual({}, shown['available'])

    def test_only_admin_changes(self):
        self._create(id='gpu', units=1)
        for method, path, body in (
                ('POST', '/os-host-flavors',
                 {'host_flavor': {'id': 'a', 'units': 1}}),
                ('PUT', '/os-host-flavors/gpu', {'host_flavor': {}}),
                ('DELETE', '/os-host-flavors/gpu', None),
                ('POST', '/os-host-flavors/gpu/hosts',
                 {'host': {'host': 'node-1'}}),
                ('DELETE', '/os-host-flavors/gpu/hosts/node-1', None)):
            self.check(403, self.alice, method, path, body)


class DatabaseTest(ApiTestCase):

    def test_it_cannot_be_reached(self):
        with mock.patch.object(
                lists, 'index', side_effect=(
                    db_exc.DBConnectionError('2003: root@db.example.org'))):
            response = self.alice.call('GET', '/os-pclouds')
        self.assertEqual(503, response.status_code)
        message = response.json()['serviceUnavailable']['message']
        self.assertIn('cannot be reached', message)
        self.assertNotIn('example.org', message)


class PcloudTest(ApiTestCase):

    def test_create_if_absent(self):
        path, body = '/os-pclouds?if_absent=1', {'pcloud': {'name': 'Shop'}}
        theirs = self.check(201, self.bob, 'POST', path, body)['pcloud']
        self.check(204, self.bob, 'PUT',
                   f"/os-pclouds/{theirs['id']}/tenants/{base.ALICE}")
        made = self.check(201, self.alice, 'POST', path, body)
        self.assertNotEqual(theirs['id'], made['pcloud']['id'])
        before = self.dump()
        self.assertEqual(made, self.check(200, self.alice, 'POST', path, body))
        self.assertEqual(before, self.dump())
        self.check(201, self.alice, 'POST', path, {
            'pcloud': {'name': 'shop'}})
        self.check(201, self.alice, 'POST', '/os-pclouds?if_absent=0', body)
        self.assertIn("2 Pclouds of the project have the name 'Shop'",
                      self.check(409, self.alice, 'POST', path, body))
        self.check(400, self.alice, 'POST', '/os-pclouds?if_absent=yes', body)
        self.check(400, self.alice, 'POST', '/os-pclouds?absent=1', body)

    def test_life(self):
        body = {'pcloud': {'name': 'Web shop'}}
        made = self.check(201, self.alice, 'POST', '/os-pclouds', body)
        pcloud_id = made['pcloud']['id']
        self.assertEqual({'pcloud': {
            'id': pcloud_id, 'name': 'Web shop', 'owner': base.ALICE,
            'tenants': [base.ALICE], 'host_count': 0, 'units': 0,
            'cpu_allocation_ratio': None, 'ram_allocation_ratio': None,
        }}, made)
        path = f'/os-pclouds/{pcloud_id}'
        self.assertEqual(made, self.check(200, self.alice, 'GET', path))
        aggregate = self.aggregate(f'Pcloud:{pcloud_id}')
        self.assertEqual({
            'pcloud:type': 'pcloud', 'pcloud:id': pcloud_id,
            'pcloud:name': 'Web shop', 'pcloud:owner': base.ALICE,
            f'pcloud:{base.ALICE}': 'pcloud-tenant'}, aggregate.metadata)
        self.check(204, self.alice, 'DELETE', path)
        self.check(404, self.alice, 'GET', path)

    def test_both_forms_of_the_url(self):
        pcloud = self.make_pcloud(self.alice)
        path = f'/{base.ALICE}/os-pclouds/{pcloud}'
        self.check(200, self.alice, 'GET', path)
        self.check(200, self.alice, 'GET', f'/{base.ALICE}/os-host-flavors')
        self.assertIn('Malformed request URL',
                      self.check(400, self.bob, 'GET', path))

    def test_names(self):
        for name in ('a', 'x' * 255, 'Ünïcödé ☃', ' a ', '<b>', "'"):
            made = self.check(201, self.alice, 'POST', '/os-pclouds',
                              {'pcloud': {'name': name}})
            self.assertEqual(name, made['pcloud']['name'])
        for name in ('', ' ', 'x' * 256, 7, None, 'a\nb', 'a\x00',
                     '\ud800', '\U0001f600', ['a']):
            self.check(400, self.alice, 'POST', '/os-pclouds',
                       {'pcloud': {'name': name}})
        for body in ({}, {'pcloud': {}},
                     {'pcloud': {'name': 'a', 'owner': base.BOB}}):
            self.check(400, self.alice, 'POST', '/os-pclouds', body)

    def test_strangers_see_nothing(self):
        pcloud = self.make_pcloud(self.alice)
        path = f'/os-pclouds/{pcloud}'
        for method, suffix, body in (
                ('GET', '', None), ('DELETE', '', None),
                ('GET', '/hosts', None), ('GET', '/hosts/x', None),
                ('DELETE', '/hosts/x', None),
                ('PUT', '/hosts/x', {'host': {'state': 'enabled'}}),
                ('POST', '/hosts', {'host': {
                    'name': 'a', 'host_flavor': 'gpu'}})):
            foreign = self.check(404, self.bob, method, path + suffix, body)
            unknown = self.check(404, self.bob, method,
                                 f'/os-pclouds/{UNKNOWN}{suffix}', body)
            self.assertEqual(foreign.replace(pcloud, UNKNOWN), unknown)
        self.assertEqual([], self.bob.get_json('/os-pclouds')['pclouds'])

    def test_an_id_has_small_letters(self):
        """On every database, whether it compares letter case or not."""
        pcloud = self.make_pcloud(self.alice)
        for other in (pcloud.upper(), pcloud.replace('-', ''),
                      f'%7B{pcloud}%7D', f'urn:uuid:{pcloud}'):
            for path in (f'/os-pclouds/{other}',
                         f'/os-pclouds/{other}/hosts',
                         f'/os-pclouds/{other}/tenants',
                         f'/os-pcloud-policies/pcloud/{other}?effective=1',
                         f'/os-pcloud-room?flavor=1&pcloud={other}'):
                self.check(404, self.alice, 'GET', path)
            self.check(404, self.alice, 'DELETE', f'/os-pclouds/{other}')
            self.check(400, self.alice, 'GET', f'/os-pclouds?marker={other}')

    def test_tenants_see_little(self):
        pcloud = self.make_pcloud(self.alice)
        aggregate = self.aggregate(f'Pcloud:{pcloud}')
        self.admin.post_aggregate_action(aggregate.id, {'set_metadata': {
            'metadata': {f'pcloud:{base.BOB}': 'pcloud-tenant'}}})
        seen = {'id': pcloud, 'name': 'mine', 'owner': base.ALICE}
        self.assertEqual({'pclouds': [seen]}, self.check(
            200, self.bob, 'GET', '/os-pclouds'))
        path = f'/os-pclouds/{pcloud}'
        self.assertEqual({'pcloud': seen},
                         self.check(200, self.bob, 'GET', path))
        self.check(403, self.bob, 'DELETE', path)
        self.check(403, self.bob, 'GET', f'{path}/hosts')

    def test_roles(self):
        reader = self.client_of('reader', base.ALICE, ['reader'])
        nobody = self.client_of('nobody', base.ALICE, [])
        pcloud = self.make_pcloud(self.alice)
        path = f'/os-pclouds/{pcloud}'
        self.check(200, reader, 'GET', path)
        self.check(200, reader, 'GET', f'{path}/hosts')
        self.check(403, reader, 'DELETE', path)
        self.check(403, reader, 'POST', '/os-pclouds',
                   {'pcloud': {'name': 'a'}})
        self.check(403, nobody, 'GET', path)
        self.check(403, nobody, 'GET', '/os-pclouds')
        self.check(200, nobody, 'GET', '/os-host-flavors')
        self.check(403, self.alice, 'GET', '/os-pclouds?all_tenants=1')

    def test_lists(self):
        mine = sorted(self.make_pcloud(self.alice, name)
                      for name in ('a', 'b', 'b'))
        theirs = self.make_pcloud(self.bob, 'b')

        def ids(user, query=''):
            found = self.check(200, user, 'GET', f'/os-pclouds{query}')
            return [each['id'] for each in found['pclouds']]

        self.assertEqual(mine, ids(self.alice))
        self.assertEqual(2, len(ids(self.alice, '?name=b')))
        self.assertEqual([], ids(self.admin))
        self.assertEqual(sorted([*mine, theirs]),
                         ids(self.admin, '?all_tenants=1'))
        self.assertEqual(3, len(ids(self.admin, '?all_tenants=1&name=b')))
        self.assertEqual(mine[:2], ids(self.alice, '?limit=2'))
        self.assertEqual(mine[2:], ids(
            self.alice, f'?limit=2&marker={mine[1]}'))
        self.assertEqual([], ids(self.alice, '?limit=0'))
        for query in ('limit=-1', 'limit=x', 'limit=', 'marker=x',
                      f'marker={theirs}', 'all_tenants=maybe', 'more=1',
                      'limit=1&limit=2', 'name=%ff'):
            self.check(400, self.alice, 'GET', f'/os-pclouds?{query}')

    def test_methods_and_versions(self):
        for method in ('PATCH', 'PUT', 'DELETE'):
            response = self.alice.call(method, '/os-pclouds')
            self.assertEqual(405, response.status_code)
            self.assertEqual('GET, POST', response.headers['Allow'])
            self.assertIn('one of GET, POST', response.text)
        self.assertEqual(404, self.alice.call(
            'GET', '/os-pclouds/x/y').status_code)
        response = self.alice.call('GET', '/os-pclouds')
        self.assertTrue(response.headers['OpenStack-API-Version'].startswith(
            'compute 2.'))
        self.alice.microversion = '2.999'
        response = self.alice.call('GET', '/os-pclouds')
        self.assertEqual(406, response.status_code)

    def test_others_calls_reach_nova(self):
        self.assertEqual([], self.alice.get_servers())
        self.assertEqual(404, self.alice.call(
            'GET', '/servers/os-pclouds').status_code)


class AboutTest(ApiTestCase):

    def test_everybody_is_shown_the_api(self):
        for user in (self.alice, self.admin, self.client_of(
                'eve', base.BOB, ['reader'])):
            shown = self.check(200, user, 'GET', '/os-pcloud')['pcloud_api']
            self.assertEqual({'version', 'extensions', 'limits',
                              'worker_seen'}, set(shown))
            self.assertIn('audit', shown['extensions'])
            self.assertEqual(10, shown['limits']['quota_units'])
        self.check(405, self.alice, 'POST', '/os-pcloud', {})

    def test_the_limits_hold(self):
        limits = self.check(
            200, self.alice, 'GET', '/os-pcloud')['pcloud_api']['limits']
        for count, flavors, code in (
                (limits['room_servers'], limits['room_flavors'], 200),
                (limits['room_servers'] + 1, 1, 400),
                (1, limits['room_flavors'] + 1, 400)):
            self.check(code, self.admin, 'GET', (
                f'/os-pcloud-room?count={count}' + '&flavor=1' * flavors))

    def test_audit(self):
        pcloud = self.make_pcloud(self.alice)
        path = '/os-pcloud-audit'
        self.assertEqual(
            {'findings': []}, self.check(200, self.admin, 'GET', path))
        aggregate = self.aggregate(f'Pcloud:{pcloud}')
        aggregate.update_metadata({'pcloud:host_state:gone': 'enabled'})
        aggregate.add_host('node-1')
        kept = self.dump()
        found = [self.check(200, self.admin, 'GET', path) for _ in range(2)]
        self.assertEqual(found[0], found[1])
        self.assertEqual(kept, self.dump())
        of_kind = {each['kind']: each for each in found[0]['findings']}
        self.assertEqual({
            'kind': 'state-without-host', 'aggregate': aggregate.name,
            'text': 'pcloud:host_state:gone: gone is not in the Pcloud',
            'repair': 'pcloud-manage audit --fix',
        }, of_kind['state-without-host'])
        self.assertEqual({
            'kind': 'host-in-no-pool', 'aggregate': aggregate.name,
            'text': 'it is in a Pcloud, but in the pool of no host flavor',
            'host': 'node-1'}, of_kind['host-in-no-pool'])
        self.check(403, self.alice, 'GET', path)


class HostTest(ApiTestCase):

    def furnish(self):
        super().furnish()
        self.make_pool('gpu', 'node-1', 'node-2', units=3)
        self.pcloud = self.make_pcloud(self.alice)
        self.path = f'/os-pclouds/{self.pcloud}/hosts'

    def _details(self, user, query='detail=1'):
        """Return the members of the Pcloud in a list."""
        pcloud, = self.check(
            200, user, 'GET', f'/os-pclouds?{query}')['pclouds']
        return pcloud

    def test_details(self):
        self._add(name='web')
        self._add(name='db')
        self.assertEqual(
            ({'hosts': 2, 'vcpus': 20, 'memory_mb': 15360}, 0),
            (self._details(self.alice)['free'],
             self._details(self.alice)['servers']))
        self.check(200, self.alice, 'PUT', f'{self.path}/db',
                   {'host': {'state': 'enabled'}})
        for _ in range(2):
            self.boot(self.alice, {'pcloud': self.pcloud})
        self._run_periodics()
        hosts = self.check(200, self.alice, 'GET', self.path)['hosts']
        self.assertEqual({
            **self._details(self.alice, 'detail=0'), 'servers': 2,
            'free': {'hosts': 1, 'vcpus': sum(
                each['vcpus'] - each['vcpus_used'] for each in hosts),
                'memory_mb': sum(
                    each['memory_mb'] - each['memory_mb_used']
                    for each in hosts)}}, self._details(self.alice))
        self.assertEqual(self._details(self.alice), self._details(
            self.admin, 'all_tenants=1&detail=true'))
        self.check(204, self.alice, 'PUT',
                   f'/os-pclouds/{self.pcloud}/tenants/{base.BOB}')
        self.assertEqual({'id', 'name', 'owner'}, set(
            self._details(self.bob)))
        self.check(400, self.alice, 'GET', '/os-pclouds?detail=yes')

    def _add(self, code=201, user=None, **values):
        return self.check(code, user or self.alice, 'POST', self.path,
                          {'host': {'host_flavor': 'gpu', **values}})

    def test_life(self):
        made = self._add(name='web', availability_zone='az2')
        host = {'name': 'web', 'host_flavor': 'gpu', 'state': 'disabled',
                'availability_zone': 'az2', 'status': 'up', 'instances': [],
                'vcpus': 10, 'vcpus_used': 0, 'memory_mb': 8192,
                'memory_mb_used': 512, 'next_reboot': None, 'rack': None}
        self.assertEqual({'host': host}, made)
        what = {'traits': self.traits('node-2'), 'resources': {
            'VCPU': {'total': 10, 'used': 0},
            'MEMORY_MB': {'total': 8192, 'used': 0},
            'DISK_GB': {'total': 1028, 'used': 0}}}
        self.assertEqual({'hosts': [{**host, **what}]}, self.check(
            200, self.alice, 'GET', self.path))
        changed = self.check(200, self.alice, 'PUT', f'{self.path}/web',
                             {'host': {'state': 'enabled'}})
        host['state'] = 'enabled'
        self.assertEqual({'host': host}, changed)
        self.assertEqual({'host': {**host, **what}}, self.check(
            200, self.alice, 'GET', f'{self.path}/web'))
        server = self.boot(self.alice, {'pcloud': self.pcloud})
        shown = self.check(200, self.alice, 'GET', f'{self.path}/web')
        self.assertEqual([server['id']], shown['host']['instances'])
        pcloud = self.check(200, self.alice, 'GET',
                            f'/os-pclouds/{self.pcloud}')['pcloud']
        self.assertEqual((1, 3), (pcloud['host_count'], pcloud['units']))
        self.assertIn('is enabled', self.check(
            409, self.alice, 'DELETE', f'{self.path}/web'))
        self.check(200, self.alice, 'PUT', f'{self.path}/web',
                   {'host': {'state': 'disabled'}})
        self.assertIn('not empty', self.check(
            409, self.alice, 'DELETE', f'{self.path}/web'))
        self._delete_server(server)
        self.check(409, self.alice, 'DELETE', f'/os-pclouds/{self.pcloud}')
        self.check(204, self.alice, 'DELETE', f'{self.path}/web')
        self.check(404, self.alice, 'GET', f'{self.path}/web')
        self.check(404, self.alice, 'DELETE', f'{self.path}/web')
        aggregate = self.aggregate(f'Pcloud:{self.pcloud}')
        self.assertEqual([], aggregate.hosts)
        self.assertEqual([], [key for key in aggregate.metadata
                              if key.startswith('pcloud:host')])

    def test_metadata(self):
        self._add(name='web', availability_zone='az1')
        aggregate = self.aggregate(f'Pcloud:{self.pcloud}')
        self.assertEqual(['node-1'], aggregate.hosts)
        self.assertEqual('node-1.hv.example.org',
                         aggregate.metadata['pcloud:host:web'])
        self.assertEqual('disabled', aggregate.metadata[
            'pcloud:host_state:node-1.hv.example.org'])

    def test_real_name_is_for_admin(self):
        self._add(name='web', availability_zone='az1')
        for path in (self.path, f'{self.path}/web', '/os-host-flavors',
                     '/os-host-flavors/gpu', f'/os-pclouds/{self.pcloud}'):
            self.assertNotIn('node-', json.dumps(
                self.check(200, self.alice, 'GET', path)))
        shown = self.check(200, self.admin, 'GET', f'{self.path}/web')
        self.assertEqual('node-1.hv.example.org',
                         shown['host']['hypervisor_hostname'])

    def test_names(self):
        self._add(name='Web')
        for name in ('Web', 'web', 'WEB'):
            self.assertIn('already', self._add(409, name=name))
        self.check(200, self.alice, 'GET', f'{self.path}/web')
        for name in ('', 'a b', 'x' * 64, 'a\n', 'ä', 7, None, 'a/b', 'a:b'):
            self._add(400, name=name)

    def test_bad_bodies(self):
        for body in ({}, {'host': {}}, {'host': {'name': 'a'}},
                     {'host': {'name': 'a', 'host_flavor': 'gpu',
                               'state': 'enabled'}},
                     {'host': {'name': 'a', 'host_flavor': 'a b'}},
                     {'host': {'name': 'a', 'host_flavor': 'gpu',
                               'availability_zone': ''}}):
            self.check(400, self.alice, 'POST', self.path, body)
        self._add(name='web')
        for body in ({}, {'host': {}}, {'host': {'state': 'on'}},
                     {'host': {'state': None}},
                     {'host': {'state': 'enabled', 'name': 'x'}}):
            self.check(400, self.alice, 'PUT', f'{self.path}/web', body)

    def test_nothing_free(self):
        self._add(name='a', availability_zone='az1')
        self.assertIn('no free host', self._add(
            409, name='b', availability_zone='az1'))
        self.assertIn('az1, az2', self._add(
            404, name='b', availability_zone='moon'))
        self._add(name='b')
        self.assertIn('no free host', self._add(409, name='c'))
        self._add(404, name='c', host_flavor='x')

    def test_a_free_host_is_found_when_none_that_was_drawn_will_do(self):
        """Neither by number nor, the second time, by name."""
        with mock.patch.object(choosing, '_NUMBERS', 0):
            self._add(name='a', availability_zone='az1')
            with mock.patch.object(choosing, '_LOOKED_AT', 0):
                self._add(name='b', availability_zone='az2')
                self.assertIn('no free host', self._add(
                    409, name='c', availability_zone='az2'))

    def test_hosts_that_are_drawn_by_name_are_free(self):
        self._add(name='a', availability_zone='az1')
        with mock.patch.object(choosing, '_NUMBERS', 0):
            drawn = choosing._draws(
                self.context, 'gpu', None, [], 0, random.Random(0))
            self.assertEqual([[], ['node-2'], ['node-2']], list(drawn))

    def test_down_and_disabled_hosts_are_not_given(self):
        self.disable_service('node-1')
        self.admin.put_service(self.service_id('node-2'),
                               {'forced_down': True})
        self._add(409, name='a')
        self.assertEqual({}, self.alice.get_json(
            '/os-host-flavors/gpu')['host_flavor']['available'])

    def test_status(self):
        self._add(name='web', availability_zone='az1')

        def status():
            return self.alice.get_json(f'{self.path}/web')['host']['status']

        service = self.service_id('node-1')
        self.admin.put_service(service, {'forced_down': True})
        self.assertEqual('down', status())
        self.disable_service('node-1')
        self.assertEqual('maintenance', status())

    def test_quota(self):
        self.flags(quota_units=5, group='pcloud')
        self._add(name='a')
        message = self._add(403, name='b')
        self.assertIn('requested 3, but already used 3 of 5', message)
        self.flags(quota_units=-1, group='pcloud')
        self._add(name='b')

    def _silent_placement(self, *methods):
        """Have Placement not answer calls of certain methods."""
        return mock.patch.multiple(report.SchedulerReportClient, **{
            method: mock.Mock(side_effect=ks_exc.ConnectFailure())
            for method in methods})

    def test_placement_does_not_answer_at_all(self):
        before = self.dump()
        with self._silent_placement('get', 'put'):
            self.assertIn('nothing was changed', self._add(503, name='a'))
        self.assertEqual(before, self.dump())
        self._add(name='a')

    def test_placement_goes_away_after_the_change(self):
        """The host is the owner's, and closed until Placement is told."""
        with self._silent_placement('put'):
            self._add(name='a')
            self.assertIn('is closed until an earlier change', self.check(
                409, self.alice, 'PUT', f'{self.path}/a',
                {'host': {'state': 'enabled'}}))
        self.check(200, self.alice, 'PUT', f'{self.path}/a',
                   {'host': {'state': 'enabled'}})
        self.boot(self.alice, {'pcloud': self.pcloud})

    def test_placement_is_away_when_a_host_leaves(self):
        """The host is nobody's until Placement has forgotten it."""
        self._add(name='a')
        self._add(name='b')
        with self._silent_placement('put'):
            self.check(204, self.alice, 'DELETE', f'{self.path}/a')
            self.check(404, self.alice, 'GET', f'{self.path}/a')
            self.assertIn('settling', self._add(409, name='a'))
            self.assertEqual({}, self.alice.get_json(
                '/os-host-flavors/gpu')['host_flavor']['available'])
        self._add(name='a')

    def test_admin_manages_for_the_owner(self):
        self._add(user=self.admin, name='web')
        self.check(200, self.admin, 'PUT', f'{self.path}/web',
                   {'host': {'state': 'enabled'}})
        self.assertEqual(1, len(self.alice.get_json(self.path)['hosts']))
