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
