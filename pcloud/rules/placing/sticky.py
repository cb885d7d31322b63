# SPDX-License-Identifier: Apache-2.0

"""The copies of sticky keys that a server keeps.

A server that starts on a host keeps the host's sticky keys, whatever becomes
of the host. Before a server is placed, nobody knows on which of several hosts
the server will start, so the keys of all these hosts are offered; the host on
which the server has started decides which offer has become true.

Rule: reference-placement-keys-sticky
"""

import base64
import binascii
from collections.abc import Iterable
from collections.abc import Mapping
import dataclasses
import json
import zlib

from pcloud import exception
from pcloud.rules.placing import affinity


@dataclasses.dataclass(frozen=True)
class Start:
    """The latest start of a server.

    :ivar moment: differs from start to start on the host; empty when unknown
    """

    host: str
    moment: str = ''


@dataclasses.dataclass(frozen=True)
class Copies:
    """What a server keeps of sticky keys.

    :ivar kept: the copies from the hosts on which the server has started
    :ivar offered: ``host -> keys`` that the server gets when the server
        starts on the host by the latest placement
    :ivar start: the latest start that the copies are from, None before the
        first start
    """

    kept: tuple[affinity.Key, ...] = ()
    offered: Mapping[str, tuple[affinity.Key, ...]] = dataclasses.field(
        default_factory=dict)
    start: Start | None = None


def started(
    copies: Copies, start: Start, keys: tuple[affinity.Key, ...],
) -> Copies:
    """Return the copies of a server that has started on a host.

    The offer of the host is kept, since a resize from the host may be
    reverted.

    :param keys: the sticky keys of the host when the server was placed; a key
        replaces the copy of the same name
    """
    compiled = affinity.compiled([copies.kept, keys])
    return Copies(
        tuple(compiled[name] for name in sorted(compiled)),
        {start.host: keys}, start)


def offering(
    copies: Copies, offers: Mapping[str, tuple[affinity.Key, ...]],
) -> Copies:
    """Return the copies with the offers of a placement's hosts."""
    return dataclasses.replace(
        copies, offered={**copies.offered, **offers})


def dumps(copies: Copies) -> str:
    """Write copies as text that `loads` reads, short for many hosts."""
    groups: dict[tuple[affinity.Key, ...], list[str]] = {}
    for host, keys in sorted(copies.offered.items()):
        groups.setdefault(keys, []).append(host)
    plain = json.dumps({
        'kept': [str(key) for key in copies.kept],
        'offered': [[[str(key) for key in keys], hosts]
                    for keys, hosts in groups.items()],
        'start': copies.start and [copies.start.host, copies.start.moment]})
    return base64.b64encode(zlib.compress(plain.encode())).decode()


def loads(text: str) -> Copies:
    """Read copies that were written by `dumps`.

    :raises: `exception.InvalidValue`
    """
    try:
        plain = json.loads(zlib.decompress(
            base64.b64decode(text, validate=True)))
        return Copies(_keys(plain['kept']), {
            host: _keys(keys)
            for keys, hosts in plain['offered'] for host in hosts},
            plain['start'] and Start(*plain['start']))
    except (binascii.Error, zlib.error, ValueError, KeyError, TypeError,
            AttributeError, RecursionError,
            exception.InvalidValue) as error:
        raise exception.InvalidValue(
            'Record of sticky placement keys', text[:40],
            'as Pcloud has written it; the keys that the last host has now '
            'count in its place') from error


def _keys(texts: Iterable[str]) -> tuple[affinity.Key, ...]:
    return tuple(map(affinity.parse, texts))
