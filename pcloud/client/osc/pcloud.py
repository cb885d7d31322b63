# SPDX-License-Identifier: Apache-2.0

"""The commands of Pclouds."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
import typing

from osc_lib import exceptions as osc_exceptions

from pcloud.client import arguments
from pcloud.client import display
from pcloud.client import exceptions
from pcloud.client.osc import common
from pcloud.client.osc import projects
from pcloud.rules import forms

if typing.TYPE_CHECKING:
    from pcloud.client import resources


class CreatePcloud(common.ShowOne):
    """Create a Pcloud, without hosts yet"""

    _epilog = 'Example:\n  openstack pcloud create render-farm'

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Add the name."""
        parser.add_argument(
            'name', metavar='<name>',
            help='Name of the new Pcloud; need not be unique')
        parser.add_argument(
            '--or-show', action='store_true',
            help='Show the only Pcloud of that name where the project owns '
                 'one, and create nothing')

    def take_action(self, parsed_args: argparse.Namespace) -> common.Shown:
        """Create and show the Pcloud."""
        create = (self.client.create_pcloud_if_absent if parsed_args.or_show
                  else self.client.create_pcloud)
        return _shown(self, parsed_args, create(parsed_args.name),
                      display.PCLOUD)


class ListPcloud(common.Lister):
    """List the Pclouds that your project owns or is a tenant of"""

    _epilog = 'Example:\n  openstack pcloud list --name render-farm'

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Add the options that narrow or widen the list."""
        parser.add_argument(
            '--all-projects', action='store_true',
            help='List the Pclouds of all projects (admin only)')
        parser.add_argument(
            '--name', metavar='<name>',
            help='List only the Pclouds with this name')

    def take_action(self, parsed_args: argparse.Namespace) -> common.Listed:
        """List the Pclouds."""
        pclouds = self.client.list_pclouds(
            all_tenants=parsed_args.all_projects, name=parsed_args.name)
        return common.table_for(parsed_args, pclouds, display.PCLOUD_LIST)


class ShowPcloud(common.ShowOne):
    """Show a Pcloud"""

    _epilog = 'Example:\n  openstack pcloud show render-farm'

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Add the Pcloud."""
        common.add_pcloud_argument(parser)

    def take_action(self, parsed_args: argparse.Namespace) -> common.Shown:
        """Show the Pcloud."""
        return _shown(self, parsed_args, self.client.with_growth(
            self.client.find_pcloud(parsed_args.pcloud)),
            display.PCLOUD_WITH_GROWTH)


class SetPcloud(common.PcloudCommand):
    """Change the name, the ratios or the rules of a Pcloud"""

    _epilog = ('Example:\n  openstack pcloud set render-farm '
               '--cpu-allocation-ratio 4')

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Add the Pcloud and the changes."""
        common.add_pcloud_argument(parser)
        parser.add_argument(
            '--name', metavar='<name>', help='New name of the Pcloud')
        parser.add_argument(
            '--cpu-allocation-ratio', metavar='<ratio>',
            type=arguments.ratio,
            help='Virtual CPUs for each physical one of its hosts, '
                 'for example 4 or 1.5')
        parser.add_argument(
            '--ram-allocation-ratio', metavar='<ratio>',
            type=arguments.ratio,
            help='Memory given out for what its hosts have, for example 1')
        parser.add_argument(
            '--maintenance-policy', choices=arguments.MAINTENANCE_POLICIES,
            help='What becomes of the servers of a host before a maintenance '
                 'of the host: they stay, they migrate to the other hosts, '
                 'or a free host joins first to replace the host')
        parser.add_argument(
            '--host-recovery', choices=arguments.HOST_RECOVERIES,
            help='What is done when the operator has fenced a host that has '
                 'failed: nothing, its servers are started on the other '
                 'hosts, or a free host joins first to replace the host')
        parser.add_argument(
            '--pin-by-tenants', metavar='<yes|no>', type=arguments.is_yes,
            help='Whether tenants other than you may name the host of a '
                 'server (--hint pcloud_host=<name>)')

        parser.add_argument(
            '--placement', choices=arguments.PLACEMENTS,
            help='How servers fill the hosts: they are packed, spread, or '
                 'placed as everywhere in the cloud')
        for kind in ('flavor', 'image'):
            parser.add_argument(
                f'--{kind}s', metavar=f'<{kind}s>',
                type=arguments.ids,
                help=f'{kind.capitalize()}s that the Pcloud takes (names or '
                     'ids with commas between), now and at every later move; '
                     'unset for all')
        _add_shrinking(parser)

    def take_action(self, parsed_args: argparse.Namespace) -> None:
        """Change the Pcloud."""
        changes = common.require_changes(
            {'name': parsed_args.name,
             'cpu_allocation_ratio': parsed_args.cpu_allocation_ratio,
             'ram_allocation_ratio': parsed_args.ram_allocation_ratio,
             'maintenance_policy': parsed_args.maintenance_policy,
             'host_recovery': parsed_args.host_recovery,
             'pin_by_tenants': parsed_args.pin_by_tenants,
             'placement': parsed_args.placement,
             'flavors': self._flavors(parsed_args.flavors),
             'images': self._images(parsed_args.images),
             'shrink': _shrink(parsed_args)},
            '--name, --cpu-allocation-ratio, --ram-allocation-ratio, '
            '--maintenance-policy, --host-recovery, --pin-by-tenants, '
            '--placement, --flavors, --images, --shrink-after and '
            '--no-shrink')
        pcloud = self.client.find_pcloud(parsed_args.pcloud)
        if parsed_args.no_shrink:
            changes['shrink'] = None
        self.client.update_pcloud(pcloud.id, **changes)

    def _flavors(self, given: list[str] | None) -> list[str] | None:
        """Return the ids of flavors, None where none are given.

        :raises exceptions.NotFound: when there is no such flavor
        """
        find = self.client.servers.find_flavor
        return given and list(dict.fromkeys(
            find(each).id for each in given))

    def _images(self, given: list[str] | None) -> list[str] | None:
        """Return the ids of images, None where none are given.

        :raises exceptions.NotFound: when there is no image of that name
        :raises exceptions.BadRequest: when several images have the name
        """
        # Lists of ids need no openstacksdk.
        if given is None or all(map(forms.is_uuid, given)):
            return given
        from pcloud.client.osc import images
        find = images.finder(self.app.client_manager)
        return list(dict.fromkeys(find(each).id for each in given))


def _add_shrinking(parser: argparse.ArgumentParser) -> None:
    """Add the options by which empty hosts leave."""
    when = parser.add_mutually_exclusive_group()
    when.add_argument(
        '--shrink-after', metavar='<hours>', type=arguments.positive,
        help='Have hosts leave the Pcloud that have been empty for that many '
             'hours')
    when.add_argument(
        '--no-shrink', action='store_true', default=None,
        help='Have no host leave because it is empty')
    parser.add_argument(
        '--shrink-min-hosts', metavar='<number>', type=arguments.whole,
        help='With --shrink-after, that many hosts stay (default: 0)')
    parser.add_argument(
        '--shrink-keep-spare', metavar='<number>', type=arguments.whole,
        help='With --shrink-after, that many empty, enabled hosts stay '
             '(default: 0)')


def _shrink(
    parsed_args: argparse.Namespace,
) -> dict[str, int] | bool | None:
    """Return when empty hosts leave; True for never, None for no change.

    :raises: `osc_exceptions.CommandError` for options that do not go together
    """
    problem = arguments.misplaced_shrinking(
        parsed_args.shrink_after, parsed_args.shrink_min_hosts,
        parsed_args.shrink_keep_spare)
    if problem:
        raise osc_exceptions.CommandError(problem)
    if parsed_args.shrink_after is None:
        return parsed_args.no_shrink
    return {'after_hours': parsed_args.shrink_after,
            'min_hosts': parsed_args.shrink_min_hosts or 0,
            'keep_spare': parsed_args.shrink_keep_spare or 0}


class UnsetPcloud(common.PcloudCommand):
    """Remove allocation ratios or rules from a Pcloud

    Without a ratio the cloud's own ratio holds; without a policy servers stay
    on a host in maintenance, and on a host that has failed; without a list all
    flavors or images are taken.
    """

    _epilog = ('Example:\n  openstack pcloud unset render-farm '
               '--cpu-allocation-ratio')

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Add the Pcloud and what is to be unset."""
        common.add_pcloud_argument(parser)
        for kind in ('cpu', 'ram'):
            parser.add_argument(
                f'--{kind}-allocation-ratio', dest='members',
                action='append_const', const=f'{kind}_allocation_ratio',
                help=f'Unset the {kind.upper()} allocation ratio')
        parser.add_argument(
            '--maintenance-policy', dest='members', action='append_const',
            const='maintenance_policy', help='Unset the maintenance policy')
        parser.add_argument(
            '--host-recovery', dest='members', action='append_const',
            const='host_recovery',
            help='Have nothing done for a host that has failed')
        for kind in ('flavors', 'images'):
            parser.add_argument(
                f'--{kind}', dest='members', action='append_const',
                const=kind, help=f'Take all {kind} again')

    def take_action(self, parsed_args: argparse.Namespace) -> None:
        """Unset the members."""
        given = common.require_changes(
            {'members': parsed_args.members},
            '--cpu-allocation-ratio, --ram-allocation-ratio, '
            '--maintenance-policy, --host-recovery, --flavors and --images')
        pcloud = self.client.find_pcloud(parsed_args.pcloud)
        nothing: dict[str, typing.Any] = dict.fromkeys(given['members'])
        self.client.update_pcloud(pcloud.id, **nothing)


class DeletePcloud(common.PcloudCommand):
    """Delete Pclouds that have no hosts"""

    _epilog = 'Example:\n  openstack pcloud delete render-farm'

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Add the Pclouds."""
        parser.add_argument(
            'pclouds', metavar='<pcloud>', nargs='+',
            help='Pclouds to delete (name or id)')
        common.add_force(parser)
        common.add_dry_run(parser)

    def take_action(self, parsed_args: argparse.Namespace) -> None:
        """Delete the Pclouds."""
        common.run_or_forecast(
            self, parsed_args, parsed_args.pclouds,
            lambda name_or_id: self.client.delete_pcloud(
                self.client.find_pcloud(name_or_id).id,
                force=parsed_args.force),
            self._obstacle, 'deleted')

    def _obstacle(self, name_or_id: str) -> str | None:
        try:
            pcloud = self.client.find_pcloud(name_or_id)
        except exceptions.ClientError as error:
            return str(error)
        if pcloud.host_count is None:
            return 'only its owner may delete it'
        if pcloud.host_count:
            return 'it has hosts; remove them first'
        return None


def _shown(command: common.PcloudCommand, parsed_args: argparse.Namespace,
           pcloud: resources.Pcloud,
           fields: Sequence[display.Field]) -> common.Shown:
    """Return a Pcloud, with the names of projects for people."""
    names = {} if common.is_for_programs(parsed_args) else projects.names(
        command.app.client_manager,
        {pcloud.owner, *(pcloud.tenants or ())})
    return common.record(
        pcloud, display.named(fields, names, 'owner', 'tenants'))
