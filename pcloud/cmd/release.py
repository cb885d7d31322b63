# Licensed under the Apache License, Version 2.0 (the "License"); you may
# not use this file except in compliance with the License. You may obtain
# a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the
# License for the specific language governing permissions and limitations
# under the License.

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
