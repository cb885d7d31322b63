# SPDX-License-Identifier: Apache-2.0

"""Turns as stored."""

import testtools

from pcloud import exception
from pcloud.rules import turns


class TurnsTest(testtools.TestCase):

    def test_turns(self):
        turn = turns.Turn('0123abcd', 1790000000)
        self.assertEqual(turn, turns.Turn.read(turn.text()))

    def test_lapsed(self):
        for until, lapsed in (
                (999, True), (1000, False), (1060, False), (4660, False),
                (4661, True), (10 ** 17, True)):
            self.assertEqual(
                lapsed, turns.has_lapsed(until, 60, 1000), until)

    def test_other_text(self):
        right = 'token=0123abcd until=20260921T141320Z'
        self.assertEqual(right, turns.Turn('0123abcd', 1790000000).text())
        for text in ('', right[:-1], right.replace('abcd', 'abc'),
                     right.replace('abcd', 'ABCD'), 'token=0123abcd until=x',
                     right + ' '):
            self.assertRaises(exception.InvalidRecord, turns.Turn.read, text)
