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

"""Why hosts are not right."""

from oslotest import base

from pcloud.rules import reasons


class OfStagesTest(base.BaseTestCase):

    def _stages(self):
        for text, kept in (('a', [2, 3, 4]), ('b', [3]), ('c', [])):
            yield (lambda host, text=text: reasons.open_to_all(
                text, str(host))), kept
        self.fail('nobody was left')

    def test_each_has_the_reason_of_the_stage_where_it_fell(self):
        found = reasons.of_stages([1, 2, 3, 4, 1], self._stages())
        self.assertEqual(['a', 'b', 'c', 'b', 'a'],
                         [each.text for each in found])
        self.assertEqual(['1', '2', '3', '4', '1'],
                         [each.detail for each in found])

    def test_those_that_are_left(self):
        found = reasons.of_stages([1, 2], [(reasons.open_to_all, [2]),
                                           (reasons.open_to_all, [2])])
        self.assertIsNone(found[1])
        self.assertEqual([None], reasons.of_stages([1], []))
        self.assertEqual([], reasons.of_stages([], []))
