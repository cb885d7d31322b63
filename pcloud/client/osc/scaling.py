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

"""How the commands let scaled services follow others.

Rule: reference-colocation-follow
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
import contextlib
import typing

from pcloud.client.osc import common

if typing.TYPE_CHECKING:
    from pcloud.client.deploy import scaling
    from pcloud.client.deploy import server_runs
    from pcloud.client import servers

# Seconds to wait for each server, unless the user says otherwise.
TIMEOUT = 600


def add_argument(parser: argparse.ArgumentParser) -> None:
    """Add the option that leaves scaled services alone."""
    parser.add_argument(
        '--no-sync', action='store_false', dest='sync',
        help='Do not start or remove units of services that were deployed '
             'with --scale-with')


def follow(command: common.PcloudCommand,
           parsed_args: argparse.Namespace) -> None:
    """Let scaled services follow, unless the user does not want it."""
    from pcloud.client.deploy import follower
    if parsed_args.sync:
        follower.follow(
            command.client, pace(command, parsed_args.timeout))


def follow_listed(command: common.PcloudCommand,
                  parsed_args: argparse.Namespace,
                  listed: Sequence[servers.Server]) -> list[scaling.Change]:
    """Let scaled services follow what is listed, as :func:`follow`.

    :returns: the changes; empty when nothing was changed
    """
    from pcloud.client.deploy import follower
    if not parsed_args.sync:
        return []
    return follower.follow_listed(
        command.client, listed, pace(command, TIMEOUT))


def pace(command: common.PcloudCommand, timeout: int) -> server_runs.Pace:
    """Return a timeout, with reports to the terminal."""
    from pcloud.client.deploy import server_runs

    def report(progress: str) -> None:
        # A closed terminal is no reason to leave work half done.
        with contextlib.suppress(OSError):
            print(progress, file=command.app.stderr, flush=True)
    return server_runs.Pace(timeout, report)
