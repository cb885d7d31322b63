# SPDX-License-Identifier: Apache-2.0


"""The options of a sandbox's nova.conf that users change."""

from collections.abc import Iterator
import difflib
from importlib import metadata
import typing
import warnings

from oslo_config import cfg

from pcloud_sandbox import errors

# The names by which the readers of nova.conf publish their options.
NAMESPACES = ('nova.conf', 'pcloud', 'keystonemiddleware.auth_token',
              'oslo.cache', 'oslo.concurrency', 'oslo.db', 'oslo.limit',
              'oslo.log', 'oslo.messaging', 'oslo.middleware', 'oslo.policy')


def check_option(section: str, option: str) -> cfg.Opt:
    """Return an option of nova.conf.

    :raises: `SandboxError` when there is no such section or option
    """
    known = _options()
    if section not in known:
        raise errors.SandboxError(
            f'[{section}]: there is no such section in nova.conf'
            f'{_meant(section, known)}')
    if option not in known[section]:
        raise errors.SandboxError(
            f'[{section}] {option}: there is no such option in nova.conf'
            f'{_meant(option, known[section])}')
    return known[section][option]


def check_value(section: str, option: str, value: str) -> None:
    """Make sure that Nova can read the value of an option.

    :raises: `SandboxError` when there is no such option, or the value is not
        one of the option's
    """
    known = check_option(section, option)
    try:
        known.type(value)
    except ValueError as error:
        raise errors.SandboxError(
            f'[{section}] {option} = {value}: {error}. The option: '
            f'{" ".join(known.help.split())}') from error


def _options() -> dict[str, dict[str, cfg.Opt]]:
    """Return section -> name in a file -> option."""
    known: dict[str, dict[str, cfg.Opt]] = {}
    for group, options in _published():
        section = getattr(group, 'name', group) or 'DEFAULT'
        known.setdefault(section, {}).update(
            (option.dest, option) for option in options)
    return known


def _published() -> Iterator[tuple[typing.Any, list[cfg.Opt]]]:
    entries = metadata.entry_points(group='oslo.config.opts')
    with warnings.catch_warnings():
        # The libraries warn of eventlet, which they import.
        warnings.simplefilter('ignore')
        for name in NAMESPACES:
            for entry in entries.select(name=name):
                yield from entry.load()()


def _meant(given: str, known: dict) -> str:
    close = difflib.get_close_matches(given, known, n=1)
    return f'; {close[0]} was probably meant' if close else ''
