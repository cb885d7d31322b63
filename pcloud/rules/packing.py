# SPDX-License-Identifier: Apache-2.0

"""Where servers of several sizes have room together, and where they do not.

All amounts are whole numbers. A placement that is found is a proof that the
servers fit. That servers do not fit is proven by a bound: a volume, or an
integer program, which a solver solves. Without a solver, or out of time, the
bounds are further apart, and nothing is claimed.

Rule: reference-planning-exact
"""

from collections.abc import Callable
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
import dataclasses
import math
import operator

from pcloud.rules import host_patterns

# The servers on each host, by kind: [host][kind].
Counts = tuple[tuple[int, ...], ...]
# A sum with limits: variable -> coefficient, the least sum (None for no limit)
# and the largest sum.
Row = tuple[Mapping[int, int], int | None, int]

# Hosts that are filled anew together, and how many times that is tried, while
# no larger part than one of so many servers has no room.
_FEW, _REPAIRS, _LITTLE = 10, 6, 50
# Which part of the time that is left a few hosts may take, and the first
# program about all hosts.
_SOME, _FIRST = 0.1, 0.7


@dataclasses.dataclass(frozen=True)
class Kind:
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
class Host:
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


@dataclasses.dataclass(frozen=True)
class Program:
    """An integer program. No variable is negative.

    :ivar gains: for each variable what one more is worth; the sum is made as
        large as possible
    :ivar limits: the largest value of each variable
    :ivar rows: sums that have limits
    :ivar share: which part of the time that is left the program may take
    """

    gains: Sequence[int]
    limits: Sequence[int]
    rows: Sequence[Row]
    share: float = 1.0


@dataclasses.dataclass(frozen=True)
class Solution:
    """What a solver knows of a program.

    :ivar values: the best values that were found, None without any
    :ivar most: a sum of gains that no values exceed; None while no such sum
        is proven
    :ivar impossible: whether it is proven that there are no values
    """

    values: Sequence[int] | None = None
    most: int | None = None
    impossible: bool = False


Solver = Callable[[Program], Solution]


def no_solver(program: Program) -> Solution:
    """Return that nothing is known of a program."""
    return Solution()


@dataclasses.dataclass(frozen=True)
class Plan:
    """How many servers have room.

    :ivar counts: a placement of `least` servers
    :ivar least: so many servers have room
    :ivar most: more servers have no room
    """

    counts: Counts
    least: int
    most: int


def room(kind: Kind, place: int, host: Host) -> int:
    """Return for how many servers of a kind a host has room.

    :param place: the place of the kind in the sequence of kinds
    """
    number = min(kind.count, 1) if kind.apart else kind.count
    for name, each in kind.amounts.items():
        number = min(number, max(host.free.get(name, 0), 0) // each)
        if not number:
            return 0
    if host.patterns is not None:
        number = host.patterns.limit(place, number)
    return number if _takes(kind, place, host) else 0


def is_known(hosts: Iterable[Host]) -> bool:
    """Whether all is known that each of some hosts takes together."""
    return all(host.patterns is None or host.patterns.is_complete
               for host in hosts)


def loosened(hosts: Iterable[Host]) -> list[Host]:
    """Return hosts that take as much or more, as far as amounts tell."""
    return [host if host.patterns is None else
            dataclasses.replace(host, patterns=None) for host in hosts]


def bounding(hosts: Sequence[Host]) -> Sequence[Host]:
    """Return hosts that take as much or more, of which all is known."""
    return hosts if is_known(hosts) else [
        host if is_known([host]) else loosened([host])[0] for host in hosts]


def left_of(
    kinds: Sequence[Kind], counts: Iterable[Sequence[int]],
) -> list[int]:
    """Return the number of servers of each kind that have no place.

    :param counts: the servers on each host, by kind; maybe none
    """
    left = [kind.count for kind in kinds]
    for numbers in counts:
        left = list(map(operator.sub, left, numbers))
    return left


def is_placement(
    kinds: Sequence[Kind], hosts: Sequence[Host], counts: Counts,
) -> bool:
    """Whether all hosts have room for the servers that they are to take."""
    return len(counts) == len(hosts) and all(
        _has_room(kinds, host, numbers)
        for host, numbers in zip(hosts, counts)
    ) and min(left_of(kinds, counts), default=0) >= 0


def _has_room(
    kinds: Sequence[Kind], host: Host, numbers: Sequence[int],
) -> bool:
    return len(numbers) == len(kinds) and all(
        0 <= number <= room(kind, place, host)
        for place, (kind, number) in enumerate(zip(kinds, numbers))
    ) and all(
        amount(kinds, numbers, name) <= max(host.free.get(name, 0), 0)
        for name in classes(kinds)
    ) and (host.patterns is None or host.patterns.allow(numbers))


def amount(
    kinds: Iterable[Kind], numbers: Iterable[int], name: str,
) -> int:
    """Return how much some servers of each kind need of a class."""
    return sum(kind.amounts.get(name, 0) * number
               for kind, number in zip(kinds, numbers))


def available(hosts: Iterable[Host], name: str) -> int:
    """Return how much is free of a class on all hosts together."""
    return sum(max(host.free.get(name, 0), 0) for host in hosts)


def classes(kinds: Iterable[Kind]) -> list[str]:
    """Return the resource classes that servers need."""
    return sorted({name for kind in kinds for name in kind.amounts})


def asked(kinds: Iterable[Kind]) -> int:
    """Return the number of servers."""
    return sum(kind.count for kind in kinds)


def placed(counts: Counts) -> int:
    """Return the number of servers in a placement."""
    return sum(map(sum, counts))


def plan(
    kinds: Sequence[Kind], hosts: Sequence[Host], solve: Solver,
) -> Plan:
    """Return whether all servers have room, and where; else bounds.

    The solver is asked only where simple ways of placing the servers leave
    some out, and no volume proves that there is no room for all: first about
    few hosts at a time, then about all hosts. Two programs say the same, for
    each is sometimes much faster than the other.
    """
    made, number = simple_plan(kinds, hosts), asked(kinds)
    if made.least < number:
        made = _at_least(made, max(
            made.counts, *matched(kinds, hosts), key=placed))
    if made.least < number == made.most:
        made = _at_least(made, repaired(kinds, hosts, made.counts, solve))
    if made.least < number == made.most:
        made = fuller(kinds, hosts, made, solve, _FIRST)
    if made.least < number == made.most:
        variables = Variables.of(kinds, hosts)
        found = solve(variables.program(0, variables.all_rows()))
        every = variables.counts(found.values)
        if every is not None and placed(every) == number:
            return Plan(every, number, number)
        return dataclasses.replace(made, most=number - (
            found.impossible and is_known(hosts)))
    return made


def simple_plan(kinds: Sequence[Kind], hosts: Sequence[Host]) -> Plan:
    """Return what is known when hosts are filled in simple ways alone."""
    counts, number = max(tries(kinds, hosts), key=placed), asked(kinds)
    least = placed(counts)
    return Plan(counts, least, number if least == number else
                volume(kinds, bounding(hosts)))


def _at_least(made: Plan, counts: Counts) -> Plan:
    """Return a plan with a placement of as many servers, or of more."""
    return dataclasses.replace(made, counts=counts, least=placed(counts))


def fits(
    kinds: Sequence[Kind], hosts: Sequence[Host], solve: Solver,
) -> bool | None:
    """Whether all servers have room together; None while nothing is proven."""
    made, number = plan(kinds, hosts, solve), asked(kinds)
    return None if made.least < number == made.most else made.least == number


def fuller(
    kinds: Sequence[Kind], hosts: Sequence[Host], made: Plan, solve: Solver,
    share: float = 1.0,
) -> Plan:
    """Return a plan with closer bounds: as many servers as have room.

    :param made: the plan there is
    :param share: which part of the time that is left the program may take
    """
    if made.least == made.most:
        return made
    variables = Variables.of(kinds, hosts)
    found = solve(variables.program(1, variables.kind_rows(), share))
    counts = variables.counts(found.values)
    if counts is None or placed(counts) < made.least:
        counts = made.counts
    least = placed(counts)
    most = found.most if is_known(hosts) else None
    return Plan(counts, least, max(least, made.most if most is None
                                   else min(made.most, most)))


def tries(
    kinds: Sequence[Kind], hosts: Sequence[Host],
) -> Iterator[Counts]:
    """Yield placements, until one has all servers; at least one.

    Each host in turn takes as many servers as it has room for, kind after
    kind, in several orders of kinds and hosts.
    """
    number = asked(kinds)
    for order in orders(kinds, hosts):
        for counts in fillings(kinds, hosts, order):
            yield counts
            if placed(counts) == number:
                return


def matched(
    kinds: Sequence[Kind], hosts: Sequence[Host],
) -> Iterator[Counts]:
    """Yield placements in which each host takes what suits it best.

    A host has much left of some classes and little of others; the servers that
    need most of what there is much of come first. Where the servers fill the
    hosts nearly, more of the servers find room so than by filling host after
    host with one kind after the other.
    """
    for turns in _turns(kinds, hosts):
        for power in (0.5, 1.0):
            yield _match(kinds, hosts, turns, power)


def _match(
    kinds: Sequence[Kind], hosts: Sequence[Host], turns: Sequence[int],
    power: float,
) -> Counts:
    """Return a placement in which each host takes what suits it best.

    :param power: how much sooner large servers come
    """
    names, totals = classes(kinds), list(_totals(kinds, hosts).values())
    counts = [[0] * len(kinds) for _ in hosts]
    needs = [[kind.amounts.get(name, 0) for name in names] for kind in kinds]
    shares = [[each / total for each, total in zip(need, totals)]
              for need in needs]
    norms = [max(sum(share * share for share in each) ** 0.5, 1e-12)
             for each in shares]
    left = [kind.count for kind in kinds]
    for turn in turns:
        free, numbers = _row(hosts[turn], names), counts[turn]
        fitting = [place for place, kind in enumerate(kinds)
                   if left[place] and room(kind, place, hosts[turn])]
        while fitting:
            now = [each / total for each, total in zip(free, totals)]
            best = max(fitting, key=lambda place: norms[place] ** (
                power - 1) * sum(map(operator.mul, shares[place], now)))
            numbers[best] += 1
            left[best] -= 1
            free = list(map(operator.sub, free, needs[best]))
            fitting = [
                place for place in fitting if left[place] and
                not (kinds[place].apart and numbers[place]) and
                all(map(operator.le, needs[place], free)) and
                _one_more(hosts[turn], numbers, place)]
    return tuple(map(tuple, counts))


def _one_more(host: Host, numbers: Sequence[int], place: int) -> bool:
    number = numbers[place] + 1
    return host.beside(numbers, place, number) == number


def repaired(
    kinds: Sequence[Kind], hosts: Sequence[Host], counts: Counts,
    solve: Solver,
) -> Counts:
    """Return a placement with more servers, or with as many.

    A few hosts at a time are filled anew, as well as they can be. Where only
    some servers have no room, that is much faster than to fill all hosts.

    :param counts: the placement there is
    """
    found = list(counts)
    for number in range(_REPAIRS):
        left = left_of(kinds, found)
        if not any(left) or sum(left) * _LITTLE > asked(kinds):
            break
        turns = _few(kinds, hosts, found, left, number)
        some = [dataclasses.replace(kind, count=its + sum(
            found[turn][place] for turn in turns))
            for place, (kind, its) in enumerate(zip(kinds, left))]
        part = tuple(found[turn] for turn in turns)
        made = fuller(some, [hosts[turn] for turn in turns], Plan(
            part, placed(part), asked(some)), solve, _SOME)
        for turn, numbers in zip(turns, made.counts):
            found[turn] = numbers
    return tuple(found)


def _few(
    kinds: Sequence[Kind], hosts: Sequence[Host], counts: Sequence[tuple],
    left: Sequence[int], number: int,
) -> list[int]:
    """Return which hosts are to be filled anew.

    Some hosts have most left, and others take turns.

    :param left: how many servers of each kind have no room
    :param number: how many times hosts were filled anew
    """
    totals = _totals(kinds, hosts)
    useful = [turn for turn, host in enumerate(hosts) if any(
        its and room(kind, place, host)
        for place, (kind, its) in enumerate(zip(kinds, left)))]
    useful.sort(key=lambda turn: sum(
        (hosts[turn].free.get(name, 0) - amount(kinds, counts[turn], name)) /
        total for name, total in totals.items()), reverse=True)
    first, others = useful[:_FEW // 2], useful[_FEW // 2:]
    start = number * (_FEW - _FEW // 2) % max(len(others), 1)
    return first + [*others[start:], *others[:start]][:_FEW - _FEW // 2]


def fillings(
    kinds: Sequence[Kind], hosts: Sequence[Host], order: Sequence[int],
) -> Iterator[Counts]:
    """Yield placements with one order of kinds; fuller hosts first, or last.

    :param order: the places of the kinds
    """
    for turns in _turns(kinds, hosts):
        yield _fill(kinds, hosts, order, turns)


def filled(
    kinds: Sequence[Kind], host: Host, order: Sequence[int],
) -> tuple[int, ...]:
    """Return how many servers of each kind a single host takes.

    :param order: the places of the kinds
    """
    return _fill(kinds, [host], order, [0])[0]


def orders(
    kinds: Sequence[Kind], hosts: Sequence[Host],
) -> list[tuple[int, ...]]:
    """Return orders of the kinds to place them in, each order once.

    Large servers come first, by each resource class, by the largest share of
    a class and by the sum of the shares; at last small servers come first.
    """
    totals = _totals(kinds, hosts)
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
    kinds: Sequence[Kind], hosts: Sequence[Host],
) -> list[tuple[int, ...]]:
    """Return orders of the hosts: the fullest first, and the emptiest."""
    totals = _totals(kinds, hosts)
    order = sorted(range(len(hosts)), key=lambda place: sum(
        _shares(hosts[place].free, totals)))
    return list(dict.fromkeys([tuple(order), tuple(reversed(order))]))


def _totals(
    kinds: Sequence[Kind], hosts: Sequence[Host],
) -> dict[str, int]:
    return {name: available(hosts, name) or 1 for name in classes(kinds)}


def _shares(
    amounts: Mapping[str, int], totals: Mapping[str, int],
) -> list[float]:
    """Return the share that some amounts are of what is free of each class."""
    return [amounts.get(name, 0) / total for name, total in totals.items()]


def _fill(
    kinds: Sequence[Kind], hosts: Sequence[Host], order: Iterable[int],
    turns: Sequence[int],
) -> Counts:
    counts = [[0] * len(kinds) for _ in hosts]
    names = classes(kinds)
    free = [_row(host, names) for host in hosts]
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
            if not number or not _takes(kind, place, hosts[turn]):
                continue
            counts[turn][place] = number
            for index, each in needs:
                its[index] -= number * each
            left -= number
            if not left:
                break
    return tuple(map(tuple, counts))


def _row(host: Host, names: Sequence[str]) -> list[int]:
    """Return what is free on a host, in the order of the classes."""
    return [max(host.free.get(name, 0), 0) for name in names]


def remaining(
    kinds: Sequence[Kind], host: Host, numbers: Sequence[int],
) -> dict[str, int]:
    """Return what is left on a host of each class after some servers."""
    return {name: max(host.free.get(name, 0), 0) -
            amount(kinds, numbers, name) for name in classes(kinds)}


def _needs(kind: Kind, names: Sequence[str]) -> list[tuple[int, int]]:
    """Return the places of the classes that a server needs, with amounts."""
    return [(index, kind.amounts[name]) for index, name in enumerate(names)
            if kind.amounts.get(name)]


def _takes(kind: Kind, place: int, host: Host) -> bool:
    """Whether a host takes servers of a kind, if enough is free."""
    return place not in host.refused and all(
        each <= host.most.get(name, each)
        for name, each in kind.amounts.items())


def volume(kinds: Sequence[Kind], hosts: Sequence[Host]) -> int:
    """Return a number of servers that is not exceeded by any placement.

    As many servers of each kind as the hosts have room for when they have no
    servers of other kinds, and as many small servers as all that is free of a
    resource class is enough for.
    """
    limits = [min(kind.count, sum(room(kind, place, host) for host in hosts))
              for place, kind in enumerate(kinds)]
    return min([sum(limits), *(
        _by_volume(kinds, limits, name, available(hosts, name))
        for name in classes(kinds))])


def _by_volume(
    kinds: Sequence[Kind], limits: Sequence[int], name: str, left: int,
) -> int:
    number = 0
    for each, limit in sorted(zip(
            (kind.amounts.get(name, 0) for kind in kinds), limits)):
        take = min(limit, left // each) if each else limit
        number += take
        left -= take * each
    return number


@dataclasses.dataclass(frozen=True)
class _Chosen:
    """Variables, by their limits, that choose a pattern for each host."""

    limits: Sequence[int]
    rows: Sequence[Row]


@dataclasses.dataclass(frozen=True)
class Variables:
    """The variables of a program: the servers of a kind on a host.

    :ivar places: the host and the kind of each variable, as places in their
        sequences; a host without room for a kind has no variable
    :ivar limits: for how many servers the host alone has room
    """

    kinds: Sequence[Kind]
    hosts: Sequence[Host]
    places: tuple[tuple[int, int], ...]
    limits: tuple[int, ...]

    @classmethod
    def of(cls, kinds: Sequence[Kind], hosts: Sequence[Host]) -> 'Variables':
        """Return the variables for kinds and hosts."""
        found = {(turn, place): limit for turn, host in enumerate(hosts)
                 for place, kind in enumerate(kinds)
                 if (limit := room(kind, place, host))}
        return cls(kinds, hosts, tuple(found), tuple(found.values()))

    def host_rows(self, *without: str) -> Iterator[Row]:
        """Yield that no host takes more than is free.

        :param without: resource classes to be left out
        """
        for turn, numbers in self.by_host().items():
            for name in classes(self.kinds):
                if name not in without:
                    yield from self._row(
                        self.weights(numbers, name),
                        max(self.hosts[turn].free.get(name, 0), 0))

    def program(
        self, gain: int, rows: Iterable[Row], share: float = 1.0,
    ) -> Program:
        """Return a program about all servers on all hosts.

        :param gain: what each server that is placed is worth
        :param rows: further sums that have limits
        :param share: which part of the time that is left the program may take
        """
        chosen = self._pattern_rows()
        return Program(
            (gain,) * len(self.places) + (0,) * len(chosen.limits),
            (*self.limits, *chosen.limits),
            [*self.host_rows(), *chosen.rows, *rows], share)

    def _pattern_rows(self) -> '_Chosen':
        """Return that each host takes one pattern, or less.

        There is a variable for each pattern, after all others. Where a host
        has one pattern, the limits of the variables say the same.
        """
        limits: list[int] = []
        rows: list[Row] = []
        for turn, numbers in self.by_host().items():
            its = self.hosts[turn].patterns
            if its is None or len(its.most) == 1:
                continue
            first = len(self.places) + len(limits)
            chosen = range(first, first + len(its.most))
            limits += [1] * len(its.most)
            rows.append((dict.fromkeys(chosen, 1), None, 1))
            for number in numbers:
                place = self.places[number][1]
                if place in its.places:
                    index = its.places.index(place)
                    rows.append(({number: 1, **{
                        variable: -pattern[index] for variable, pattern
                        in zip(chosen, its.most) if pattern[index]}}, None, 0))
        return _Chosen(limits, rows)

    def by_host(self) -> dict[int, list[int]]:
        """Return the variables of each host, by the place of the host."""
        return self._grouped(0)

    def weights(self, numbers: Iterable[int], name: str) -> dict[int, int]:
        """Return how much of a class one more of some variables needs."""
        each = {number: self.kinds[self.places[number][1]].amounts.get(name, 0)
                for number in numbers}
        return {number: amount for number, amount in each.items() if amount}

    def _row(self, weights: Mapping[int, int], limit: int) -> Iterator[Row]:
        """Yield a row, unless the limits of the variables say the same."""
        if sum(weight * self.limits[number]
               for number, weight in weights.items()) > limit:
            # Small numbers keep the solver from rounding.
            unit = math.gcd(*weights.values())
            yield ({number: weight // unit
                    for number, weight in weights.items()},
                   None, limit // unit)

    def kind_rows(self) -> Iterator[Row]:
        """Yield that no more servers are placed than there are."""
        for place, numbers in self._grouped(1).items():
            yield from self._row(
                dict.fromkeys(numbers, 1), self.kinds[place].count)

    def all_rows(self) -> Iterator[Row]:
        """Yield that all servers are placed.

        More servers than there are do no harm, and solvers are faster so.
        """
        by_kind = self._grouped(1)
        for place, kind in enumerate(self.kinds):
            numbers = by_kind.get(place, ())
            yield (dict.fromkeys(numbers, 1), kind.count,
                   sum(self.limits[number] for number in numbers))

    def _grouped(self, side: int) -> dict[int, list[int]]:
        grouped: dict[int, list[int]] = {}
        for number, pair in enumerate(self.places):
            grouped.setdefault(pair[side], []).append(number)
        return grouped

    def counts(self, values: Sequence[int] | None) -> Counts | None:
        """Return the placement in values, None unless the placement is right.

        A solver computes with rounded numbers, so its word is not enough.
        """
        if values is None:
            return None
        counts = [[0] * len(self.kinds) for _ in self.hosts]
        left = [kind.count for kind in self.kinds]
        for (turn, place), value in zip(self.places, values):
            counts[turn][place] = min(value, left[place])
            left[place] -= counts[turn][place]
        found = tuple(map(tuple, counts))
        return found if is_placement(self.kinds, self.hosts, found) else None
