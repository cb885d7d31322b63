# SPDX-License-Identifier: Apache-2.0

"""How many servers surely find a host, wherever a scheduler places each.

A placement of all servers may exist that no scheduler finds: a scheduler
places one server after the other, and does not look ahead.

Rule: reference-planning-rehearsal
"""

from collections.abc import Sequence
from typing import Any

from pcloud.planning.programs import fitting


def sure(
    kinds: Sequence[fitting.ServerKind], hosts: Sequence[fitting.TargetHost],
    ranks: Sequence[Any],
) -> list[int]:
    """Return how many servers of each kind find a host in any case.

    A host has places for servers of a kind. A server of another kind that came
    before takes as many of the places as the server needs of a resource class,
    divided by what the kind needs, rounded up, for the class of which the
    server takes most places. So many places are left at least; where sizes
    divide each other, no more may be left.

    A server of which the parts of hosts decide, and a server that is to be
    apart, surely find no host.

    :param ranks: of each kind, the lowest first; which of equal ranks is
        placed first is not known
    """
    return [max(0, min(kind.count, _left(kinds, hosts, ranks, place)))
            for place, kind in enumerate(kinds)]


def _left(
    kinds: Sequence[fitting.ServerKind], hosts: Sequence[fitting.TargetHost],
    ranks: Sequence[Any], place: int,
) -> int:
    """Return how many places for servers of a kind are left at least."""
    kind = kinds[place]
    return 0 if kind.apart else sum(
        _places(kind, place, host) for host in hosts) - sum(
        each.count * _taken(each, kind) for other, each in enumerate(kinds)
        if other != place and ranks[other] <= ranks[place])


def _places(
    kind: fitting.ServerKind, place: int, host: fitting.TargetHost,
) -> int:
    if host.patterns is not None or not fitting.takes(kind, place, host):
        return 0
    return min((max(host.free.get(name, 0), 0) // each
                for name, each in kind.amounts.items()), default=0)


def _taken(other: fitting.ServerKind, kind: fitting.ServerKind) -> int:
    """Return how many places of a kind a server of another kind takes."""
    return max((-(-other.amounts.get(name, 0) // each)
                for name, each in kind.amounts.items()), default=0)
