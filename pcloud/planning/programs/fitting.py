# SPDX-License-Identifier: Apache-2.0

"""Servers of several sizes, and what each host takes of the servers."""

from collections.abc import Iterable
from collections.abc import Mapping
from collections.abc import Sequence
import dataclasses
import operator

from pcloud.planning.programs import host_patterns


# The servers on each host, by kind: [host][kind].
Counts = tuple[tuple[int, ...], ...]


@dataclasses.dataclass(frozen=True)
class ServerKind:
    """Equal servers.

    :ivar amounts: ``resource class -> amount`` of each server, without
        amounts of 0
    :ivar count: the number of servers
    :ivar apart: whether each of the servers is on another host
    """

    amounts: Mapping[str, int]
    count: int
    apart: bool = False


@dataclasses.dataclass(frozen=True)
class TargetHost:
    """What a host takes.

    :ivar free: ``resource class -> free amount``; nothing is free of a
        missing class
    :ivar most: ``resource class -> the largest amount of a server``, without
        classes that have no such limit
    :ivar refused: the places, in the sequence of kinds, of the kinds that the
        host does not take however much is free
    :ivar patterns: which servers of some kinds the host takes together, if
        enough is free; None where what is free tells all
    """

    free: Mapping[str, int]
    most: Mapping[str, int] = dataclasses.field(default_factory=dict)
    refused: frozenset[int] = frozenset()
    patterns: host_patterns.Patterns | None = None

    def beside(self, numbers: Sequence[int], place: int, number: int) -> int:
        """Return how many of so many servers of a kind the parts suffice for.

        :param numbers: the servers on the host, by kind
        """
        return number if self.patterns is None else self.patterns.beside(
            numbers, place, number)


def room(kind: ServerKind, place: int, host: TargetHost) -> int:
    """Return for how many servers of a kind a host has capacity.

    :param place: the place of the kind in the sequence of kinds
    """
    number = min(kind.count, 1) if kind.apart else kind.count
    for name, each in kind.amounts.items():
        number = min(number, max(host.free.get(name, 0), 0) // each)
        if not number:
            return 0
    if host.patterns is not None:
        number = host.patterns.limit(place, number)
    return number if takes(kind, place, host) else 0


def is_known(hosts: Iterable[TargetHost]) -> bool:
    """Whether all is known that each of some hosts takes together."""
    return all(host.patterns is None or host.patterns.is_complete
               for host in hosts)


def loosened(hosts: Iterable[TargetHost]) -> list[TargetHost]:
    """Return hosts that take as much or more, as far as amounts tell."""
    return [host if host.patterns is None else
            dataclasses.replace(host, patterns=None) for host in hosts]


def bounding(hosts: Sequence[TargetHost]) -> Sequence[TargetHost]:
    """Return hosts that take as much or more, of which all is known."""
    return hosts if is_known(hosts) else [
        host if is_known([host]) else loosened([host])[0] for host in hosts]


def left_of(
    kinds: Sequence[ServerKind], counts: Iterable[Sequence[int]],
) -> list[int]:
    """Return the number of servers of each kind that have no place.

    :param counts: the servers on each host, by kind; maybe none
    """
    left = [kind.count for kind in kinds]
    for numbers in counts:
        left = list(map(operator.sub, left, numbers))
    return left


def is_placement(
    kinds: Sequence[ServerKind], hosts: Sequence[TargetHost], counts: Counts,
) -> bool:
    """Whether the servers fit on all hosts that are to take servers."""
    return len(counts) == len(hosts) and all(
        _has_room(kinds, host, numbers)
        for host, numbers in zip(hosts, counts)
    ) and min(left_of(kinds, counts), default=0) >= 0


def _has_room(
    kinds: Sequence[ServerKind], host: TargetHost, numbers: Sequence[int],
) -> bool:
    return len(numbers) == len(kinds) and all(
        0 <= number <= room(kind, place, host)
        for place, (kind, number) in enumerate(zip(kinds, numbers))
    ) and all(
        amount(kinds, numbers, name) <= max(host.free.get(name, 0), 0)
        for name in classes(kinds)
    ) and (host.patterns is None or host.patterns.allow(numbers))


def amount(
    kinds: Iterable[ServerKind], numbers: Iterable[int], name: str,
) -> int:
    """Return how much some servers of each kind need of a class."""
    return sum(kind.amounts.get(name, 0) * number
               for kind, number in zip(kinds, numbers))


def available(hosts: Iterable[TargetHost], name: str) -> int:
    """Return how much is free of a class on all hosts together."""
    return sum(max(host.free.get(name, 0), 0) for host in hosts)


def classes(kinds: Iterable[ServerKind]) -> list[str]:
    """Return the resource classes that servers need."""
    return sorted({name for kind in kinds for name in kind.amounts})


def asked(kinds: Iterable[ServerKind]) -> int:
    """Return the number of servers."""
    return sum(kind.count for kind in kinds)


def placed(counts: Counts) -> int:
    """Return the number of servers in a placement."""
    return sum(map(sum, counts))


def remaining(
    kinds: Sequence[ServerKind], host: TargetHost, numbers: Sequence[int],
) -> dict[str, int]:
    """Return what is left on a host of each class after some servers."""
    return {name: max(host.free.get(name, 0), 0) -
            amount(kinds, numbers, name) for name in classes(kinds)}


def takes(kind: ServerKind, place: int, host: TargetHost) -> bool:
    """Whether a host takes servers of a kind, if enough is free."""
    return place not in host.refused and all(
        each <= host.most.get(name, each)
        for name, each in kind.amounts.items())


def volume(kinds: Sequence[ServerKind], hosts: Sequence[TargetHost]) -> int:
    """Return a number of servers that is not exceeded by any placement.

    As many servers of each kind as the hosts have capacity for when they have
    no servers of other kinds, and as many small servers as all that is free of
    a resource class is enough for.
    """
    limits = [min(kind.count, sum(room(kind, place, host) for host in hosts))
              for place, kind in enumerate(kinds)]
    return min([sum(limits), *(
        _by_volume(kinds, limits, name, available(hosts, name))
        for name in classes(kinds))])


def _by_volume(
    kinds: Sequence[ServerKind], limits: Sequence[int], name: str, left: int,
) -> int:
    number = 0
    for each, limit in sorted(zip(
            (kind.amounts.get(name, 0) for kind in kinds), limits)):
        take = min(limit, left // each) if each else limit
        number += take
        left -= take * each
    return number
