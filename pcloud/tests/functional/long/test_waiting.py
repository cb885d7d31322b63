# SPDX-License-Identifier: Apache-2.0

"""Workers that are killed while somebody waits for a host."""

from pcloud.tests.functional.quick import test_waiting
from pcloud.tests.support import kills


class KilledTest(test_waiting.WaitingTestCase):

    def test_killed_at_any_statement(self):
        engine, number = self.engines()[0], 0
        self.wait(self.bob, self.his)
        self.free('a')
        kept, is_killed = self.keep(), True
        while is_killed:
            number += 1
            is_killed = kills.is_killed(engine, number, self.match)
            has = self.names(self.bob, self.his) == ['new']
            self.assertEqual(has, not self.rows(), number)
            self.match()
            self.work()
            self.assertEqual(['new'], self.names(self.bob, self.his))
            self.assertEqual([], self.kinds())
            self.put_back(kept)
        self.assertGreater(number, 20)
