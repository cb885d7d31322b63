# SPDX-License-Identifier: Apache-2.0

"""Plans are right: beside every placement there is, in small worlds."""

import functools
import itertools
import random

import ddt
import testtools

from pcloud.planning.programs import fitting
from pcloud.planning.programs import integer_programs
from pcloud.planning.programs import packing
from pcloud.planning.programs import shortages
from pcloud.planning.programs import solvers

CLASSES = 'VCPU', 'MEMORY_MB', 'DISK_GB'
WORLDS, FEWER = 2000, 500
NEVER = 10 ** 9


def choices(kinds, host, left, plenty=None):
    """Yield all that a host takes, and how much more of a class it needs."""
    ranges = [
        range(1 + (0 if place in host.refused or any(
            amount > host.most.get(name, amount)
            for name, amount in kind.amounts.items() if name != plenty)
            else min(number, 1) if kind.apart else number))
        for place, (kind, number) in enumerate(zip(kinds, left))]
    for numbers in itertools.product(*ranges):
        lacks = {name: sum(kind.amounts.get(name, 0) * number
                           for kind, number in zip(kinds, numbers)) -
                 host.free.get(name, 0) for name in CLASSES}
        more = max(0, lacks.pop(plenty, 0))
        if all(lack <= 0 for lack in lacks.values()):
            yield numbers, more


def most(kinds, hosts):
    """Return the largest number of servers that fit."""
    @functools.lru_cache(None)
    def best(turn, left):
        return 0 if turn == len(hosts) else max(
            sum(numbers) + best(turn + 1, tuple(
                number - taken for number, taken in zip(left, numbers)))
            for numbers, _ in choices(kinds, hosts[turn], left))

    return best(0, tuple(kind.count for kind in kinds))


def least_more(kinds, hosts, name):
    """Return how much more of a class is enough, None when nothing is."""
    @functools.lru_cache(None)
    def best(turn, left):
        if turn == len(hosts):
            return NEVER if any(left) else 0
        return min(more + best(turn + 1, tuple(
            number - taken for number, taken in zip(left, numbers)))
            for numbers, more in choices(kinds, hosts[turn], left, name))

    found = best(0, tuple(kind.count for kind in kinds))
    return None if found >= NEVER else found


def least_hosts(kinds, hosts, new):
    """Return how many more hosts are enough, None when none are."""
    number = fitting.asked(kinds)
    return next((more for more in range(number + 1) if most(
        kinds, [*hosts, *[new] * more]) == number), None)


def world(seed):
    """Return kinds, hosts and a host that may come, at random."""
    chance = random.Random(seed)
    names = CLASSES[:chance.randint(1, 3)]

    def host(least):
        return fitting.TargetHost(
            {name: chance.randint(least, 9) for name in names
             if chance.random() < 0.95},
            {name: chance.randint(3, 9) for name in names
             if chance.random() < 0.3},
            frozenset(place for place in range(3) if chance.random() < 0.05))

    hosts = [host(0) for _ in range(chance.randint(0, 3))]
    kinds = [fitting.ServerKind(
        {name: chance.randint(1, 5) for name in names
         if chance.random() < 0.9}, chance.randint(1, 3),
        chance.random() < 0.2) for _ in range(chance.randint(1, 3))]
    return kinds, hosts, host(1)


NEEDS_SOLVER = testtools.skipUnless(
    solvers.is_there(), 'highspy is not installed')


@NEEDS_SOLVER
class WorldsTest(testtools.TestCase):
    """What is claimed is true in every world."""

    def test_with_a_solver_everything_is_known(self):
        for seed in range(WORLDS):
            solve = solvers.Solver(3600)
            made, *enough = check(self, seed, solve)
            self.assertEqual(made.least, made.most, seed)
            self.assertTrue(all(each.proven for each in enough), seed)


class NoSolverTest(testtools.TestCase):

    def test_without_a_solver_nothing_wrong_is_claimed(self):
        known = 0
        for seed in range(FEWER):
            made, *_ = check(self, seed, integer_programs.no_solver)
            known += made.least == made.most
        self.assertThat(known, testtools.matchers.GreaterThan(FEWER * 0.9))
        self.assertThat(known, testtools.matchers.LessThan(FEWER))


def check(test, seed, solve):
    """Check all that is claimed of a world, and return the claims."""
    kinds, hosts, new = world(seed)
    number, true = fitting.asked(kinds), most(kinds, hosts)
    first = packing.plan(kinds, hosts, solve)
    made = packing.fuller(kinds, hosts, first, solve)
    for each in (first, made):
        test.assertTrue(each.least <= true <= each.most, (seed, each))
        test.assertTrue(fitting.is_placement(kinds, hosts, each.counts), seed)
        test.assertEqual(each.least, fitting.placed(each.counts), seed)
    test.assertIn(packing.fits(kinds, hosts, solve),
                  (None, true == number), seed)
    if true == number:
        return [made]
    claims = [(shortages.of_class(kinds, hosts, name, solve),
               least_more(kinds, hosts, name))
              for name in fitting.classes(kinds)]
    claims.append((shortages.of_hosts(kinds, hosts, new, solve),
                   least_hosts(kinds, hosts, new)))
    for enough, right in claims:
        if enough.proven:
            test.assertEqual(right, enough.number, seed)
        elif enough.number is not None:
            test.assertThat(
                enough.number, testtools.matchers.GreaterThan(right - 1))
    return [made, *(enough for enough, _ in claims)]


@ddt.ddt
class PlacementTest(testtools.TestCase):
    """A placement that is no placement is noticed."""

    KINDS = [fitting.ServerKind({'VCPU': 2}, 3),
             fitting.ServerKind({'VCPU': 1, 'MEMORY_MB': 4}, 2, apart=True)]
    HOSTS = [fitting.TargetHost({'VCPU': 5, 'MEMORY_MB': 8}),
             fitting.TargetHost({'VCPU': 4, 'MEMORY_MB': 8}, {'VCPU': 1}),
             fitting.TargetHost({'VCPU': 4}, {}, frozenset({0}))]

    @ddt.data(
        (((2, 1), (0, 1), (0, 0)), True),
        # Too many cpus.
        (((2, 2), (0, 0), (0, 0)), False),
        (((3, 0), (0, 0), (0, 0)), False),
        # Two that are to be apart.
        (((0, 2), (0, 0), (0, 0)), False),
        # A server as large as the host does not take it.
        (((0, 0), (1, 0), (0, 0)), False),
        # No memory at all, and a kind that the host refuses.
        (((0, 0), (0, 0), (0, 1)), False),
        (((0, 0), (0, 0), (1, 0)), False),
        (((-1, 0), (0, 0), (0, 0)), False),
        (((2, 0), (0, 0)), False))
    @ddt.unpack
    def test_placement(self, counts, right):
        self.assertEqual(right, fitting.is_placement(
            self.KINDS, self.HOSTS, counts))

    def test_more_servers_than_there_are(self):
        host = fitting.TargetHost({'VCPU': 9})
        self.assertFalse(fitting.is_placement(
            [fitting.ServerKind({'VCPU': 1}, 3)], [host, host], ((2,), (2,))))

    def test_a_solver_that_errs_is_not_believed(self):
        kinds = [fitting.ServerKind({'VCPU': 4}, 1),
                 fitting.ServerKind({'VCPU': 3}, 2)]
        hosts = [fitting.TargetHost({'VCPU': 5}),
                 fitting.TargetHost({'VCPU': 5})]

        def err(program):
            return integer_programs.Solution(program.limits, 99)

        made = packing.plan(kinds, hosts, err)
        self.assertEqual((2, 3), (made.least, made.most))
        self.assertIsNone(packing.fits(kinds, hosts, err))
        self.assertIsNot(True, packing.fits(kinds, hosts, solvers.Solver()))


class LargeTest(testtools.TestCase):

    def test_more_hosts_than_are_tried_one_by_one(self):
        kinds = [fitting.ServerKind({'VCPU': 3}, 1000)]
        self.assertEqual(
            shortages.Enough(334, True), shortages.of_hosts(
                kinds, [], fitting.TargetHost({'VCPU': 10}),
                integer_programs.no_solver))

    @NEEDS_SOLVER
    def test_amounts_as_large_as_memory(self):
        """One MiB decides, with amounts of millions."""
        each = 1048577
        kinds = [fitting.ServerKind({'MEMORY_MB': each}, 2),
                 fitting.ServerKind({'MEMORY_MB': each - 2}, 2)]
        for free, fit in ((2 * each - 2, True), (2 * each - 3, False)):
            hosts = [fitting.TargetHost({'MEMORY_MB': free})] * 2
            self.assertEqual(fit, packing.fits(
                kinds, hosts, solvers.Solver()))
