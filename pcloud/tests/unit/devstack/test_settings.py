# SPDX-License-Identifier: Apache-2.0

"""The filters that devstack's nova-scheduler asks."""

import pathlib
import re

import testtools

import pcloud
from pcloud.scheduler import filters

SETTINGS = pathlib.Path(pcloud.__file__).parents[1] / 'devstack/settings'


class SettingsTest(testtools.TestCase):

    def test_filters(self):
        """A new filter is asked by devstack, or is left out on purpose."""
        named = re.search(r'(?m)^PCLOUD_FILTERS=\$\{PCLOUD_FILTERS:-(.*)\}$',
                          SETTINGS.read_text())[1].split(',')
        self.assertEqual(
            {each.__name__ for each in filters.all_filters()},
            {*named, 'FreeMemoryFilter'})
        self.assertEqual(len(set(named)), len(named))
        # The first keeps Pclouds apart; the last chooses among what is left.
        self.assertEqual(('PcloudFilter', 'LocalityFilter'),
                         (named[0], named[-1]))
