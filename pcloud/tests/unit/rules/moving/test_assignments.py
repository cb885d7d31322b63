# SPDX-License-Identifier: Apache-2.0

"""What is kept of a rebalance, and what is next."""

import ddt
from oslotest import base

from pcloud import exception
from pcloud.rules import coded
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
        first = TEXT.replace('step=2', 'step=1')
        self.assertEqual(
            first, assignments.Assignment.read(first).text())

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
        for reason in (
                coded.Reason('host_without_capacity', server=SERVER,
                             host='x' * 63),
                coded.Reason('server_stays', server=SERVER,
                             why='power_not_migratable',
                             power_state='x' * 40)):
            stopped = assignments.stopped(0xffffffff, reason)
            self.assertLessEqual(len(stopped.text()), 255)
            again = assignments.Stopped.read(stopped.text())
            self.assertEqual(stopped, again)
            self.assertEqual((reason, reason.code, reason.params), (
                again.reason, again.reason.code, again.reason.params))

    @ddt.data(('host_left', {}, ''),
              ('server_left', {'server': SERVER},
               f' params={{"server": "{SERVER}"}}'))
    @ddt.unpack
    def test_end(self, code, params, shown):
        stopped = assignments.stopped(1, coded.Reason(code, **params))
        self.assertEqual(
            f'at=19700101T000001Z code={code}{shown}', stopped.text())

    @ddt.data(None, '', 'at=1', 'at=19700101T000001Z',
              'at=19700101T000001Z ', 'no capacity', 'at=x code=host_left',
              'at=19700101T000001Z code=', 'at=19700101T000001Z code=none',
              'at=19700101T000001Z code=server_left',
              'at=19700101T000001Z code=host_left params={',
              'at=19700101T000001Z code=host_left params=[]',
              'at=19700101T000001Z code=host_left params={}')
    def test_end_that_is_not_right(self, text):
        self.assertIsNone(assignments.Stopped.known(text))
        self.assertRaises(
            exception.InvalidRecord, assignments.Stopped.read, text or '')

    def test_present_step(self):
        rows = {'x': ROW, 'y': assignments.Assignment(
            '0123abcd', 3, 255, 'live', A, B)}
        self.assertEqual({'x': ROW}, assignments.current(rows))
        self.assertEqual({'y': rows['y']}, assignments.current({
            'y': rows['y']}))
        self.assertEqual({}, assignments.current({}))


STOP = None
LOCKED = 'locked', coded.Reason('locked')
TASK = 'task', coded.Reason('task', task='reboot')
MIGRATION = 'migration', coded.Reason('migration')


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
        (A, False, False, MIGRATION, assignments.WAIT),
        (A, False, False, LOCKED, STOP),
        (A, False, False, None, assignments.GO))
    @ddt.unpack
    def test_next(self, place, is_under_way, failed, obstacle, expected):
        seen = assignments.Seen(place, is_under_way, failed, obstacle)
        if expected is STOP:
            error = self.assertRaises(
                assignments.Stop, assignments.next_of, SERVER, ROW, seen)
            self.assertTrue(error.reason.startswith(f'server {SERVER}: '))
            self.assertEqual(error.reason, str(error))
        else:
            self.assertEqual(
                expected, assignments.next_of(SERVER, ROW, seen))

    def test_why_a_server_stays(self):
        seen = assignments.Seen(A, False, False, ('not_migratable', (
            coded.Reason('power_not_migratable', power_state='pending'))))
        error = self.assertRaises(
            assignments.Stop, assignments.next_of, SERVER, ROW, seen)
        self.assertEqual(
            {'server': SERVER, 'why': 'power_not_migratable',
             'power_state': 'pending'}, error.reason.params)

    @ddt.data(((), False), ((39,), False), ((40,), False), ((41,), True),
              ((9, 99), True))
    @ddt.unpack
    def test_room_that_comes_back(self, ended, waits):
        self.assertEqual(waits, assignments.waits_for_room(ended, 100))
