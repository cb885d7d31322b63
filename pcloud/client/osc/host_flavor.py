# SPDX-License-Identifier: Apache-2.0

"""The commands of host flavors and their pools."""

import argparse
import functools

from pcloud.client import display
from pcloud.client import exceptions
from pcloud.client.osc import common

_UNITS_HELP = "What one host counts against a project's quota, 0 or more"
_DESCRIPTION_HELP = 'What this kind of host is like'
_NO_PRICE = ''
_PRICE_HELP = 'What one host costs an hour, such as 1.25'


class CreateHostFlavor(common.ShowOne):
    """Create a host flavor, without hosts yet (admin only)"""

    _epilog = ('Example:\n  openstack host flavor create gold --units 4 '
               '--description "64 cores"')

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Add the id, the units and the description."""
        parser.add_argument(
            'id', metavar='<id>',
            help='Id of the new host flavor: up to 64 letters, digits, ".", '
                 '"_" and "-"')
        parser.add_argument(
            '--units', metavar='<units>', type=int, required=True,
            help=_UNITS_HELP)
        parser.add_argument(
            '--description', metavar='<description>', default='',
            help=_DESCRIPTION_HELP)
        parser.add_argument(
            '--price', metavar='<price>', help=_PRICE_HELP)

    def take_action(self, parsed_args: argparse.Namespace) -> common.Shown:
        """Create and show the host flavor."""
        flavor = self.client.create_host_flavor(
            parsed_args.id, parsed_args.units, parsed_args.description,
            parsed_args.price)
        return common.record(flavor, display.host_flavor_fields(flavor))


class ListHostFlavor(common.Lister):
    """List the host flavors, with the number of free hosts

    Formats for programs, such as -f json, have the columns of --long always.
    """

    _epilog = 'Example:\n  openstack host flavor list --long'

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Add the option of further columns."""
        parser.add_argument(
            '--long', action='store_true',
            help='Show the resources and the traits that all hosts have too')

    def take_action(self, parsed_args: argparse.Namespace) -> common.Listed:
        """List the host flavors."""
        everything = (parsed_args.long or parsed_args.columns or
                      common.is_for_programs(parsed_args))
        return common.table_for(
            parsed_args, self.client.list_host_flavors(),
            display.HOST_FLAVOR if everything else display.HOST_FLAVOR_LIST)


class ShowHostFlavor(common.ShowOne):
    """Show a host flavor; an admin sees the hosts of the pool too"""

    _epilog = ('Example:\n  openstack host flavor show gold --rack r12 '
               '--platform-before 20261001T000000Z')

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Add the host flavor, and the options that choose among hosts."""
        _add_flavor_argument(parser)
        parser.add_argument(
            '--rack', metavar='<rack>',
            help='Only hosts in this rack (admin only)')
        parser.add_argument(
            '--platform-before', metavar='<version>',
            help='Only hosts with an older platform version, or without one '
                 '(admin only)')

    def take_action(self, parsed_args: argparse.Namespace) -> common.Shown:
        """Show the host flavor."""
        from pcloud.client import pool_hosts
        flavor = pool_hosts.matching(
            self.client.get_host_flavor(parsed_args.id), parsed_args.rack,
            parsed_args.platform_before)
        return common.record(flavor, display.host_flavor_fields(flavor))


class SetHostFlavor(common.PcloudCommand):
    """Change a host flavor (admin only)"""

    _epilog = 'Example:\n  openstack host flavor set gold --units 5'

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Add the host flavor and the changes."""
        _add_flavor_argument(parser)
        parser.add_argument(
            '--units', metavar='<units>', type=int, help=_UNITS_HELP)
        parser.add_argument(
            '--description', metavar='<description>', help=_DESCRIPTION_HELP)
        price = parser.add_mutually_exclusive_group()
        price.add_argument('--price', metavar='<price>', help=_PRICE_HELP)
        price.add_argument('--no-price', action='store_true',
                           help='Have hosts cost nothing any more')

    def take_action(self, parsed_args: argparse.Namespace) -> None:
        """Change the host flavor."""
        changes = common.require_changes(
            {'units': parsed_args.units,
             'description': parsed_args.description,
             'price': _NO_PRICE if parsed_args.no_price
             else parsed_args.price},
            '--units, --description, --price and --no-price')
        if changes.get('price') == _NO_PRICE:
            changes['price'] = None
        self.client.update_host_flavor(parsed_args.id, **changes)


class DeleteHostFlavor(common.PcloudCommand):
    """Delete host flavors that have no hosts (admin only)"""

    _epilog = 'Example:\n  openstack host flavor delete gold'

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Add the host flavors."""
        parser.add_argument(
            'ids', metavar='<id>', nargs='+', help='Host flavors to delete')
        common.add_dry_run(parser)

    def take_action(self, parsed_args: argparse.Namespace) -> None:
        """Delete the host flavors."""
        common.run_or_forecast(
            self, parsed_args, parsed_args.ids,
            self.client.delete_host_flavor, self._obstacle, 'deleted')

    def _obstacle(self, flavor_id: str) -> str | None:
        try:
            flavor = self.client.get_host_flavor(flavor_id)
        except exceptions.ClientError as error:
            return str(error)
        return 'it has hosts; remove them first' if flavor.hosts else None


class AddHostFlavorHost(common.PcloudCommand):
    """Put compute hosts into the pool of a host flavor (admin only)"""

    _epilog = ('Example:\n  openstack host flavor host add gold compute-17 '
               'compute-18')

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Add the host flavor and the host."""
        _add_pool_arguments(
            parser, 'Hosts of compute services; they must be empty and the '
                    'services disabled, which are enabled by this')

    def take_action(self, parsed_args: argparse.Namespace) -> None:
        """Add the hosts to the pool."""
        common.run_or_forecast(
            self, parsed_args, parsed_args.hosts,
            functools.partial(self.client.add_pool_host, parsed_args.id),
            self._obstacle, 'added')

    def _obstacle(self, host: str) -> str | None:
        pool, status = self._pools.get(host), self._services.get(host)
        if status is None:
            return 'it has no compute service'
        if pool is not None:
            return f"it is in the pool '{pool}' already"
        if status == 'enabled':
            return 'its compute service is enabled; disable it first'
        return None

    @functools.cached_property
    def _pools(self) -> dict[str, str]:
        """Compute host to the id of its host flavor."""
        return {host.host: flavor.id
                for flavor in self.client.list_host_flavors()
                for host in flavor.hosts or ()}

    @functools.cached_property
    def _services(self) -> dict[str, str]:
        """Compute host to the status of its compute service."""
        return {service.host: service.status for service in
                self.app.client_manager.compute.services(
                    binary='nova-compute')}


class RemoveHostFlavorHost(common.PcloudCommand):
    """Take compute hosts out of the pool of a host flavor (admin only)"""

    _epilog = ('Example:\n  openstack host flavor host remove gold '
               'compute-17 compute-18')

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Add the host flavor and the host."""
        _add_pool_arguments(
            parser, 'Hosts of compute services, which are left disabled; '
                    'they must be empty and in no Pcloud')

    def take_action(self, parsed_args: argparse.Namespace) -> None:
        """Remove the hosts from the pool."""
        common.run_or_forecast(
            self, parsed_args, parsed_args.hosts,
            functools.partial(self.client.remove_pool_host, parsed_args.id),
            functools.partial(self._obstacle, parsed_args.id), 'removed')

    def _obstacle(self, flavor_id: str, host: str) -> str | None:
        hosts = self.client.get_host_flavor(flavor_id).hosts or ()
        found = [each for each in hosts if each.host == host]
        if not found:
            return f"it is not in the pool of host flavor '{flavor_id}'"
        if found[0].pcloud is not None:
            return (f'it is in Pcloud {found[0].pcloud}; it has to be removed '
                    'from there first')
        return None


class SetHostFlavorHost(common.PcloudCommand):
    """Say whether a compute host is fenced (admin only)

    A host is fenced when none of its servers can run any more, for it has been
    powered off or cut off from networks and storage. Nova takes a fenced host
    for down, and Pclouds may start its servers on other hosts: a server that
    runs twice destroys its volumes. Said again, the recovery of the host goes
    on if it is held.
    """

    _epilog = ('Example:\n  openstack host flavor host set --fenced gold '
               'compute-17')

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Add the host flavor, the host and whether it is fenced."""
        _add_maintained_arguments(parser)
        fenced = parser.add_mutually_exclusive_group(required=True)
        fenced.add_argument(
            '--fenced', action='store_true',
            help='The host runs no server any more, and will run none')
        fenced.add_argument(
            '--not-fenced', dest='fenced', action='store_false',
            help='The host may run servers again')

    def take_action(self, parsed_args: argparse.Namespace) -> None:
        """Write whether the host is fenced."""
        self.client.set_fenced(
            parsed_args.id, parsed_args.host, parsed_args.fenced)


class SetHostFlavorHostMaintenance(common.PcloudCommand):
    """Announce the maintenance of a compute host (admin only)"""

    _epilog = ('Example:\n  openstack host flavor host maintenance set gold '
               'compute-17 --from 2026-12-31T20:00:00Z --reason "new disks"')

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Add the host flavor, the host, the times and the reason."""
        _add_maintained_arguments(parser)
        parser.add_argument(
            '--from', metavar='<time>', dest='begin', required=True,
            help='When the service of the host is disabled, in ISO 8601 and '
                 'UTC; a time that has passed disables it immediately')
        parser.add_argument(
            '--until', metavar='<time>',
            help='When the maintenance is expected to be over, for the owner '
                 'to know; it lasts until it is unset')
        parser.add_argument(
            '--reason', metavar='<reason>', default='',
            help='What is going to be done, for the owner to know')

    def take_action(self, parsed_args: argparse.Namespace) -> None:
        """Announce the maintenance."""
        self.client.set_maintenance(
            parsed_args.id, parsed_args.host, parsed_args.begin,
            parsed_args.reason, parsed_args.until)


class UnsetHostFlavorHostMaintenance(common.PcloudCommand):
    """Withdraw or end the maintenance of a compute host (admin only)"""

    _epilog = ('Example:\n  openstack host flavor host maintenance unset gold '
               'compute-17')

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Add the host flavor and the host."""
        _add_maintained_arguments(parser)

    def take_action(self, parsed_args: argparse.Namespace) -> None:
        """Withdraw the maintenance."""
        self.client.unset_maintenance(parsed_args.id, parsed_args.host)


def _add_maintained_arguments(parser: argparse.ArgumentParser) -> None:
    _add_flavor_argument(parser)
    parser.add_argument(
        'host', metavar='<host>', help='Host of a compute service')


def _add_flavor_argument(parser: argparse.ArgumentParser) -> None:
    parser.add_argument('id', metavar='<id>', help='Id of the host flavor')


def _add_pool_arguments(parser: argparse.ArgumentParser,
                        host_help: str) -> None:
    _add_flavor_argument(parser)
    parser.add_argument(
        'hosts', metavar='<host>', nargs='+', help=host_help)
    common.add_dry_run(parser)
