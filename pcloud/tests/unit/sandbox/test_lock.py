# SPDX-License-Identifier: Apache-2.0


"""One sandbox a folder."""

import os
import tempfile
import unittest

from pcloud_sandbox.configuration import layout
from pcloud_sandbox.running import lock


class LockTest(unittest.TestCase):

    def setUp(self):
        super().setUp()
        made = tempfile.TemporaryDirectory()
        self.addCleanup(made.cleanup)
        self.where = layout.Layout(os.path.join(made.name, 'new'))

    def test_held_once(self):
        with lock.hold(self.where):
            self.assertRaises(lock.Busy, lock.acquire, self.where)
        with lock.hold(self.where):
            pass

    def test_a_removed_lock_holds_nobody_up(self):
        with lock.hold(self.where):
            self.where.lock.unlink()
            with lock.hold(self.where):
                self.assertRaises(lock.Busy, lock.acquire, self.where)
