# SPDX-License-Identifier: Apache-2.0

"""Rehearsals are right: beside every placement there is, in small worlds."""

import dataclasses
import random

import testtools

from pcloud.planning.programs import fitting
from pcloud.planning.programs import integer_programs
from pcloud.planning.programs import losses
from pcloud.planning.programs import shortages
from pcloud.planning.programs import solvers
from pcloud.tests.unit.planning.programs import test_packing

WORLDS, FEWER = 1500, 500


def world(seed):
    """Return kinds, hosts, losses and a host that may come, at random."""
    chance = random.Random(-seed)
    kinds, hosts, new = test_packing.world(seed)
    found = [losses.Loss(
        [chance.randint(0, kind.count) for kind in kinds],
        frozenset(place for place in range(len(hosts))
                  if chance.random() < 0.4))
        for _ in range(chance.randint(1, 3))]
    return kinds, hosts, found, new


def case(kinds, hosts, loss):
    return ([dataclasses.replace(kind, count=number)
             for kind, number in zip(kinds, loss.counts)],
            [host for place, host in enumerate(hosts)
             if place not in loss.hosts])


def check(test, seed, solve):
    """Check all that is claimed of a world, and return the claims."""
    kinds, hosts, lost, new = world(seed)
    made = losses.cases(kinds, hosts, lost, solve)
    test.assertEqual(len(lost), len(made))
    needed = []
    for each, loss in zip(made, lost):
        asked, others = case(kinds, hosts, loss)
        left = fitting.asked(asked) - test_packing.most(asked, others)
        test.assertEqual(fitting.asked(asked), each.asked)
        test.assertTrue(each.left[0] <= left <= each.left[1], (seed, each))
        test.assertIn(each.survives, (None, left == 0), seed)
        test.assertTrue(fitting.is_placement(
            asked, others, each.made.counts), seed)
        if left:
            needed.append(test_packing.least_hosts(asked, others, new))
    lacking = sorted((each for each in made if each.survives is not True),
                     key=lambda each: each.left, reverse=True)
    enough = losses.more_hosts(lacking, new, solve)
    right = None if None in needed else max(needed, default=0)
    if enough.proven:
        test.assertEqual(right, enough.number, seed)
    elif enough.number is not None:
        test.assertThat(enough.number, testtools.matchers.GreaterThan(
            (right or 0) - 1))
        test.assertIsNotNone(right, seed)
    return made, enough


class LossesTest(testtools.TestCase):

    @test_packing.NEEDS_SOLVER
    def test_with_a_solver_everything_is_known(self):
        for seed in range(WORLDS):
            made, enough = check(self, seed, solvers.Solver(3600))
            for each in made:
                self.assertIsNotNone(each.survives, seed)
                self.assertEqual(*each.left)
            self.assertTrue(enough.proven, seed)

    def test_without_a_solver_nothing_wrong_is_claimed(self):
        known = 0
        for seed in range(FEWER):
            made, _ = check(self, seed, integer_programs.no_solver)
            known += all(each.survives is not None for each in made)
        self.assertThat(known, testtools.matchers.GreaterThan(FEWER * 0.9))

    def test_losses_share_the_time(self):
        """The first hard question leaves time for the others."""
        kinds = [fitting.ServerKind({'VCPU': 4}, 1),
                 fitting.ServerKind({'VCPU': 3}, 2)]
        hosts = [fitting.TargetHost({'VCPU': 5}),
                 fitting.TargetHost({'VCPU': 5})]
        shares = []

        def solve(program):
            shares.append(program.share)
            return integer_programs.Solution()

        made = losses.cases(
            kinds, hosts, [losses.Loss((1, 2))] * 4, solve)
        self.assertEqual([(0, 1)] * 4, [each.left for each in made])
        self.assertThat(shares[0], testtools.matchers.LessThan(1 / 4))
        self.assertEqual(1, max(shares))

    def test_no_host_is_needed_where_all_survive(self):
        self.assertEqual(shortages.Enough(0, True), losses.more_hosts(
            [], fitting.TargetHost({'VCPU': 1}), integer_programs.no_solver))
