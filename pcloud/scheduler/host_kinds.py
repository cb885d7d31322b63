# SPDX-License-Identifier: Apache-2.0

"""Kinds: thousands of hosts that differ in few ways.

What is the same for all hosts of a kind is found once for the kind.
"""

import collections
from collections.abc import Hashable
from collections.abc import Iterable
import itertools
from typing import TypeVar

_Kind = TypeVar('_Kind', bound=Hashable)


def numbered(values: Iterable[_Kind]) -> tuple[list[int], list[_Kind]]:
    """Number the different values of hosts, in the order of appearance.

    :returns: for each value its number; and the different values, each at the
        position of its number
    """
    numbers: dict[_Kind, int] = (
        collections.defaultdict(itertools.count().__next__))
    of_values = [numbers[value] for value in values]
    return of_values, list(numbers)
