# SPDX-License-Identifier: Apache-2.0

"""``pcloud-manage metrics``: metrics for Prometheus."""

import argparse
import importlib.util

from oslo_config import cfg

from pcloud import exception
from pcloud.metrics import addresses

CONF = cfg.CONF

NAME = 'metrics'
_LIBRARY = 'prometheus_client'


def add_parser(subparsers: argparse._SubParsersAction) -> None:
    """Add the subcommand ``metrics`` to the command line."""
    parser = subparsers.add_parser(
        NAME, help='show metrics for Prometheus',
        description='Print the metrics of the cloud once, or serve the '
                    'metrics at /metrics until the command is ended. Every '
                    'scrape reads the present rows; what is in a cell that '
                    'does not answer is left out. Exits with 0, and with 2 '
                    'when the metrics cannot be read or served.')
    parser.add_argument('--listen', metavar='ADDRESS:PORT', type=_address,
                        help='serve the metrics over HTTP; without an address '
                             'to this machine alone (127.0.0.1)')
    parser.add_argument('--projects', metavar='N', type=_count, default=0,
                        help='show the units of the N projects with the most '
                             'units, and of all others together (default: 0, '
                             'nothing by project)')
    parser.add_argument('--audit-interval', metavar='SECONDS', type=_seconds,
                        help='make an audit this often, and show the findings '
                             'of the latest one by kind; an audit reads the '
                             'whole cloud (default: no audits)')
    parser.set_defaults(run=run)


def _address(text: str) -> addresses.Address:
    try:
        return addresses.parse(text)
    except exception.InvalidValue as error:
        raise argparse.ArgumentTypeError(str(error))


def _count(text: str) -> int:
    number = int(text)
    if number < 0:
        raise argparse.ArgumentTypeError(f'{text}: must be at least 0')
    return number


def _seconds(text: str) -> float:
    seconds = float(text)
    if not 1 <= seconds < float('inf'):
        raise argparse.ArgumentTypeError(f'{text}: must be at least 1')
    return seconds


def run(command: argparse.Namespace) -> int:
    """Print or serve the metrics.

    :param command: the parsed command line
    :returns: the exit status
    :raises: `exception.Conflict` when the library is missing, or nothing can
        be served at the address
    """
    if importlib.util.find_spec(_LIBRARY) is None:
        raise exception.Conflict(
            f'The library {_LIBRARY} is not installed here: pip install '
            f'{_LIBRARY}, which the extra [metrics] of Pcloud brings too.')
    # No other command needs the library, which may be missing.
    from pcloud.metrics import showing
    if command.listen is None:
        showing.once(CONF.pcloud.metrics_directory, command.projects,
                     command.audit_interval is not None)
    else:
        showing.serve(command.listen, CONF.pcloud.metrics_directory,
                      command.projects, command.audit_interval)
    return 0
