# SPDX-License-Identifier: Apache-2.0

import random

import hypothesis
from hypothesis import strategies
import testtools

from pcloud.rules.placing import choice

candidates = strategies.lists(
    strategies.builds(
        choice.Candidate, host=strategies.sampled_from('abcdefgh'),
        zone=strategies.sampled_from(['az1', 'az2']),
        up=strategies.booleans(), enabled=strategies.booleans(),
        allocated=strategies.booleans()),
    unique_by=lambda candidate: candidate.host)


def _free(host, zone='az1'):
    return choice.Candidate(host, zone, True, True, False)


class ChooseTest(testtools.TestCase):

    @hypothesis.given(candidates, strategies.sampled_from(
        [None, 'az1', 'az2', 'az3']), strategies.dictionaries(
        strategies.sampled_from(['az1', 'az2']), strategies.integers(1, 9)),
        strategies.sets(strategies.sampled_from('abcdefgh')),
        strategies.integers())
    def test_only_what_is_free_and_in_the_zone(self, given, zone, waited,
                                               avoid, seed):
        chosen = choice.choose(
            given, choice.Zones(zone, waited), avoid, 1, random.Random(seed))
        right = [each for each in given
                 if each.up and each.enabled and not each.allocated and
                 (zone is None or each.zone == zone) and
                 each.zone not in waited]
        if not right:
            self.assertEqual([], chosen)
            return
        self.assertIn(chosen[0], right)
        if any(each.host not in avoid for each in right):
            self.assertNotIn(chosen[0].host, avoid)

    @hypothesis.given(strategies.sets(strategies.sampled_from('abcdefgh')),
                      strategies.sets(strategies.sampled_from('abcdefgh')),
                      strategies.integers(1, 9), strategies.integers())
    def test_several_are_different_and_the_tried_come_last(
            self, free, avoid, count, seed):
        chosen = [each.host for each in choice.choose(
            map(_free, free), choice.Zones(), avoid, count,
            random.Random(seed))]
        self.assertEqual(min(count, len(free)), len(set(chosen)))
        self.assertEqual(len(chosen), len(set(chosen)))
        fresh = free - avoid
        self.assertLessEqual(set(chosen[:len(fresh)]), fresh)

    def test_every_free_host_has_its_chance(self):
        given = [_free(host) for host in 'abcd']
        chosen = {choice.choose(
            given, choice.Zones(), (), 1, random.Random(seed))[0].host
            for seed in range(100)}
        self.assertEqual(set('abcd'), chosen)

    def test_a_host_tried_before_is_better_than_none(self):
        chosen, = choice.choose(
            [_free('a')], choice.Zones(), ['a'], 1, random.Random(1))
        self.assertEqual('a', chosen.host)
