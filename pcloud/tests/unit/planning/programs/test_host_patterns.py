# SPDX-License-Identifier: Apache-2.0

"""Parts of hosts suffice for what they are said to suffice for."""

import dataclasses
import itertools
import random

import ddt
import testtools

from pcloud.planning.programs import fitting
from pcloud.planning.programs import host_patterns
from pcloud.planning.programs import integer_programs
from pcloud.planning.programs import packing
from pcloud.planning.programs import providers
from pcloud.planning.programs import shortages
from pcloud.planning.programs import solvers

WORLDS = 300
PLENTY = 10_000


@dataclasses.dataclass(frozen=True)
class Look:
    """A host of which providers tell all."""

    tree: providers.Tree
    demands: tuple[providers.Demand, ...]

    @property
    def key(self):
        return self.tree.key

    def after(self, place):
        return [dataclasses.replace(self, tree=tree)
                for _, tree in self.tree.ways(self.demands[place])]


def group(name, amount, *able):
    return providers.Group(name, {'VGPU': amount}, frozenset(able))


def tree(**free):
    return providers.Tree({uuid: {'VGPU': amount}
                           for uuid, amount in free.items()},
                          dict.fromkeys(free, ()))


def demand(*amounts, able='ab', isolate=False):
    return providers.Demand(tuple(
        group(str(number), amount, *able)
        for number, amount in enumerate(amounts)), isolate)


def takes(free, servers):
    """Whether providers give all servers what they need, by trying all."""
    if not servers:
        return True
    first, *others = servers
    for chosen in itertools.product(sorted(free), repeat=len(first.groups)):
        left = dict(free)
        for its, uuid in zip(first.groups, chosen):
            left[uuid] -= its.amounts['VGPU']
        if (all(uuid in its.able for its, uuid in zip(first.groups, chosen))
                and min(left.values()) >= 0 and
                not (first.is_isolated and len(set(chosen)) < len(chosen)) and
                takes(left, others)):
            return True
    return False


def explored(free, demands, limits, steps=PLENTY):
    return host_patterns.explore(
        Look(tree(**free), tuple(demands)), list(enumerate(limits)),
        host_patterns.Budget(steps))


@ddt.ddt
class ProvidersTest(testtools.TestCase):

    @ddt.data(
        # free, demand, the number of different ways
        ({'a': 4}, demand(4, able='a'), 1),
        ({'a': 4}, demand(5, able='a'), 0),
        ({'a': 4}, demand(1, able='b'), 0),
        # A group is from one provider.
        ({'a': 2, 'b': 2}, demand(3), 0),
        # Providers that are alike are one way.
        ({'a': 2, 'b': 2}, demand(1), 1),
        ({'a': 2, 'b': 3}, demand(1), 2),
        ({'a': 2, 'b': 2}, demand(1, 1), 2),
        ({'a': 2, 'b': 2}, demand(1, 1, isolate=True), 1),
        ({'a': 9}, demand(1, 1, able='a', isolate=True), 0))
    @ddt.unpack
    def test_ways(self, free, needed, number):
        ways = list(tree(**free).ways(needed))
        self.assertEqual(number, len(ways))
        for mapping, left in ways:
            for its in needed.groups:
                uuid, = mapping[its.name]
                self.assertIn(uuid, its.able)
            self.assertEqual(
                sum(free.values()) - sum(its.amounts['VGPU']
                                         for its in needed.groups),
                sum(each['VGPU'] for each in left.free.values()))

    def test_what_is_in_no_group_may_share_a_provider(self):
        needed = providers.Demand((
            group('1', 1, 'a'), group('', 1, 'a')), True)
        (mapping, left), = tree(a=2).ways(needed)
        self.assertEqual({'1': ['a'], '': ['a']}, mapping)
        self.assertEqual({'VGPU': 0}, left.free['a'])


class PatternsTest(testtools.TestCase):

    def test_beside_every_choice(self):
        for seed in range(WORLDS):
            chance = random.Random(seed)
            free = {uuid: chance.randint(0, 4) for uuid in 'abc'}
            demands = [demand(
                *(chance.randint(1, 3) for _ in range(chance.randint(1, 2))),
                able=chance.choice(['abc', 'ab', 'c']),
                isolate=chance.random() < 0.5) for _ in range(2)]
            limits = [chance.randint(1, 3) for _ in demands]
            found = explored(free, demands, limits)
            self.assertTrue(found.is_complete)
            for numbers in itertools.product(*(
                    range(limit + 1) for limit in limits)):
                servers = [each for each, number in zip(demands, numbers)
                           for _ in range(number)]
                self.assertEqual(takes(free, servers), found.allow(numbers),
                                 (seed, numbers))
                for place, number in enumerate(numbers):
                    if number:
                        self.assertEqual(
                            found.allow(numbers), number <= found.beside(
                                numbers, place, limits[place]),
                            (seed, numbers))

    def test_without_time_nothing_wrong_is_said(self):
        free, demands = {'a': 4, 'b': 3}, [demand(2), demand(1)]
        for steps in range(12):
            found = explored(free, demands, [9, 9], steps)
            for numbers in itertools.product(range(5), range(9)):
                servers = [each for each, number in zip(demands, numbers)
                           for _ in range(number)]
                if found.allow(numbers):
                    self.assertTrue(takes(free, servers), (steps, numbers))
            self.assertEqual(3, found.limit(0, 9))
            self.assertFalse(found.is_complete)

    def test_order(self):
        """Whichever provider gives to small servers, large ones come first."""
        free, demands = {'a': 3, 'b': 2}, [demand(1), demand(3)]
        found = explored(free, demands, [9, 9])
        self.assertEqual([1, 0], found.order((2, 1)))
        self.assertEqual([0, 1], found.order((5, 0)))


class PackingTest(testtools.TestCase):

    KINDS = [fitting.ServerKind({'VGPU': 2}, 9),
             fitting.ServerKind({'VGPU': 3}, 9)]

    def host(self, steps=PLENTY, **free):
        return fitting.TargetHost(
            {'VGPU': sum(free.values())}, patterns=explored(
                free, [demand(2), demand(3)], [9, 9], steps))

    def kinds(self, *counts):
        return [dataclasses.replace(kind, count=count)
                for kind, count in zip(self.KINDS, counts)]

    def test_beside_every_placement(self):
        for seed in range(WORLDS):
            chance = random.Random(seed)
            frees = [{uuid: chance.randint(0, 7) for uuid in 'ab'}
                     for _ in range(2)]
            counts = chance.randint(0, 5), chance.randint(0, 5)
            kinds, hosts = self.kinds(*counts), [
                self.host(**free) for free in frees]
            most = max(
                sum(first) + sum(second)
                for first in itertools.product(*(
                    range(count + 1) for count in counts))
                for second in itertools.product(*(
                    range(count - taken + 1)
                    for count, taken in zip(counts, first)))
                if hosts[0].patterns.allow(first) and
                hosts[1].patterns.allow(second))
            solver = solvers.Solver()
            made = packing.fuller(
                kinds, hosts, packing.plan(kinds, hosts, solver), solver)
            self.assertTrue(fitting.is_placement(kinds, hosts, made.counts))
            self.assertLessEqual(made.least, most, seed)
            self.assertGreaterEqual(made.most, most, seed)
            if solvers.is_there():
                self.assertEqual((most, most), (made.least, made.most), seed)

    def test_amounts_alone_would_say_more(self):
        """Two providers have 3 and 3: three servers of 2 do not fit."""
        kinds, host = self.kinds(3, 0), self.host(a=3, b=3)
        self.assertTrue(packing.fits(
            kinds, fitting.loosened([host]), integer_programs.no_solver))
        self.assertIs(False, packing.fits(
            kinds, [host], integer_programs.no_solver))
        self.assertEqual(2, fitting.room(kinds[0], 0, host))

    def test_what_is_not_known_is_no_proof(self):
        kinds, host = self.kinds(3, 0), self.host(1, a=3, b=3)
        made = packing.plan(kinds, [host], solvers.Solver())
        self.assertEqual((2, 3), (made.least, made.most))

    def test_new_hosts(self):
        enough = shortages.of_hosts(
            self.kinds(5, 0), [self.host(a=3, b=3)], self.host(a=3, b=3),
            integer_programs.no_solver)
        self.assertEqual(shortages.Enough(2, True), enough)

    def test_more_of_a_class(self):
        """More of it in which provider nobody says."""
        self.assertEqual(
            shortages.Enough(None, False), shortages.of_class(
                self.kinds(3, 0), [self.host(a=3, b=3)], 'VGPU',
                solvers.Solver()))
