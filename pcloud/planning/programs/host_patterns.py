# SPDX-License-Identifier: Apache-2.0

"""Which servers a host takes together that needs more than enough of a class.

Providers, NUMA cells and devices are parts of a host. Whether the parts of a
host suffice is tried out, server after server, in every order.

Rule: reference-planning-parts
"""

from collections.abc import Hashable
from collections.abc import Iterable
from collections.abc import Sequence
import dataclasses
import itertools
import typing

# So many orders of kinds are tried out.
_ORDERS = 120

# How many servers of each kind, in the order of the kinds.
Numbers = tuple[int, ...]


class Look(typing.Protocol):
    """How a host looks, with some servers on it.

    :ivar key: equal for hosts that take the same servers from here on
    """

    @property
    def key(self) -> Hashable:
        """Return what is equal for hosts that take the same servers."""

    def after(self, place: int) -> Sequence['Look']:
        """Return how the host may look after one more server of a kind.

        :param place: the place of the kind, in the sequence of all kinds
        :returns: no look when the host does not take the server
        """


@dataclasses.dataclass(frozen=True)
class Patterns:
    """Which servers of some kinds a host takes together.

    :ivar places: the places of the kinds, in the sequence of all kinds
    :ivar most: numbers of servers of these kinds, each as large as the host
        takes; the host takes fewer too
    :ivar is_complete: whether the host takes nothing else
    :ivar look: how the host looks without these servers
    """

    places: tuple[int, ...]
    most: tuple[Numbers, ...]
    is_complete: bool = True
    look: Look | None = dataclasses.field(
        default=None, repr=False, compare=False)

    def limit(self, place: int, number: int) -> int:
        """Return how many of so many servers of a kind the host takes."""
        if place not in self.places:
            return number
        index = self.places.index(place)
        return min(number, max(each[index] for each in self.most))

    def beside(self, numbers: Sequence[int], place: int, number: int) -> int:
        """Return how many of so many servers the host takes beside others.

        :param numbers: the servers of all kinds on the host; those of the
            kind itself do not matter
        """
        if place not in self.places:
            return number
        index = self.places.index(place)
        return min(number, max((
            each[index] for each in self.most if all(
                numbers[other] <= its
                for other, its in zip(self.places, each) if other != place)),
            default=0))

    def allow(self, numbers: Sequence[int]) -> bool:
        """Whether the host takes some servers of all kinds together."""
        return any(all(numbers[place] <= its
                       for place, its in zip(self.places, each))
                   for each in self.most)

    def order(self, numbers: Sequence[int]) -> list[int]:
        """Return in which order to start some servers, kind after kind.

        Parts that are given to small servers first may be too small for
        others afterwards. Where no order of the kinds is right, one server
        of a kind has to come between those of another, and the order of the
        kinds is returned.

        :param numbers: the servers of all kinds on the host
        :returns: the places of all kinds
        """
        its = [place for place in self.places if numbers[place]]
        found = next((order for order in itertools.islice(
            itertools.permutations(its), _ORDERS)
            if self._is_right(order, numbers)), its)
        return [*found, *(place for place in range(len(numbers))
                          if place not in found)]

    def _is_right(
        self, order: Sequence[int], numbers: Sequence[int],
    ) -> bool:
        look = self.look
        for place in order:
            for _ in range(numbers[place]):
                look = next(iter(look.after(place)), None) if look else None
        return look is not None


class Budget:
    """How many more servers may be tried out on hosts."""

    def __init__(self, steps: int) -> None:
        """Allow so many steps."""
        self._left = steps

    def spend(self) -> bool:
        """Spend a step; return False when none is left."""
        self._left -= 1
        return self._left >= 0


def explore(
    look: Look, limits: Sequence[tuple[int, int]], budget: Budget,
) -> Patterns:
    """Return which servers a host takes together.

    :param limits: the place of each kind with parts, and the most servers of
        the kind that have to be known
    :param budget: when it ends, some servers that the host takes are not
        known
    """
    places = tuple(place for place, _ in limits)
    start = (0,) * len(limits)
    reached: set[Numbers] = {start}
    level: dict[Numbers, dict[Hashable, Look]] = {start: {look.key: look}}
    while level:
        further: dict[Numbers, dict[Hashable, Look]] = {}
        for numbers, looks in level.items():
            for index, (place, limit) in enumerate(limits):
                if numbers[index] >= limit:
                    continue
                more = (*numbers[:index], numbers[index] + 1,
                        *numbers[index + 1:])
                for each in looks.values():
                    if not budget.spend():
                        return Patterns(places, _largest([
                            *reached, *further, *_straight(look, limits)]),
                            False, look)
                    for after in each.after(place):
                        further.setdefault(more, {})[after.key] = after
        reached.update(further)
        level = further
    return Patterns(places, _largest(reached), look=look)


def _straight(
    look: Look, limits: Sequence[tuple[int, int]],
) -> Iterable[Numbers]:
    """Yield numbers that are reached kind after kind, from each kind on."""
    for first in range(len(limits)):
        numbers, now = [0] * len(limits), look
        for index in (*range(first, len(limits)), *range(first)):
            place, limit = limits[index]
            while numbers[index] < limit and (after := now.after(place)):
                numbers[index] += 1
                now = after[0]
        yield tuple(numbers)


def _largest(reached: Iterable[Numbers]) -> tuple[Numbers, ...]:
    """Return the numbers that no others include."""
    largest: list[Numbers] = []
    for numbers in sorted(set(reached), key=sum, reverse=True):
        if not any(all(map(int.__le__, numbers, each)) for each in largest):
            largest.append(numbers)
    return tuple(largest)
