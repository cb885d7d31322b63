# SPDX-License-Identifier: Apache-2.0

"""The client and the tables of the nova command line's extensions."""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Sequence
import typing

from novaclient import exceptions as nova_exceptions
from novaclient import utils

from pcloud.client import display

if typing.TYPE_CHECKING:
    from pcloud.client import v1


def client(cs: typing.Any) -> v1.Client:
    """Make the client.

    :param cs: the novaclient that the shell hands to every command
    """
    # Every "nova" command loads this module, and few need the client.
    from pcloud.client import v1
    return v1.Client.from_adapter(cs.client)


def show(resource: object, fields: Sequence[display.Field]) -> None:
    """Print a resource as a table of properties."""
    utils.print_dict({field.name: field.human(getattr(resource, field.name))
                      for field in fields})


def show_all(resources: Iterable[object],
             fields: Sequence[display.Field]) -> None:
    """Print resources as a table with a row each."""
    utils.print_list(
        resources, [_head(field) for field in fields],
        {_head(field): _formatter(field) for field in fields})


def given(args: typing.Any, names: Sequence[str]) -> dict[str, typing.Any]:
    """Return name -> value of the given options.

    :param args: the parsed command line, without the options that were not
        given (argparse.SUPPRESS)
    :raises novaclient.exceptions.CommandError: when no option was given
    """
    changes = {name: getattr(args, name) for name in names
               if hasattr(args, name)}
    if not changes:
        options = ', '.join(f"--{name.replace('_', '-')}" for name in names)
        raise nova_exceptions.CommandError(
            f'Nothing to change; give at least one of {options}')
    return changes


def _head(field: display.Field) -> str:
    return field.title or field.header


def _formatter(field: display.Field) -> typing.Callable[[object], str]:
    return lambda resource: field.human(getattr(resource, field.name))
