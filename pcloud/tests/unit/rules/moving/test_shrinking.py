# SPDX-License-Identifier: Apache-2.0

"""Which hosts a Pcloud gives back."""

import ddt
import testtools

from pcloud.rules.moving import shrinking

NOW = 10 * 3600
LONG, SHORT = shrinking.Idle(NOW - 7200), shrinking.Idle(NOW - 7199)
NOBODY = ((), (), ())


def seen(name='a', stays=True, is_open=True, is_used=False, idle=None,
         is_noted=None):
    return shrinking.Seen(name, stays, is_open, is_used, idle,
                          idle is not None if is_noted is None else is_noted)


def planned(*there, after_hours=2, min_hosts=0, keep_spare=0):
    found = shrinking.plan(shrinking.Shrink(
        after_hours, min_hosts, keep_spare), there, NOW)
    return tuple(found.noted), tuple(found.forgotten), tuple(found.released)


@ddt.ddt
class PlanTest(testtools.TestCase):

    @ddt.data(
        ({'is_used': None, 'idle': LONG}, NOBODY),
        ({}, (('a',), (), ())),
        ({'idle': SHORT}, NOBODY),
        ({'idle': LONG}, ((), (), ('a',))),
        ({'is_noted': True}, ((), ('a',), ())),
        ({'is_used': True, 'idle': LONG}, ((), ('a',), ())),
        ({'is_open': False, 'idle': LONG}, ((), ('a',), ())),
        ({'is_open': False, 'is_used': True, 'idle': LONG}, ((), ('a',), ())),
        ({'is_used': True}, NOBODY), ({'is_open': False}, NOBODY))
    @ddt.unpack
    def test_table(self, host, expected):
        """The rows of the table of `shrinking.plan`."""
        self.assertEqual(expected, planned(seen(**host)))

    def test_limits(self):
        there = [seen(name, idle=shrinking.Idle(since)) for name, since
                 in (('c', 1), ('a', 3), ('b', 2), ('d', 3))]
        for limits, released in (
                ({}, 'cbad'), ({'min_hosts': 1}, 'cba'),
                ({'keep_spare': 2}, 'cb'), ({'min_hosts': 9}, ''),
                ({'min_hosts': 1, 'keep_spare': 3}, 'c')):
            self.assertEqual(((), (), tuple(released)),
                             planned(*there, **limits), limits)
        # Hosts in use stay, and are not empty; those that leave do not stay.
        for more, limits, released in (
                (seen('e', is_used=True), {'min_hosts': 1}, 'cbad'),
                (seen('e', is_used=True), {'keep_spare': 1}, 'cba'),
                (seen('e', stays=False, is_open=False), {'min_hosts': 1},
                 'cba')):
            self.assertEqual(((), (), tuple(released)),
                             planned(*there, more, **limits))

    def test_without_a_wish(self):
        found = shrinking.plan(None, [
            seen('a', idle=LONG), seen('b'),
            seen('c', is_used=None, idle=LONG)], NOW)
        self.assertEqual(['a'], list(found.forgotten))
        self.assertEqual([[], []], [
            list(hosts) for hosts in (found.noted, found.released)])
        self.assertTrue(found)
        self.assertFalse(shrinking.plan(None, [seen()], NOW))

    @ddt.data((0, 0, 0), (87_601, 0, 0), (1, 10_001, 0), (1, 0, 10_001))
    def test_wishes_that_are_not_right(self, wrong):
        self.assertRaises(ValueError, shrinking.Shrink, *wrong)

    @ddt.data((1, 0, 0), (87_600, 10_000, 10_000))
    def test_bounds_of_wishes(self, right):
        wish = shrinking.Shrink(*right)
        self.assertEqual(wish, shrinking.Shrink.read(wish.text()))

    def test_wish(self):
        self.assertEqual(shrinking.Shrink(2, 1, 0), shrinking.wish(
            {'after_hours': 2.0, 'min_hosts': 1, 'keep_spare': 0}))
