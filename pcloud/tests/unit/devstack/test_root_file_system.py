# SPDX-License-Identifier: Apache-2.0

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
