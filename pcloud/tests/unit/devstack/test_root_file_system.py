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

"""The place of a box in the cache."""

import pathlib
import tempfile

import testtools

from pcloud.tests.devstack import root_file_system


class PlaceTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.cache = pathlib.Path(folder.name)

    def test_nothing_is_left(self):
        with root_file_system.place(self.cache) as root:
            (root / 'etc').mkdir(parents=True)
        self.assertEqual(['lock'],
                         [path.name for path in self.cache.iterdir()])

    def test_nothing_is_left_after_an_error(self):
        def fail():
            with root_file_system.place(self.cache) as root:
                root.mkdir()
                raise KeyError
        self.assertRaises(KeyError, fail)
        self.assertFalse((self.cache / 'box').exists())

    def test_rest_of_a_killed_run_is_removed(self):
        (self.cache / 'box/root/etc').mkdir(parents=True)
        with root_file_system.place(self.cache) as root:
            self.assertFalse(root.exists())

    def test_one_box_at_a_time(self):
        with root_file_system.place(self.cache) as root:
            root.mkdir()
            second = root_file_system.place(self.cache)
            error = self.assertRaises(root_file_system.Busy,
                                      second.__enter__)
            self.assertIn(f'{self.cache}: wait', str(error))
            # The box of the first run is whole.
            self.assertTrue(root.exists())
        with root_file_system.place(self.cache):
            pass
