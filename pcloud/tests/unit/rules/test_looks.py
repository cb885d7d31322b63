# SPDX-License-Identifier: Apache-2.0

"""Whether a worker is at work."""

import unittest

from pcloud.rules import looks
from pcloud.rules.moving import blockers


class LooksTest(unittest.TestCase):

    def test_texts(self):
        for text, expected in (
                ('at=20251127T143320Z', 1764254000),
                ('at=19700101T000000Z', 0), (None, None), ('', None),
                ('at=-1', None), ('at=1.5', None), ('1764254000', None),
                ('at=20251127T143320', None)):
            look = looks.Look.known(text)
            self.assertEqual(expected, look and look.at, text)

    def test_ages(self):
        now = 1764254000
        for age, expected in (
                (0, True), (looks.LASTS, True), (looks.LASTS + 1, False),
                (-3600, True), (-3601, False)):
            self.assertEqual(
                expected, looks.is_recent(now - age, now), age)
        self.assertFalse(looks.is_recent(None, now))
        self.assertFalse(looks.is_recent(now - 61, now, looks.NOTED))

    def test_words(self):
        rule, reason = blockers.without_worker(1764254000)
        self.assertEqual('no_worker', rule)
        self.assertIn('no worker has looked since 2025-11-27T14:33:20Z, so',
                      reason)
        self.assertIn('no worker has looked, so',
                      blockers.without_worker(None)[1])
