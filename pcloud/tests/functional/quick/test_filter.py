# SPDX-License-Identifier: Apache-2.0

"""Isolation, through the real scheduler and the real Placement."""

import json
from unittest import mock

from nova.db.api import api as api_db
from nova.db.api import models
from nova import objects
from nova.scheduler import request_filter

from pcloud.backend.calls import placement
from pcloud.scheduler import prefilter
from pcloud.tests.support import base
from pcloud.tests.support import shared_cloud

NOWHERE = 'No valid host was found'


class MalformedHintTest(shared_cloud.SharedCloudTestCase):
    """A hint that is not one good id of one Pcloud gets no host at all."""

    hosts = {'node-1': 'az1', 'node-2': 'az2'}

    def furnish(self):
        super().furnish()
        self.make_pool('gpu', 'node-1')
        self.pcloud = self.make_pcloud(self.alice)
        self.add_host(self.alice, self.pcloud, 'web', 'gpu')

    def test_each(self):
        other = self.make_pcloud(self.alice, 'other')
        for hint in ('', 'web', self.pcloud.upper(), f' {self.pcloud}',
                     self.pcloud.replace('-', ''), 'mine', '%', 7, [],
                     [self.pcloud, self.pcloud], [self.pcloud, other],
                     '3f1c2ab4-5d6e-4f70-8a9b-0c1d2e3f4a5b'):
            server = self.boot(self.alice, {'pcloud': hint}, 'ERROR')
            self.assertIn(NOWHERE, self.fault(server), hint)
            self.assertIsNone(self.host_of(server), hint)

    def test_good_one_passes(self):
        server = self.boot(self.alice, {'pcloud': [self.pcloud]})
        self.assertEqual('node-1', self.host_of(server))


class AccessTest(shared_cloud.SharedCloudTestCase):
    """Who gets which host, rule by rule."""

    def furnish(self):
        super().furnish()
        self.make_pool('gpu', 'node-1', 'node-2')
        self.pcloud = self.make_pcloud(self.alice)
        self.host = self.add_host(self.alice, self.pcloud, 'web', 'gpu')

    def _metadata(self, changes):
        aggregate = self.aggregate(f'Pcloud:{self.pcloud}')
        self.admin.post_aggregate_action(
            aggregate.id, {'set_metadata': {'metadata': changes}})

    def _refused(self, user, **more):
        server = self.boot(user, {'pcloud': self.pcloud}, 'ERROR', **more)
        self.assertIn(NOWHERE, self.fault(server))
        self.assertIsNone(self.host_of(server))
        return self.fault(server)

    def test_tenants_come_and_go(self):
        self._refused(self.bob)
        self._metadata({f'pcloud:{base.BOB}': 'pcloud-tenant'})
        server = self.boot(self.bob, {'pcloud': self.pcloud})
        self.assertEqual(self.host, self.host_of(server))
        self._metadata({f'pcloud:{base.ALICE}': None})
        self._refused(self.alice)

    def test_unknown_and_foreign_read_the_same(self):
        foreign = self._refused(self.bob)
        unknown = '3f1c2ab4-5d6e-4f70-8a9b-0c1d2e3f4a5b'
        server = self.boot(self.bob, {'pcloud': unknown}, 'ERROR')
        self.assertEqual(foreign.replace(self.pcloud, unknown),
                         self.fault(server))

    def test_disabled_host(self):
        self.alice.call_json(
            'PUT', f'/os-pclouds/{self.pcloud}/hosts/web',
            {'host': {'state': 'disabled'}})
        self.assertIn('no enabled host', self._refused(self.alice))

    def test_host_without_state(self):
        second = self.add_host(self.alice, self.pcloud, 'db', 'gpu')
        self._metadata({f'pcloud:host_state:{self.host}.hv.example.org':
                        None})
        for _ in range(2):
            server = self.boot(self.alice, {'pcloud': self.pcloud})
            self.assertEqual(second, self.host_of(server))
        warning = (f'has no state of its hosts {self.host}; no project gets '
                   'them')
        self.assertEqual(1, self.stdlog.logger.output.count(warning))

    def test_host_with_a_state_under_another_name(self):
        """A compute node was renamed."""
        key = f'pcloud:host_state:{self.host}.hv.example.org'
        self._metadata({key: None, f'{key}2': 'enabled'})
        self._refused(self.alice)
        self.assertIn(f'no state of its hosts {self.host};',
                      self.stdlog.logger.output)

    def test_host_in_two_pclouds_is_nobodys(self):
        other = self.make_pcloud(self.bob)
        aggregate = self.aggregate(f'Pcloud:{other}')
        self.admin.add_host_to_aggregate(aggregate.id, self.host)
        self.admin.post_aggregate_action(aggregate.id, {'set_metadata': {
            'metadata': {
                f'pcloud:host_state:{self.host}.hv.example.org': 'enabled',
                'pcloud:host:x': f'{self.host}.hv.example.org'}}})
        self._refused(self.alice)
        server = self.boot(self.bob, {'pcloud': other}, 'ERROR')
        self.assertIn(NOWHERE, self.fault(server))
        self.assertEqual(2, self.stdlog.logger.output.count(
            'are in another Pcloud too'))

    def test_pcloud_that_lost_its_type_keeps_its_host_closed(self):
        pool = self.aggregate('Pcloud:host_flavor:gpu')
        for host in ('node-1', 'node-2'):
            self.admin.post_aggregate_action(
                pool.id, {'remove_host': {'host': host}})
        self._metadata({'pcloud:type': None})
        self._refused(self.alice)
        servers = [self.boot(self.alice) for _ in range(4)]
        self.assertNotIn(self.host, {self.host_of(s) for s in servers})

    def test_pool_that_lost_its_name_keeps_its_hosts_closed(self):
        """The request filter looks for names; hosts are closed by type too."""
        pool = self.aggregate('Pcloud:host_flavor:gpu')
        pool.name = 'lost'
        pool.save()
        servers = [self.boot(self.bob) for _ in range(4)]
        self.assertLessEqual(
            {self.host_of(s) for s in servers}, {'node-3', 'node-4'})
        for host in ('node-1', 'node-2'):
            server = self.boot(self.admin, expected='ERROR',
                               zone=f'{self.hosts[host]}:{host}')
            self.assertIsNone(self.host_of(server))

    def test_forced_host_without_hint_is_refused(self):
        for host, zone in self.hosts.items():
            closed = host in ('node-1', 'node-2')
            server = self.boot(self.admin, zone=f'{zone}:{host}',
                               expected='ERROR' if closed else 'ACTIVE')
            self.assertEqual(None if closed else host, self.host_of(server))

    def _only_its_own(self, name):
        """Name each host for a server of the Pcloud; one gets the server.

        :param name: gets a host, returns how the host is named
        """
        self._metadata({f'pcloud:{base.CAROL}': 'pcloud-tenant'})
        for host in self.hosts:
            own = host == self.host
            server = self.boot(
                self.admin, {'pcloud': self.pcloud},
                'ACTIVE' if own else 'ERROR', **name(host))
            self.assertEqual(host if own else None, self.host_of(server))
            self.assertNotIn('AttributeError', str(server.get('fault')))

    def test_forced_host_with_hint_obeys_the_pcloud(self):
        self._only_its_own(lambda host: {
            'zone': f'{self.hosts[host]}:{host}'})

    def test_forced_disabled_host_is_refused(self):
        self._metadata({f'pcloud:{base.CAROL}': 'pcloud-tenant'})
        second = self.add_host(self.alice, self.pcloud, 'db', 'gpu')
        self.alice.call_json(
            'PUT', f'/os-pclouds/{self.pcloud}/hosts/web',
            {'host': {'state': 'disabled'}})
        self.boot(self.admin, {'pcloud': self.pcloud}, 'ERROR',
                  zone=f'{self.hosts[self.host]}:{self.host}')
        self.boot(self.admin, {'pcloud': self.pcloud}, 'ACTIVE',
                  zone=f'{self.hosts[second]}:{second}')

    def test_forced_host_that_placement_takes_for_one_of_the_pcloud(self):
        self._metadata({f'pcloud:{base.CAROL}': 'pcloud-tenant'})
        self.aggregate(f'Pcloud:{self.pcloud}').delete_host(self.host)
        for place in (self.host, f':{self.host}.hv.example.org'):
            server = self.boot(
                self.admin, {'pcloud': self.pcloud}, 'ERROR',
                zone=f'{self.hosts[self.host]}:{place}')
            self.assertIn('not an enabled host', self.fault(server))

    def test_forced_node(self):
        self._only_its_own(lambda host: {
            'zone': f'{self.hosts[host]}::{host}.hv.example.org'})

    def test_destination_that_is_a_node(self):
        self._only_its_own(lambda host: {
            'hypervisor_hostname': f'{host}.hv.example.org'})

    def test_hint_by_which_nova_marks_rebuilds(self):
        """Some versions of Nova have kept the hint where users gave it."""
        server = self.boot(self.bob)
        with api_db.context_manager.writer.using(self.context) as session:
            row = session.query(models.RequestSpec).filter_by(
                instance_uuid=server['id']).one()
            spec = json.loads(row.spec)
            spec['nova_object.data']['scheduler_hints'] = {
                '_nova_check_type': ['rebuild']}
            row.spec = json.dumps(spec)
        for host, closed in (('node-1', True), ('node-2', True),
                             ('node-3', False), ('node-4', False)):
            if host == self.host_of(server):
                continue
            self.act(server, {'os-migrateLive': {
                'host': host, 'block_migration': 'auto'}})
            self.wait_until(lambda: self.assertIsNone(self.admin.get_server(
                server['id'])['OS-EXT-STS:task_state']))
            self.assertEqual(not closed, host == self.host_of(server), host)

    def test_multi_create_stays_inside(self):
        self.add_host(self.alice, self.pcloud, 'db', 'gpu')
        first = self.boot(self.alice, {'pcloud': self.pcloud},
                          min_count=4, max_count=4)
        servers = self.alice.get_servers()
        self.assertEqual(4, len(servers))
        for server in servers:
            self._wait_for_state_change(server, 'ACTIVE')
            self.assertIn(self.host_of(server), ('node-1', 'node-2'))
        self.assertIn(first['id'], {server['id'] for server in servers})

    def test_stale_cache_opens_nothing(self):
        """The scheduler has lost the news that a host is in a pool."""
        manager = self.scheduler.manager.host_manager
        stale = objects.AggregateList.get_all(self.context)
        for aggregate in stale:
            if aggregate.name.startswith('Pcloud:'):
                aggregate.hosts = []
                aggregate.metadata = {}
        manager.update_aggregates(stale)
        servers = [self.boot(self.bob) for _ in range(4)]
        self.assertLessEqual(
            {self.host_of(s) for s in servers}, {'node-3', 'node-4'})
        server = self.boot(self.alice, {'pcloud': self.pcloud})
        self.assertEqual(self.host, self.host_of(server))


class ReasonTest(shared_cloud.SharedCloudTestCase):
    """The owner is told what to do about a Pcloud that takes no more."""

    hosts = {'node-1': 'az1', 'node-2': 'az2'}

    def furnish(self):
        super().furnish()
        self.make_pool('gpu', 'node-1', 'node-2')
        self.pcloud = self.make_pcloud(self.alice)
        self.flavor = self._create_flavor(vcpu=1, memory_mb=4000, disk=1)

    def _refused(self, **more):
        server = self.boot(self.alice, {'pcloud': self.pcloud}, 'ERROR',
                           flavorRef=self.flavor, **more)
        return self.fault(server)

    def test_each_reason(self):
        self.assertIn('it has no enabled host', self._refused())
        self.add_host(self.alice, self.pcloud, 'a', 'gpu',
                      availability_zone='az1')
        self.assertIn('its only enabled host has no capacity',
                      self._refused(zone='az2'))
        self.boot(self.alice, {'pcloud': self.pcloud},
                  flavorRef=self.flavor)
        told = self._refused()
        self.assertIn('its only enabled host has no capacity', told)
        self.assertNotIn('enable it', told)
        self.add_host(self.alice, self.pcloud, 'b', 'gpu', enable=False)
        self.assertIn('but its other host has; enable it',
                      self._refused())
        self.alice.call_json(
            'PUT', f'/os-pclouds/{self.pcloud}/hosts/b',
            {'host': {'state': 'enabled'}})
        self.boot(self.alice, {'pcloud': self.pcloud},
                  flavorRef=self.flavor)
        self.assertIn('none of its 2 enabled hosts has capacity',
                      self._refused())

    def test_placement_is_asked_where_room_is_not_plain(self):
        """Only what nova-compute cannot tell costs another call."""
        self.add_host(self.alice, self.pcloud, 'a', 'gpu',
                      availability_zone='az1')
        trait = self._create_flavor(
            memory_mb=4000, extra_spec={'trait:HW_CPU_X86_VMX': 'forbidden'})
        for more in ({'zone': 'az1'}, {'flavorRef': trait}, {}):
            with mock.patch.object(placement, 'offered',
                                   wraps=placement.offered) as offered:
                server = self.boot(self.alice, {'pcloud': self.pcloud},
                                   **{'flavorRef': self.flavor, **more})
            self.assertEqual(bool(more), offered.called, more)
            self._delete_server(server)


class FilterAloneTest(shared_cloud.SharedCloudTestCase):
    """What the filter does when Placement was told nothing."""

    def setUp(self):
        super().setUp()
        request_filter.ALL_REQUEST_FILTERS.remove(
            prefilter.pcloud_aggregates)
        self.addCleanup(prefilter.register)
        self.make_pool('gpu', 'node-1', 'node-2')
        self.pcloud = self.make_pcloud(self.alice)
        self.host = self.add_host(self.alice, self.pcloud, 'web', 'gpu')

    def test_rules_hold(self):
        for _ in range(4):
            self.assertIn(self.host_of(self.boot(self.alice)),
                          ('node-3', 'node-4'))
        server = self.boot(self.alice, {'pcloud': self.pcloud})
        self.assertEqual(self.host, self.host_of(server))
        for user, hint in ((self.bob, self.pcloud), (self.alice, 'x'),
                           (self.alice, [self.pcloud, self.pcloud]),
                           (self.alice, self.pcloud.upper())):
            server = self.boot(user, {'pcloud': hint}, 'ERROR')
            self.assertIn(NOWHERE, self.fault(server))


class NarrowTest(shared_cloud.SharedCloudTestCase):
    """Placement's limit does not hide a small Pcloud in a large cloud."""

    def setUp(self):
        super().setUp()
        self.flags(max_placement_results=1, group='scheduler')

    def test_pcloud_is_found_and_pools_are_not_in_the_way(self):
        self.make_pool('gpu', 'node-1', 'node-2', 'node-3')
        pcloud = self.make_pcloud(self.alice)
        host = self.add_host(self.alice, pcloud, 'web', 'gpu')
        for _ in range(3):
            inside = self.boot(self.alice, {'pcloud': pcloud})
            self.assertEqual(host, self.host_of(inside))
            self.assertEqual('node-4', self.host_of(self.boot(self.alice)))

    def test_disabled_hosts_do_not_hide_the_enabled_one(self):
        self.make_pool('gpu', 'node-1', 'node-2', 'node-3', 'node-4')
        pcloud = self.make_pcloud(self.alice)
        hosts = {name: self.add_host(self.alice, pcloud, name, 'gpu',
                                     enable=False) for name in 'abcd'}
        path = f'/os-pclouds/{pcloud}/hosts'
        for name, host in hosts.items():
            self.alice.call_json('PUT', f'{path}/{name}', {
                'host': {'state': 'enabled'}})
            self.assertEqual(host, self.host_of(
                self.boot(self.alice, {'pcloud': pcloud})))
            self.alice.call_json('PUT', f'{path}/{name}', {
                'host': {'state': 'disabled'}})
