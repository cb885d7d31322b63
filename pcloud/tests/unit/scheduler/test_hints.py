# SPDX-License-Identifier: Apache-2.0

import testtools

from pcloud.rules.placing import hints
from pcloud.scheduler import filters
from pcloud.scheduler import weights


class ReadersTest(testtools.TestCase):

    def test_the_table_names_classes_that_are_there(self):
        there = {each.__name__ for each in (
            *filters.all_filters(), *weights.all_weighers())}
        others = {hints.API, hints.SCHEDULER, hints.REQUEST_FILTER,
                  hints.CLIENT}
        for each in hints.TABLE:
            self.assertEqual(
                set(), set(each.readers) - there - others, each.name)
