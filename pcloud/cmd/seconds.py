# SPDX-License-Identifier: Apache-2.0

"""Numbers of seconds on a command line."""

import argparse

_DAY = 86400
_MINUTE = 60


def pause(text: str) -> float:
    """Return a number of seconds, which may be 0.

    :raises argparse.ArgumentTypeError: for any other text
    """
    seconds = _number(text)
    if not 0 <= seconds <= _DAY:
        raise _wrong(text, f'from 0 to {_DAY}')
    return seconds


def interval(text: str) -> float:
    """Return a positive number of seconds, a minute at most.

    :raises argparse.ArgumentTypeError: for any other text
    """
    seconds = _number(text)
    if not 0 < seconds <= _MINUTE:
        raise _wrong(text, f'more than 0 and at most {_MINUTE}')
    return seconds


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return float('nan')


def _wrong(text: str, expected: str) -> argparse.ArgumentTypeError:
    return argparse.ArgumentTypeError(
        f"'{text}' is not right; it has to be a number of seconds, {expected}")
