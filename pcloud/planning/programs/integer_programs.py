# SPDX-License-Identifier: Apache-2.0

"""Integer programs, and what a solver knows of a program."""

from collections.abc import Callable
from collections.abc import Mapping
from collections.abc import Sequence
import dataclasses


# A sum with limits: variable -> coefficient, the least sum (None for no limit)
# and the largest sum.
Row = tuple[Mapping[int, int], int | None, int]


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
