# SPDX-License-Identifier: Apache-2.0

import ddt
import testtools

from pcloud import exception
from pcloud.rules.moving import blockers
from pcloud.rules.moving import moves
from pcloud.rules.moving import recovery

CELL = '0c9f1f3c-9f5c-4b4b-8d2c-0f0a2c5f9a11'
OTHER = '0c9f1f3c-9f5c-4b4b-8d2c-0f0a2c5f9a12'
NOW, AFTER = 10_000, 300
UP = recovery.Service(True, False, NOW, CELL)
FAILED = recovery.Service(False, True, NOW - AFTER, CELL)
MOVING, DONE, HELD = (
    recovery.Recovery(state, 5)
    for state in (recovery.MOVING, recovery.DONE, recovery.HELD))
RELEASED = recovery.Recovery(recovery.HELD, 5, released=True)
KEPT = (None, MOVING, DONE, HELD, RELEASED)


def due(policy, service, kept):
    return recovery.due(policy, service, kept, AFTER, NOW)


@ddt.ddt
class TriggerTest(testtools.TestCase):
    """The rows of the tables of `has_failed` and `due`."""

    @ddt.data(
        (None, False),
        (UP, False),
        # Nova calls a service that is forced down not up.
        (recovery.Service(True, True, 0, CELL), False),
        (recovery.Service(False, False, 0, CELL), False),
        (recovery.Service(False, True, NOW - AFTER + 1, CELL), False),
        (FAILED, True),
        (recovery.Service(False, True, 0, CELL), True))
    @ddt.unpack
    def test_failed(self, service, expected):
        self.assertEqual(expected, recovery.has_failed(service, AFTER, NOW))

    @ddt.data(*recovery.POLICIES)
    def test_up(self, policy):
        self.assertEqual(recovery.NOTHING, due(policy, UP, None))
        for kept in KEPT[1:]:
            self.assertEqual(recovery.RETURN, due(policy, UP, kept))

    @ddt.data(*KEPT)
    def test_not_failed(self, kept):
        for policy in recovery.POLICIES:
            for service in (None, recovery.Service(False, True, NOW, CELL)):
                self.assertEqual(
                    recovery.NOTHING, due(policy, service, kept))

    @ddt.data(*recovery.POLICIES)
    def test_down_and_not_fenced(self, policy):
        down = recovery.Service(False, False, 0, CELL)
        for kept in (None, MOVING, DONE):
            self.assertEqual(recovery.NOTHING, due(policy, down, kept))
        for kept in (HELD, RELEASED):
            self.assertEqual(recovery.RETURN, due(policy, down, kept))

    def test_at_rest(self):
        self.assertEqual(
            [(False, False), (False, True), (False, False), (False, False)],
            [tuple(recovery.is_at_rest(kept, policy) for policy in (
                recovery.REPLACE, recovery.IN_PLACE)) for kept in KEPT[1:]])

    @ddt.data(recovery.IN_PLACE, recovery.REPLACE)
    def test_fenced(self, policy):
        self.assertEqual(
            [recovery.BEGIN, recovery.MOVE, recovery.MOVE, recovery.NOTHING,
             recovery.BEGIN],
            [due(policy, FAILED, kept) for kept in KEPT])

    def test_off(self):
        self.assertEqual({recovery.NOTHING}, {
            due(recovery.OFF, FAILED, kept) for kept in KEPT})

    @ddt.data((None, 'off'), ('', 'off'), ('In_place', 'off'),
              ('in_place', 'in_place'), ('replace', 'replace'))
    @ddt.unpack
    def test_policy(self, text, expected):
        self.assertEqual(expected, recovery.policy(text))


class HeldTest(testtools.TestCase):

    def test_too_many(self):
        begun = [recovery.Begun(NOW - 3599, CELL), recovery.Begun(NOW, CELL),
                 recovery.Begun(NOW - 3600, CELL), recovery.Begun(NOW, OTHER)]
        for most, cell, expected in (
                (3, CELL, False), (2, CELL, True), (2, OTHER, False),
                (1, OTHER, True)):
            self.assertEqual(expected, recovery.is_too_many(
                begun, cell, most, NOW))

    def test_what_is_kept(self):
        for kept, begun in ((MOVING, True), (DONE, True), (HELD, False),
                            (RELEASED, False)):
            self.assertEqual(kept, recovery.Recovery.read(kept.text()))
            self.assertIs(begun, kept.has_begun)
            self.assertIs(begun, recovery.has_begun(kept.text()))
        for text in (None, '', 'state=moving'):
            self.assertIs(False, recovery.has_begun(text))

    def test_what_has_begun_is_not_released(self):
        for text in ('state=moving since=20261127T180543Z released=1',
                     'state=done since=20261127T180543Z released=1'):
            self.assertRaises(
                exception.InvalidRecord, recovery.Recovery.read, text)


def state(vm_state='active', task=None, locked=False, migrations=()):
    return blockers.ServerState(vm_state, task, locked, migrations)


VOLUME = recovery.Guest(on_local_disk=False)
DISK = recovery.Guest()
VTPM = recovery.Guest(on_local_disk=False, refused='vTPM')


@ddt.ddt
class ObstacleTest(testtools.TestCase):
    """The rows of the table of `obstacle`."""

    @ddt.data(
        (state('error'), VOLUME, False, False, 'error'),
        (state('error'), VOLUME, False, True, None),
        (state('error', 'rebuilding'), VOLUME, False, True, 'task'),
        (state('soft-delete'), VOLUME, False, True, 'soft_deleted'),
        (state('resized'), VOLUME, False, True, 'resize_not_confirmed'),
        (state(migrations=['accepted']), VOLUME, True, True, 'migration'),
        (state(task='powering-off'), VOLUME, True, True, 'task'),
        (state('building'), VOLUME, True, True, 'task'),
        (state('shelved'), VOLUME, True, True, 'shelved'),
        (state('paused'), VOLUME, True, True, 'not_migratable'),
        (state('suspended'), VOLUME, True, True, 'not_migratable'),
        (state('rescued'), VOLUME, True, True, 'not_migratable'),
        (state(), VTPM, True, True, 'not_migratable'),
        (state(), DISK, False, True, 'local_disk'),
        (state('stopped'), DISK, False, True, 'local_disk'),
        (state(locked=True), DISK, False, True, 'local_disk'),
        (state(), DISK, True, False, None),
        (state(), VOLUME, False, False, None),
        (state('stopped'), VOLUME, False, False, None),
        (state(locked=True), VOLUME, False, False, None),
        (state('error', locked=True), VOLUME, False, True, None))
    @ddt.unpack
    def test_rows(self, server, guest, shared, retry, expected):
        found = recovery.obstacle(server, guest, shared, retry)
        self.assertEqual(expected, found and found[0])
        if found is not None:
            self.assertTrue(str(found[1]))

    def test_params_of_reasons(self):
        for server, guest, params in (
                (state('paused'), VOLUME, {'state': 'paused'}),
                (state(), VTPM, {'what': 'vTPM'})):
            _, reason = recovery.obstacle(server, guest, True, True)
            self.assertEqual(params, reason.params)


class WaitTest(testtools.TestCase):

    def test_own_failures_alone_count(self):
        since = NOW - 50
        moved = [moves.Past(NOW - 9, True, True) for _ in range(3)]
        for history in (
                moved,
                [moves.Past(NOW, False, True)],
                [moves.Past(since - 1, False, False, True)],
                [moves.Past(NOW, True, True, True)]):
            self.assertIsNone(recovery.wait(history, since, NOW))
        failure = moves.Past(NOW - 10, False, False, True)
        found = recovery.wait([*moved, failure], since, NOW)
        self.assertEqual(('placement', NOW + 50), (found.rule, found.until))
        failure = moves.Past(NOW - 10, False, True, True)
        self.assertEqual('migration', recovery.wait(
            [failure], since, NOW).rule)

    def test_failure_when_the_recovery_began(self):
        failure = moves.Past(NOW, False, True, True)
        self.assertEqual([failure], recovery.failures([failure], NOW))
