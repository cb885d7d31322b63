# SPDX-License-Identifier: Apache-2.0

"""The model of a control plane counts and queues as described."""

import random

import ddt
import testtools

from pcloud.tests.benchmarks.model import costs
from pcloud.tests.benchmarks.model import events
from pcloud.tests.benchmarks.model import limits
from pcloud.tests.benchmarks.model import operations as ops
from pcloud.tests.benchmarks.model import stream

CLOUD = limits.Cloud(1000, 100)
PLANT = ops.Plant(apis=1, schedulers=2, workers=1, placements=1, cores=2)
NOTHING = costs.Cost((costs.Sample(0, 0, 0),))


def cost(own=0.0, placement=0.0, database=0.0, **others):
    return costs.Cost((costs.Sample(own, placement, database),), **others)


def all_costs(**others):
    """Return costs of nothing, but for some operations by constant."""
    return {name: NOTHING for name in (
        ops.ACCEPT, ops.CHOOSE, ops.CHOOSE_HINTED, *ops.CHANGES, ops.PASS,
        ops.START)} | {getattr(ops, name): each
                       for name, each in others.items()}


class EventsTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.clock = events.Clock()
        self.ended = {}

    def _end(self, name):
        return lambda: self.ended.setdefault(name, round(self.clock.now, 6))

    def _start(self, name, *steps):
        events.start(iter(steps), self._end(name))

    def test_a_station_shares_its_time(self):
        station = events.Station(self.clock)
        self._start('long', events.using(station, 1.0))
        self._start('short', events.using(station, 0.2))
        self.clock.run(10)
        # The short job has every second quantum.
        self.assertEqual({'short': 0.4, 'long': 1.2}, self.ended)
        self.assertAlmostEqual(0.12, station.share(10))

    def test_places_are_apart(self):
        station = events.Station(self.clock, 2)
        for name in 'abc':
            self._start(name, events.using(station, 0.1))
        self.clock.run(10)
        self.assertEqual({'a': 0.1, 'b': 0.1, 'c': 0.2}, self.ended)

    def test_speed(self):
        station = events.Station(self.clock, speed=0.5)
        self._start('a', events.using(station, 1.0))
        self.clock.run(4)
        self.assertEqual({'a': 2.0}, self.ended)
        self.assertAlmostEqual(0.5, station.share(4))

    def test_processes_of_one_machine_share_its_processors(self):
        machine = events.Station(self.clock, 1)
        for name in 'ab':
            self._start(name, events.using(
                events.Station(self.clock, below=machine), 0.5))
        self.clock.run(10)
        self.assertEqual({'a': 0.9, 'b': 1.0}, self.ended)

    def test_a_lock_has_one_holder(self):
        lock = events.Lock(self.clock)
        for name in 'ab':
            station = events.Station(self.clock)
            self._start(name, events.taking(lock), events.using(station, 1.0),
                        events.releasing(lock), events.using(station, 0.5))
        self.clock.run(10)
        self.assertEqual({'a': 1.5, 'b': 2.5}, self.ended)
        self.assertEqual((1, 2.0), (lock.waits, round(lock.held, 6)))

    def test_what_comes_later_is_left(self):
        self._start('a', events.using(events.Station(self.clock), 2.0))
        self.clock.run(1)
        self.assertEqual({}, self.ended)
        self.clock.run(3)
        self.assertEqual({'a': 2.0}, self.ended)


@ddt.ddt
class CostsTest(testtools.TestCase):

    FOUND = {1000: cost(1.0, 0.5, 0.1, heard=1.0),
             10_000: cost(10.0, 0.5, 0.05, heard=2.0)}

    @ddt.unpack
    @ddt.data((1000, 1.0, 0.5, 0.1), (10_000, 10.0, 0.5, 0.05),
              (3162, 3.162, 0.5, 0.1), (100_000, 100.0, 0.5, 0.1),
              (100, 0.1, 0.5, 0.1))
    def test_between(self, hosts, own, placement, database):
        mean = costs.between(self.FOUND, hosts).mean
        for wanted, found in ((own, mean.own), (placement, mean.placement),
                              (database, mean.database)):
            self.assertAlmostEqual(wanted, found, delta=wanted / 100)

    def test_a_single_size(self):
        self.assertEqual(NOTHING, costs.between({1000: NOTHING}, 5))

    def test_the_nearest_two_sizes_count(self):
        found = {**self.FOUND, 100_000: cost(10.0)}
        self.assertAlmostEqual(10.0, costs.between(found, 50_000).mean.own)
        self.assertAlmostEqual(0.1, costs.between(found, 100).mean.own)


class LimitsTest(testtools.TestCase):

    STREAM = ops.Stream(launches=60, changes=60)

    def _loads(self, **others):
        return limits.loads(all_costs(**others), CLOUD, PLANT, self.STREAM)

    def test_all_changes_are_shared_out(self):
        rates = self.STREAM.rates
        self.assertAlmostEqual(1, sum(rates[name] for name in ops.CHANGES))
        self.assertAlmostEqual(1, rates[ops.ACCEPT])
        self.assertAlmostEqual(
            1, rates[ops.CHOOSE] + rates[ops.CHOOSE_HINTED])

    def test_each_part_is_its_resources(self):
        found = self._loads(ACCEPT=cost(0.5, 0.25, 0.4),
                            CHOOSE=cost(1.0), PASS=cost(2.0))
        self.assertAlmostEqual(0.5, found[ops.NOVA_API])
        self.assertAlmostEqual(0.25, found[ops.PLACEMENT])
        self.assertAlmostEqual(0.2, found[ops.DATABASE])
        self.assertAlmostEqual(0.25, found[ops.SCHEDULER])
        self.assertAlmostEqual(0.2, found[ops.WORKER])

    def test_each_scheduler_hears_a_cast(self):
        rate = self.STREAM.rates[ops.ATTRIBUTE]
        self.assertAlmostEqual(rate * 2.0, self._loads(
            ATTRIBUTE=cost(heard=2.0))[ops.SCHEDULER])

    def test_rows_are_locked_for_a_part_of_the_time(self):
        locked = costs.Locked(('flavor',), before=0.1, during=0.5)
        rate = self.STREAM.rates[ops.ENTER]
        self.assertAlmostEqual(
            rate * 0.5 / limits.FLAVORS, self._loads(
                ENTER=cost(1.0, locked=locked))[limits.anchor('flavor')])

    def test_first(self):
        self.assertEqual(('b', 2.0), limits.first({'a': 0.1, 'b': 0.5}))

    def test_largest(self):
        self.assertEqual(
            12_000, limits.largest(lambda hosts: hosts / 12_345))
        self.assertEqual(7, limits.largest(lambda hosts: hosts / 7.9))
        self.assertIsNone(limits.largest(lambda hosts: 1.0))

    def test_wanted(self):
        self.assertEqual(20, limits.wanted(1.4, 10))
        self.assertEqual(1, limits.wanted(0.0, 10))


class StreamTest(testtools.TestCase):

    def _run(self, launches, changes, seconds=2000, machine=None, **others):
        return stream.Simulation(
            all_costs(**others), CLOUD, PLANT, random.Random(1), machine,
        ).run(ops.Stream(launches, changes).rates, seconds)

    def test_nothing_waits_where_little_comes(self):
        outcome = self._run(1, 1, CHOOSE=cost(0.3), CHOOSE_HINTED=cost(0.3),
                            ACCEPT=cost(0.1))
        taken = outcome.taken[stream.LAUNCH]
        self.assertAlmostEqual(0.4, stream.median(taken))
        self.assertEqual(outcome.begun[stream.LAUNCH], len(taken))
        self.assertLess(max(outcome.waited[stream.LAUNCH]), 0.5)

    def test_a_full_resource_makes_launches_wait(self):
        # Two schedulers, of which each works for 0.9 of its time.
        outcome = self._run(60, 0, CHOOSE=cost(1.8), CHOOSE_HINTED=cost(1.8))
        self.assertAlmostEqual(0.9, outcome.shares[ops.SCHEDULER], delta=0.06)
        self.assertGreater(
            stream.median(outcome.waited[stream.LAUNCH]), 1.8)

    def test_the_shares_are_the_loads(self):
        found = {'CHOOSE': cost(0.5, 0.2, 0.4), 'ADD': cost(1, 0.5, 0.5),
                 'ACCEPT': cost(0.2), 'PASS': cost(1.0)}
        outcome = self._run(60, 30, seconds=5000, **found)
        for name, load in limits.loads(
                all_costs(**found), CLOUD, PLANT, ops.Stream(60, 30)).items():
            if name in PLANT.places:
                self.assertAlmostEqual(load, outcome.shares[name],
                                       delta=0.1 * load + 0.001, msg=name)

    def test_what_cannot_be_borne_does_not_end(self):
        outcome = self._run(60, 0, CHOOSE=cost(8.0), CHOOSE_HINTED=cost(8.0))
        self.assertLess(len(outcome.taken[stream.LAUNCH]),
                        outcome.begun[stream.LAUNCH] / 2)

    def test_changes_of_one_row_wait_for_each_other(self):
        locked = costs.Locked(('attribute',), during=1.0)
        outcome = self._run(
            0, 600, ATTRIBUTE=cost(database=1.5, locked=locked))
        name = limits.anchor('attribute')
        self.assertGreater(outcome.waits[name], 10)
        self.assertGreater(outcome.shares[name], 0.1)

    def test_processors_that_others_use_are_missed(self):
        alone, beside = (stream.median(self._run(
            1, 0, machine=stream.Machine(1, speed), CHOOSE=cost(1.0),
            CHOOSE_HINTED=cost(1.0)).taken[stream.LAUNCH])
            for speed in (1.0, 0.5))
        self.assertAlmostEqual(2, beside / alone, delta=0.1)

    def test_share(self):
        self.assertEqual(99, stream.share(range(100), 0.99))
        self.assertEqual(50, stream.share(range(100), 0.5))
