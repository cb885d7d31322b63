# SPDX-License-Identifier: Apache-2.0

"""How much of a Pcloud a tenant may use, through the real scheduler."""

from unittest import mock

from nova.conductor import api
from nova.db.api import models as api_models
from nova.db.main import models
import sqlalchemy as sa

from pcloud.api.nova_calls import servers
from pcloud.objects.placing import tenant_caps
from pcloud.tests.functional.quick import test_cells
from pcloud.tests.functional.quick import test_house_rules
from pcloud.tests.support import base
from pcloud.tests.support import counting

message = test_house_rules.message


class CapsTestCase(test_house_rules.RulesTestCase):
    """Alice's Pcloud, in which Bob's project is a tenant."""

    def furnish(self):
        super().furnish()
        self.let_in(self.bob)

    def setUp(self):
        super().setUp()
        self.inside = {'pcloud': self.pcloud}
        self.carol = self.client_of('carol', base.CAROL)
        self.small = self.make_flavor('small', vcpus=1, memory_mb=64)
        self.large = self.make_flavor('large', vcpus=3, memory_mb=192)

    def tenant(self, user):
        return f'/os-pclouds/{self.pcloud}/tenants/{user.project_id}'

    def cap(self, user=None, expected=204, by=None, **caps):
        """Cap what a tenant may use."""
        answer = (by or self.alice).call(
            'PUT', self.tenant(user or self.bob), {'tenant': caps})
        self.assertEqual(expected, answer.status_code, answer.text)
        return answer

    def caps(self):
        """Return the caps of the tenants, as the owner sees them."""
        return {each['id']: {name: cap for name, cap in each.items()
                             if name.startswith('max')}
                for each in self.alice.get_json(
                    f'/os-pclouds/{self.pcloud}/tenants')['tenants']}

    def start_small(self, user=None, **more):
        return self.boot(user or self.bob, self.inside,
                         flavorRef=self.small, **more)

    def refuse(self, expected=403, user=None, flavor=None, **more):
        """Return the message of a launch that nova-api refuses."""
        server = self._build_server(
            networks='none', flavor_id=flavor or self.small)
        answer = (user or self.bob).call('POST', '/servers', {
            'server': {**server, **more}, 'os:scheduler_hints': self.inside})
        self.assertEqual(expected, answer.status_code, answer.text)
        return message(answer)

    def action(self, server, body, expected=202, user=None):
        answer = (user or self.bob).call(
            'POST', f'/servers/{server["id"]}/action', body)
        self.assertEqual(expected, answer.status_code, answer.text)
        return answer

    def resize(self, server, flavor, expected=202):
        return self.action(
            server, {'resize': {'flavorRef': flavor}}, expected)

    def delete(self, server):
        self.admin.call_json('DELETE', f'/servers/{server["id"]}')
        self._wait_until_deleted(server)

    def shelve(self, server):
        self.act(server, {'shelve': None})
        self.wait_for(server, status='SHELVED_OFFLOADED')

    def past_nova_api(self):
        """Have nova-api check no caps, as another nova-api at that moment."""
        return mock.patch.object(servers, '_check_caps')


class SetTest(CapsTestCase):

    def test_life(self):
        self.assertEqual({base.ALICE: {}, base.BOB: {}}, self.caps())
        self.cap(max_servers=3, max_memory_mb=4096)
        its = {'max_servers': 3, 'max_memory_mb': 4096}
        self.assertEqual({base.ALICE: {}, base.BOB: its}, self.caps())
        self.assertEqual('servers=3 memory_mb=4096',
                         self.metadata()[f'pcloud:caps:{base.BOB}'])
        self.let_in(self.bob)
        self.assertEqual(its, self.caps()[base.BOB])
        self.assertEqual([], self.kinds())
        self.cap(max_vcpus=0, max_servers=None)
        self.assertEqual({'max_vcpus': 0}, self.caps()[base.BOB])
        self.cap()
        self.assertEqual({}, self.caps()[base.BOB])
        self.cap(max_servers=1)
        self.alice.call_json('DELETE', self.tenant(self.bob))
        self.assertEqual([], [key for key in self.metadata()
                              if key.startswith('pcloud:caps')])
        self.cap(max_servers=2)
        self.assertEqual({'max_servers': 2}, self.caps()[base.BOB])

    def test_wrong_bodies(self):
        for wrong in (-1, 1.5, '1', 2 ** 31, True, []):
            self.cap(expected=400, max_servers=wrong)
        self.cap(expected=400, servers=1)
        for body in ([], {}, {'tenant': None}, {'tenants': {}}):
            self.assertEqual(400, self.alice.call(
                'PUT', self.tenant(self.bob), body).status_code)
        self.assertEqual({}, self.caps()[base.BOB])

    def test_only_the_owner(self):
        self.cap(expected=403, by=self.bob, max_servers=9)
        self.cap(expected=404, by=self.carol, max_servers=9)
        self.cap(by=self.admin, max_servers=9)
        self.assertEqual({'max_servers': 9}, self.caps()[base.BOB])

    def test_hand_made_rows(self):
        self.set_metadata(**{f'pcloud:caps:{base.BOB}': 'servers=many'})
        self.assertEqual(['value-not-valid'], self.kinds())
        self.assertIn('cannot be read', self.refuse())
        self.start_small(self.alice)


class LaunchTest(CapsTestCase):

    def test_servers(self):
        self.cap(max_servers=2)
        first = self.start_small()
        self.assertIn('servers: requested 2, but already used 1 of 2',
                      self.refuse(min_count=2))
        self.start_small()
        self.assertIn('servers: requested 1, but already used 2 of 2',
                      self.refuse())
        self.boot(self.bob, {}, 'ERROR')
        self.start_small(self.alice)
        self.delete(first)
        self.start_small()

    def test_sizes(self):
        self.cap(max_vcpus=3, max_memory_mb=200)
        self.start_small()
        said = self.refuse(flavor=self.large)
        self.assertIn('vcpus: requested 3, but already used 1 of 3', said)
        self.assertIn('memory_mb: requested 192, but already used 64 of 200',
                      said)
        self.start_small(min_count=2)
        self.assertIn('vcpus', self.refuse())

    def test_a_row_that_nova_has_forgotten(self):
        """A database went away while nova-conductor wrote the server."""
        self.cap(max_servers=1)
        uuid = self.start_small()['id']
        api_engine, cell_engine, _ = self.engines()
        with cell_engine.begin() as connection:
            connection.execute(sa.update(models.Instance).where(
                models.Instance.uuid == uuid).values(
                    host=None, node=None, vm_state='building',
                    task_state='scheduling'))
        # As long as Nova finds the server, the server is being built.
        self.refuse()
        with api_engine.begin() as connection:
            connection.execute(sa.update(api_models.InstanceMapping).where(
                api_models.InstanceMapping.instance_uuid == uuid).values(
                    cell_id=None))
        self.start_small()
        self.refuse()

    def test_lowered_cap_refuses_only_more(self):
        first, second = self.start_small(), self.start_small()
        self.cap(max_servers=1)
        self.refuse()
        self.moves_to(first)
        self.resize(second, self.large)
        self.wait_for(second, status='VERIFY_RESIZE')

    def test_volume_boot(self):
        self.cap(max_servers=0)
        answer = self.bob.call('POST', '/servers', {'server': {
            'name': 'v', 'flavorRef': self.small, 'networks': 'none',
            'imageRef': '', 'block_device_mapping_v2': [{
                'boot_index': 0, 'uuid': 'a',
                'source_type': 'volume', 'destination_type': 'volume'}]},
            'os:scheduler_hints': self.inside})
        self.assertEqual(403, answer.status_code, answer.text)
        self.assertIn('already used 0 of 0', message(answer))

    def test_owner_and_default_pcloud(self):
        self.cap(self.alice, max_servers=1)
        self.alice.call_json(
            'PUT', f'/os-pcloud-policies/project/{base.ALICE}', {'policy': {
                'default_pcloud': {'pcloud': self.pcloud, 'mode': 'strict'}}})
        self.boot(self.alice, {})
        self.assertIn('already used 1 of 1', self.refused(
            403, {}, self.alice))
        self.start_small()

    def test_preferring_servers_go_outside(self):
        self.cap(max_servers=1)
        for status in ('ACTIVE', 'ERROR'):
            self.boot(self.bob, {'pcloud_prefer': self.pcloud}, status)

    def test_request_filter_asks_again(self):
        self.cap(max_servers=1)
        self.start_small()
        with self.past_nova_api():
            server = self.start_small(expected='ERROR')
            self.assertIn('requested 1, but already used 1 of 1',
                          self.fault(server))

    def test_servers_at_once(self):
        """All were let in by nova-api before one was placed."""
        self.cap(max_servers=3)
        with self.past_nova_api():
            started = [self.launch(self.inside, self.bob,
                                   flavor_id=self.small).json()['server']
                       for _ in range(8)]
            states = [self.wait_until_built(server) for server in started]
        self.assertEqual(3, states.count('ACTIVE'), states)

    def wait_until_built(self, server):
        found = {}

        def built():
            found.update(self.admin.get_server(server['id']))
            self.assertNotEqual('BUILD', found['status'])

        self.wait_until(built)
        return found['status']

    def test_servers_together_are_all_or_none(self):
        self.cap(max_servers=3)
        with self.past_nova_api():
            for number, status in ((3, 'ACTIVE'), (1, 'ERROR')):
                self.start_small(expected=status, min_count=number)

    def test_without_caps_no_statement(self):
        self.cap(self.carol, max_servers=0)
        costs, prepare = [], servers.prepare

        def counted(call, rbac):
            costs.append(counting.count(lambda: prepare(call, rbac)).sql)

        self.start_small()
        with mock.patch.object(servers, 'prepare', counted):
            self.start_small()
            with mock.patch.object(servers, '_check_caps'), (
                    mock.patch.object(tenant_caps, 'check_launch')):
                self.start_small()
        self.assertEqual(costs[0], costs[1])
        with mock.patch.object(tenant_caps, '_check') as asked:
            self.start_small()
        asked.assert_not_called()


class LaterTest(CapsTestCase):
    """What a server of a tenant does later."""

    def test_resize(self):
        server = self.start_small()
        self.cap(max_vcpus=2)
        self.assertIn('vcpus: requested 2, but already used 1 of 2', message(
            self.resize(server, self.large, 403)))
        self.cap(max_vcpus=3, max_servers=1)
        self.resize(server, self.large)
        self.wait_for(server, status='VERIFY_RESIZE')
        self.act(server, {'revertResize': None})
        self.wait_for(server, status='ACTIVE')

    def test_resize_counts_the_greater_flavor(self):
        server = self.boot(self.bob, self.inside, flavorRef=self.large)
        self.resize(server, self.small)
        self.wait_for(server, status='VERIFY_RESIZE')
        self.cap(max_vcpus=3)
        self.assertIn('already used 3 of 3', self.refuse())
        self.act(server, {'confirmResize': None})
        self.wait_for(server, status='ACTIVE')
        self.start_small()
        self.assertIn('already used 2 of 3', self.refuse(flavor=self.large))

    def test_resize_in_the_request_filter(self):
        server = self.start_small()
        self.cap(max_vcpus=2)
        with mock.patch('pcloud.api.nova_calls.kept_requests.check'):
            self.resize(server, self.large)
        self.wait_for(server, status='ACTIVE')
        self.assertEqual('small', self.admin.get_server(
            server['id'])['flavor']['original_name'])

    def test_unshelve(self):
        server = self.start_small()
        self.shelve(server)
        self.cap(max_servers=1)
        other = self.start_small()
        self.assertIn('already used 1 of 1', message(
            self.action(server, {'unshelve': None}, 403)))
        with mock.patch('pcloud.api.nova_calls.kept_requests.check'):
            self.action(server, {'unshelve': None})
            self.wait_for(server, status='SHELVED_OFFLOADED')
        self.delete(other)
        self.action(server, {'unshelve': None})
        self.wait_for(server, status='ACTIVE')

    def test_unshelves_at_once(self):
        servers_ = [self.start_small() for _ in range(2)]
        for server in servers_:
            self.shelve(server)
        self.cap(max_servers=1)
        with mock.patch.object(api.ComputeTaskAPI, 'unshelve_instance'):
            self.action(servers_[0], {'unshelve': None})
            self.assertIn('already used 1 of 1', message(
                self.action(servers_[1], {'unshelve': None}, 403)))
            self.assertIn('already used 1 of 1', self.refuse())

    def test_moves_are_not_counted(self):
        servers_ = [self.start_small() for _ in range(2)]
        self.cap(max_servers=0, max_vcpus=0, max_memory_mb=0)
        for server in servers_:
            self.moves_to(server)
        name = self.name_of(servers_[0])
        self.drain(name, move='live')
        self.wait_until(lambda: self.assertNotEqual(
            name, self.name_of(servers_[0])))


class CellsTest(test_cells.CellsTestCase):
    """Servers in two cells count, and a silent cell refuses."""

    def test_cells(self):
        tenants = f'/os-pclouds/{self.pcloud}/tenants'
        self.alice.call_json('PUT', f'{tenants}/{base.ALICE}', {
            'tenant': {'max_servers': 3}})
        self.alice.call_json('PUT', f'{tenants}/{base.BOB}')
        self.inside()
        answer = self.alice.call('POST', '/servers', {
            'server': self._build_server(networks='none'),
            'os:scheduler_hints': {'pcloud': self.pcloud}})
        self.assertEqual(403, answer.status_code, answer.text)
        self.assertIn('already used 3 of 3', message(answer))
        self.alice.call_json('PUT', f'{tenants}/{base.ALICE}', {
            'tenant': {'max_servers': 9}})
        self.outage()
        answer = self.alice.call('POST', '/servers', {
            'server': self._build_server(networks='none'),
            'os:scheduler_hints': {'pcloud': self.pcloud}})
        self.assertEqual(503, answer.status_code, answer.text)
        self.assertIn('is not known while', message(answer))
        with mock.patch.object(servers, '_check_caps'):
            server = self.inside('ERROR')
        self.assertIn('is not known while', self.fault(server))
        self.boot(self.bob, {'pcloud': self.pcloud})
