# SPDX-License-Identifier: Apache-2.0

"""How much more there would have to be, for servers to fit.

Rule: reference-planning-binding, reference-planning-more
"""

from collections.abc import Iterator
from collections.abc import Sequence
import dataclasses
import itertools

from pcloud.planning.programs import filling
from pcloud.planning.programs import fitting
from pcloud.planning.programs import integer_programs
from pcloud.planning.programs import packing


# To place more servers one by one, each on one of more hosts, takes too long.
_MOST_STEPS = 10_000


@dataclasses.dataclass(frozen=True)
class Enough:
    """A number that would be enough.

    :ivar number: None when no number would be enough, or none was found
    :ivar proven: whether no smaller number, or no number at all, is enough
    """

    number: int | None
    proven: bool


def of_class(
    kinds: Sequence[fitting.ServerKind], hosts: Sequence[fitting.TargetHost],
    name: str,
    solve: integer_programs.Solver,
) -> Enough:
    """Return how much more of a resource class alone would be enough.

    The additional amount may be shared among the hosts as one likes, and a
    server may have as much of the class as one likes.
    """
    demand = fitting.amount(kinds, (kind.count for kind in kinds), name)
    larger = [_with_plenty(host, name, demand) for host in hosts]
    would_do = packing.fits(kinds, larger, solve)
    # With more of the class the parts of a host might take more too.
    loose = fitting.loosened(larger)
    if would_do is False and loose != larger:
        would_do = packing.fits(kinds, loose, solve)
        return Enough(None, would_do is False)
    if not would_do:
        return Enough(None, would_do is not None)
    least = max(0, demand - fitting.available(hosts, name))
    enough = None
    for counts in _simple(kinds, hosts, larger, name):
        if fitting.placed(counts) == fitting.asked(kinds):
            missing = _missing(kinds, hosts, counts, name)
            enough = missing if enough is None else min(enough, missing)
        if enough is not None and enough <= least:
            break
    if enough is None or enough > least:
        found, proven = _least_missing(kinds, hosts, loose, name, solve)
        least = max(least, proven)
        if loose == larger and found is not None and (
                enough is None or found < enough):
            enough = found
    return Enough(enough, enough is not None and enough <= least)


def _simple(
    kinds: Sequence[fitting.ServerKind], hosts: Sequence[fitting.TargetHost],
    larger: Sequence[fitting.TargetHost], name: str,
) -> Iterator[fitting.Counts]:
    """Yield placements on larger hosts, of which some may need little."""
    yield from filling.tries(kinds, larger)
    yield _added(kinds, hosts, larger, name,
                 max(filling.tries(kinds, hosts), key=fitting.placed))


def _with_plenty(
    host: fitting.TargetHost, name: str, amount: int,
) -> fitting.TargetHost:
    return dataclasses.replace(
        host, free={**host.free, name: max(amount, host.free.get(name, 0))},
        most={other: most for other, most in host.most.items()
              if other != name})


def _added(
    kinds: Sequence[fitting.ServerKind], hosts: Sequence[fitting.TargetHost],
    larger: Sequence[fitting.TargetHost], name: str, counts: fitting.Counts,
) -> fitting.Counts:
    """Return a placement with as many of the other servers as fit.

    Each server comes to the host that has most left of a class.

    :param larger: the hosts with more than enough of the class
    :param counts: a placement on the hosts as they are
    """
    left = fitting.asked(kinds) - fitting.placed(counts)
    if left * len(hosts) > _MOST_STEPS:
        return counts
    numbers = [list(each) for each in counts]
    free = [fitting.remaining(kinds, host, its)
            for host, its in zip(larger, counts)]
    own = [fitting.remaining(kinds, host, its)[name]
           for host, its in zip(hosts, counts)]
    for place, kind in enumerate(kinds):
        able = [turn for turn, host in enumerate(larger)
                if fitting.room(kind, place, host)]
        for _ in range(kind.count - sum(each[place] for each in numbers)):
            able = [turn for turn in able
                    if not (kind.apart and numbers[turn][place]) and
                    larger[turn].beside(
                        numbers[turn], place, numbers[turn][place] + 1) >
                    numbers[turn][place] and
                    all(each <= free[turn][its]
                        for its, each in kind.amounts.items())]
            if not able:
                break
            best = max(able, key=own.__getitem__)
            numbers[best][place] += 1
            own[best] -= kind.amounts.get(name, 0)
            for its, each in kind.amounts.items():
                free[best][its] -= each
    return tuple(map(tuple, numbers))


def _missing(
    kinds: Sequence[fitting.ServerKind], hosts: Sequence[fitting.TargetHost],
    counts: fitting.Counts, name: str,
) -> int:
    """Return how much more of a class the hosts need for a placement."""
    return sum(max(0, fitting.amount(kinds, numbers, name) -
                   max(host.free.get(name, 0), 0))
               for host, numbers in zip(hosts, counts))


def _least_missing(
    kinds: Sequence[fitting.ServerKind], hosts: Sequence[fitting.TargetHost],
    larger: Sequence[fitting.TargetHost], name: str,
    solve: integer_programs.Solver,
) -> tuple[int | None, int]:
    """Return how much more of a class is enough, and how much is needed.

    The program has a variable more for each host: the additional amount.

    :param larger: the hosts with more than enough of the class
    :returns: an amount that is enough, None when none was found; and an
        amount that is not exceeded by any smaller one that is enough
    """
    variables = packing.Variables.of(kinds, larger)
    demand = fitting.amount(kinds, (kind.count for kind in kinds), name)
    rows, number = [], len(variables.places)
    for turn, numbers in variables.by_host().items():
        rows.append(({**variables.weights(numbers, name), number: -1}, None,
                     max(hosts[turn].free.get(name, 0), 0)))
        number += 1
    more = number - len(variables.places)
    found = solve(integer_programs.Program(
        (*itertools.repeat(0, len(variables.places)),
         *itertools.repeat(-1, more)),
        (*variables.limits, *itertools.repeat(demand, more)),
        [*rows, *variables.host_rows(name), *variables.all_rows()]))
    counts = variables.counts(
        found.values and found.values[:len(variables.places)])
    return (None if counts is None else
            _missing(kinds, hosts, counts, name),
            0 if found.most is None else -found.most)


def of_hosts(
    kinds: Sequence[fitting.ServerKind], hosts: Sequence[fitting.TargetHost],
    new: fitting.TargetHost, solve: integer_programs.Solver,
) -> Enough:
    """Return how many more equal hosts would be enough.

    :param hosts: the hosts that are there
    :param new: one of the hosts that may come
    """
    least = least_hosts(kinds, hosts, new)
    if least is None:
        return Enough(None, True)
    enough = min(_simply(kinds, hosts, new), default=None)
    if enough is not None and least < enough:
        needed = _relaxed(kinds, hosts, new, enough, solve)
        if needed is None:
            return Enough(enough, False)
        least = max(least, min(needed, enough))
    for number in range(least, fitting.asked(kinds) + 1):
        if number == enough:
            break
        would_do = packing.fits(kinds, [*hosts, *[new] * number], solve)
        if would_do:
            return Enough(number, True)
        if would_do is None:
            return Enough(enough, False)
    return Enough(enough, True)


def _relaxed(
    kinds: Sequence[fitting.ServerKind], hosts: Sequence[fitting.TargetHost],
    new: fitting.TargetHost, enough: int, solve: integer_programs.Solver,
) -> int | None:
    """Return a number of hosts with which servers do not fit, None if unknown.

    The new hosts share what they have as if they were one host.

    :param enough: a number that is enough
    """
    number = len(hosts)
    hosts, (new,) = fitting.bounding(hosts), fitting.bounding([new])
    together = dataclasses.replace(new, patterns=None, free={
        name: enough * free for name, free in new.free.items()})
    variables = packing.Variables.of(
        [dataclasses.replace(kind, apart=False) for kind in kinds],
        [*hosts, together])
    last = len(variables.places)
    rows = []
    for name in fitting.classes(kinds):
        rows.append(({**variables.weights(
            variables.by_host().get(number, ()), name),
            last: -max(new.free.get(name, 0), 0)}, None, 0))
    for index in variables.by_host().get(number, ()):
        place = variables.places[index][1]
        rows.append(({index: 1, last: -fitting.room(
            kinds[place], place, new)}, None, 0))
    found = solve(integer_programs.Program(
        (*itertools.repeat(0, last), -1), (*variables.limits, enough),
        [*rows, *variables.host_rows(), *variables.all_rows()]))
    return None if found.most is None else -found.most


def least_hosts(
    kinds: Sequence[fitting.ServerKind], hosts: Sequence[fitting.TargetHost],
    new: fitting.TargetHost,
) -> int | None:
    """Return a number of equal hosts below which there is no capacity.

    :param new: one of the hosts that may come
    :returns: None when no number of hosts is enough
    """
    hosts, (new,) = fitting.bounding(hosts), fitting.bounding([new])
    lacks = [(kind.count - sum(fitting.room(kind, place, host)
                               for host in hosts),
              fitting.room(kind, place, new))
             for place, kind in enumerate(kinds)]
    lacks += [(fitting.amount(kinds, (kind.count for kind in kinds), name) -
               fitting.available(hosts, name), max(new.free.get(name, 0), 0))
              for name in fitting.classes(kinds)]
    if any(lack > 0 and not each for lack, each in lacks):
        return None
    return max((-(-lack // each) for lack, each in lacks if lack > 0),
               default=0)


def _simply(
    kinds: Sequence[fitting.ServerKind], hosts: Sequence[fitting.TargetHost],
    new: fitting.TargetHost,
) -> Iterator[int]:
    """Yield numbers of hosts that are enough, in simple placements.

    Kinds that new hosts do not take are placed first on the hosts there are.
    """
    for order in filling.orders(kinds, [*hosts, new]):
        first = sorted(order, key=lambda place: bool(
            fitting.room(kinds[place], place, new)))
        for counts in filling.fillings(kinds, hosts, first):
            number = _opened(
                kinds, fitting.left_of(kinds, counts), new, first)
            if number is not None:
                yield number


def opened(
    kinds: Sequence[fitting.ServerKind], left: Sequence[int],
    new: fitting.TargetHost,
) -> int | None:
    """Return how many new hosts surely take some servers, None if unknown.

    :param left: the number of servers of each kind
    """
    found = (_opened(kinds, list(left), new, order)
             for order in filling.orders(kinds, [new]))
    return min((number for number in found if number is not None),
               default=None)


def _opened(
    kinds: Sequence[fitting.ServerKind], left: list[int],
    new: fitting.TargetHost,
    order: Sequence[int],
) -> int | None:
    """Return how many new hosts take some servers, None when they do not.

    :param left: the number of servers of each kind; the list is used up
    """
    opened = 0
    while any(left):
        pattern = filling.filled([
            dataclasses.replace(kind, count=number)
            for kind, number in zip(kinds, left)], new, order)
        if not any(pattern):
            return None
        times = min(number // each for number, each in zip(left, pattern)
                    if each)
        left = [number - times * each for number, each in zip(left, pattern)]
        opened += times
    return opened
