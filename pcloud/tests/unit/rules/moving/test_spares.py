# SPDX-License-Identifier: Apache-2.0

"""Which hosts are spares, and which spare stands in."""

import ddt
import testtools

from pcloud.rules.moving import spares


@ddt.ddt
class SparesTest(testtools.TestCase):

    @ddt.data(('disabled', 'since=20261127T180543Z', True),
              ('disabled', None, False), ('disabled', 'yes', False),
              ('enabled', 'since=20261127T180543Z', False),
              (None, 'since=20261127T180543Z', False))
    @ddt.unpack
    def test_is_spare(self, state, text, expected):
        """The rows of the table of `spares.is_spare`."""
        self.assertIs(expected, spares.is_spare(state, text))

    def test_choose(self):
        def candidate(name, flavor='gpu', zone='az1', is_returning=False,
                      is_used=False):
            return spares.Candidate(name, flavor, zone, is_returning, is_used)

        order = [candidate('c'), candidate('d'),
                 candidate('b', is_used=True),
                 candidate('a', is_returning=True)]
        others = [candidate('0', flavor='big'), candidate('1', zone='az2'),
                  candidate('2', flavor=None)]
        for number, expected in enumerate(order):
            self.assertEqual(expected, spares.choose(
                [*others, *reversed(order[number:])], 'gpu', 'az1'))
        self.assertIsNone(spares.choose(others, 'gpu', 'az1'))
        self.assertIsNone(spares.choose(others, None, 'az1'))
