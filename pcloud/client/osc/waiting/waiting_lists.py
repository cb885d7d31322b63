# SPDX-License-Identifier: Apache-2.0

"""The commands about those who wait for hosts."""

import argparse

from pcloud.client import display
from pcloud.client.osc import common
from pcloud.client.osc import projects

# What is shown of an entry to the owner of the Pcloud.
ENTRY = (
    display.Field('id', 'ID'),
    display.Field('name', 'Name'),
    display.Field('host_flavor', 'Host Flavor'),
    display.Field('availability_zone', 'Availability Zone', title='Zone'),
    display.Field('position', 'Position'),
    display.Field('since', 'Since'),
    display.Field('until', 'Until'),
)
_LIST = (
    display.Field('position', 'Position'),
    display.Field('owner', 'Owner'),
    display.Field('pcloud', 'Pcloud'),
    display.Field('name', 'Name'),
    display.Field('availability_zone', 'Availability Zone', title='Zone'),
    display.Field('since', 'Since'),
    display.Field('until', 'Until'),
)


class ListPcloudWaiting(common.Lister):
    """List the hosts that a Pcloud waits for

    The position is 1 for the next. It may become worse, as others may have
    fewer units in use by then.
    """

    _epilog = 'Example:\n  openstack pcloud waiting list render-farm'

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Add the Pcloud."""
        common.add_pcloud_argument(parser)

    def take_action(self, parsed_args: argparse.Namespace) -> common.Listed:
        """List the entries."""
        pcloud = self.client.find_pcloud(parsed_args.pcloud)
        return common.table_for(
            parsed_args, self.client.list_waiting(pcloud.id), ENTRY)


class CancelPcloudWaiting(common.PcloudCommand):
    """End that a Pcloud waits for a host"""

    _epilog = 'Example:\n  openstack pcloud waiting cancel render-farm web-3'

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Add the Pcloud and the entry."""
        common.add_pcloud_argument(parser)
        parser.add_argument(
            'entry', metavar='<entry>',
            help='Entry (id, or the name that the host would have)')

    def take_action(self, parsed_args: argparse.Namespace) -> None:
        """End the entry."""
        pcloud = self.client.find_pcloud(parsed_args.pcloud)
        ids = [each.id for each in self.client.list_waiting(pcloud.id)
               if parsed_args.entry.lower() == each.name.lower()]
        self.client.cancel_waiting(
            pcloud.id, ids[0] if ids else parsed_args.entry)


class ListHostFlavorWaiting(common.Lister):
    """List who waits for hosts of a host flavor, in order (admin only)"""

    _epilog = 'Example:\n  openstack host flavor waiting list gold'

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Add the host flavor."""
        parser.add_argument(
            'host_flavor', metavar='<host-flavor>',
            help='Host flavor (id, see "openstack host flavor list")')

    def take_action(self, parsed_args: argparse.Namespace) -> common.Listed:
        """List the entries."""
        found = self.client.list_waiting_for(parsed_args.host_flavor)
        names = {} if common.is_for_programs(parsed_args) else projects.names(
            self.app.client_manager, [
                each.owner for each in found if each.owner])
        return common.table_for(
            parsed_args, found, display.named(_LIST, names, 'owner'))
