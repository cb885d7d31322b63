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

"""The commands of services and their units."""

from __future__ import annotations

import argparse
from collections.abc import Iterable
import typing

from pcloud.client import exceptions
from pcloud.client.osc import common
from pcloud.client.osc import images
from pcloud.client.osc import pcloud_service_deploy
from pcloud.client.osc import scaling

if typing.TYPE_CHECKING:
    from pcloud.client.deploy import scaling as deploy_scaling
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
        scaling.add_argument(parser)

    def take_action(self, parsed_args: argparse.Namespace) -> common.Listed:
        """List units, and co-located services or units."""
        from pcloud.client.deploy import fields
        all_services = _services(self, parsed_args)
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
        scaling.add_argument(parser)

    def take_action(self, parsed_args: argparse.Namespace) -> common.Shown:
        """Show the service."""
        from pcloud.client.deploy import details
        from pcloud.client.deploy import fields
        service = details.get(
            _services(self, parsed_args),
            images.finder(self.app.client_manager), parsed_args.name)
        _tell_hidden(self, service.hidden)
        return common.record(service, fields.SERVICE)


class SyncPcloudService(common.Lister):
    """Have a unit of a scaled service on each host of the other service

    Missing units are added. Units on hosts that the other service has left are
    stopped and deleted.
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
        """Add and remove units, and show the changes."""
        from pcloud.client.deploy import fields
        from pcloud.client.deploy import follower
        from pcloud.client.deploy import sync
        pace = pcloud_service_deploy.pace(self, parsed_args)
        changes = sync.sync(
            self.client, images.finder(self.app.client_manager),
            parsed_args.name, pace)
        if not changes:
            pace.report('Nothing to change')
        else:
            # Another look may have started the same unit.
            with exceptions.telling(lambda: _made(changes)):
                follower.follow(self.client, pace)
        return common.table(changes, fields.CHANGE_LIST)


def _made(changes: Iterable[deploy_scaling.Change]) -> str:
    texts = ', '.join(f'{change.name} {change.change}' for change in changes)
    return f'The changes have been made: {texts}'


def _services(command: common.PcloudCommand,
              parsed_args: argparse.Namespace) -> services.Services:
    """List the services of the project, after scaled services followed."""
    from pcloud.client.deploy import services
    listed = command.client.servers.list_all()
    if scaling.follow_listed(command, parsed_args, listed):
        listed = command.client.servers.list_all()
    return services.Services(listed)


def _tell_hidden(command: common.PcloudCommand, hidden: int) -> None:
    if hidden:
        print(f'Not shown, as a part of the cloud does not answer: {hidden} '
              f'of your servers, whatever their services',
              file=command.app.stderr)


def _add_name_argument(parser: argparse.ArgumentParser,
                       **options: typing.Any) -> None:
    parser.add_argument('name', metavar='<name>', **{
        'help': 'Name of the service', **options})
