# SPDX-License-Identifier: Apache-2.0

"""Values of metadata as Pcloud counts with them."""

import testtools

from pcloud.backend.aggregates import readings


class ReadingsTest(testtools.TestCase):
    """What cannot be read counts as the most careful value."""

    def test_ratios(self):
        bad = {'cpu_allocation_ratio': 'nan', 'ram_allocation_ratio': '2'}
        self.assertIsNone(readings.ratio(bad, 'cpu_allocation_ratio'))
        self.assertEqual(2.0, readings.ratio(bad, 'ram_allocation_ratio'))
        self.assertFalse(readings.is_clear(bad))
        self.assertTrue(readings.is_clear({'ram_allocation_ratio': '2'}))
        self.assertTrue(readings.is_clear({}))

    def test_own_ratios(self):
        both = {'cpu_allocation_ratio': 16.0, 'ram_allocation_ratio': 1.5}
        ram = {'ram_allocation_ratio': 1e-05}
        for own in (both, ram):
            self.assertEqual(own, readings.own_ratios(
                {'pcloud:own_ratios:n': readings.own_ratios_text(own)}, 'n'))
        for text in ('cpu=1 ram=nan', 'disk=1', '1e-05', ''):
            self.assertEqual({}, readings.own_ratios(
                {'pcloud:own_ratios:n': text}, 'n'))
        self.assertEqual({}, readings.own_ratios(
            {'pcloud:own_ratios:n': 'cpu=1'}, 'm'))

    def test_limit(self):
        self.assertIsNone(readings.limit({}))
        for text, limit in (('7', 7), ('-1', -1), ('', 0), ('abc', 0)):
            self.assertEqual(limit, readings.limit(
                {'pcloud:quota:units': text}))
