# SPDX-License-Identifier: Apache-2.0

"""Units of host flavors and limits of units, read from text.

Rule: reference-quota-units
"""

import re

from pcloud import exception

# The sum over many hosts still fits the integers of every client.
MOST = 1_000_000
MOST_OF_LIMIT = 2 ** 31 - 1
UNLIMITED = -1

_WHOLE = re.compile(r'\d{1,10}', re.ASCII)


def read(text: str) -> int:
    """Read the units that a host of a host flavor costs.

    :raises: `exception.InvalidValue`
    """
    if _WHOLE.fullmatch(text) and int(text) <= MOST:
        return int(text)
    raise exception.InvalidValue(
        'Units', text, f'a whole number from 0 to {MOST}')


def limit(text: str) -> int:
    """Read the limit of units of a project; `UNLIMITED` means no limit.

    :raises: `exception.InvalidValue`
    """
    if text == str(UNLIMITED):
        return UNLIMITED
    if _WHOLE.fullmatch(text) and int(text) <= MOST_OF_LIMIT:
        return int(text)
    raise exception.InvalidValue(
        'Units', text,
        f'a whole number from 0 to {MOST_OF_LIMIT}, or {UNLIMITED} for no '
        'limit')
