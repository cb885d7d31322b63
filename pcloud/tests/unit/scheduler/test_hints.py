# Licensed under the Apache License, Version 2.0 (the "License"); you may
# not use this file except in compliance with the License. You may obtain
# a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the
# License for the specific language governing permissions and limitations
# under the License.

import testtools

from pcloud.rules import hints
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
