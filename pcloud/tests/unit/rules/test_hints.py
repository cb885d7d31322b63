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

import ddt
import hypothesis
from hypothesis import strategies
import testtools

from pcloud import exception
from pcloud.rules import hints

ID = '3f1c2ab4-5d6e-4f70-8a9b-0c1d2e3f4a5b'


@ddt.ddt
class PcloudIdTest(testtools.TestCase):

    @ddt.data(None, {}, {'group': ['x']}, {'Pcloud': [ID]})
    def test_no_hint(self, given):
        self.assertIsNone(hints.pcloud_id(given))

    @ddt.data([ID], ID)
    def test_one_id(self, value):
        self.assertEqual(ID, hints.pcloud_id({'pcloud': value}))

    @ddt.data(
        None, [], '', [''], ['web'], [ID, ID], [ID, 'x'], [ID.upper()],
        [ID.replace('-', '')], [f' {ID}'], [f'{ID}\n'], [f'{{{ID}}}'],
        [f'urn:uuid:{ID}'], [None], [7], [[ID]], [{'id': ID}], ['%'],
        [f'{ID},{ID}'], ["' or 1=1"], [ID[:-1]], [ID + '0'],
        ['３f1c2ab4-5d6e-4f70-8a9b-0c1d2e3f4a5b'])
    def test_anything_else_is_refused(self, value):
        error = self.assertRaises(
            exception.InvalidHint, hints.pcloud_id, {'pcloud': value})
        self.assertIn('the id of one Pcloud, once', str(error))

    @hypothesis.given(strategies.lists(strategies.text() |
                                       strategies.uuids().map(str)))
    def test_only_a_single_well_formed_id_passes(self, values):
        try:
            found = hints.pcloud_id({'pcloud': values})
        except exception.InvalidHint:
            self.assertFalse(
                len(values) == 1 and hints.is_pcloud_id(values[0]))
        else:
            self.assertEqual([found], values)
