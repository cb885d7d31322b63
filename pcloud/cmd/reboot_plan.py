# SPDX-License-Identifier: Apache-2.0

"""``pcloud-manage reboot-plan``: which hosts may be rebooted together."""

import argparse
import json

from nova import context as nova_context

from pcloud.planning import reboots
from pcloud import text

NAME = 'reboot-plan'
SAFE, UNSAFE = 0, 1


def add_parser(subparsers: argparse._SubParsersAction) -> None:
    """Add the subcommand ``reboot-plan`` to the command line."""
    parser = subparsers.add_parser(
        NAME, help='show which hosts may be rebooted together',
        description='Show batches of hosts of pools and Pclouds, by date and '
                    'rack, in which no Pcloud loses more hosts than its '
                    'other hosts have room for the servers of. Changes '
                    'nothing. Exits with 0 when that is so for all hosts, '
                    'with 1 when it is not sure of some, with 2 when a part '
                    'of the cloud could not be looked at.')
    parser.add_argument('--rack', metavar='RACK',
                        help='only hosts in this rack')
    parser.add_argument('--platform-before', metavar='VERSION',
                        help='the hosts with an older platform version, or '
                             'without one, in place of the hosts with a '
                             'coming reboot')
    parser.add_argument('--format', choices=['text', 'json'],
                        default='text', help='how to print the batches')
    parser.set_defaults(run=run)


def run(command: argparse.Namespace) -> int:
    """Print the batches.

    :param command: the parsed command line
    :returns: the exit status
    """
    batches = reboots.plan(
        nova_context.get_admin_context(), command.rack,
        command.platform_before)
    if command.format == 'json':
        print(json.dumps({'batches': list(map(_row, batches))}, indent=4))
    else:
        print(_text(batches, command.rack))
    return SAFE if all(batch.safe for batch in batches) else UNSAFE


def _row(batch: reboots.Batch) -> dict:
    return {'date': None if batch.day is None else batch.day.isoformat(),
            'rack': batch.rack, 'safe': batch.safe,
            'hosts': [{'host': host.host, 'pcloud': host.pcloud,
                       'name': host.name, 'safe': host.safe}
                      for host in batch.hosts]}


def _text(batches: list[reboots.Batch], rack: str | None) -> str:
    if not batches:
        where = '' if rack is None else f' in rack {rack}'
        return text.shown(
            f'No host of a pool or Pcloud{where} is to be rebooted.')
    lines = []
    for number, batch in enumerate(batches, 1):
        day = 'no date' if batch.day is None else batch.day.isoformat()
        rack = 'no rack' if batch.rack is None else f'rack {batch.rack}'
        lines.append(f'Batch {number}: {day}, {rack}')
        for host in batch.hosts:
            lines.append(f'    {host.host}: {_whose(host)}')
            if not host.safe:
                lines.append(
                    '        its servers may find no room on the other hosts '
                    'of the Pcloud; add hosts or move servers first')
    return '\n'.join(map(text.shown, lines))


def _whose(host: reboots.Host) -> str:
    if host.pcloud is None:
        return 'in no Pcloud'
    name = 'without a name' if host.name is None else host.name
    return f'{name} in Pcloud {host.pcloud}'
