# SPDX-License-Identifier: Apache-2.0

"""Numbers with the words that they count."""


def words(number: int, one: str, several: str) -> str:
    """Return a number and the words that fit the number.

    ======  =========================================
    number  words(number, 'server is', 'servers are')
    ======  =========================================
    0       ``0 servers are``
    1       ``1 server is``
    2       ``2 servers are``
    ======  =========================================

    :param one: the words after a 1
    :param several: the words after any other number
    """
    return f'{number} {one if number == 1 else several}'
