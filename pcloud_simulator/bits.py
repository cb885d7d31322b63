# SPDX-License-Identifier: Apache-2.0

"""Sets of hosts as integers: bit N is host N.

A set of 10,000 hosts is an integer of 1.25 kB; a union or an intersection
takes less than a microsecond, however many hosts are in the sets.
"""

from collections.abc import Callable
from collections.abc import Hashable
from collections.abc import Iterable
from collections.abc import Sequence
import functools
import operator
import random
from typing import TypeVar

from pcloud_simulator import fleets

Value = TypeVar('Value', bound=Hashable)


def union(sets: Iterable[int]) -> int:
    """Return the hosts that are in any of several sets."""
    return functools.reduce(operator.or_, sets, 0)


def by_value(
    hosts: Sequence[fleets.FleetHost],
    value: Callable[[fleets.FleetHost], Value],
) -> dict[Value, int]:
    """Return ``value -> hosts with this value``."""
    numbers: dict[Value, list[int]] = {}
    for number, host in enumerate(hosts):
        numbers.setdefault(value(host), []).append(number)
    return {each: union(1 << number for number in several)
            for each, several in numbers.items()}


def pick(hosts: int, chance: random.Random) -> int | None:
    """Return the number of a host, each with the same chance.

    :returns: None for a set without hosts
    """
    if not hosts:
        return None
    place = chance.randrange(hosts.bit_count())
    first, width = 0, hosts.bit_length()
    while width > 1:
        half = width // 2
        low = hosts & ((1 << half) - 1)
        below = low.bit_count()
        if place < below:
            hosts, width = low, half
        else:
            place -= below
            hosts >>= half
            first += half
            width -= half
    return first
