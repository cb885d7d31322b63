# SPDX-License-Identifier: Apache-2.0

"""Which hosts may go together, with any judge."""

import ddt
from oslotest import base

from pcloud.planning import reboots


@ddt.ddt
class SplitTest(base.BaseTestCase):

    @ddt.data(
        # hosts, how much may go at once, what goes together
        ('', 1, ['']), ('111', 3, ['111']), ('111', 1, ['1', '1', '1']),
        ('1111', 2, ['11', '11']), ('212', 2, ['2', '1', '2']),
        ('121', 2, ['1', '2', '1']),
        # What may not even go alone comes last.
        ('3121', 2, ['1', '2', '1', '3!']), ('33', 2, ['3!', '3!']))
    @ddt.unpack
    def test_by_weight(self, hosts, most, expected):
        found = reboots.split(
            list(hosts), lambda gone: sum(map(int, gone)) <= most)
        self.assertEqual(expected, [
            ''.join(part) + ('' if safe else '!') for part, safe in found])
