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

"""What people read of a member that has members."""

import unittest

from pcloud.client import display


class DrainTest(unittest.TestCase):

    def test_a_line_for_each_member_and_each_blocker(self):
        self.assertEqual(
            'move: live\n'
            'remaining: one, two\n'
            'no_worker: no worker has looked\n'
            'locked: one: it is locked',
            display.drain({
                'move': 'live', 'remaining': ['one', 'two'], 'blockers': [
                    {'server': None, 'rule': 'no_worker',
                     'reason': 'no worker has looked'},
                    {'server': 'one', 'rule': 'locked',
                     'reason': 'it is locked'}]}))

    def test_no_drain(self):
        self.assertEqual('-', display.drain(None))
