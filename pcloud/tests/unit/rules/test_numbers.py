# SPDX-License-Identifier: Apache-2.0

"""Values as somebody may have written them."""

import ddt
import testtools

from pcloud import exception
from pcloud.rules import ratios
from pcloud.rules import units
from pcloud import text as texts

RUBBISH = ('abc', 'nan', 'inf', '-inf', '-1', '1e400', '1e-400', '', '  ',
           'x' * 255, '1\n', ' 1', '\x00', '[1]', 'null', '٣', '0x10', '1_0',
           '+1', '1,5', '.5', '5.', '9' * 255, '\ud800', 'True')


@ddt.ddt
class RatioTest(testtools.TestCase):

    @ddt.unpack
    @ddt.data(('4', 4.0), ('1.5', 1.5), ('16.0', 16.0), ('1e-05', 1e-05),
              ('1E+2', 100.0), ('1024', 1024.0), ('1e-320', 1e-320))
    def test_right(self, text, value):
        self.assertEqual(value, ratios.of_pcloud(text))
        own = ratios.OwnRatios(cpu=value)
        self.assertEqual(own, ratios.OwnRatios.read(own.text()))

    @ddt.data(*RUBBISH, '0', '0.0', '1024.1', '1e300')
    def test_wrong_of_a_pcloud(self, text):
        error = self.assertRaises(
            exception.InvalidValue, ratios.of_pcloud, text)
        self.assertIn('Allocation ratio: ', str(error))
        self.assertIn('a number ', str(error))
        self.assertEqual(texts.beginning(text), error.details['value'])

    @ddt.data(*(each for each in RUBBISH if each != '1e-400'), '1e39')
    def test_wrong_of_a_host(self, text):
        for name in ('cpu', 'ram'):
            self.assertRaises(exception.InvalidRecord,
                              ratios.OwnRatios.read, f'{name}={text}')

    def test_what_placement_has_is_right(self):
        for value in (0.0, 1.0, 3e38, 123456.789, 1 / 3):
            own = ratios.OwnRatios.read(ratios.OwnRatios(value, value).text())
            # Placement keeps fewer digits than the nine of the text.
            self.assertLessEqual(abs(own.cpu - value), value * 1e-8)
            self.assertEqual(own.cpu, own.ram)


@ddt.ddt
class UnitsTest(testtools.TestCase):

    @ddt.data('0', '1', '12', '1000000')
    def test_right(self, text):
        self.assertEqual(int(text), units.read(text))
        self.assertEqual(int(text), units.limit(text))

    @ddt.data(*RUBBISH, '1.0', '1000001')
    def test_wrong(self, text):
        error = self.assertRaises(
            exception.InvalidValue, units.read, text)
        self.assertIn('Units: ', str(error))
        self.assertIn('a whole number from 0 to 1000000.', str(error))
        self.assertEqual(texts.beginning(text), error.details['value'])

    def test_limit(self):
        self.assertEqual(-1, units.limit('-1'))
        self.assertEqual(2 ** 31 - 1, units.limit('2147483647'))

    @ddt.data(*(each for each in RUBBISH if each != '-1'), '-2', '1.0',
              '2147483648')
    def test_wrong_limit(self, text):
        error = self.assertRaises(
            exception.InvalidValue, units.limit, text)
        self.assertIn('Units: ', str(error))
        self.assertIn('to 2147483647, or -1 for no limit.', str(error))
        self.assertEqual(texts.beginning(text), error.details['value'])
