# SPDX-License-Identifier: Apache-2.0

"""Base classes and helpers of the commands.

Every "openstack" command, also one of others, imports the modules of all
commands. What only a command of Pcloud needs when it runs is imported by the
function that uses it.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from collections.abc import Iterable
from collections.abc import Sequence
import dataclasses
import typing

from cliff import columns
from osc_lib.command import command
from osc_lib import exceptions as osc_exceptions

from pcloud.client import arguments
from pcloud.client import display
from pcloud.client import exceptions
from pcloud.client import runs

if typing.TYPE_CHECKING:
    from pcloud.client import v1


# The results of a ShowOne and a Lister: names, and values or rows of values.
Shown = tuple[list[str], list['Readable']]
Listed = tuple[list[str], list[list['Readable']]]


class Readable(columns.FormattableColumn):
    """A value with a format for people; programs get the plain value."""

    def __init__(self, value: typing.Any,
                 human: Callable[[typing.Any], str]) -> None:
        super().__init__(value)
        self._human = human

    def __lt__(self, other: object) -> bool:
        if not isinstance(other, Readable):
            return NotImplemented
        if self._value is None or other._value is None:
            return other._value is None and self._value is not None
        return self._value < other._value

    def human_readable(self) -> str:
        """Return the value as a table shows the value."""
        return self._human(self._value)

    def machine_readable(self) -> typing.Any:
        """Return the value as numbers, strings, lists and dicts only."""
        return plain(self._value)


def plain(value: typing.Any) -> typing.Any:
    """Turn tuples into lists and the client's resources into dicts."""
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, dict):
        return {name: plain(item) for name, item in value.items()}
    if dataclasses.is_dataclass(value):
        return {field.name: plain(getattr(value, field.name))
                for field in dataclasses.fields(value)}
    return value


class PcloudCommand(command.Command):
    """A command that uses Pcloud's client."""

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Return a parser whose help keeps the lines of the example."""
        parser = super().get_parser(prog_name)
        parser.formatter_class = argparse.RawDescriptionHelpFormatter
        self.add_arguments(parser)
        return parser

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Add the command's own arguments."""

    def run(self, parsed_args: argparse.Namespace) -> int:
        """Run the command; state what is left after an interruption.

        The shell ends with 130 for every KeyboardInterrupt.
        """
        try:
            return super().run(parsed_args)
        except exceptions.Interrupted as interruption:
            self.tell(str(interruption))
            raise

    def say(self, line: str) -> None:
        """Print a line of the results of the command."""
        print(line, file=self.app.stdout, flush=True)

    def tell(self, line: str) -> None:
        """Print a line beside the results of the command."""
        print(line, file=self.app.stderr, flush=True)

    @property
    def client(self) -> v1.Client:
        """The client, logged in on first use."""
        return self.app.client_manager.pcloud


class Lister(PcloudCommand, command.Lister):
    """A command that shows a list of resources."""


class ShowOne(PcloudCommand, command.ShowOne):
    """A command that shows a single resource."""


def flavor_count(text: str) -> tuple[str, int]:
    """Read a flavor and a number of servers.

    :raises argparse.ArgumentTypeError: for any other text
    """
    flavor, equals, count = text.rpartition('=')
    if not (flavor and equals and arguments.is_count(count)):
        raise argparse.ArgumentTypeError(
            f"'{text}' is not a flavor, '=' and a number of 1 or more")
    return flavor, int(count)


def record(resource: object, fields: Sequence[display.Field]) -> Shown:
    """Return a resource as the result of a ShowOne."""
    return [field.name for field in fields], _row(resource, fields)


def table(resources: Iterable[object],
          fields: Sequence[display.Field]) -> Listed:
    """Return resources as the result of a Lister."""
    return ([field.header for field in fields],
            [_row(resource, fields) for resource in resources])


def table_for(parsed_args: argparse.Namespace, resources: Iterable[object],
              fields: Sequence[display.Field]) -> Listed:
    """Return resources as :func:`table`, with heads for the reader.

    People read titles, with units. Programs, and users who name a column as
    programs do, get the names of the API's members.
    """
    heads, rows = table(resources, fields)
    if not is_for_programs(parsed_args):
        typed = {_normal(name) for name in (
            *parsed_args.columns, *parsed_args.sort_columns)}
        heads = [head if _normal(head) in typed else field.title or head
                 for head, field in zip(heads, fields, strict=True)]
    return heads, rows


def is_for_programs(parsed_args: argparse.Namespace) -> bool:
    """Whether the output of a Lister is in a format for programs."""
    return parsed_args.formatter != 'table'


def _normal(name: str) -> str:
    return name.lower().replace(' ', '_')


def _row(resource: object,
         fields: Sequence[display.Field]) -> list[Readable]:
    return [Readable(getattr(resource, field.name), field.human)
            for field in fields]


def run_or_forecast(
        command: PcloudCommand, parsed_args: argparse.Namespace,
        names: Sequence[str], act: Callable[[str], object],
        obstacle: Callable[[str], str | None], done: str) -> None:
    """Do something to each of several resources, or say what would be done.

    :param act: called with each name, unless --dry-run is given
    :param obstacle: called with each name with --dry-run; returns the known
        obstacle
    :param done: the participle in messages, such as "deleted"
    :raises pcloud.client.runs.PartlyDone: with each resource that was not
        done, or would not be
    """
    if parsed_args.dry_run:
        runs.forecast(names, obstacle, done, command.say)
    else:
        runs.run_each(names, act, done)


def add_dry_run(parser: argparse.ArgumentParser) -> None:
    """Add the option that changes nothing."""
    parser.add_argument(
        '--dry-run', action='store_true',
        help='Only say what would be done, as far as that can be seen')


def add_force(parser: argparse.ArgumentParser) -> None:
    """Add the option that leaves shelved servers without a home."""
    parser.add_argument(
        '--force', action='store_true',
        help='Also when shelved servers, which have no other home, can never '
             'be unshelved then')


def require_changes(changes: dict[str, typing.Any],
                    options: str) -> dict[str, typing.Any]:
    """Return name -> value of the given options.

    :param changes: name -> parsed value, None for an option that was not given
    :param options: the names of the options in the message
    :raises osc_lib.exceptions.CommandError: when no option was given
    """
    given = {name: value for name, value in changes.items()
             if value is not None}
    if not given:
        raise osc_exceptions.CommandError(
            f'Nothing to change; give at least one of {options}')
    return given


def add_pcloud_argument(parser: argparse.ArgumentParser) -> None:
    """Add the argument that names a Pcloud."""
    parser.add_argument(
        'pcloud', metavar='<pcloud>',
        help='Pcloud (name or id)')
