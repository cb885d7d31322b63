# SPDX-License-Identifier: Apache-2.0
"""What is due for a host, as it is written and read."""

from oslotest import base

from pcloud.backend.changes import due
from pcloud import names
from pcloud.rules import forms

MARK = '0123456789ab'
UUID = '4f9a3f64-2d0c-4f6c-8d37-1f1f5a3f2b10'


class DueTest(base.BaseTestCase):

    def test_what_is_written_is_read(self):
        for what in (
                due.Due(MARK),
                due.Due(MARK, provider=UUID, event=due.ADDED, pcloud=UUID,
                        name='web'),
                due.Due(MARK, origin=UUID, cpu=16.0),
                due.Due(MARK, since=1795383309),
                due.Due(MARK, origin=UUID, service=due.OFF),
                due.Due(MARK, cpu=0.5, ram=1.25)):
            self.assertEqual(what, due.parse(what.text()))
            self.assertTrue(what.text().startswith(due.with_mark(MARK)))
        self.assertEqual({names.CPU_RATIO: 0.5, names.RAM_RATIO: 1.25},
                         what.ratios)

    def test_nova_can_hold_the_longest(self):
        what = due.Due(
            MARK, provider=UUID, origin=UUID, event=due.REMOVED, pcloud=UUID,
            name='x' * 63, since=2 ** 32 - 1, cpu=1 / 3e-5, ram=1 / 3)
        longest = due.fitting(what)
        self.assertFalse(what.fits())
        self.assertLessEqual(len(longest.text()), forms.LIMIT)
        self.assertIsNone(longest.provider)
        usual = due.Due(
            MARK, provider=UUID, origin=UUID, event=due.REMOVED, pcloud=UUID,
            name='web-1', since=2 ** 32 - 1, cpu=16.0, ram=1.5)
        self.assertEqual(usual, due.fitting(usual))

    def test_what_only_settles(self):
        self.assertTrue(due.Due(MARK, since=1, pcloud=UUID).only_settles)
        for what in (due.Due(MARK), due.Due(MARK, since=1, origin=UUID),
                     due.Due(MARK, since=1, service=due.ON),
                     due.Due(MARK, since=1, event=due.REMOVED)):
            self.assertFalse(what.only_settles)

    def test_rubbish_waits_until_the_host_is_empty(self):
        for text in ('', ' ', 'mark', '=', 'mark=x cpu=abc ram= q=7',
                     'é' * 255, 'abc', 'mark=', 'mark=x',
                     'mark=' + 'a' * 250, 'provider=../..?x',
                     f'mark={MARK} cpu=nan', f'mark={MARK} ram=inf',
                     f'mark={MARK} service=maybe', f'mark={MARK} event=what',
                     f'mark={MARK} origin=\x00', f'mark={MARK} since=x',
                     f'mark={MARK} since=-1', f'mark={MARK} q=7'):
            what = due.parse(text)
            self.assertEqual(due.Due(''), what, text)
            self.assertTrue(what.empty)
            self.assertTrue(what.only_settles)
            self.assertEqual({}, what.ratios)
            self.assertEqual({}, due.settling({'host': what}))

    def test_marks(self):
        mark = due.new_mark()
        self.assertTrue(due.is_mark(mark))
        for text in ('', 'x', mark[1:], mark.upper() + 'A', f'{mark} ',
                     f'{mark} name=x'):
            self.assertFalse(due.is_mark(text), text)
