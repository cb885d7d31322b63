# SPDX-License-Identifier: Apache-2.0

"""Pictures of boxes."""

import unittest

from pcloud_sandbox.stories import boxes


class BoxesTest(unittest.TestCase):

    def test_side_by_side(self):
        self.assertEqual([
            'for everybody             pool of gpu: for nobody',
            '+----------------------+  +----------------------+',
            '| node-3               |  | node-2               |',
            '| node-4 [outside]     |  +----------------------+',
            '+----------------------+',
        ], boxes.drawn([
            boxes.Box('for everybody', ['node-3', 'node-4 [outside]']),
            boxes.Box('pool of gpu: for nobody', ['node-2'])]))

    def test_empty_box(self):
        self.assertEqual([
            'nothing',
            '+----------------------+',
            '+----------------------+'], boxes.drawn([
                boxes.Box('nothing', [])]))

    def test_nothing_is_wider_than_a_terminal(self):
        for count in range(1, 9):
            lines = boxes.drawn([
                boxes.Box('a title ' * 9, ['item ' * 9, 'x' * 99])] * count)
            self.assertLessEqual(max(map(len, lines)), 80)
            self.assertEqual(99 * count, ''.join(lines).count('x'))
