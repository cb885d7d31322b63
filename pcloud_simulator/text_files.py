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

"""Files with text, perhaps packed with gzip."""

from __future__ import annotations

from collections.abc import Iterator
import contextlib
import gzip
import io
import typing
import zlib

from pcloud import exception

_GZIP = b'\x1f\x8b'


@contextlib.contextmanager
def reading(path: str) -> Iterator[typing.TextIO]:
    """Open a text in UTF-8, with the ends of lines as they are.

    A file that begins with `gzip`'s mark is read as `gzip` does; a byte order
    mark is left out. The file is opened once, so a pipe can be read as well.

    :raises: `exception.InputUnreadable`, also for an error while the file is
        read
    """
    try:
        with open(path, 'rb') as binary:
            packed = binary.peek(len(_GZIP)).startswith(_GZIP)
            file = typing.cast(
                typing.IO[bytes],
                gzip.GzipFile(fileobj=binary) if packed else binary)
            with io.TextIOWrapper(
                    file, encoding='utf-8-sig', newline='') as text:
                yield text
    except (OSError, EOFError, UnicodeError, zlib.error) as error:
        raise exception.InputUnreadable(path=path, reason=why(error))


def why(error: Exception) -> str:
    """Return the reason of an error, without the path and the number."""
    return getattr(error, 'strerror', None) or str(error)
