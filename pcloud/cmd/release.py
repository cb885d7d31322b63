# SPDX-License-Identifier: Apache-2.0

"""The option ``--version`` of the commands."""

import argparse
from collections.abc import Sequence
import importlib.metadata

_DISTRIBUTION = 'openstack-pcloud'


def version() -> str:
    """Return the version of Pcloud."""
    return importlib.metadata.version(_DISTRIBUTION)


def add_option(parser: argparse.ArgumentParser) -> None:
    """Add the option that prints the version of Pcloud."""
    parser.add_argument(
        '--version', action='version',
        version=f'%(prog)s {version()}',
        help='show the version of Pcloud and exit')


def answer(prog: str, arguments: Sequence[str]) -> None:
    """Print the version and exit, when the arguments have the option.

    oslo.config has an option of the same name, which prints the version of
    the service whose configuration is read.
    """
    parser = argparse.ArgumentParser(
        prog=prog, add_help=False, allow_abbrev=False)
    add_option(parser)
    parser.parse_known_args(arguments)
