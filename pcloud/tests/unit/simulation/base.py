# SPDX-License-Identifier: Apache-2.0

"""Files for tests."""

import pathlib

import fixtures
import testtools

from pcloud import exception


class FilesTest(testtools.TestCase):
    """A folder for files, and what is said about bad files."""

    def setUp(self):
        super().setUp()
        self.folder = pathlib.Path(
            self.useFixture(fixtures.TempDir()).path)

    def write(self, text, name='file'):
        """Write a file and return its path."""
        path = self.folder / name
        if isinstance(text, bytes):
            path.write_bytes(text)
        else:
            path.write_text(text)
        return str(path)

    def complaint(self, function, *arguments):
        """Return what is said, without the folder of the file."""
        error = self.assertRaises(exception.Invalid, function, *arguments)
        return str(error).replace(f'{self.folder}/', '')
