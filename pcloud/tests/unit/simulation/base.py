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
