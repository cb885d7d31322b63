# SPDX-License-Identifier: Apache-2.0

"""What is kept of a drain."""

import dataclasses

import ddt
from oslotest import base

from pcloud import exception
from pcloud.rules.moving import draining
from pcloud.rules import record

NOON = 1893499200  # 2030-01-01T12:00:00Z
FIRST = '19700101T000001Z'
NONE = f'since={FIRST} move=none'


@ddt.ddt
class DrainTest(base.BaseTestCase):

    @ddt.data(
        (draining.Drain(1, draining.NONE), f'since={FIRST} move=none'),
        (draining.Drain(255, draining.ANY, True, 256, True),
         'since=19700101T000415Z move=any release=1 '
         'deadline=19700101T000416Z told=1'),
        (draining.Drain(0xffffffff, draining.LIVE, False, 2), (
            'since=21060207T062815Z move=live deadline=19700101T000002Z')),
        (draining.Drain(1, draining.LIVE, chosen='enabled'),
         f'since={FIRST} move=live chosen=enabled'),
        (draining.Drain(1, draining.LIVE, True, 2, True, 'disabled'),
         f'since={FIRST} move=live release=1 deadline=19700101T000002Z '
         'told=1 chosen=disabled'))
    @ddt.unpack
    def test_value(self, drain, text):
        self.assertEqual(text, drain.text())
        self.assertEqual(drain, draining.Drain.read(text))

    @ddt.data(None, '', 'x', f'since={FIRST}', 'move=none',
              f'since={FIRST} move=walk', 'since=1 move=none',
              'since=-1 move=none', f'{NONE} ', f'since={FIRST}  move=none',
              f'{NONE} release=0', f'{NONE} told=1 release=1',
              'since=21060207T062816Z move=none', f'{NONE}\n',
              f'{NONE} chosen=', f'{NONE} chosen=x',
              f'{NONE} chosen=enabled release=1')
    def test_value_that_is_not_right(self, text):
        self.assertIsNone(draining.Drain.known(text))
        self.assertRaises(
            exception.InvalidRecord, draining.Drain.read, text or '')

    @ddt.data(('disabled', NONE, True), ('disabled', None, False),
              ('disabled', 'x', False), ('enabled', NONE, False),
              ('Disabled', NONE, False), (None, NONE, False))
    @ddt.unpack
    def test_state(self, state, text, drained):
        self.assertEqual(drained, draining.of(state, text) is not None)

    @ddt.data(('2030-01-01T12:00:01Z', 1), ('2030-01-01T12:00:01', 1),
              ('2030-01-01T13:00:02+01:00', 2))
    @ddt.unpack
    def test_deadline(self, text, later):
        self.assertEqual(NOON + later, draining.deadline(text, NOON))

    def test_date_means_the_end_of_the_day(self):
        self.assertLess(NOON + 11 * 3600,
                        draining.deadline('2030-01-01', NOON))

    @ddt.data('2030-01-01T12:00:00Z', '2029-12-31', 'soon', '', '9999-01-01',
              '2030-13-01')
    def test_deadline_that_is_not_right(self, text):
        self.assertRaisesRegex(
            exception.InvalidValue, f"Drain: '{text}' .* a moment to come",
            draining.deadline, text, NOON)

    def test_latest_deadline(self):
        self.assertEqual(record.LATEST, draining.deadline(
            '2106-02-07T06:28:15Z', record.LATEST - 1))
        for text, now in (('2106-02-07T06:28:15Z', record.LATEST),
                          ('2106-02-07T06:28:16Z', NOON), ('soon', 0)):
            self.assertRaises(
                exception.InvalidValue, draining.deadline, text, now)

    @ddt.data((None, False), (NOON - 1, True), (NOON, True),
              (NOON + 1, False))
    @ddt.unpack
    def test_overdue(self, deadline, overdue):
        self.assertEqual(overdue, draining.Drain(
            1, draining.NONE, deadline=deadline).is_overdue(NOON))

    @ddt.data(
        (None, False), (draining.Drain(1, draining.NONE, True), False),
        (draining.Drain(1, draining.LIVE), False),
        (draining.Drain(1, draining.LIVE, True, 2), False),
        (draining.Drain(1, draining.LIVE, True), True),
        (draining.Drain(1, draining.ANY, True), True))
    @ddt.unpack
    def test_lets_go(self, drain, lets):
        self.assertEqual(lets, draining.lets_go(drain))

    def test_at_rest(self):
        """The rows of the table of `draining.is_at_rest`."""
        for deadline, told, in_use, release, move, at_rest in (
                (1, False, False, False, draining.NONE, False),
                (1, False, True, True, draining.LIVE, False),
                (1, True, False, True, draining.NONE, False),
                (None, False, False, True, draining.ANY, False),
                (None, False, False, False, draining.LIVE, True),
                (1, True, False, False, draining.LIVE, True),
                (None, False, True, True, draining.NONE, True),
                (None, False, True, False, draining.LIVE, False),
                (9, False, True, True, draining.NONE, True)):
            drain = draining.Drain(0, move, release, deadline, told)
            self.assertIs(at_rest, draining.is_at_rest(drain, in_use, 5),
                          (drain, in_use))
            spare = dataclasses.replace(drain, release=False, spare=release)
            self.assertIs(at_rest, draining.is_at_rest(spare, in_use, 5))
            idle = dataclasses.replace(drain, idle=True)
            self.assertIs(at_rest and not in_use,
                          draining.is_at_rest(idle, in_use, 5))
