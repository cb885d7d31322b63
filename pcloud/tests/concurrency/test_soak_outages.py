# SPDX-License-Identifier: Apache-2.0

"""What the soak test knows of the outages of the second cell."""

import time

import testtools

from pcloud.tests.soak import outages


class OutagesTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.made = outages.Outages()
        self.before = time.monotonic()

    def test_none(self):
        self.assertFalse(self.made.any_since(self.before))

    def test_under_way(self):
        with self.made.one():
            self.assertTrue(self.made.any_since(time.monotonic()))

    def test_over(self):
        with self.made.one():
            pass
        self.assertTrue(self.made.any_since(self.before))
        self.assertFalse(self.made.any_since(time.monotonic() + 1))
        self.assertTrue(self.made.any_since(time.monotonic() + 1, calm=60))

    def test_two_at_once(self):
        with self.made.one():
            with self.made.one():
                pass
            self.assertTrue(self.made.any_since(time.monotonic() + 1))
