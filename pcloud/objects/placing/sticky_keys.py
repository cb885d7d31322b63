# SPDX-License-Identifier: Apache-2.0

"""Sticky keys of hosts, and the copies that servers keep.

Rule: reference-placement-keys-sticky
"""

from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Mapping
import contextlib
import contextvars
import secrets

from nova import context as nova_context

from pcloud.backend.aggregates import inherited_metadata
from pcloud.backend.aggregates import sticky_copies
from pcloud.backend.cells import servers
from pcloud.backend import complaints
from pcloud import exception
from pcloud.objects.placing import affinity_keys
from pcloud.rules.placing import affinity
from pcloud.rules.placing import sticky

_explains = contextvars.ContextVar('_explains', default=False)


@contextlib.contextmanager
def explaining() -> Iterator[None]:
    """Ask filters in the block only to explain: nothing is recorded."""
    token = _explains.set(True)
    try:
        yield
    finally:
        _explains.reset(token)


def is_explained() -> bool:
    """Whether a request is only explained, and for any server."""
    return _explains.get()


def copies_of(
    context: nova_context.RequestContext, server: str,
) -> sticky.Copies | None:
    """Return the copies that a server has kept, None without a record.

    One query; with a record further queries for the server's latest start,
    see `servers.last_start`.

    :raises: `exception.Unavailable` when the server's cell is silent
    """
    copies = _recorded(context, server)
    return copies and _at_last_host(context, server, copies)


def first_copies(
    context: nova_context.RequestContext, server: str,
) -> sticky.Copies:
    """Return the copies of a server without a record.

    Without a record, the server was placed when no host had sticky keys, or
    without a scheduler that keeps records; the server gets the keys that its
    host has now. A query, one query in the server's cell, and two more for a
    server that has a host.

    :raises: `exception.Unavailable` when the server's cell is silent
    """
    return _at_last_host(context, server, sticky.Copies())


def holders(
    context: nova_context.RequestContext, there: Mapping[str, str],
) -> frozenset[str]:
    """Return the servers that have, or get, copies which may drop hosts.

    A server without a record gets the keys of its host. One query for five
    hundred servers, and two more.

    :param there: ``server uuid -> service host``
    """
    hosts = set(there.values())
    aggregates = inherited_metadata.node_keys(context, hosts)
    sticky_hosts = {host for host in hosts if _may_drop(affinity_keys.sticky(
        aggregate.metadata for aggregate in aggregates
        if host in aggregate.hosts))}
    return frozenset(
        server for server, host in there.items() if host in sticky_hosts
    ).union(server for server, text in sticky_copies.read_all(context, there)
            if _may_drop(_all_of(_parsed(server, text))))


def _all_of(copies: sticky.Copies | None) -> Iterator[affinity.Key]:
    if copies is not None:
        yield from copies.kept
        for keys in copies.offered.values():
            yield from keys


def _may_drop(copies: Iterable[affinity.Key]) -> bool:
    """Whether a filter compares any of the copies with the keys of hosts."""
    return any(not affinity.is_reserved(copy.name) for copy in copies)


def record(
    context: nova_context.RequestContext, server: str, copies: sticky.Copies,
    offers: Mapping[str, tuple[affinity.Key, ...]],
) -> None:
    """Record the copies of a server, and the offers of a placement's hosts.

    The first record of a server deletes a part of the records of servers that
    are gone. An explanation records nothing.
    """
    if is_explained():
        return
    text = sticky.dumps(sticky.offering(copies, offers))
    if sticky_copies.write(context, server, text):
        sticky_copies.delete_orphans(context, secrets.token_hex(1))


def _recorded(
    context: nova_context.RequestContext, server: str,
) -> sticky.Copies | None:
    text = sticky_copies.read(context, server)
    return None if text is None else _parsed(server, text)


def _parsed(server: str, text: str) -> sticky.Copies | None:
    try:
        return sticky.loads(text)
    except exception.InvalidValue as error:
        complaints.once(f'Server {server}: {error}')
        return None


def _at_last_host(
    context: nova_context.RequestContext, server: str, copies: sticky.Copies,
) -> sticky.Copies:
    start = servers.last_start(context, server)
    if start in (None, copies.start):
        # A placement that has failed has left offers only.
        return copies
    keys = copies.offered.get(start.host)
    if keys is None:
        keys = _of_host(context, start.host)
    return sticky.started(copies, start, keys)


def _of_host(
    context: nova_context.RequestContext, host: str,
) -> tuple[affinity.Key, ...]:
    """Return the sticky keys that a host has now."""
    aggregates = inherited_metadata.node_keys(context, [host])
    return affinity_keys.sticky(
        aggregate.metadata for aggregate in aggregates)
