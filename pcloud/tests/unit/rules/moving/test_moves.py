# SPDX-License-Identifier: Apache-2.0

"""Which servers of drained hosts are moved where, and which have to wait."""

import ddt
import testtools

from pcloud.rules import capacity
from pcloud.rules import coded
from pcloud.rules.moving import blockers
from pcloud.rules.moving import draining
from pcloud.rules.moving import moves

NOW = 1_800_000_000
MINUTE = 60
HOUR = 60 * MINUTE


def moved(ago):
    return moves.Past(NOW - ago, True, True)


def failed(ago, had_target=True):
    return moves.Past(NOW - ago, False, had_target)


def refused(ago):
    return moves.Past(NOW - ago, False, False, is_refused=True)


def server(vm_state='active', locked=False, power='running'):
    return blockers.ServerState(vm_state, None, locked, power_state=power)


@ddt.ddt
class ObstacleTest(testtools.TestCase):
    """The rows of the table, in their order."""

    @ddt.data(
        (server(locked=True), draining.LIVE, True, True, True, 'locked'),
        (server('stopped'), draining.LIVE, True, True, True,
         'not_migratable'),
        (server('stopped'), draining.ANY, True, True, True, None),
        (server('paused', power='paused'), draining.LIVE, True, True, True,
         None),
        (server(power='pending'), draining.LIVE, True, True, True,
         'not_migratable'),
        (server('paused', power='shutdown'), draining.ANY, True, True, True,
         'not_migratable'),
        (server('stopped', power='shutdown'), draining.ANY, True, True, True,
         None),
        (server(power='pending', locked=True), draining.ANY, True, True,
         True, 'locked'),
        (server(), draining.LIVE, False, False, False, 'not_migratable'),
        (server(), draining.LIVE, True, False, True, 'placement'),
        (server(), draining.ANY, True, True, False, 'placement'),
        (server(), draining.ANY, True, True, True, None))
    @ddt.unpack
    def test_table(self, state, move, known, inside, tenant, rule):
        for pinned in (False, True):
            found = moves.obstacle(state, move, known, inside, tenant, pinned)
            self.assertEqual(rule or ('placement' if pinned else None),
                             found and found[0])

    def test_power_that_nova_does_not_migrate(self):
        _, reason = moves.obstacle(
            server(power='pending'), draining.LIVE, True, True, True, False)
        self.assertEqual({'power_state': 'pending'}, reason.params)

    def test_only_stopped_servers_are_migrated_cold(self):
        self.assertEqual([True, True, False], [
            moves.goes_live(server(state))
            for state in ('active', 'paused', 'stopped')])


@ddt.ddt
class WaitTest(testtools.TestCase):

    @ddt.data(
        ([], None, 0),
        ([moved(10 * MINUTE)], None, 0),
        ([moved(61 * MINUTE), moved(10 * MINUTE)], None, 0),
        ([moved(60 * MINUTE), moved(10 * MINUTE)], None, 0),
        ([moved(50 * MINUTE), moved(10 * MINUTE)], 'migration', 10 * MINUTE),
        ([moved(50 * MINUTE), moved(40 * MINUTE), moved(10 * MINUTE)],
         'migration', 20 * MINUTE),
        ([failed(0)], 'migration', MINUTE),
        ([failed(0, False)], 'placement', MINUTE),
        ([failed(5 * MINUTE), failed(0, False)], 'placement', 2 * MINUTE),
        ([failed(5 * MINUTE, False), failed(0)], 'migration', 2 * MINUTE),
        ([failed(each * HOUR) for each in range(20)], 'migration', HOUR),
        ([failed(5 * MINUTE), moved(0)], None, 0),
        ([failed(50 * MINUTE), moved(10 * MINUTE), failed(0)],
         'migration', MINUTE),
        ([failed(5 * MINUTE), refused(0)], 'not_migratable', 2 * MINUTE),
        ([refused(5 * MINUTE), failed(0)], 'migration', 2 * MINUTE),
        ([failed(2 * MINUTE)], 'migration', -MINUTE))
    @ddt.unpack
    def test_table(self, past, rule, seconds):
        for history in (past, past[::-1]):
            wait = moves.wait(history, NOW)
            self.assertEqual(rule, wait and wait.rule)
            if wait is not None:
                self.assertEqual(seconds, wait.until - NOW)
                self.assertEqual({'until': coded.moment(wait.until)},
                                 wait.reason.params)

    def test_moved_often(self):
        wait = moves.wait(
            [moved(50 * MINUTE), moved(40 * MINUTE), moved(10 * MINUTE)], NOW)
        self.assertEqual(moves.Wait(
            'migration', coded.Reason(
                'moved_often', until=coded.moment(NOW + 20 * MINUTE)),
            NOW - 10 * MINUTE, NOW + 20 * MINUTE), wait)

    def test_clock_that_was_ahead(self):
        wait = moves.wait([failed(-24 * HOUR)], NOW)
        self.assertEqual((NOW, NOW + MINUTE), (wait.since, wait.until))


def host(memory):
    return capacity.Host({'MEMORY_MB': (memory,)}, frozenset())


def need(memory):
    return capacity.Need({'MEMORY_MB': memory})


SAME = dict.fromkeys(('one', 'two', 'large'), 0)


class PlanTest(testtools.TestCase):

    def test_large_servers_come_first(self):
        self.assertEqual(
            [('large', 'a'), ('one', 'a'), ('two', 'b')], list(moves.plan(
                {'a': host(10), 'b': host(4)},
                {'one': need(4), 'two': need(4), 'large': need(6)},
                SAME).items()))

    def test_ranks_come_before_sizes(self):
        self.assertEqual({'two': 'a'}, moves.plan(
            {'a': host(4)}, {'one': need(4), 'two': need(3)},
            {'one': 1, 'two': 0}))

    def test_the_host_with_the_least_room(self):
        self.assertEqual({'one': 'b'}, moves.plan(
            {'a': host(10), 'b': host(4)}, {'one': need(4)}, SAME))

    def test_who_finds_no_place_has_none(self):
        self.assertEqual({'one': 'a'}, moves.plan(
            {'a': host(4)}, {'two': need(4), 'one': need(4)}, SAME))
        self.assertEqual({}, moves.plan({}, {'one': need(4)}, SAME))
