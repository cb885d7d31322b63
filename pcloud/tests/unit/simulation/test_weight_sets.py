# SPDX-License-Identifier: Apache-2.0

"""Weights as they are typed."""

import ddt
import testtools

from pcloud import exception
from pcloud_simulator import weight_sets


@ddt.ddt
class ParseTest(testtools.TestCase):

    def test_named(self):
        self.assertEqual(
            weight_sets.Weights('mine', {'platform': 1.0, 'ram': -0.8}),
            weight_sets.parse('mine: platform=1 , ram=-0.8'))

    def test_without_a_name(self):
        found = weight_sets.parse('ram=-1,reboot=0.5')
        self.assertEqual('ram=-1,reboot=0.5', found.name)
        self.assertEqual((-1.0, 0.5, 0.0), (
            found.weight('ram'), found.weight('reboot'),
            found.weight('cpu')))

    def test_a_subset(self):
        self.assertEqual(
            [(3, {'ram': 1.0}), (1, {'ram': 1.0}), (1, {'ram': 1.0}),
             (7, {})],
            [(found.subset, found.weights) for found in map(
                weight_sets.parse, ('ram=1,subset=3', 'ram=1',
                                    'subset=1,ram=1', 'x:subset=7'))])

    @ddt.data('subset=0', 'subset=-1', 'subset=1.5', 'subset=',
              'subset=1,subset=2', '', 'x:', ':ram=1', 'ram', 'ram=',
              'ram=one', 'ram=nan',
              'ram=1e3', 'rum=1', 'ram=1,,cpu=1', 'ram=1,ram=2',
              'a\nb:ram=1')
    def test_bad(self, text):
        error = self.assertRaises(
            exception.InvalidValue, weight_sets.parse, text)
        self.assertIn('it has to be weights such as', str(error))

    def test_names_are_unique(self):
        names = [each.name for each in weight_sets.several(['a:ram=1'])]
        self.assertEqual(['nova', 'pcloud', 'a'], names)
        self.assertRaisesRegex(
            exception.InvalidValue, '--weights: ', weight_sets.several,
            ['a:ram=1', 'a:ram=2'])
        self.assertRaisesRegex(
            exception.InvalidValue, '--weights: ', weight_sets.several,
            ['nova:ram=1'])
