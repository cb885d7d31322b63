# SPDX-License-Identifier: Apache-2.0

"""Servers that name no Pcloud and go to one all the same, in real Nova."""

from unittest import mock

from nova import objects

from pcloud.audit import all_checks
from pcloud.scheduler import prefilter
from pcloud.tests.functional.quick import test_default_pcloud
from pcloud.tests.support import base


class PreferTest(test_default_pcloud.DefaultTestCase):
    """The hint ``pcloud_prefer``, given by a user or by a default."""

    def setUp(self):
        super().setUp()
        self.preferring = {'pcloud_prefer': self.pcloud}

    def test_inside_while_there_is_room(self):
        self.set_default('prefer')
        for _ in range(6):
            self.assertEqual('inside', self.place())
        self.assertEqual('outside', self.place())

    def test_several_are_never_half_inside(self):
        hints = {'os:scheduler_hints': self.preferring}
        for number, expected in ((4, {'inside'}), (3, {'outside'}),
                                 (2, {'inside'}), (1, {'outside'})):
            body = {'server': self._build_server(
                flavor_id='big', networks='none') | {
                    'min_count': number, 'return_reservation_id': True}}
            made = self.alice.call_json('POST', '/servers', body | hints)
            found = self.wait_until(lambda: self.several(
                made['reservation_id'], number))
            self.assertEqual(expected, set(map(self.where, found)), number)

    def several(self, reservation, number):
        found = self.admin.get_servers(search_opts={
            'all_tenants': 1, 'reservation_id': reservation})
        self.assertEqual(['ACTIVE'] * number,
                         [each['status'] for each in found])
        return found

    def test_hosts_that_take_no_server(self):
        self.enable('a', 'disabled')
        names = {self.inside[0]: 'a', self.inside[1]: 'b'}
        self.assertEqual({'a', 'b'}, set(names.values()))
        self.disable_service(self.inside[1])
        self.assertEqual('outside', self.place(hints=self.preferring))
        self.enable('a')
        self.set_down(self.inside[0])
        self.assertEqual('outside', self.place(hints=self.preferring))
        self.set_down(self.inside[0], False)
        self.assertEqual('inside', self.place(hints=self.preferring))

    def test_unknown_foreign_and_wrong(self):
        for pcloud in (test_default_pcloud.GONE,
                       self.make_pcloud(self.bob, 'theirs')):
            self.assertEqual('outside', self.place(
                hints={'pcloud_prefer': pcloud}))
        for hints in ({'pcloud_prefer': 'x'}, {'pcloud_prefer': []},
                      {'pcloud_prefer': None}, {'pcloud_prefer': 'none'},
                      {'pcloud_prefer': [self.pcloud] * 2},
                      {**self.preferring, 'pcloud': self.pcloud},
                      {**self.preferring, 'pcloud': 'none'}):
            self.assertEqual(400, self.place(hints=hints)[0], hints)
        self.assertEqual('error', self.place(
            hints={'pcloud': ['none', 'none']})[0])

    def test_server_groups_have_their_room(self):
        group = self.alice.call_json('POST', '/os-server-groups', {
            'server_group': {'name': 'g', 'policy': 'anti-affinity'}}
        )['server_group']['id']
        hints = {**self.preferring, 'group': group}
        self.assertEqual(['inside', 'inside', 'outside'], [
            self.place(hints=hints) for _ in range(3)])

    def test_a_filter_without_a_decision(self):
        """Nobody gets a host where the request filter was not asked."""
        with mock.patch.object(
                prefilter.request_filter, 'ALL_REQUEST_FILTERS', []):
            self.assertEqual('error', self.place(hints=self.preferring)[0])

    def test_placement_that_does_not_answer(self):
        with mock.patch(
                'pcloud.backend.calls.placement.candidates',
                side_effect=prefilter.exception.PlacementSilent):
            self.assertEqual('outside', self.place(hints=self.preferring))

    def test_moves_are_decided_anew(self):
        server = self.boot(self.alice, self.preferring, flavorRef='big')
        self.assertEqual('inside', self.where(server))
        first = self.host_of(server)
        other = (set(self.inside) - {first}).pop()
        self.act(server, {'migrate': None})
        self.wait_for(server, status='VERIFY_RESIZE')
        self.assertEqual(other, self.host_of(server))
        self.act(server, {'confirmResize': None})
        self.wait_for(server, status='ACTIVE')
        # The only other host is disabled.
        self.enable({first: 'a'}.get(self.inside[0], 'b'), 'disabled')
        self.act(server, {'migrate': None})
        self.wait_for(server, status='VERIFY_RESIZE')
        self.assertNotIn(self.host_of(server), self.inside)
        self.act(server, {'confirmResize': None})
        self.wait_for(server, status='ACTIVE')
        self.act(server, {'migrate': None})
        self.wait_for(server, status='VERIFY_RESIZE')
        self.assertEqual(other, self.host_of(server))

    def test_unshelving_one_of_several(self):
        """It counts as one server, and not as those of its start."""
        made = self.alice.call_json('POST', '/servers', {
            'server': self._build_server(
                flavor_id='big', networks='none') | {
                    'min_count': 6, 'return_reservation_id': True},
            'os:scheduler_hints': self.preferring})
        found = self.wait_until(lambda: self.several(
            made['reservation_id'], 6))
        self.flags(shelved_offload_time=0)
        server = found[0]
        self.act(server, {'shelve': None})
        self.wait_for(server, status='SHELVED_OFFLOADED')
        self.act(server, {'unshelve': None})
        self.assertEqual('inside', self.where(
            self.wait_for(server, status='ACTIVE')))
        self.act(server, {'shelve': None})
        self.wait_for(server, status='SHELVED_OFFLOADED')
        self.assertEqual('inside', self.place(hints=self.preferring))
        self.act(server, {'unshelve': None})
        self.assertEqual('outside', self.where(
            self.wait_for(server, status='ACTIVE')))

    def test_forced_moves(self):
        server = self.boot(self.alice, self.preferring)
        other = (set(self.inside) - {self.host_of(server)}).pop()
        self.enable('a', 'disabled')
        self.enable('b', 'disabled')
        statuses = [self.live_migrate(server, host)
                    for host in (other, 'node-3')]
        self.assertEqual([409, 202], statuses)

    def live_migrate(self, server, host):
        self.admin.microversion = '2.67'
        response = self.admin.call(
            'POST', f'/servers/{server["id"]}/action', {'os-migrateLive': {
                'host': host, 'block_migration': 'auto', 'force': True}})
        self.admin.microversion = 'latest'
        return response.status_code

    def test_audit(self):
        """A server is right inside the Pcloud and outside of pools."""
        self.boot(self.alice, self.preferring)
        self.assertEqual([], [
            each.kind for each in all_checks.find(self.context)])
        server = self.boot(self.alice, {
            'pcloud_prefer': test_default_pcloud.GONE})
        self._move_row(server, self.inside[0])
        self.assertIn('foreign-server', {
            each.kind for each in all_checks.find(self.context)})

    def test_audit_of_defaults(self):
        gone = self.make_pcloud(self.alice, 'gone')
        self.set_default('prefer', pcloud=gone)
        self.set_default('strict', scope='cloud', scope_id='default')
        self.set_default('strict', scope_id=base.BOB)
        self.alice.call_json('DELETE', f'/os-pclouds/{gone}')
        found = {each.aggregate: each.message
                 for each in all_checks.find(self.context)}
        self.assertEqual(
            {f'Pcloud:policy:project:{each}' for each
             in (base.ALICE, base.BOB)}, found.keys())
        self.assertIn('start outside', found[
            f'Pcloud:policy:project:{base.ALICE}'])
        self.assertIn('is no tenant: servers without a hint are refused',
                      found[f'Pcloud:policy:project:{base.BOB}'])

    def _move_row(self, server, host):
        instance = objects.Instance.get_by_uuid(self.context, server['id'])
        instance.host = host
        instance.save()
