# SPDX-License-Identifier: Apache-2.0

"""Text to be shown in one line: what users have written, and numbers.

A line break in such a text would forge a line of a log, and not every database
that keeps a server's fault can hold every character.
"""

# Some of Nova's databases keep the basic multilingual plane alone.
_LAST = '\uffff'
# The most characters of a value in a message.
_MOST = 100
# What a message ends with where only one zone will do, or names of a domain.
IN_ZONE = " in availability zone '%(zone)s'"
IN_DOMAIN = " in domain '%(domain)s'"
# The names that tenants know resource classes by.
# Resource class -> the words after a 1, and after any other number.
_AMOUNTS = {'VCPU': ('cpu', 'cpus'),
            'PCPU': ('dedicated cpu', 'dedicated cpus'),
            'MEMORY_MB': ('MiB of memory',) * 2,
            'DISK_GB': ('GiB of disk',) * 2}


def shown(text: str) -> str:
    """Return a text with escapes for characters not to be printed or kept.

    ====================  ==============
    in the text           shown
    ====================  ==============
    a line break          ``\\n``
    a lone surrogate      ``\\ud800``
    beyond the BMP        ``\\U0001f600``
    printable, in BMP     unchanged
    ====================  ==============
    """
    if text.isprintable() and (not text or max(text) <= _LAST):
        return text
    return ''.join(
        character if character.isprintable() and character <= _LAST else
        character.encode('unicode_escape').decode() for character in text)


def beginning(text: str) -> str:
    """Return a text, cut: clients show the beginning of a message alone."""
    return text if len(text) <= _MOST else f'{text[:_MOST]}...'


def is_encodable(text: str) -> bool:
    """Whether a text can be sent or kept at all: no lone surrogates."""
    return not any('\ud800' <= character <= '\udfff' for character in text)


def is_askable(text: str) -> bool:
    """Whether every database can be asked about a text."""
    return is_encodable(text) and all(character <= _LAST for character in text)


def counted(number: int, one: str, several: str) -> str:
    """Return a number and the words that fit the number.

    ======  ===========================================
    number  counted(number, 'server is', 'servers are')
    ======  ===========================================
    0       ``0 servers are``
    1       ``1 server is``
    2       ``2 servers are``
    ======  ===========================================

    :param one: the words after a 1
    :param several: the words after any other number
    """
    return f'{number} {one if number == 1 else several}'


def amount(number: int, resource: str) -> str:
    """Return an amount of a resource class, in words."""
    return counted(
        number, *_AMOUNTS.get(resource, (f'of {resource}',) * 2))


def in_zone(zone: str | None) -> str:
    """Return the words of a message for the only zone that will do."""
    return IN_ZONE % {'zone': zone} if zone else ''
