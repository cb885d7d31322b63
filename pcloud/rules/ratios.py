# SPDX-License-Identifier: Apache-2.0

"""Allocation ratios, read from text.

Nova keeps the metadata of aggregates as text, and lets administrators write
any text.

Rule: reference-ratios-values
"""

from collections.abc import Mapping
import functools
import re

from pcloud import exception

# Far above what any hypervisor bears.
MOST = 1024
# The greatest ratio that Placement keeps.
_MOST_OF_HOST = 3.40282e+38

NAMES = ('cpu', 'ram')

_NUMBER = re.compile(r'\d{1,40}(\.\d{1,40})?([eE][+-]?\d{1,3})?', re.ASCII)


# Each request asks for the ratios of its Pcloud.
@functools.lru_cache(maxsize=4096)
def of_pcloud(text: str) -> float:
    """Read a ratio that a Pcloud gives to its hosts.

    :raises: `exception.InvalidValue`
    """
    ratio = _number(text)
    if not 0 < ratio <= MOST:
        raise exception.InvalidValue(
            'Allocation ratio', text, f'a number above 0, at most {MOST}')
    return ratio


def of_host(text: str) -> float:
    """Read the former ratio of a host, as Placement has given the ratio.

    :raises: `exception.InvalidValue`
    """
    ratio = _number(text)
    if not ratio <= _MOST_OF_HOST:
        raise exception.InvalidValue(
            'Allocation ratio', text, 'a number that Placement holds')
    return ratio


def both(text: str) -> dict[str, float]:
    """Read the former ratios of a host, as `both_text` has written them.

    :returns: ``name -> ratio``, at least one of `NAMES`
    :raises: `exception.InvalidValue`
    """
    parts = [part.partition('=')[::2] for part in text.split(' ')]
    found = dict(parts)
    if len(found) != len(parts) or not found.keys() <= frozenset(NAMES):
        raise exception.InvalidValue(
            'Allocation ratio', text, 'ratios such as "cpu=16.0 ram=1.5"')
    return {name: of_host(value) for name, value in found.items()}


def both_text(ratios: Mapping[str, float]) -> str:
    """Write ratios of a host into one text.

    :param ratios: ``name -> ratio``, names of `NAMES`
    """
    return ' '.join(f'{name}={ratios[name]!r}' for name in NAMES
                    if name in ratios)


def _number(text: str) -> float:
    if not _NUMBER.fullmatch(text):
        raise exception.InvalidValue(
            'Allocation ratio', text, 'a number such as 4 or 1.5')
    return float(text)
