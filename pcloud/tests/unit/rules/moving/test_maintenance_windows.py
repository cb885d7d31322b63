# SPDX-License-Identifier: Apache-2.0
import datetime

from oslotest import base

from pcloud import exception
from pcloud.rules.moving import maintenance_windows as rules

TEN = '19700101T000010Z'


class ValueTest(base.BaseTestCase):

    def test_form(self):
        for value, kept in (
                (f'begin={TEN}', rules.kept(rules.Maintenance(10))),
                (f'begin={TEN} end=19700101T000011Z open=1 why=x y=1 why=2',
                 rules.kept(rules.Maintenance(10, 11, 'x y=1 why=2'), True)),
                (f'begin={TEN} open=1 why=\xa0', rules.kept(
                    rules.Maintenance(10, None, '\xa0'), True)),
                ('open=1', rules.kept(None, True))):
            self.assertEqual(value, kept.text())
            self.assertEqual(kept, rules.Kept.read(value), value)
            self.assertEqual(kept.maintenance, rules.of(value))

    def test_what_is_not_right(self):
        for value in (None, '', 'x', 'begin=', 'why=x',
                      f'end={TEN} why=x', 'open=1 why=x', ' open=1',
                      f'begin={TEN}  why=x', f'begin={TEN} why=x\ny',
                      f'begin={TEN[:-1]}z', 'open=1 ',
                      'begin=21060207T062816Z', f'end={TEN}',
                      f'begin={TEN} why='):
            self.assertIsNone(rules.Kept.known(value), value)
            self.assertIsNone(rules.of(value), value)
            self.assertRaises(
                exception.InvalidRecord, rules.Kept.read, value or '')

    def test_the_longest_value_fits(self):
        self.assertLessEqual(len(rules.kept(rules.Maintenance(
            0xffffffff, 0xffffffff, 'r' * rules.REASON_LENGTH),
            True).text()), 255)


class ReadTest(base.BaseTestCase):

    def test_dates(self):
        self.assertEqual(
            rules.Maintenance(86399, 86400, 'why'), rules.read(
                '1970-01-01', '1970-01-02T01:00:00+01:00', 'why'))

    def test_refused(self):
        for begin, end, reason in (
                ('soon', None, ''), ('2026-01-01', 'later', ''),
                ('2026-01-02', '2026-01-01', ''), ('2500-01-01', None, ''),
                ('1960-01-01', None, ''),
                ('2026-01-02', None, 'r' * (rules.REASON_LENGTH + 1))):
            self.assertRaisesRegex(
                exception.InvalidValue, 'Maintenance: ', rules.read, begin,
                end, reason)


class MomentTest(base.BaseTestCase):

    def test_begun(self):
        for now, begun in ((9, False), (10, True), (11, True)):
            self.assertIs(begun, rules.Maintenance(10).has_begun(now))

    def test_next_reboot(self):
        early, late = (datetime.datetime.fromtimestamp(
            seconds, datetime.UTC) for seconds in (5, 15))
        there = rules.Maintenance(10)
        for date, maintenance, expected in (
                (None, None, None), (early, None, early),
                (None, there, there.moment), (early, there, early),
                (late, there, there.moment)):
            self.assertEqual(expected, rules.next_reboot(date, maintenance))
