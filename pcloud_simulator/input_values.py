# SPDX-License-Identifier: Apache-2.0

"""Values of files and options, with errors that name the place.

A place is a text, such as ``a.csv, line 3, vcpus`` or ``--hosts``.
"""

from __future__ import annotations

import datetime
import re

from pcloud import exception

# Above any size and any time, and far below what computing takes.
_LARGEST = 10 ** 10
_DECIMAL = re.compile(r'\d{1,12}(\.\d{1,12})?', re.ASCII)
_WHOLE = re.compile(r'\d{1,12}', re.ASCII)
_ISO = re.compile(
    r'\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d(\.\d{1,6})?)?'
    r'(Z|[+-]\d\d:?\d\d)?)?', re.ASCII)


def number(value: str, place: str) -> float:
    """Return a number above 0.

    :raises: `exception.InvalidValue`
    """
    found = float(value) if _DECIMAL.fullmatch(value) else 0.0
    if not 0 < found <= _LARGEST:
        raise exception.InvalidValue(
            place, value, 'a number above 0, such as 4 or 1.75')
    return found


def whole(value: str, place: str) -> int:
    """Return a whole number above 0.

    :raises: `exception.InvalidValue`
    """
    found = int(value) if _WHOLE.fullmatch(value) else 0
    if not 0 < found <= _LARGEST:
        raise exception.InvalidValue(
            place, value, 'a whole number above 0, such as 4')
    return found


def between(value: str, place: str, least: int, most: int) -> int:
    """Return a whole number from the least to the most.

    :raises: `exception.InvalidValue`
    """
    found = int(value) if _WHOLE.fullmatch(value) else least - 1
    if not least <= found <= most:
        raise exception.InvalidValue(
            place, value, f'a whole number from {least} to {most}')
    return found


def seconds(value: str, place: str) -> float:
    """Return a number of seconds, 0 or more.

    :raises: `exception.InvalidValue`
    """
    found = float(value) if _DECIMAL.fullmatch(value) else -1.0
    if not 0 <= found <= _LARGEST:
        raise exception.InvalidValue(
            place, value,
            'seconds since the trace began, such as 300, or else ISO 8601 on '
            'each line')
    return found


def moment(value: str, place: str) -> datetime.datetime:
    """Return a moment in UTC; a moment without a zone is in UTC.

    :raises: `exception.InvalidValue`
    """
    try:
        if not _ISO.fullmatch(value):
            raise ValueError(value)
        found = datetime.datetime.fromisoformat(value)
        if found.tzinfo is None:
            found = found.replace(tzinfo=datetime.UTC)
        return found.astimezone(datetime.UTC)
    except (ValueError, OverflowError):
        raise exception.InvalidValue(
            place, value, 'a moment in ISO 8601, such as '
            '2026-11-02T08:30:00Z or 2026-11-02T10:30:00+02:00')
