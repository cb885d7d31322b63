# SPDX-License-Identifier: Apache-2.0

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
