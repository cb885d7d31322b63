# SPDX-License-Identifier: Apache-2.0

"""Numbers with the words that they count."""

import ddt
import testtools

from pcloud.rules import counts


@ddt.ddt
class WordsTest(testtools.TestCase):

    @ddt.unpack
    @ddt.data((0, '0 servers are'), (1, '1 server is'), (2, '2 servers are'),
              (21, '21 servers are'))
    def test_words(self, number, expected):
        self.assertEqual(expected, counts.words(
            number, 'server is', 'servers are'))
