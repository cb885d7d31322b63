# SPDX-License-Identifier: Apache-2.0

"""``pcloud-manage uninstall``: what stands in the way of taking Pcloud out."""

import argparse
import dataclasses
import itertools
import json
import operator
import textwrap

from nova import context as nova_context

from pcloud.audit import findings
from pcloud.audit import remains
from pcloud import text

NAME = 'uninstall'
NOTHING, LEFT, PARTLY = 0, 1, 2

_WIDTH = 79


def add_parser(subparsers: argparse._SubParsersAction) -> None:
    """Add the subcommand ``uninstall`` to the command line."""
    parser = subparsers.add_parser(
        NAME, help='list what is left of Pcloud in this cloud',
        description='List what has to be removed before Pcloud is taken out '
                    'of Nova, in the order of removing: without the filter '
                    'the hosts of Pclouds open to everybody. Writes nothing. '
                    'Exits with 0 when nothing is left, with 1 when something '
                    'is left, with 2 when a part of the cloud could not be '
                    'looked at.')
    parser.add_argument('--check', action='store_true', required=True,
                        help='only look; removing is left to you')
    parser.add_argument('--format', choices=['text', 'json'],
                        default='text', help='how to print what is left')
    parser.set_defaults(run=run)


def run(command: argparse.Namespace) -> int:
    """Print what is left of Pcloud.

    :param command: the parsed command line
    :returns: the exit status
    """
    found = remains.find(nova_context.get_admin_context())
    if command.format == 'json':
        print(json.dumps({'remains': [
            dataclasses.asdict(each) for each in found]}, indent=4))
    else:
        print(_text(found))
    if any(each.kind == findings.NOT_LOOKED_AT for each in found):
        return PARTLY
    return LEFT if found else NOTHING


def _text(found: list[remains.Remainder]) -> str:
    if not found:
        return 'Nothing is left.'
    lines = []
    for kind, those in itertools.groupby(
            found, operator.attrgetter('kind')):
        lines += textwrap.wrap(f'{kind}: {remains.KINDS[kind]}', _WIDTH,
                               subsequent_indent='  ')
        lines += [f'    {each.where}' +
                  (f': {", ".join(each.what)}' if each.what else '')
                  for each in those]
    return '\n'.join(map(text.shown, lines))
