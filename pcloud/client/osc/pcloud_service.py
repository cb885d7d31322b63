# SPDX-License-Identifier: Apache-2.0

"""The commands of services and their units."""

from __future__ import annotations

import argparse
import typing

from pcloud.client.osc import common
from pcloud.client.osc import images
from pcloud.client.osc import pcloud_service_deploy

if typing.TYPE_CHECKING:
    from pcloud.client.deploy import services


class ListPcloudService(common.Lister):
    """List your project's services

    A co-located service has a single line, with the parent service; the option
    --all lists the co-located units instead.
    """

    _epilog = 'Example:\n  openstack pcloud service list --all'

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Add the option that widens the list."""
        parser.add_argument(
            '--all', action='store_true', dest='everything',
            help='List co-located units, below their parents')

    def take_action(self, parsed_args: argparse.Namespace) -> common.Listed:
        """List units, and co-located services or units."""
        from pcloud.client.deploy import fields
        all_services = _services(self)
        _tell_hidden(self, all_services.hidden)
        return common.table(
            all_services.tree() if parsed_args.everything else
            [*all_services.roots(), *all_services.co_located_services()],
            fields.UNIT_LIST)


class ShowPcloudService(common.ShowOne):
    """Show a service: units, co-located units and consumed services"""

    _epilog = 'Example:\n  openstack pcloud service show db'

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Add the service."""
        _add_name_argument(parser)

    def take_action(self, parsed_args: argparse.Namespace) -> common.Shown:
        """Show the service."""
        from pcloud.client.deploy import details
        from pcloud.client.deploy import fields
        service = details.get(
            _services(self),
            images.finder(self.app.client_manager), parsed_args.name)
        _tell_hidden(self, service.hidden)
        return common.record(service, fields.SERVICE)


class SetPcloudService(common.PcloudCommand):
    """Set the machine constraints of the units of a scaled service to come

    The units that the operator's worker starts from now on have them. Units
    that are there stay where they are. The command waits until all units that
    may be copied know.
    """

    _epilog = ('Example:\n  openstack pcloud service set --constraints '
               '"cpu=8 rack=r1" agent')

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Add the service and the constraints."""
        _add_name_argument(
            parser, help='Name of a service that was deployed with '
                         '--scale-with')
        parser.add_argument(
            '--constraints', metavar='<constraints>', required=True,
            help='Machine constraints, such as "cpu=8 ram=16G"; "" for none')
        pcloud_service_deploy.add_waiting_arguments(parser)

    def take_action(self, parsed_args: argparse.Namespace) -> None:
        """Set the constraints."""
        from pcloud.client.deploy import future_units
        future_units.set_constraints(
            self.client, parsed_args.name, parsed_args.constraints,
            pcloud_service_deploy.pace(self, parsed_args))


class SyncPcloudService(common.Lister):
    """Wait until each host of the other service has a unit of a scaled service

    The operator's worker adds missing units, and removes units from hosts that
    the other service has left. The command waits for that and shows what came
    and went. A deployment that was killed counts as ended from then on.
    """

    _epilog = 'Example:\n  openstack pcloud service sync agent'

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Add the service."""
        _add_name_argument(
            parser, nargs='?',
            help='Name of a service that was deployed with --scale-with '
                 '(default: all of them)')
        pcloud_service_deploy.add_waiting_arguments(parser)

    def take_action(self, parsed_args: argparse.Namespace) -> common.Listed:
        """Wait for the worker, and show the changes."""
        from pcloud.client.deploy import fields
        from pcloud.client.deploy import sync
        pace = pcloud_service_deploy.pace(self, parsed_args)
        changes = sync.sync(self.client, parsed_args.name, pace)
        if not changes:
            pace.report('Nothing to change')
        return common.table(changes, fields.CHANGE_LIST)


def _services(command: common.PcloudCommand) -> services.Services:
    """List the services of the project."""
    from pcloud.client.deploy import services
    return services.Services(command.client.servers.list_all())


def _tell_hidden(command: common.PcloudCommand, hidden: int) -> None:
    if hidden:
        print(f'Not shown, as a part of the cloud does not answer: {hidden} '
              f'of your servers, whatever their services',
              file=command.app.stderr)


def _add_name_argument(parser: argparse.ArgumentParser,
                       **options: typing.Any) -> None:
    parser.add_argument('name', metavar='<name>', **{
        'help': 'Name of the service', **options})
