# SPDX-License-Identifier: Apache-2.0

"""Names for new hosts of a Pcloud."""

from collections.abc import Iterable

# What stands for the number at the end of a pattern.
NUMBER = '{n}'


def is_pattern(text: str) -> bool:
    """Whether a number can be only at the end of the names."""
    return NUMBER not in text.removesuffix(f'-{NUMBER}')


def beginning(pattern: str, count: int) -> str | None:
    """Return what the numbers of new hosts follow.

    ===========  ==========================  =========
    pattern      count                       beginning
    ===========  ==========================  =========
    ``web-{n}``  any                         ``web``
    ``web``      2 or more                   ``web``
    ``web``      1, so ``web`` is the name   None
    ===========  ==========================  =========
    """
    if count == 1 and not pattern.endswith(f'-{NUMBER}'):
        return None
    return pattern.removesuffix(f'-{NUMBER}')


def first(name: str, taken: Iterable[str]) -> int:
    """Return the number that follows the numbers of hosts that are there.

    :param name: the beginning of the names
    :param taken: the names of the hosts that are there
    """
    # The API compares names whatever the letter case.
    begin = f'{name}-'.casefold()
    rests = [each.casefold().removeprefix(begin) for each in taken
             if each.casefold().startswith(begin)]
    return 1 + max((int(rest) for rest in rests
                    if rest.isdecimal() and len(rest) < 7), default=0)
