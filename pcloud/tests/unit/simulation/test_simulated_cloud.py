# SPDX-License-Identifier: Apache-2.0

"""The simulation chooses as Nova's and Pcloud's own weighers choose."""

import collections
import dataclasses
import datetime
import random

import ddt
import fixtures
from nova import conf as nova_conf
from nova import objects
from nova.scheduler import host_manager
from nova.scheduler import weights as nova_weights
from oslo_config import fixture
from oslo_utils import timeutils
import testtools

from pcloud import conf
from pcloud import names
from pcloud.rules.placing import attributes
from pcloud_simulator import bits
from pcloud_simulator import fleets
from pcloud_simulator import host_scores
from pcloud_simulator import replay
from pcloud_simulator import simulated_cloud
from pcloud_simulator import weight_sets
from pcloud_simulator import workload

CONF = nova_conf.CONF
BEGIN = datetime.datetime(2026, 11, 2, tzinfo=datetime.UTC)
BUCKET = datetime.timedelta(days=7)
WEIGHERS = ['nova.scheduler.weights.all_weighers'] + [
    f'pcloud.scheduler.weights.{path}' for path in (
        'platform.PlatformWeigher', 'reboot.RebootWeigher',
        'hardware_class.HardwareClassWeigher')]
# Nova's options are in [filter_scheduler], and Pcloud's in [pcloud].
GROUPS = dict.fromkeys(weight_sets.NOVA, 'filter_scheduler') | dict.fromkeys(
    weight_sets.PCLOUD, 'pcloud')

SIZES = [workload.Size(memory, cpus, disk) for memory, cpus, disk in (
    (1024, 1, 0), (4096, 2, 20), (8192, 2, 20), (8192, 8, 40),
    (32768, 8, 160), (65536, 24, 160))]
SHAPES = [fleets.Shape(16, 65536, 1000), fleets.Shape(48, 98304, 2000, 2.0),
          fleets.Shape(8, 131072, 500, 1.5, 1.25, 2.0)]


def make_hosts(chance, count):
    """Return hosts with few values of each attribute, or with many."""
    dotted = chance.random() < 0.3
    many_dates = chance.random() < 0.3

    def platform():
        return chance.choice(
            [None, '2.9', '2.10', '2.10.1', '3'] if dotted else
            [None, *fleets.PLATFORMS])

    def reboot():
        days = chance.uniform(-5, 90) if many_dates else chance.choice(
            [-3, 2, 9, 30, 31, 60])
        return chance.choice(
            [None, BEGIN + datetime.timedelta(seconds=round(days * 86400))])

    return [fleets.FleetHost(
        f'host-{number}', chance.choice(SHAPES), platform(), reboot(),
        chance.choice([None, 1.0, 2.5, 4.0]),
        chance.choice([0, 6002000, 8002000])) for number in range(count)]


def make_weights(chance):
    """Return weights among which no two sums are equal by accident."""
    return weight_sets.Weights('any', {
        weigher: chance.choice([0.0, chance.uniform(-2, 2)])
        for weigher in GROUPS})


class NovaTest(testtools.TestCase):
    """Nova's own handler and weighers say which hosts are best."""

    def setUp(self):
        super().setUp()
        # Nova writes every weight of every host.
        self.useFixture(fixtures.FakeLogger('nova'))
        self.conf = self.useFixture(fixture.Config(CONF))
        CONF([], project='nova', default_config_files=[])
        conf.register_opts(CONF)
        objects.register_all()
        self.addCleanup(timeutils.clear_time_override)
        handler = nova_weights.HostWeightHandler()
        self.weighers = [weigher() for weigher
                         in handler.get_matching_classes(WEIGHERS)]
        self.handler = handler

    def configure(self, weights):
        for weigher, group in GROUPS.items():
            self.conf.config(group=group, **{
                f'{weigher}_weight_multiplier': weights.weight(weigher)})

    def _state(self, host, used):
        state = host_manager.HostState(host.name, host.name, 'cell')
        shape = host.shape
        state.total_usable_ram_mb = shape.memory_mb
        state.free_ram_mb = shape.memory_mb - sum(
            size.memory_mb for size in used)
        state.free_disk_mb = 1024 * (
            shape.disk_gb - sum(size.disk_gb for size in used))
        state.vcpus_total = shape.vcpus
        state.vcpus_used = sum(size.vcpus for size in used)
        state.cpu_allocation_ratio = shape.cpu_ratio
        state.num_instances = len(used)
        state.hypervisor_version = host.version
        state.metrics = []
        metadata = {}
        for name, value in ((attributes.PLATFORM, host.platform),
                            (attributes.HARDWARE, host.hardware),
                            (attributes.REBOOT, host.reboot and
                             host.reboot.isoformat())):
            if value is not None:
                metadata[names.attribute_key(name)] = str(value)
        state.aggregates = [objects.Aggregate(metadata=metadata)]
        return state

    @staticmethod
    def has_room(host, used, size):
        """Tell what Placement says, written differently."""
        shape = host.shape
        return all(
            wanted <= total and wanted + sum(taken) <= int(total * ratio)
            for wanted, total, ratio, taken in (
                (size.memory_mb, shape.memory_mb, shape.ram_ratio,
                 [each.memory_mb for each in used]),
                (size.vcpus, shape.vcpus, shape.cpu_ratio,
                 [each.vcpus for each in used]),
                (size.disk_gb, shape.disk_gb, shape.disk_ratio,
                 [each.disk_gb for each in used])))

    def nova(self, hosts, used, size, now):
        """Return the numbers of the best hosts, and of all with capacity."""
        timeutils.set_time_override(now)
        room = [number for number, host in enumerate(hosts)
                if self.has_room(host, used[number], size)]
        states = {number: self._state(hosts[number], used[number])
                  for number in room}
        numbers = {state.host: number for number, state in states.items()}
        weighed = self.handler.get_weighed_objects(
            self.weighers, list(states.values()), objects.RequestSpec(
                instance_group=None, requested_destination=None, image=None))
        self.weight_of = {
            numbers[each.obj.host]: each.weight for each in weighed}
        return {numbers[each.obj.host] for each in weighed
                if each.weight >= weighed[0].weight - 1e-9}, set(room)


@ddt.ddt
class AsNovaTest(NovaTest):
    """Random hosts and random weights."""

    def _check(self, chance, count):
        weights = make_weights(chance)
        self.configure(weights)
        cloud = simulated_cloud.SimulatedCloud(
            make_hosts(chance, count), weights, BEGIN, BUCKET)
        used = [[] for _ in cloud.hosts]
        for _ in range(chance.randrange(6 * count)):
            size = chance.choice(SIZES)
            number = chance.randrange(count)
            if used[number] and chance.random() < 0.3:
                ended = used[number].pop()
                cloud.end(number, ended)
            # Now and then onto a host without capacity, as ratios may change.
            elif chance.random() < 0.1 or self.has_room(
                    cloud.hosts[number], used[number], size):
                used[number].append(size)
                cloud.start(number, size)
        now = BEGIN + datetime.timedelta(days=chance.choice([0, 0, 9, 40]))
        for number, host in enumerate(cloud.hosts):
            if host.reboot is not None and host.reboot <= now:
                cloud.reboot(number)
        for size in SIZES:
            best, room = self.nova(cloud.hosts, used, size, now)
            self.assertEqual(room, members(cloud.with_room(size)))
            self.assertEqual(best, members(cloud.best(size)), weights)
            self._check_ranked([*map(members, cloud.ranked(size))], best)

    def _check_ranked(self, ranked, best):
        self.assertEqual([best] if best else [], ranked[:1])
        self.assertEqual(sorted(self.weight_of), sorted(
            number for numbers in ranked for number in numbers))
        spans = [(min(found), max(found)) for found in (
            [self.weight_of[number] for number in numbers]
            for numbers in ranked)]
        for (least, most), following in zip(spans, [*spans[1:], None]):
            self.assertAlmostEqual(least, most, delta=1e-8)
            if following:
                self.assertGreater(least, following[1])

    @ddt.data(*range(20))
    def test_best(self, seed):
        chance = random.Random(seed)
        for _ in range(5):
            self._check(chance, chance.choice([1, 2, 5, 12, 40]))

    def test_more_memory_is_given_out_than_there_is(self):
        """Nova counts what is left as 0, however much is missing."""
        weights = weight_sets.Weights('any', {'ram': -1.0, 'cpu': 0.01})
        self.configure(weights)
        shape = fleets.Shape(64, 65536, 100, 4.0, 2.0)
        hosts = [fleets.FleetHost(name, shape) for name in 'abc']
        size = workload.Size(8192, 1)
        used = [[size] * 8, [size] * 9, [size]]
        cloud = simulated_cloud.SimulatedCloud(hosts, weights, BEGIN, BUCKET)
        for number, sizes in enumerate(used):
            for each in sizes:
                cloud.start(number, each)
        best, _ = self.nova(cloud.hosts, used, size, BEGIN)
        self.assertEqual({0}, best)
        self.assertEqual(best, members(cloud.best(size)))

    def test_a_disk_larger_than_that_of_a_host(self):
        """The ratio is for all servers together, not for one server."""
        cloud = simulated_cloud.SimulatedCloud(
            [fleets.FleetHost(
                'a', fleets.Shape(8, 8192, 100, disk_ratio=2.0))],
            weight_sets.parse('ram=1'), BEGIN, BUCKET)
        for disk_gb, found in ((101, set()), (100, {0})):
            size = workload.Size(1024, 1, disk_gb)
            self.assertEqual(found, members(cloud.with_room(size)))
            self.assertEqual(bool(found), self.has_room(
                cloud.hosts[0], [], size))

    def test_defaults(self):
        for weigher, group in GROUPS.items():
            weight = {**weight_sets.NOVA, **weight_sets.PCLOUD}[weigher]
            self.assertEqual(
                weight, CONF[group][f'{weigher}_weight_multiplier'], weigher)

    def test_what_is_left_out_says_nothing(self):
        """No other weigher of Nova tells hosts of a simulation apart."""
        taken = {'ram', 'cpu', 'disk', 'num_instances', 'hypervisor_version'}
        known = {
            'RAMWeigher', 'CPUWeigher', 'DiskWeigher', 'NumInstancesWeigher',
            'HypervisorVersionWeigher'}
        self.assertEqual(taken, set(weight_sets.NOVA))
        states = [nova_weights.WeighedHost(self._state(host, used), 0.0)
                  for host, used in zip(
                      make_hosts(random.Random(0), 8),
                      [[], SIZES[:1], SIZES, SIZES[2:]] * 2)]
        spec = objects.RequestSpec(
            instance_group=None, requested_destination=None, image=None)
        different = {
            type(weigher).__name__ for weigher in self.weighers
            if type(weigher).__module__.startswith('nova.') and len(set(
                weigher.weigh_objects(states, spec))) > 1}
        self.assertEqual(known, different)


@ddt.ddt
class ReplayAsNovaTest(NovaTest):
    """A whole trace goes where Nova's weighers send each server in turn."""

    HOURS = 48

    def _world(self, chance):
        hours = [chance.randrange(self.HOURS + 1) for _ in range(90)]
        servers = sorted((
            workload.TraceServer(
                hour * 3600.0, chance.choice([
                    workload.FOREVER,
                    (hour + chance.randrange(20)) * 3600.0]),
                chance.choice(SIZES)) for hour in hours),
            key=lambda server: server.start)
        hosts = [dataclasses.replace(host, reboot=chance.choice([
            None, BEGIN + datetime.timedelta(
                hours=chance.randrange(-2, 3 * self.HOURS))]))
            for host in make_hosts(chance, 8)]
        return replay.World(
            workload.Trace(tuple(servers), self.HOURS * 3600.0, BEGIN),
            hosts, BEGIN, datetime.timedelta(days=1), chance.randrange(9), 5)

    def _places(self, world, hosts):
        """Return the number of each server's host, None when refused."""
        first, later = (random.Random(world.seed + number)
                        for number in range(2))
        places = []
        for server in world.trace.servers:
            used = [[other.size for place, other in zip(
                places, world.trace.servers, strict=False)
                if place == number and other.end > server.start]
                for number in range(len(hosts))]
            best, room = self.nova(
                hosts, used, server.size, world.begin + datetime.timedelta(
                    seconds=server.start))
            wanted, chance = (best, later) if server.start else (room, first)
            places.append(bits.pick(
                bits.union(1 << number for number in wanted), chance))
        return places

    def _look(self, world, hosts, places, moment):
        """Return what there is at a moment, from the places of servers."""
        on = list(zip(places, world.trace.servers, strict=True))
        reboots = {
            number: (host.reboot - world.begin).total_seconds()
            for number, host in enumerate(hosts) if host.reboot}
        hit = [number for number, server in on if number in reboots and
               0 < reboots[number] <= moment and
               server.start < reboots[number] < server.end]
        now = [number for number, server in on if number is not None and
               server.start <= moment < server.end]
        return (
            len(now), collections.Counter(
                hosts[number].platform for number in now),
            sum(number is None and server.start <= moment
                for number, server in on),
            len(hit), len(set(hit)), len(hosts) - len(set(now)))

    @ddt.data(*range(12))
    def test_replay(self, seed):
        chance = random.Random(seed)
        self.conf.config(reboot_bucket_days=1, group='pcloud')
        world, weights = self._world(chance), make_weights(chance)
        self.configure(weights)
        hosts = host_scores.in_order(world.hosts)
        places = self._places(world, hosts)
        for look in replay.run(world, weights).looks:
            self.assertEqual(
                self._look(world, hosts, places, look.day * workload.DAY),
                (look.servers, collections.Counter({
                    platform: count
                    for platform, count in look.by_platform.items() if count}),
                 look.refused, look.servers_hit, look.reboots_with_servers,
                 look.empty_hosts))


def members(hosts):
    """Return the numbers of the hosts of a set."""
    return {number for number in range(hosts.bit_length())
            if hosts >> number & 1}


class RebootTest(testtools.TestCase):
    """A date that has passed is no date."""

    def test_passed(self):
        hosts = [
            fleets.FleetHost('soon', SHAPES[0],
                             reboot=BEGIN + datetime.timedelta(days=1)),
            fleets.FleetHost('later', SHAPES[0],
                             reboot=BEGIN + datetime.timedelta(days=30))]
        cloud = simulated_cloud.SimulatedCloud(
            hosts, weight_sets.parse('reboot=1'), BEGIN, BUCKET)
        self.assertEqual({1}, members(cloud.best(SIZES[0])))
        cloud.reboot(0)
        self.assertEqual({0}, members(cloud.best(SIZES[0])))

    def test_passed_before(self):
        hosts = [
            fleets.FleetHost('past', SHAPES[0], reboot=BEGIN),
            fleets.FleetHost('later', SHAPES[0],
                             reboot=BEGIN + datetime.timedelta(days=30))]
        cloud = simulated_cloud.SimulatedCloud(
            hosts, weight_sets.parse('reboot=1'), BEGIN, BUCKET)
        self.assertEqual({0}, members(cloud.best(SIZES[0])))


class FragmentationTest(testtools.TestCase):

    def _cloud(self):
        return simulated_cloud.SimulatedCloud(
            [fleets.FleetHost(name, fleets.Shape(8, 16384, 0, 1.0))
             for name in 'ab'], weight_sets.parse('ram=1'), BEGIN, BUCKET)

    def test_pieces(self):
        cloud, quarter = self._cloud(), workload.Size(4096, 1)
        half = workload.Size(8192, 1)
        self.assertEqual(0.0, cloud.fragmentation(half).share)
        cloud.start(0, quarter)
        # 12 and 16 GiB are free, of which 8 and 16 can be taken.
        self.assertEqual(1 - 24 / 28, cloud.fragmentation(half).share)
        cloud.start(1, quarter)
        self.assertEqual(1 - 16 / 24, cloud.fragmentation(half).share)

    def test_no_cpu_is_left(self):
        cloud = self._cloud()
        cloud.start(0, workload.Size(1024, 8))
        self.assertEqual(
            1 - 16 / 31, cloud.fragmentation(workload.Size(8192, 1)).share)

    def test_full(self):
        cloud = self._cloud()
        for host in range(2):
            cloud.start(host, workload.Size(16384, 1))
        self.assertEqual(
            0.0, cloud.fragmentation(workload.Size(1024, 1)).share)


class BitsTest(testtools.TestCase):

    def test_pick_takes_each_alike(self):
        hosts = bits.union(1 << number for number in (0, 3, 64, 999))
        chance = random.Random(3)
        found = [bits.pick(hosts, chance) for _ in range(4000)]
        counts = {number: found.count(number) for number in set(found)}
        self.assertEqual({0, 3, 64, 999}, set(counts))
        self.assertTrue(all(900 < count < 1100
                            for count in counts.values()), counts)

    def test_pick_of_nothing(self):
        self.assertIsNone(bits.pick(0, random.Random(0)))

    def test_by_value(self):
        hosts = [fleets.FleetHost(name, SHAPES[0], platform=value)
                 for name, value in zip('abcd', ['2', '1', None, '2'])]
        self.assertEqual({'2': 0b1001, '1': 0b10, None: 0b100},
                         bits.by_value(hosts, lambda host: host.platform))
