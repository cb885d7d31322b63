# SPDX-License-Identifier: Apache-2.0

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
