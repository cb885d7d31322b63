# Licensed under the Apache License, Version 2.0 (the "License"); you may
# not use this file except in compliance with the License. You may obtain
# a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the
# License for the specific language governing permissions and limitations
# under the License.

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
