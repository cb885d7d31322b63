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

"""The commands of the hosts in a Pcloud."""

import argparse
from collections.abc import Mapping
from collections.abc import Sequence

from osc_lib import exceptions as osc_exceptions

from pcloud.client import arguments
from pcloud.client import display
from pcloud.client import host_runs
from pcloud.client.osc import common

_DRAIN_TIMEOUT = 600


class AddPcloudHost(common.ShowOne):
    """Take free hosts into a Pcloud; a new host is disabled at first"""

    _epilog = ('Example:\n  openstack pcloud host add render-farm web-1 '
               '--host-flavor gold')

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Add the Pcloud, the new name and the kind of host."""
        _add_host_arguments(parser, 'New name, unique in the Pcloud')
        kind = parser.add_mutually_exclusive_group(required=True)
        kind.add_argument(
            '--host-flavor', metavar='<host-flavor>',
            help='Kind of host (id, see "openstack host flavor list")')
        kind.add_argument(
            '--constraints', metavar='<constraints>',
            help='What the host must have, such as "ram=64G cpu=16"; the '
                 'host flavor that wastes least is taken')
        parser.add_argument(
            '--availability-zone', metavar='<zone>',
            help='Zone the host must be in (default: any)')
        parser.add_argument(
            '--count', metavar='<count>', type=arguments.positive,
            help='Add that many hosts, named <name>-1, <name>-2 and so on; '
                 'all of them or, if one cannot be added, none')

    def take_action(self, parsed_args: argparse.Namespace) -> common.Shown:
        """Add the host or the hosts, and show the result."""
        pcloud = self.client.find_pcloud(parsed_args.pcloud)
        wanted = {'host_flavor': parsed_args.host_flavor,
                  'constraints': parsed_args.constraints,
                  'availability_zone': parsed_args.availability_zone}
        if parsed_args.count is not None:
            names = [f'{parsed_args.name}-{number}'
                     for number in range(1, parsed_args.count + 1)]
            return self._add_hosts(pcloud.id, names, wanted)
        host = self.client.add_host(pcloud.id, parsed_args.name, **wanted)
        return common.record(host, display.host_fields(host))

    def _add_hosts(self, pcloud_id: str, names: Sequence[str],
                   wanted: Mapping[str, str | None]) -> common.Shown:
        hosts = host_runs.add_together(
            self.client, pcloud_id, names, **wanted)
        described = [{field.name: getattr(host, field.name)
                      for field in display.host_fields(host)}
                     for host in hosts]
        return ['hosts'], [common.Readable(described, _names)]


class ListPcloudHost(common.Lister):
    """List the hosts of a Pcloud"""

    _epilog = 'Example:\n  openstack pcloud host list render-farm'

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Add the Pcloud."""
        common.add_pcloud_argument(parser)

    def take_action(self, parsed_args: argparse.Namespace) -> common.Listed:
        """List the hosts."""
        pcloud = self.client.find_pcloud(parsed_args.pcloud)
        return common.table(self.client.list_hosts(pcloud.id),
                            display.HOST_LIST)


class ShowPcloudHost(common.ShowOne):
    """Show a host of a Pcloud"""

    _epilog = 'Example:\n  openstack pcloud host show render-farm web-1'

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Add the host."""
        _add_host_arguments(parser)

    def take_action(self, parsed_args: argparse.Namespace) -> common.Shown:
        """Show the host."""
        pcloud = self.client.find_pcloud(parsed_args.pcloud)
        host = self.client.get_host(pcloud.id, parsed_args.name)
        return common.record(host, display.host_fields(host))


class SetPcloudHost(common.PcloudCommand):
    """Enable or disable a host of a Pcloud for new servers"""

    _epilog = ('Example:\n  openstack pcloud host set render-farm web-1 '
               '--enable')

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Add the host and the state."""
        _add_host_arguments(parser)
        state = parser.add_mutually_exclusive_group(required=True)
        state.add_argument(
            '--enable', dest='state', action='store_const', const='enabled',
            help='Let servers start on it')
        state.add_argument(
            '--disable', dest='state', action='store_const',
            const='disabled',
            help='Start no more servers on it; those that run stay')

    def take_action(self, parsed_args: argparse.Namespace) -> None:
        """Set the state."""
        pcloud = self.client.find_pcloud(parsed_args.pcloud)
        self.client.set_host_state(
            pcloud.id, parsed_args.name, parsed_args.state)


class RemovePcloudHost(common.PcloudCommand):
    """Give a host of a Pcloud back; the host must be disabled and empty"""

    _epilog = ('Example:\n  openstack pcloud host remove render-farm web-1 '
               '--drain --drain-timeout 3600')

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Add the host and the options of draining."""
        _add_host_arguments(parser)
        parser.add_argument(
            '--drain', action='store_true',
            help='Disable the host, wait until its instances are gone, then '
                 'remove it; moving or deleting them is left to you')
        parser.add_argument(
            '--drain-timeout', metavar='<seconds>', type=arguments.positive,
            help=f'How long to wait with --drain (default: {_DRAIN_TIMEOUT})')

    def take_action(self, parsed_args: argparse.Namespace) -> None:
        """Remove the host."""
        if parsed_args.drain_timeout is not None and not parsed_args.drain:
            raise osc_exceptions.CommandError(
                '--drain-timeout says how long --drain waits; give both')
        pcloud = self.client.find_pcloud(parsed_args.pcloud)
        if not parsed_args.drain:
            self.client.remove_host(pcloud.id, parsed_args.name)
            return
        host_runs.drain_and_remove(
            self.client, pcloud.id, parsed_args.name,
            parsed_args.drain_timeout or _DRAIN_TIMEOUT, self._report)

    def _report(self, progress: str) -> None:
        print(progress, file=self.app.stderr, flush=True)


def _add_host_arguments(parser: argparse.ArgumentParser,
                        name_help: str = 'Name of the host there') -> None:
    common.add_pcloud_argument(parser)
    parser.add_argument('name', metavar='<name>', help=name_help)


def _names(described: list[dict]) -> str:
    return display.joined([host['name'] for host in described])
