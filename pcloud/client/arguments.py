# SPDX-License-Identifier: Apache-2.0

"""Types and checks of the arguments of both command lines."""

import argparse
import math

# What becomes of the servers of a host before a maintenance of the host.
MAINTENANCE_POLICIES = ('stay', 'migrate', 'replace')

# What is done for a host that has failed.
HOST_RECOVERIES = ('off', 'in_place', 'replace')

# How the hosts of a Pcloud are filled.
PLACEMENTS = ('default', 'pack', 'spread')

# No number that a user gives is longer.
_MOST_DIGITS = 9


def ratio(text: str) -> float:
    """Read an allocation ratio.

    :raises argparse.ArgumentTypeError: for a text that is no number above 0
    """
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not (math.isfinite(value) and value > 0):
        raise argparse.ArgumentTypeError(
            f"'{text}' is not a number greater than 0")
    return value


def ids(text: str) -> list[str]:
    """Read ids with commas between."""
    return [id_.strip() for id_ in text.split(',') if id_.strip()]


def ids_or_all(text: str) -> list[str] | None:
    """Read ids with commas between, or the word "all" for None."""
    return None if text.lower() == 'all' else ids(text)


def is_yes(text: str) -> bool:
    """Read the words "yes" and "no".

    :raises argparse.ArgumentTypeError: for any other text
    """
    if text.lower() not in ('yes', 'no'):
        raise argparse.ArgumentTypeError(f"'{text}' is neither yes nor no")
    return text.lower() == 'yes'


def ratio_or_none(text: str) -> float | None:
    """Read an allocation ratio, or the word "none" for no ratio.

    :raises argparse.ArgumentTypeError: for any other text
    """
    return None if text.lower() == 'none' else ratio(text)


def misplaced_growth(
    mode: str, host_flavor: str | None, max_hosts: int | None,
    zone: str | None,
) -> str | None:
    """Return what is wrong with the options of a default Pcloud's growth.

    Both command lines have the same names of options.

    :param mode: the mode of the default
    :param zone: the availability zone of new hosts, None for any zone
    :returns: a sentence, None for options that go together
    """
    needed = {'--grow-flavor': host_flavor, '--max-hosts': max_hosts}
    given = [option for option, value in (
        *needed.items(), ('--availability-zone', zone)) if value is not None]
    if mode != 'grow':
        return (f'{", ".join(given)}: only for --mode grow, not for --mode '
                f'{mode}' if given else None)
    return (None if needed.keys() <= set(given) else
            '--mode grow needs --grow-flavor and --max-hosts')


def is_count(text: str) -> bool:
    """Whether a text is a whole number of 1 or more, in digits from 0 to 9.

    Python reads the digits of other scripts too, which readers may not, and no
    number of thousands of digits.
    """
    return (text.isascii() and text.isdecimal() and
            text.count('0') < len(text) <= _MOST_DIGITS)


def whole(text: str) -> int:
    """Read a whole number, 0 too.

    :raises argparse.ArgumentTypeError: for any other text
    """
    if text != '0' and not is_count(text):
        raise argparse.ArgumentTypeError(
            f"'{text}' is not a whole number of 0 or more, of at most "
            f'{_MOST_DIGITS} digits')
    return int(text)


def misplaced_shrinking(
    after: int | None, min_hosts: int | None, keep_spare: int | None,
) -> str | None:
    """Return what is wrong with the options by which empty hosts leave.

    :returns: a sentence, None for options that go together
    """
    given = [option for option, value in (
        ('--shrink-min-hosts', min_hosts),
        ('--shrink-keep-spare', keep_spare)) if value is not None]
    return (f'{", ".join(given)}: only together with --shrink-after'
            if given and after is None else None)


def positive(text: str) -> int:
    """Read a whole number.

    :raises argparse.ArgumentTypeError: for a text that is no whole number of 1
        or more
    """
    if not is_count(text):
        raise argparse.ArgumentTypeError(
            f"'{text}' is not a whole number of 1 or more, of at most "
            f'{_MOST_DIGITS} digits')
    return int(text)
