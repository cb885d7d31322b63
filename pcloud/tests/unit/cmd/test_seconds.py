# SPDX-License-Identifier: Apache-2.0

import argparse

import ddt
import testtools

from pcloud.cmd import seconds


@ddt.ddt
class SecondsTest(testtools.TestCase):

    def test_numbers(self):
        self.assertEqual([0, 0.5, 86400], [
            seconds.pause(text) for text in ('0', '.5', '86400')])
        self.assertEqual([0.5, 60], [
            seconds.interval(text) for text in ('.5', '60')])

    @ddt.data('-1', 'nan', 'inf', 'soon', '', '86400.1')
    def test_other_text(self, text):
        for read in seconds.pause, seconds.interval:
            error = self.assertRaises(
                argparse.ArgumentTypeError, read, text)
            self.assertIn(f"'{text}' is not right", str(error))

    def test_intervals_that_are_too_short_or_too_long(self):
        for text in '0', '60.1':
            self.assertRaises(
                argparse.ArgumentTypeError, seconds.interval, text)
