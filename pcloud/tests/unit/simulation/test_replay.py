# SPDX-License-Identifier: Apache-2.0

"""What becomes of a cloud."""

import csv
import datetime
import io
import random

from pcloud import exception
from pcloud.tests.unit.simulation import base
from pcloud_simulator import azure_trace
from pcloud_simulator import fleets
from pcloud_simulator import generator
from pcloud_simulator import replay
from pcloud_simulator import weight_sets
from pcloud_simulator import workload

BEGIN = datetime.datetime(2026, 11, 2, tzinfo=datetime.UTC)
WEEK = datetime.timedelta(days=7)
OLD, NEW = '1.0', '2.0'
FOREVER = workload.FOREVER
HOUR = 3600.0
SIZE = workload.Size(1024, 1)
NOVA, PCLOUD = weight_sets.defaults()
PACKING = weight_sets.parse('packing:platform=1,ram=-0.2,reboot=0.1')


def a_host(name, memory_gb=4, platform=NEW, reboot_hours=None):
    return fleets.FleetHost(
        name, fleets.Shape(8, memory_gb * 1024), platform,
        None if reboot_hours is None else
        BEGIN + datetime.timedelta(hours=reboot_hours))


def world(hosts, *servers, looks=2, seed=1):
    """Return a world of 10 hours."""
    trace = workload.Trace(
        tuple(workload.TraceServer(*server) for server in servers), 10 * HOUR,
        None)
    return replay.World(trace, hosts, BEGIN, WEEK, seed, looks)


class RunTest(base.FilesTest):

    def test_newest_platform_first(self):
        found = replay.run(world(
            [a_host('a', platform=OLD), a_host('b')],
            *[(HOUR, FOREVER, SIZE)] * 5), PCLOUD)
        self.assertEqual({NEW: 4, OLD: 1}, found.last.by_platform)
        self.assertEqual((5, 0, 0.2, 0.8), (
            found.launches, found.last.refused, found.on(OLD),
            found.on(NEW)))

    def test_chance_among_the_best_hosts(self):
        """Servers go to so many hosts, and to each of them."""
        hosts = [a_host(name, 256, platform=f'2026{month}01T000000Z')
                 for name, month in (('a', '01'), ('b', '05'), ('c', '06'))]
        for subset, used in (1, 1), (2, 2), (3, 3), (9, 3):
            found = replay.run(
                world(hosts, *[(HOUR, FOREVER, SIZE)] * 8),
                weight_sets.Weights('own', {'platform': 1.0}, subset))
            platforms = [host.platform for host in hosts[-used:]]
            self.assertEqual(
                set(platforms), set(found.last.by_platform), subset)
            self.assertEqual(8, sum(found.last.by_platform.values()))

    def test_servers_end(self):
        found = replay.run(world(
            [a_host('a', memory_gb=1)], (HOUR, 3 * HOUR, SIZE),
            (2 * HOUR, FOREVER, SIZE), (3 * HOUR, FOREVER, SIZE), looks=11),
            NOVA)
        self.assertEqual([0, *[1] * 10],
                         [look.servers for look in found.looks])
        self.assertEqual([0, 0, *[1] * 9],
                         [look.refused for look in found.looks])
        self.assertEqual([1, *[0] * 10],
                         [look.empty_hosts for look in found.looks])
        self.assertEqual([0, 10 / 24], [
            found.looks[0].day, found.last.day])

    def test_a_server_without_a_lifetime(self):
        found = replay.run(world(
            [a_host('a', memory_gb=1)], (HOUR, HOUR, SIZE),
            (HOUR, FOREVER, SIZE)), NOVA)
        self.assertEqual((0, 1), (found.last.refused, found.last.servers))

    def test_reboots_hit_servers(self):
        """A server that ends at that moment is not hit, one after is not."""
        found = replay.run(world(
            [a_host('a', reboot_hours=5), a_host('b', reboot_hours=6),
             a_host('c', reboot_hours=11), a_host('d', reboot_hours=-1)],
            (0, FOREVER, SIZE, 'a'), (0, 5 * HOUR, SIZE, 'a'),
            (0, 6 * HOUR, SIZE, 'a'), (0, FOREVER, SIZE, 'c'),
            (0, FOREVER, SIZE, 'd')), NOVA)
        self.assertEqual((2, 1), (
            found.last.servers_hit, found.last.reboots_with_servers))

    def test_reboot_at_the_end(self):
        found = replay.run(world(
            [a_host('a', reboot_hours=10)], (0, FOREVER, SIZE, 'a')), NOVA)
        self.assertEqual(1, found.last.servers_hit)

    def test_reboot_of_an_empty_host(self):
        found = replay.run(world(
            [a_host('a', reboot_hours=5)], (0, 4 * HOUR, SIZE, 'a')), NOVA)
        self.assertEqual((0, 0), (
            found.last.servers_hit, found.last.reboots_with_servers))

    def test_after_its_reboot_a_host_is_as_good_as_any(self):
        weights = weight_sets.parse('reboot=1')
        hosts = [a_host('a', memory_gb=1, platform='a', reboot_hours=5),
                 a_host('b', platform='b', reboot_hours=24 * 30)]
        before = replay.run(world(hosts, (4 * HOUR, FOREVER, SIZE)), weights)
        after = replay.run(world(hosts, (5 * HOUR, FOREVER, SIZE)), weights)
        self.assertEqual({'b': 1}, before.last.by_platform)
        self.assertEqual({'a': 1}, after.last.by_platform)

    def test_larger_than_any_host(self):
        """What a host really has is the limit, whatever the ratio."""
        large = workload.Size(1024, 9)
        whole = world([a_host('a')], (0, FOREVER, large),
                      (HOUR, FOREVER, SIZE))
        self.assertEqual(1, replay.too_large(whole))
        self.assertEqual(1, replay.run(whole, NOVA).last.refused)
        self.assertEqual(SIZE, replay.largest(whole))

    def test_each_server_is_too_large(self):
        error = self.assertRaises(
            exception.Invalid, replay.run,
            world([a_host('a')], (0, FOREVER, workload.Size(9000, 1))), NOVA)
        self.assertEqual(
            'Each server of the trace is larger than any host; the smallest '
            'takes 1 vcpu, 9000 MiB of memory and 0 GiB of disk.', str(error))

    def test_a_host_with_more_than_fits(self):
        """Servers stay where they are, whatever the file of hosts says."""
        found = replay.run(world(
            [a_host('a', memory_gb=1)], (0, 2 * HOUR, SIZE, 'a'),
            (0, 3 * HOUR, SIZE, 'a'), (HOUR, FOREVER, SIZE),
            (2 * HOUR, FOREVER, SIZE), (3 * HOUR, FOREVER, SIZE)), NOVA)
        self.assertEqual((2, 1), (found.last.refused, found.last.servers))

    def test_the_first_servers_are_the_same_for_all(self):
        several = world([a_host(name, platform=name) for name in '1234'],
                        *[(0, FOREVER, SIZE)] * 8)
        self.assertEqual(
            replay.run(several, NOVA).looks[0].by_platform,
            replay.run(several, PACKING).looks[0].by_platform)

    def test_no_server_at_the_end(self):
        found = replay.run(world([a_host('a')], (0, HOUR, SIZE)), NOVA)
        self.assertEqual((0, 0.0), (found.last.servers, found.on(NEW)))

    def test_a_trace_of_a_moment(self):
        whole = replay.World(
            workload.Trace(
                (workload.TraceServer(0.0, FOREVER, SIZE),), 0.0, None),
            [a_host('a')], BEGIN, WEEK, 1, 3)
        self.assertEqual([1, 1, 1], [
            look.servers for look in replay.run(whole, NOVA).looks])


class DrainTest(base.FilesTest):
    """40 hosts, and three weeks in which servers live for one."""

    def setUp(self):
        super().setUp()
        file = io.StringIO()
        csv.writer(file).writerows(
            generator.rows(random.Random(7), 120, 21.0, 7.0))
        self.trace = azure_trace.read(self.write(file.getvalue()))

    def _run(self, weights, seed=1):
        hosts = fleets.make(40, [fleets.Shape(48, 98304)], BEGIN,
                            self.trace.seconds)
        return replay.run(replay.World(
            self.trace, hosts, BEGIN, WEEK, seed, 8), weights)

    def test_old_platforms_drain(self):
        nova, packing = self._run(NOVA), self._run(PACKING)
        self.assertEqual(nova.looks[0], packing.looks[0])
        self.assertLessEqual(packing.last.refused, nova.last.refused)
        oldest, newest = fleets.PLATFORMS[0], fleets.PLATFORMS[-1]
        self.assertGreater(nova.on(oldest), 0.15)
        self.assertLess(packing.on(oldest), 0.05)
        self.assertGreater(packing.on(newest), 0.5)
        self.assertLess(packing.last.servers_hit, 0.7 * nova.last.servers_hit)

    def test_it_can_be_repeated(self):
        self.assertEqual(self._run(PACKING), self._run(PACKING))
        self.assertNotEqual(self._run(NOVA), self._run(NOVA, seed=2))
