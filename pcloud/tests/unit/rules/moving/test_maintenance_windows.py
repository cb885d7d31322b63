# SPDX-License-Identifier: Apache-2.0
import datetime

from oslotest import base

from pcloud import exception
from pcloud.rules.moving import maintenance_windows
from pcloud.rules import record

TEN = '19700101T000010Z'


class ValueTest(base.BaseTestCase):

    def test_form(self):
        for value, maintenance, is_to_open in (
                (f'begin={TEN}', maintenance_windows.Maintenance(10), False),
                (f'begin={TEN} end=19700101T000011Z open=1 why=x y=1 why=2',
                 maintenance_windows.Maintenance(10, 11, 'x y=1 why=2'),
                 True),
                (f'begin={TEN} open=1 why=\xa0',
                 maintenance_windows.Maintenance(10, None, '\xa0'), True),
                ('open=1', None, True)):
            kept = maintenance_windows.kept(maintenance, is_to_open)
            self.assertEqual(value, kept.text())
            self.assertEqual(
                kept, maintenance_windows.KeptMaintenance.read(value), value)
            self.assertEqual(maintenance, maintenance_windows.of(value))

    def test_what_is_not_right(self):
        for value in (None, '', 'x', 'begin=', 'why=x',
                      f'end={TEN} why=x', 'open=1 why=x', ' open=1',
                      f'begin={TEN}  why=x', f'begin={TEN} why=x\ny',
                      f'begin={TEN[:-1]}z', 'open=1 ',
                      'begin=21060207T062816Z', f'end={TEN}',
                      f'begin={TEN} why='):
            self.assertIsNone(
                maintenance_windows.KeptMaintenance.known(value), value)
            self.assertIsNone(maintenance_windows.of(value), value)
            self.assertRaises(
                exception.InvalidRecord,
                maintenance_windows.KeptMaintenance.read, value or '')

    def test_the_longest_value_fits(self):
        longest = maintenance_windows.Maintenance(
            0xffffffff, 0xffffffff, 'r' * maintenance_windows.REASON_LENGTH)
        self.assertLessEqual(
            len(maintenance_windows.kept(longest, True).text()), 255)


class ReadTest(base.BaseTestCase):

    def test_dates(self):
        self.assertEqual(
            maintenance_windows.Maintenance(86399, 86400, 'why'),
            maintenance_windows.read(
                '1970-01-01', '1970-01-02T01:00:00+01:00', 'why'))

    def test_bounds(self):
        longest = 'r' * maintenance_windows.REASON_LENGTH
        self.assertEqual(
            maintenance_windows.Maintenance(0, 0, longest),
            maintenance_windows.read(
                '1970-01-01T00:00:00Z', '1970-01-01T00:00:00Z', longest))
        self.assertEqual(
            maintenance_windows.Maintenance(record.LATEST),
            maintenance_windows.read('2106-02-07T06:28:15Z', None, ''))

    def test_refused(self):
        too_long = 'r' * (maintenance_windows.REASON_LENGTH + 1)
        moment = 'at a moment in ISO 8601'
        for begin, end, reason, wrong, expected in (
                ('soon', None, '', 'soon', moment),
                ('2026-01-01', 'later', '', 'later', moment),
                ('2026-01-02', '2026-01-01', '', '2026-01-01',
                 'not before its beginning'),
                ('2500-01-01', None, '', '2500-01-01', moment),
                ('2106-02-07T06:28:16Z', None, '', '2106-02-07T06:28:16Z',
                 moment),
                ('1960-01-01', None, '', '1960-01-01', moment),
                ('2026-01-02', None, too_long, 'r+', 'told in at most ')):
            self.assertRaisesRegex(
                exception.InvalidValue,
                f"Maintenance: '{wrong}.*' is not right; it has to be "
                f'{expected}', maintenance_windows.read, begin, end, reason)


class MomentTest(base.BaseTestCase):

    def test_begun(self):
        for now, begun in ((9, False), (10, True), (11, True)):
            self.assertIs(
                begun, maintenance_windows.Maintenance(10).has_begun(now))

    def test_next_reboot(self):
        early, late = (datetime.datetime.fromtimestamp(
            seconds, datetime.UTC) for seconds in (5, 15))
        there = maintenance_windows.Maintenance(10)
        for date, maintenance, expected in (
                (None, None, None), (early, None, early),
                (None, there, there.moment), (early, there, early),
                (late, there, there.moment)):
            self.assertEqual(
                expected, maintenance_windows.next_reboot(date, maintenance))
