# SPDX-License-Identifier: Apache-2.0

"""Turns as stored."""

import testtools

from pcloud import exception
from pcloud.rules import turns


class TurnsTest(testtools.TestCase):

    def test_turns(self):
        turn = turns.Turn('0123abcd', 1790000000)
        self.assertEqual(turn, turns.parse(str(turn)))

    def test_lapsed(self):
        for until, lapsed in (
                (999, True), (1000, False), (1060, False), (4660, False),
                (4661, True), (10 ** 17, True)):
            self.assertEqual(
                lapsed, turns.has_lapsed(until, 60, 1000), until)

    def test_other_text(self):
        for text in ('', '0123abcd', '0123abc 1', '0123ABCD 1',
                     '0123abcd x', '0123abcd 1 '):
            self.assertRaisesRegex(
                exception.InvalidValue, 'Turn: ', turns.parse, text)
