# SPDX-License-Identifier: Apache-2.0

"""Dates at which hosts leave."""

import ddt
import testtools

from pcloud import exception
from pcloud.rules.moving import dates

DAY = 86400


@ddt.ddt
class DatesTest(testtools.TestCase):

    @ddt.unpack
    @ddt.data((0, False, 'drain'), (0, True, 'drain'), (-5, False, 'drain'),
              (1, False, 'tell'), (DAY, False, 'tell'), (1, True, 'nothing'),
              (DAY + 1, False, 'nothing'))
    def test_due(self, ahead, told, expected):
        now = 1790000000
        self.assertEqual(expected, dates.due(
            dates.Until(now + ahead, 'live', told), now))

    def test_until(self):
        now = 1790000000
        self.assertEqual(dates.Until(now + 60, 'any'), dates.until(
            '2026-09-21T14:14:20Z', 'any', now))
        self.assertRaisesRegex(
            exception.InvalidValue, 'until: ', dates.until,
            '2026-09-21T14:13:20Z', 'any', now)
