# SPDX-License-Identifier: Apache-2.0


import argparse

import ddt
from oslotest import base

from pcloud.client import arguments
from pcloud.rules.moving import maintenance_policies
from pcloud.rules.placing import filling


class ChoicesTest(base.BaseTestCase):

    def test_policies_are_those_of_the_api(self):
        self.assertEqual(
            maintenance_policies.POLICIES, arguments.MAINTENANCE_POLICIES)
        self.assertEqual(filling.CHOICES, arguments.PLACEMENTS)


@ddt.ddt
class NumbersTest(base.BaseTestCase):

    def test_a_whole_number(self):
        self.assertEqual(13, arguments.positive('13'))

    @ddt.data('', '0', '00', '-1', '1.5', '\u0663', '1\u0663', '\u00b2',
              '9' * 4301)
    def test_what_is_none(self, text):
        error = self.assertRaises(
            argparse.ArgumentTypeError, arguments.positive, text)

        self.assertEqual(
            f"'{text}' is not a whole number of 1 or more, of at most 9 "
            'digits', str(error))
