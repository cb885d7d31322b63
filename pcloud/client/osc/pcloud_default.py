# SPDX-License-Identifier: Apache-2.0

"""The default Pcloud of a project."""

from __future__ import annotations

import argparse
import contextlib
import typing

from osc_lib import exceptions as osc_exceptions

from pcloud.client import arguments
from pcloud.client import display
from pcloud.client import exceptions
from pcloud.client.osc import common
from pcloud.client.osc import projects

if typing.TYPE_CHECKING:
    from pcloud.client import resources


class SetPcloudDefault(common.PcloudCommand):
    """Set where servers of a project go that name no Pcloud

    Servers that run already stay where they are, and move as they were
    started.
    """

    _epilog = ('Example:\n  openstack pcloud default set render-farm '
               '--mode prefer')

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Add the Pcloud, the mode and the project."""
        from pcloud.rules.placing import default_pcloud
        parser.add_argument(
            'pcloud', metavar='<pcloud>',
            help='Pcloud (name or id) that the project is a tenant of')
        parser.add_argument(
            '--mode', choices=default_pcloud.MODES,
            default=default_pcloud.STRICT,
            help='With strict such servers start in the Pcloud or not at all; '
                 'with prefer they start outside of Pclouds when the Pcloud '
                 'has no capacity, and with grow free hosts join the Pcloud '
                 'when it has no capacity (default: strict)')
        parser.add_argument(
            '--grow-flavor', metavar='<host-flavor>',
            help='Host flavor of the hosts that join (with --mode grow)')
        parser.add_argument(
            '--max-hosts', metavar='<n>', type=int,
            help='Most hosts that the Pcloud may have then (with --mode grow)')
        parser.add_argument(
            '--availability-zone', metavar='<zone>',
            help='Zone of the hosts that join (with --mode grow; default: '
                 'any)')
        _add_project(parser)

    def take_action(self, parsed_args: argparse.Namespace) -> None:
        """Set the default."""
        wrong = arguments.misplaced_growth(
            parsed_args.mode, parsed_args.grow_flavor, parsed_args.max_hosts,
            parsed_args.availability_zone)
        if wrong:
            raise osc_exceptions.CommandError(wrong)
        default = self.client.set_default_pcloud(
            self.client.find_pcloud(parsed_args.pcloud).id, parsed_args.mode,
            _project_id(self, parsed_args),
            host_flavor=parsed_args.grow_flavor,
            max_hosts=parsed_args.max_hosts,
            availability_zone=parsed_args.availability_zone)
        if default.warning is not None:
            self.tell(default.warning)


class UnsetPcloudDefault(common.PcloudCommand):
    """Let servers of a project that name no Pcloud start outside of Pclouds

    The defaults of the domain and of the cloud do not count for the project
    then.
    """

    _epilog = 'Example:\n  openstack pcloud default unset'

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Add the project."""
        _add_project(parser)

    def take_action(self, parsed_args: argparse.Namespace) -> None:
        """Unset the default."""
        self.client.set_default_pcloud(
            None, project_id=_project_id(self, parsed_args))


class ShowPcloudDefault(common.ShowOne):
    """Show where servers of a project go that name no Pcloud"""

    _epilog = 'Example:\n  openstack pcloud default show'

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Add the project."""
        _add_project(parser)

    def take_action(self, parsed_args: argparse.Namespace) -> common.Shown:
        """Show the default that counts, and where the default is set."""
        default = self.client.get_default_pcloud(
            _project_id(self, parsed_args))
        names = ({} if common.is_for_programs(parsed_args)
                 else _names(self, default))
        return common.record(default, display.named(
            display.DEFAULT_PCLOUD, names, 'project_id', 'pcloud'))


def _names(command: common.PcloudCommand,
           default: resources.DefaultPcloud) -> dict[str, str]:
    """Return id -> name of the project and the Pcloud, as far as known."""
    names = projects.names(command.app.client_manager, [default.project_id])
    if default.pcloud is not None:
        # The id of a Pcloud that is gone, or hidden, is shown alone.
        with contextlib.suppress(exceptions.ClientError):
            names[default.pcloud] = command.client.get_pcloud(
                default.pcloud).name
    return names


def _add_project(parser: argparse.ArgumentParser) -> None:
    projects.add_option(
        parser, help='Project (name or id; default: the one you are logged '
                     'in to; admin for others)')


def _project_id(
    command: common.PcloudCommand, parsed_args: argparse.Namespace,
) -> str | None:
    return parsed_args.project and projects.find_id(
        command.app.client_manager, parsed_args)
