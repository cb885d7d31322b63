# SPDX-License-Identifier: Apache-2.0


"""Where a sandbox keeps what it makes."""

import os
import pathlib
import tempfile
import unittest
from unittest import mock

from pcloud_sandbox.configuration import layout
from pcloud_sandbox import errors


class DefaultDirectoryTest(unittest.TestCase):

    def check(self, environment, expected):
        with mock.patch.dict(os.environ, environment, clear=True):
            self.assertEqual(pathlib.Path(expected),
                             layout.default_directory())

    def test_named(self):
        self.check({'PCLOUD_SANDBOX_DIR': '/a', 'XDG_CACHE_HOME': '/b'},
                   '/a')

    def test_cache(self):
        self.check({'XDG_CACHE_HOME': '/b', 'HOME': '/c'},
                   '/b/pcloud-sandbox')

    def test_home(self):
        self.check({'HOME': '/c'}, '/c/.cache/pcloud-sandbox')

    def test_relative_cache_is_ignored(self):
        self.check({'HOME': '/c', 'XDG_CACHE_HOME': 'b'},
                   '/c/.cache/pcloud-sandbox')


class CheckUsableTest(unittest.TestCase):

    def setUp(self):
        super().setUp()
        made = tempfile.TemporaryDirectory()
        self.addCleanup(made.cleanup)
        self.path = pathlib.Path(made.name)
        self.where = layout.Layout(self.path)

    def test_new(self):
        layout.Layout(self.path / 'new').check_usable()

    def test_empty(self):
        self.where.check_usable()

    def test_of_a_sandbox(self):
        self.where.lock.touch()
        self.where.logs.mkdir()
        self.where.check_usable()

    def test_of_somebody_else(self):
        (self.path / 'letter.txt').touch()
        self.assertRaisesRegex(errors.SandboxError, 'not of a sandbox',
                               self.where.check_usable)

    def test_same_names_without_a_sandbox(self):
        (self.path / 'etc').mkdir()
        self.assertRaisesRegex(errors.SandboxError, 'not of a sandbox',
                               self.where.check_usable)

    def test_file(self):
        file = self.path / 'file'
        file.touch()
        self.assertRaisesRegex(errors.SandboxError, 'not a folder',
                               layout.Layout(file).check_usable)

    def test_character_that_a_configuration_file_would_misread(self):
        self.assertRaisesRegex(errors.SandboxError, 'characters',
                               layout.Layout('/tmp/a$b').check_usable)
