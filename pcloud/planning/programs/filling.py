# SPDX-License-Identifier: Apache-2.0

"""Placements that are found by filling hosts in simple ways."""

from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
import operator

from pcloud.planning.programs import fitting


def tries(
    kinds: Sequence[fitting.ServerKind], hosts: Sequence[fitting.TargetHost],
) -> Iterator[fitting.Counts]:
    """Yield placements, until one has all servers; at least one.

    Each host in turn takes as many servers as it has capacity for, kind after
    kind, in several orders of kinds and hosts.
    """
    number = fitting.asked(kinds)
    for order in orders(kinds, hosts):
        for counts in fillings(kinds, hosts, order):
            yield counts
            if fitting.placed(counts) == number:
                return


def matched(
    kinds: Sequence[fitting.ServerKind], hosts: Sequence[fitting.TargetHost],
) -> Iterator[fitting.Counts]:
    """Yield placements in which each host takes what suits it best.

    A host has much left of some classes and little of others; the servers that
    need most of what there is much of come first. Where the servers fill the
    hosts nearly, more of the servers fit so than by filling host after
    host with one kind after the other.
    """
    for turns in _turns(kinds, hosts):
        for power in (0.5, 1.0):
            yield _match(kinds, hosts, turns, power)


def _match(
    kinds: Sequence[fitting.ServerKind], hosts: Sequence[fitting.TargetHost],
    turns: Sequence[int],
    power: float,
) -> fitting.Counts:
    """Return a placement in which each host takes what suits it best.

    :param power: how much sooner large servers come
    """
    names = fitting.classes(kinds)
    totals = list(free_totals(kinds, hosts).values())
    counts = [[0] * len(kinds) for _ in hosts]
    needs = [[kind.amounts.get(name, 0) for name in names] for kind in kinds]
    shares = [[each / total for each, total in zip(need, totals)]
              for need in needs]
    norms = [max(sum(share * share for share in each) ** 0.5, 1e-12)
             for each in shares]
    left = [kind.count for kind in kinds]
    for turn in turns:
        free, numbers = row(hosts[turn], names), counts[turn]
        suited = [place for place, kind in enumerate(kinds)
                  if left[place] and fitting.room(kind, place, hosts[turn])]
        while suited:
            now = [each / total for each, total in zip(free, totals)]
            best = max(suited, key=lambda place: norms[place] ** (
                power - 1) * sum(map(operator.mul, shares[place], now)))
            numbers[best] += 1
            left[best] -= 1
            free = list(map(operator.sub, free, needs[best]))
            suited = [
                place for place in suited if left[place] and
                not (kinds[place].apart and numbers[place]) and
                all(map(operator.le, needs[place], free)) and
                _one_more(hosts[turn], numbers, place)]
    return tuple(map(tuple, counts))


def _one_more(
    host: fitting.TargetHost, numbers: Sequence[int], place: int,
) -> bool:
    number = numbers[place] + 1
    return host.beside(numbers, place, number) == number


def fillings(
    kinds: Sequence[fitting.ServerKind], hosts: Sequence[fitting.TargetHost],
    order: Sequence[int],
) -> Iterator[fitting.Counts]:
    """Yield placements with one order of kinds; fuller hosts first, or last.

    :param order: the places of the kinds
    """
    for turns in _turns(kinds, hosts):
        yield _fill(kinds, hosts, order, turns)


def filled(
    kinds: Sequence[fitting.ServerKind], host: fitting.TargetHost,
    order: Sequence[int],
) -> tuple[int, ...]:
    """Return how many servers of each kind a single host takes.

    :param order: the places of the kinds
    """
    return _fill(kinds, [host], order, [0])[0]


def orders(
    kinds: Sequence[fitting.ServerKind], hosts: Sequence[fitting.TargetHost],
) -> list[tuple[int, ...]]:
    """Return orders of the kinds to place them in, each order once.

    Large servers come first, by each resource class, by the largest share of
    a class and by the sum of the shares; at last small servers come first.
    """
    totals = free_totals(kinds, hosts)
    shares = [_shares(kind.amounts, totals) for kind in kinds]
    keys = [
        *([kind.amounts.get(name, 0) / total for kind in kinds]
          for name, total in totals.items()),
        [max(each, default=0) for each in shares],
        [sum(each) for each in shares], [-sum(each) for each in shares]]
    return list(dict.fromkeys(
        tuple(sorted(range(len(kinds)), key=key.__getitem__, reverse=True))
        for key in keys))


def _turns(
    kinds: Sequence[fitting.ServerKind], hosts: Sequence[fitting.TargetHost],
) -> list[tuple[int, ...]]:
    """Return orders of the hosts: the fullest first, and the emptiest."""
    totals = free_totals(kinds, hosts)
    order = sorted(range(len(hosts)), key=lambda place: sum(
        _shares(hosts[place].free, totals)))
    return list(dict.fromkeys([tuple(order), tuple(reversed(order))]))


def free_totals(
    kinds: Sequence[fitting.ServerKind], hosts: Sequence[fitting.TargetHost],
) -> dict[str, int]:
    """Return what is free of each class on all hosts together, at least 1."""
    return {name: fitting.available(hosts, name) or 1
            for name in fitting.classes(kinds)}


def _shares(
    amounts: Mapping[str, int], totals: Mapping[str, int],
) -> list[float]:
    """Return the share that some amounts are of what is free of each class."""
    return [amounts.get(name, 0) / total for name, total in totals.items()]


def _fill(
    kinds: Sequence[fitting.ServerKind], hosts: Sequence[fitting.TargetHost],
    order: Iterable[int],
    turns: Sequence[int],
) -> fitting.Counts:
    counts = [[0] * len(kinds) for _ in hosts]
    names = fitting.classes(kinds)
    free = [row(host, names) for host in hosts]
    for place in order:
        kind, left = kinds[place], kinds[place].count
        needs = _needs(kind, names)
        for turn in turns if left else ():
            number = min(left, 1) if kind.apart else left
            its = free[turn]
            for index, each in needs:
                if its[index] < each:
                    number = 0
                    break
                number = min(number, its[index] // each)
            if number and hosts[turn].patterns is not None:
                number = hosts[turn].beside(counts[turn], place, number)
            # Whether the host takes the kind at all takes longest to find.
            if not number or not fitting.takes(kind, place, hosts[turn]):
                continue
            counts[turn][place] = number
            for index, each in needs:
                its[index] -= number * each
            left -= number
            if not left:
                break
    return tuple(map(tuple, counts))


def row(host: fitting.TargetHost, names: Sequence[str]) -> list[int]:
    """Return what is free on a host, in the order of the classes."""
    return [max(host.free.get(name, 0), 0) for name in names]


def _needs(
    kind: fitting.ServerKind, names: Sequence[str],
) -> list[tuple[int, int]]:
    """Return the places of the classes that a server needs, with amounts."""
    return [(index, kind.amounts[name]) for index, name in enumerate(names)
            if kind.amounts.get(name)]
