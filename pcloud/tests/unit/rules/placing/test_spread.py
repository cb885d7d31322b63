# SPDX-License-Identifier: Apache-2.0

import ddt
import testtools

from pcloud.rules.placing import spread


@ddt.ddt
class ScoresTest(testtools.TestCase):

    @ddt.data(
        ([], []), ([0], [1.0]), ([7], [1.0]), ([3, 3], [1.0, 1.0]),
        ([0, 1], [1.0, 0.0]), ([5, 3, 4, 3], [0.0, 1.0, 0.5, 1.0]),
        ([0, 4, 1], [1.0, 0.0, 0.75]))
    @ddt.unpack
    def test_by_hand(self, counts, expected):
        self.assertEqual(expected, spread.scores(counts))
