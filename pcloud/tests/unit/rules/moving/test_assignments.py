# SPDX-License-Identifier: Apache-2.0

"""What is kept of a rebalance, and what is next."""

import ddt
from oslotest import base

from pcloud import exception
from pcloud.rules.moving import assignments

SERVER = '5f0b3bd4-8f3a-4d0c-b4a4-31d5cf1d6a3b'
A, B, C = (f'{number}1111111-2222-3333-4444-555555555555'
           for number in range(3))
ROW = assignments.Assignment('0123abcd', 2, 255, 'live', A, B)
TEXT = ('plan=0123abcd step=2 since=19700101T000415Z move=live '
        f'source={A} target={B}')


@ddt.ddt
class ValueTest(base.BaseTestCase):

    def test_value(self):
        self.assertEqual(TEXT, ROW.text())
        self.assertEqual(ROW, assignments.Assignment.read(TEXT))

    @ddt.data('', 'x', TEXT + ' ', TEXT + '\n',
              TEXT.replace('step=2', 'step=0'),
              TEXT.replace('step=2', 'step=12345678901'),
              TEXT.replace('live', 'none'), TEXT.replace('0415Z', '0460Z'),
              TEXT.replace('plan=', 'pla='), TEXT.upper())
    def test_value_that_is_not_right(self, text):
        self.assertIsNone(assignments.Assignment.known(text))
        self.assertRaises(
            exception.InvalidRecord, assignments.Assignment.read, text)

    def test_longest_value(self):
        longest = assignments.Assignment(
            '0' * 8, 9999, 0xffffffff, 'live', A, B)
        self.assertLessEqual(len(longest.text()), 255)
        stopped = assignments.stopped(0xffffffff, 'x' * 999)
        self.assertEqual(255, len(stopped.text()))
        self.assertEqual(stopped, assignments.Stopped.read(stopped.text()))

    @ddt.data(('no\nroom', 'no\\nroom'), ('\U0001f600', '\\U0001f600'),
              ('\ud800', '\\ud800'), ('no capacity', 'no capacity'))
    @ddt.unpack
    def test_end_in_any_words(self, reason, shown):
        stopped = assignments.stopped(1, reason)
        self.assertEqual(
            f'at=19700101T000001Z reason={shown}', stopped.text())

    @ddt.data(None, '', 'at=1', 'at=19700101T000001Z',
              'at=19700101T000001Z ', 'no capacity', 'at=x reason=no capacity',
              'at=19700101T000001Z reason=')
    def test_end_that_is_not_right(self, text):
        self.assertIsNone(assignments.Stopped.known(text))
        self.assertRaises(
            exception.InvalidRecord, assignments.Stopped.read, text or '')

    def test_present_step(self):
        rows = {'x': ROW, 'y': assignments.Assignment(
            '0123abcd', 3, 255, 'live', A, B)}
        self.assertEqual({'x': ROW}, assignments.current(rows))
        self.assertEqual({}, assignments.current({}))


STOP = None
LOCKED, TASK = ('locked', 'it is locked'), ('task', 'it is busy')


@ddt.ddt
class NextTest(base.BaseTestCase):
    """The rows of the table."""

    @ddt.data(
        (None, False, False, None, STOP), (None, True, False, None, STOP),
        (A, True, True, LOCKED, assignments.WAIT),
        (B, True, False, None, assignments.WAIT),
        (B, False, False, None, assignments.DONE),
        (B, False, True, LOCKED, assignments.DONE),
        (C, False, False, None, STOP), (A, False, True, None, STOP),
        (A, False, False, TASK, assignments.WAIT),
        (A, False, False, ('migration', ''), assignments.WAIT),
        (A, False, False, LOCKED, STOP),
        (A, False, False, None, assignments.GO))
    @ddt.unpack
    def test_next(self, place, is_under_way, failed, obstacle, expected):
        seen = assignments.Seen(place, is_under_way, failed, obstacle)
        if expected is STOP:
            self.assertRaises(assignments.Stop, assignments.next_of, ROW, seen)
        else:
            self.assertEqual(expected, assignments.next_of(ROW, seen))

    @ddt.data(((), False), ((39,), False), ((41,), True), ((9, 99), True))
    @ddt.unpack
    def test_room_that_comes_back(self, ended, waits):
        self.assertEqual(waits, assignments.waits_for_room(ended, 100))
