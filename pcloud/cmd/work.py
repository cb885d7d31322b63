# SPDX-License-Identifier: Apache-2.0

"""``pcloud-manage work``: does what is due, again and again."""

import argparse
import signal
import threading

from nova import context as nova_context

from pcloud.cmd import seconds
from pcloud.worker import loop
from pcloud.worker import passes

NAME = 'work'
DONE, LATER = 0, 1

_ENDING = signal.SIGTERM, signal.SIGINT

# Seconds between two passes.
_INTERVAL = 10.0


def add_parser(subparsers: argparse._SubParsersAction) -> None:
    """Add the subcommand ``work`` to the command line."""
    parser = subparsers.add_parser(
        NAME,
        help='do what is due: settling, drains, maintenances, rebalances, '
             'scaled services',
        description='Settle hosts, move servers of drained hosts, release '
                    'empty hosts, report deadlines, begin maintenances and '
                    'do what Pclouds ask for before them, move servers for '
                    'rebalances, let scaled services follow others. Any '
                    'number may run at '
                    'once, anywhere, and may be killed at any moment. With '
                    '--once it exits with 0, and with 1 when a part of the '
                    'cloud was away and something has to be done later.')
    parser.add_argument('--once', action='store_true',
                        help='end after one pass')
    parser.add_argument('--interval', type=seconds.interval, default=_INTERVAL,
                        metavar='SECONDS',
                        help='how long to wait after a pass (default: '
                             '%(default)g)')
    parser.set_defaults(run=run)


def run(command: argparse.Namespace) -> int:
    """Do what is due, once or until a signal comes.

    :param command: the parsed command line
    :returns: the exit status
    """
    if command.once:
        return DONE if passes.once(
            nova_context.get_admin_context()) else LATER
    end = threading.Event()
    for number in _ENDING:
        signal.signal(number, lambda *_: end.set())
    loop.run(command.interval, end)
    return DONE
