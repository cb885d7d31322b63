# SPDX-License-Identifier: Apache-2.0

"""Servers that are built late, and on alternates, while hosts change hands."""

from unittest import mock

import ddt
import fixtures
from nova import objects

from pcloud.audit import all_checks
from pcloud.backend.cells import arrivals
from pcloud.scheduler import request
from pcloud.tests.support import base
from pcloud.tests.support import driver
from pcloud.tests.worlds import compared
from pcloud.tests.worlds import copies
from pcloud.tests.worlds import turns
from pcloud.tests.worlds import world

# MiB of a server's memory.
_MEMORY = 512
GPU = '/os-host-flavors/gpu/hosts'


class BuildingTestCase(world.WorldTestCase):
    """Servers of which the first build fails, and no later build.

    The alternate of a server is the other host, unless the launch has placed
    another server there. A server in a Pcloud has no alternate.

    :cvar failures: how many of the first builds fail
    """

    compute_driver = 'fake.HeldDriver'
    failures = 1

    def setUp(self):
        self.useFixture(fixtures.MonkeyPatch(
            'nova.virt.fake.HeldDriver', driver.HeldDriver))
        driver.HeldDriver.gate = driver.Gate()
        driver.HeldDriver.gate.failures = self.failures
        super().setUp()
        # Depends on the time that the machine takes.
        self.flags(resource_provider_association_refresh=0, group='compute')
        # Free memory alone decides which host is the first.
        self.flags(cpu_weight_multiplier=0, disk_weight_multiplier=0,
                   io_ops_weight_multiplier=0, group='filter_scheduler')
        self.make_pool('gpu')
        self.mine = self.make_pcloud(self.alice)

    def prefer(self, host, servers=1):
        """Have schedulers prefer a host until servers are placed there."""
        node, = objects.ComputeNodeList.get_all_by_host(self.context, host)
        node.free_ram_mb += servers * _MEMORY - 1
        node.save()

    def builder(self, project, hint=None, number=1):
        """Return the actor that has servers built."""
        def work():
            user = self.client_of('builder', project)
            body = {'server': {**self._build_server(
                flavor_id='1', networks='none', az='az1'), 'name': 'built',
                'min_count': number, 'return_reservation_id': True}}
            if hint:
                body['os:scheduler_hints'] = {'pcloud': hint}
            user.call_json('POST', '/servers', body)
        return turns.Actor('builder', work, stands=False)

    def taking(self, project, pcloud):
        """Yield the calls that get a host and have servers placed there."""
        path = f'/os-pclouds/{pcloud}/hosts'
        yield project, world.MEMBER, ('POST', path, {
            'host': {'name': 'new', 'host_flavor': 'gpu'}})
        yield project, world.MEMBER, ('PUT', f'{path}/new', {
            'host': {'state': 'enabled'}})

    def remembered(self):
        """Return what decides which hosts are selected, and which build fails.

        These are the aggregates that the scheduler knows, and the number of
        builds that are going to fail. There is a single launch, so after the
        selection the scheduler decides nothing.
        """
        known = self.scheduler.manager.host_manager.aggs_by_id
        return [max(0, driver.HeldDriver.gate.failures),
                [_known_of_placement(service) for _, service
                 in sorted(self.computes.items())],
                {} if self.places.has_selected else {
                    key: [each.name, sorted(each.hosts), each.metadata]
                    for key, each in known.items()}]

    def _check_end(self):
        # The servers, and hosts that wait for them, may be the only findings.
        self.assertLessEqual(
            {each.kind for each in all_checks.find(self.context, settle=0)},
            {'server-on-free-host', 'change-not-finished'})
        for server in self.admin.get_servers(
                search_opts={'all_tenants': 1}):
            self._delete_server(server)
        super()._check_end()


def _known_of_placement(compute):
    """Return what a compute service remembers of the resource providers."""
    data = [each.data() for each
            in compute.manager.reportclient._provider_tree.roots]
    return [[each.name, each.generation, sorted(each.traits),
             sorted(each.aggregates), each.inventory] for each in data]


class EnteringTestCase(BuildingTestCase):
    """A public host of two enters a pool, and a user requests the host."""

    def setUp(self):
        super().setUp()
        self.entering = self.actor(
            'mover',
            (base.CAROL, world.ADMIN, (
                'PUT', f'/os-services/{self.service_id("node-2")}',
                {'status': 'disabled'})),
            (base.CAROL, world.ADMIN, (
                'POST', GPU, {'host': {'host': 'node-2'}})),
            *self.taking(base.ALICE, self.mine))


@ddt.ddt
class EnteringTest(EnteringTestCase):

    @ddt.data('node-1', 'node-2')
    def test_one_server(self, host):
        self.prefer(host)
        self.explore(self.builder(base.BOB), self.entering)

    @ddt.data('node-1', 'node-2')
    def test_two_servers_on_a_host(self, host):
        self.prefer(host, 2)
        self.explore(self.builder(base.BOB, number=2), self.entering)

    def test_two_servers_on_two_hosts(self):
        self.prefer('node-1')
        self.explore(self.builder(base.BOB, number=2), self.entering)


@ddt.ddt
class PlantedTest(EnteringTestCase):
    """The same with hosts that do not settle."""

    @ddt.data(1, 2)
    def test_a_server_on_a_host_of_another_project(self, servers):
        self.prefer('node-1', servers)
        with (mock.patch.object(arrivals, 'awaited', lambda *_: frozenset()),
              self.assertRaisesRegex(copies.CopyFailed, "'node-2' not in")):
            self.explore(self.builder(base.BOB, number=servers),
                         self.entering)


class LeavingTestCase(BuildingTestCase):
    """A host of two leaves a Pcloud, and a second user requests the host."""

    def setUp(self):
        super().setUp()
        for host in self.hosts:
            self.disable_service(host)
            self.admin.call_json('POST', GPU, {'host': {'host': host}})
        theirs = self.make_pcloud(self.bob)
        names = {self.add_host(self.alice, self.mine, name, 'gpu'): name
                 for name in 'ab'}
        path = f'/os-pclouds/{self.mine}/hosts/{names["node-2"]}'
        self.disabling = base.ALICE, world.MEMBER, ('PUT', path, {
            'host': {'state': 'disabled'}})
        self.leaving = self.actor(
            'mover', self.disabling,
            (base.ALICE, world.MEMBER, ('DELETE', path)),
            *self.taking(base.BOB, theirs))


@ddt.ddt
class LeavingTest(LeavingTestCase):

    @ddt.data('node-1', 'node-2')
    def test_one_server(self, host):
        self.prefer(host)
        self.explore(self.builder(base.ALICE, self.mine), self.leaving)

    @ddt.data('node-1', 'node-2')
    def test_two_servers_on_a_host(self, host):
        self.prefer(host, 2)
        self.explore(self.builder(base.ALICE, self.mine, 2), self.leaving)

    def test_two_servers_on_two_hosts(self):
        self.prefer('node-1')
        self.explore(self.builder(base.ALICE, self.mine, 2), self.leaving)


class TenantTestCase(BuildingTestCase):
    """A tenant launches a server, and is a tenant no more."""

    def setUp(self):
        super().setUp()
        for name, host in zip('ab', self.hosts, strict=True):
            self.disable_service(host)
            self.admin.call_json('POST', GPU, {'host': {'host': host}})
            self.add_host(self.alice, self.mine, name, 'gpu')
        path = f'/os-pclouds/{self.mine}/tenants/{base.BOB}'
        self.alice.call_json('PUT', path)
        self.removing = self.actor(
            'mover', (base.ALICE, world.MEMBER, ('DELETE', path)))

    def _check(self):
        super()._check()
        # The first build has failed, so this is a later choice of a host.
        self.assertEqual([], self.rows.servers())


class TenantTest(TenantTestCase):

    def test_one_server(self):
        self.explore(self.builder(base.BOB, self.mine), self.removing)


class PlantedTenantTest(TenantTestCase):

    def test_alternates_of_a_server_in_a_pcloud(self):
        with (mock.patch.object(request, 'is_final', lambda spec: False),
              self.assertRaisesRegex(copies.CopyFailed, 'Server')):
            self.explore(self.builder(base.BOB, self.mine), self.removing)


class ComparedTest(compared.ComparedTestCase, LeavingTestCase):
    """Launches, alone or beside a call, with more and less that is equal."""

    def test_a_server_beside_a_call(self):
        self.prefer('node-1')
        self.compare(self.builder(base.ALICE, self.mine),
                     self.actor('mover', self.disabling))

    def test_two_servers(self):
        self.prefer('node-1', 2)
        self.compare(self.builder(base.ALICE, self.mine, 2))

    def test_two_servers_beside_a_call(self):
        self.prefer('node-1', 2)
        self.compare_launches(self.builder(base.ALICE, self.mine, 2),
                              self.actor('mover', self.disabling))
