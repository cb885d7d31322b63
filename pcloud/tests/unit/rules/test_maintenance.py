# SPDX-License-Identifier: Apache-2.0
import datetime

from oslotest import base

from pcloud import exception
from pcloud.rules import maintenance as rules


class ValueTest(base.BaseTestCase):

    def test_form(self):
        for value, kept in (
                ('f=a r=', rules.Kept(rules.Maintenance(10))),
                ('f=a u=b o=1 r=x y=1 r=2', rules.Kept(
                    rules.Maintenance(10, 11, 'x y=1 r=2'), True)),
                ('f=a o=1 r=\xa0', rules.Kept(
                    rules.Maintenance(10, None, '\xa0'), True)),
                ('o=1', rules.Kept(None, True))):
            self.assertEqual(value, str(kept))
            self.assertEqual(kept, rules.parse(value), value)
            self.assertEqual(kept.maintenance, rules.of(value))

    def test_what_is_not_right(self):
        for value in (None, '', 'x', 'f=a', 'r=x', 'u=b r=x', 'o=1 r=x',
                      ' o=1', 'f=a  r=', 'f=a r=x\ny', 'f=A r=', 'o=1 ',
                      'f=123456789 r=', 'f=a u=b'):
            self.assertIsNone(rules.parse(value), value)
            self.assertIsNone(rules.of(value), value)
        self.assertRaisesRegex(
            exception.InvalidValue, 'Maintenance: ', rules.check, 'node-1',
            'x')
        rules.check('node-1', 'f=a r=')

    def test_the_longest_value_fits(self):
        self.assertLessEqual(len(str(rules.Kept(rules.Maintenance(
            0xffffffff, 0xffffffff, 'r' * rules.REASON_LENGTH), True))), 255)


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
