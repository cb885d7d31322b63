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

"""Numbers with the words that they count."""

import ddt
import testtools

from pcloud.rules import counts


@ddt.ddt
class WordsTest(testtools.TestCase):

    @ddt.unpack
    @ddt.data((0, '0 servers are'), (1, '1 server is'), (2, '2 servers are'),
              (21, '21 servers are'))
    def test_words(self, number, expected):
        self.assertEqual(expected, counts.words(
            number, 'server is', 'servers are'))
