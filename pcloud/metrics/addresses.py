# SPDX-License-Identifier: Apache-2.0

"""Where metrics are served."""

import dataclasses
import re
import socket

from pcloud import exception

_DEFAULT = '127.0.0.1'
_FORM = re.compile(
    r'(?:\[(?P<v6>[0-9A-Fa-f:.]+)\]|(?P<name>[^\s:\[\]/]*)):(?P<port>\d{1,5})',
    re.ASCII)
_MOST = 65535


@dataclasses.dataclass(frozen=True)
class Address:
    """Where to listen.

    :ivar host: an address or the name of a host
    :ivar port: 0 for any free port
    """

    host: str
    port: int

    def __str__(self) -> str:
        """Return the text that `parse` reads."""
        host = f'[{self.host}]' if ':' in self.host else self.host
        return f'{host}:{self.port}'


def parse(text: str) -> Address:
    """Read ``ADDRESS:PORT``; ``:PORT`` is a port of this machine alone.

    :raises: `exception.InvalidValue`
    """
    found = _FORM.fullmatch(text)
    if found is None or int(found['port']) > _MOST or not _is_v6(found['v6']):
        raise exception.InvalidValue(
            'Address', text, 'ADDRESS:PORT, such as 127.0.0.1:9841, '
            '[::1]:9841 or :9841')
    return Address(found['v6'] or found['name'] or _DEFAULT,
                   int(found['port']))


def _is_v6(text: str | None) -> bool:
    if text is None:
        return True
    try:
        socket.inet_pton(socket.AF_INET6, text)
    except OSError:
        return False
    return True
