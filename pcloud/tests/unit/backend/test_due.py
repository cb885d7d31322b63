# SPDX-License-Identifier: Apache-2.0
"""What is due for a host, as it is written and read."""

from oslotest import base

from pcloud.backend import due
from pcloud import names

MARK = '0123456789ab'
UUID = '4f9a3f64-2d0c-4f6c-8d37-1f1f5a3f2b10'


class DueTest(base.BaseTestCase):

    def test_what_is_written_is_read(self):
        for what in (
                due.Due(MARK),
                due.Due(MARK, provider=UUID, event=due.ADDED, pcloud=UUID,
                        name='web'),
                due.Due(MARK, origin=UUID, ratios={names.CPU_RATIO: 16.0},
                        empty=True),
                due.Due(MARK, empty=True, since=1795383309),
                due.Due(MARK, origin=UUID, service=due.OFF),
                due.Due(MARK, ratios={names.CPU_RATIO: 0.5,
                                      names.RAM_RATIO: 1.25})):
            self.assertEqual(what, due.parse(str(what)))
            self.assertTrue(str(what).startswith(due.with_mark(MARK)))

    def test_nova_can_hold_the_longest(self):
        longest = due.Due(
            MARK, provider=UUID, origin=UUID, event=due.REMOVED, pcloud=UUID,
            name='x' * 63, empty=True, since=2 ** 33, ratios={
                names.CPU_RATIO: 1 / 3e-5, names.RAM_RATIO: 1 / 3})
        self.assertLessEqual(len(str(longest)), names.LIMIT)

    def test_what_only_settles(self):
        self.assertTrue(due.Due(MARK, empty=True, pcloud=UUID).only_settles)
        for what in (due.Due(MARK), due.Due(MARK, empty=True, origin=UUID),
                     due.Due(MARK, empty=True, service=due.ON),
                     due.Due(MARK, empty=True, event=due.REMOVED)):
            self.assertFalse(what.only_settles)

    def test_rubbish_closes_the_host_and_breaks_nothing(self):
        for text in ('', ' ', 'm', '=', 'm=x c=abc r= q=7', 'é' * 255):
            self.assertEqual({}, due.parse(text).ratios)
        for time in ('', 'x', '-1', 'f' * 99, '1.5'):
            self.assertIsNone(due.parse(f'm=x t={time}').since)

    def test_rubbish_waits_until_the_host_is_empty(self):
        for text in ('', 'abc', 'm=', 'm=x', 'm=' + 'a' * 250, 'n=../..?x',
                     'c=nan r=inf', 's=maybe a=what l=\x00'):
            self.assertEqual(due.Due('', empty=True), due.parse(text), text)
