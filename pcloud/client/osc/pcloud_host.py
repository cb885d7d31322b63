# SPDX-License-Identifier: Apache-2.0

"""The commands of the hosts in a Pcloud, and of the servers on hosts."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
import typing

from osc_lib import exceptions as osc_exceptions

from pcloud.client import arguments
from pcloud.client import display
from pcloud.client import exceptions
from pcloud.client import host_runs
from pcloud.client.osc import common
from pcloud.client.osc import host_forecasts
from pcloud.client.osc.waiting import waiting_lists
from pcloud.client import runs
from pcloud.rules import forms

if typing.TYPE_CHECKING:
    from pcloud.client import resources

_DRAIN_TIMEOUT = 600


class AddPcloudHost(common.ShowOne):
    """Take free hosts into a Pcloud; a new host is disabled at first

    With --count, all hosts are added or none: "-1", "-2" and so on follow the
    name.
    """

    _epilog = ('Example:\n  openstack pcloud host add render-farm web-1 '
               '--host-flavor gold\n  openstack pcloud host add render-farm '
               'web --count 12 --host-flavor gold')

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Add the Pcloud, the new name and the kind of host."""
        common.add_pcloud_argument(parser)
        parser.add_argument(
            'name', metavar='<name>',
            help='New name, unique in the Pcloud; with --count, the '
                 'beginning of the names')
        kind = parser.add_mutually_exclusive_group(required=True)
        kind.add_argument(
            '--host-flavor', metavar='<host-flavor>',
            help='Kind of host (id, see "openstack host flavor list")')
        kind.add_argument(
            '--constraints', metavar='<constraints>',
            help='What the host must have, such as "ram=64G cpu=16", '
                 '"resource:VGPU=2", "trait:HW_CPU_X86_AVX=required" or '
                 '"hardware_class>=3"; the host flavor that wastes least is '
                 'taken')
        parser.add_argument(
            '--availability-zone', metavar='<zone>',
            help='Zone the host must be in (default: any)')
        parser.add_argument(
            '--count', metavar='<count>', type=arguments.positive,
            help=f'Add that many hosts, {forms.MOST_HOSTS} at most, named '
                 '<name>-1, <name>-2 and so on: all of them or none')
        parser.add_argument(
            '--first', metavar='<number>', type=arguments.positive,
            help='With --count, the number in the first name (default: 1)')
        parser.add_argument(
            '--wait-until', metavar='<moment>',
            help='Wait for a host of the host flavor until then where none is '
                 'free, such as 2026-12-31T23:59:59Z; see "openstack pcloud '
                 'waiting list"')
        parser.add_argument(
            '--until', metavar='<moment>',
            help='Have the host drained then, and leave once it is empty')
        parser.add_argument(
            '--move', metavar='<which>', choices=('none', 'live', 'any'),
            help='With --until, the servers that are moved then: none, live, '
                 'or any for stopped ones too (default: none)')
        common.add_dry_run(parser)

    def take_action(self, parsed_args: argparse.Namespace) -> common.Shown:
        """Add the host or the hosts, and show the result."""
        if parsed_args.first is not None and parsed_args.count is None:
            raise osc_exceptions.CommandError(
                '--first is the number in the first of several names; give '
                '--count too')
        pcloud = self.client.find_pcloud(parsed_args.pcloud)
        if parsed_args.dry_run:
            return self._forecast(parsed_args, pcloud)
        if parsed_args.wait_until is not None:
            return self._add_or_wait(parsed_args, pcloud)
        wanted = {'host_flavor': parsed_args.host_flavor,
                  'constraints': parsed_args.constraints,
                  'availability_zone': parsed_args.availability_zone,
                  'until': parsed_args.until, 'move': parsed_args.move}
        if parsed_args.count is None:
            host = self.client.add_host(pcloud.id, parsed_args.name, **wanted)
            return common.record(host, display.host_fields(host))
        return _described(self.client.add_hosts(
            pcloud.id, parsed_args.name, parsed_args.count,
            parsed_args.first, **wanted))

    def _add_or_wait(
            self, parsed_args: argparse.Namespace, pcloud: resources.Pcloud,
    ) -> common.Shown:
        if parsed_args.count is not None or parsed_args.host_flavor is None:
            raise osc_exceptions.CommandError(
                '--wait-until is for one host of a host flavor; leave out '
                '--count and --constraints')
        found = self.client.add_or_wait_for_host(
            pcloud.id, parsed_args.name, parsed_args.host_flavor,
            parsed_args.wait_until, parsed_args.availability_zone,
            parsed_args.until, parsed_args.move)
        if found.host is None:
            return common.record(found.waiting, waiting_lists.ENTRY)
        return common.record(found.host, display.host_fields(found.host))

    def _forecast(
            self, parsed_args: argparse.Namespace, pcloud: resources.Pcloud,
    ) -> common.Shown:
        names = [parsed_args.name] if parsed_args.count is None else (
            forms.numbered(parsed_args.name, parsed_args.count,
                           parsed_args.first or 1))
        obstacles = host_forecasts.to_adding(
            self.client, pcloud, names, parsed_args.host_flavor,
            parsed_args.availability_zone)
        runs.forecast(names, obstacles.get, 'added', self.tell)
        return ['hosts'], [common.Readable(
            [{'name': name} for name in names], _names)]


class ListPcloudHost(common.Lister):
    """List the hosts of a Pcloud

    Formats for programs, such as -f json, have the columns of --long always.
    """

    _epilog = 'Example:\n  openstack pcloud host list render-farm --long'

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Add the Pcloud and the option of further columns."""
        common.add_pcloud_argument(parser)
        parser.add_argument(
            '--long', action='store_true',
            help='Show sizes, what is used, the next reboot and the rack too')

    def take_action(self, parsed_args: argparse.Namespace) -> common.Listed:
        """List the hosts."""
        pcloud = self.client.find_pcloud(parsed_args.pcloud)
        everything = (parsed_args.long or parsed_args.columns or
                      common.is_for_programs(parsed_args))
        return common.table_for(
            parsed_args, self.client.list_hosts(pcloud.id),
            display.HOST_LIST if everything else display.HOST_SHORT_LIST)


class ShowPcloudHost(common.ShowOne):
    """Show a host of a Pcloud"""

    _epilog = 'Example:\n  openstack pcloud host show render-farm web-1'

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Add the host."""
        common.add_pcloud_argument(parser)
        parser.add_argument(
            'name', metavar='<name>', help='Name of the host there')

    def take_action(self, parsed_args: argparse.Namespace) -> common.Shown:
        """Show the host."""
        pcloud = self.client.find_pcloud(parsed_args.pcloud)
        host = self.client.get_host(pcloud.id, parsed_args.name)
        return common.record(
            host, (*display.host_fields(host), *display.HOST_KIND))


class SetPcloudHost(common.PcloudCommand):
    """Enable or disable hosts of a Pcloud for new servers, or set a date

    A host with a date is drained then, and leaves once it is empty. A spare
    takes no servers until a host of its kind is away for maintenance or has
    failed.
    """

    _epilog = ('Example:\n  openstack pcloud host set render-farm web-1 '
               'web-2 --enable')

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Add the hosts and the state."""
        _add_hosts_arguments(parser)
        state = parser.add_mutually_exclusive_group(required=True)
        state.add_argument(
            '--enable', dest='state', action='store_const', const='enabled',
            help='Let servers start on them')
        state.add_argument(
            '--disable', dest='state', action='store_const',
            const='disabled',
            help='Start no more servers on them; those that run stay')
        state.add_argument(
            '--spare', dest='state', action='store_const', const='spare',
            help='Keep them for when other hosts are away; no servers start '
                 'on them until then')
        state.add_argument(
            '--cancel-drain', action='store_true',
            help='Drain them no longer; they stay disabled')
        state.add_argument(
            '--until', metavar='<moment>',
            help='Have them drained then, and leave once they are empty: ISO '
                 '8601, such as 2026-12-31T23:59:59Z')
        state.add_argument(
            '--no-until', action='store_true',
            help='Have them leave at no date')
        parser.add_argument(
            '--move', choices=['none', 'live', 'any'],
            help='With --until, the servers that are moved then: none '
                 '(default), those that run, or any')

    def take_action(self, parsed_args: argparse.Namespace) -> None:
        """Set the state, or the date."""
        pcloud = self.client.find_pcloud(parsed_args.pcloud)
        if parsed_args.move is not None and parsed_args.until is None:
            raise exceptions.BadRequest('--move is for --until')
        if parsed_args.until is not None or parsed_args.no_until:
            common.run_or_forecast(
                self, parsed_args, parsed_args.names,
                lambda name: self.client.set_host_until(
                    pcloud.id, name, parsed_args.until, parsed_args.move),
                lambda name: host_forecasts.to_changing(
                    self.client, pcloud.id, name),
                'given no date' if parsed_args.no_until else
                f'given the date {parsed_args.until}')
            return
        common.run_or_forecast(
            self, parsed_args, parsed_args.names,
            lambda name: self._set(pcloud.id, name, parsed_args.state),
            lambda name: host_forecasts.to_changing(
                self.client, pcloud.id, name),
            parsed_args.state or 'disabled')

    def _set(self, pcloud_id: str, name: str,
             state: typing.Literal['enabled', 'disabled', 'spare'] | None,
             ) -> None:
        """Set the state of a host; None ends the drain of the host."""
        if state is None and self.client.get_host(
                pcloud_id, name).state != 'draining':
            raise exceptions.BadRequest(f'{name} is not being drained')
        self.client.set_host_state(pcloud_id, name, state or 'disabled')


class DrainPcloudHost(common.PcloudCommand):
    """Have hosts of a Pcloud emptied, and given back when they are empty

    No new servers start on the hosts. With --move servers are moved to other
    enabled hosts of the Pcloud; else moving or deleting the servers is left to
    you. "openstack pcloud host show" tells what is left on a host, and why.
    """

    _epilog = ('Example:\n  openstack pcloud host drain render-farm web-1 '
               '--move live --release --wait')

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Add the hosts and the wishes."""
        _add_hosts_arguments(parser)
        parser.add_argument(
            '--move', choices=['none', 'live', 'any'],
            help='Which servers are moved: none (default), those that run, '
                 'or any, stopped ones too')
        parser.add_argument(
            '--release', action='store_true', default=None,
            help='Give each host back as soon as it is empty')
        parser.add_argument(
            '--deadline', metavar='<time>',
            help='When they should be empty, in ISO 8601; nothing is forced '
                 'when it has passed')
        parser.add_argument(
            '--wait', action='store_true',
            help='Wait until they are empty, or the deadline has passed')

    def take_action(self, parsed_args: argparse.Namespace) -> None:
        """Drain the hosts."""
        pcloud = self.client.find_pcloud(parsed_args.pcloud)
        wish = {member: getattr(parsed_args, member)
                for member in ('move', 'release', 'deadline')}
        if parsed_args.dry_run:
            host_runs.try_draining(
                self.client, pcloud.id, parsed_args.names, wish, self.say)
            return
        host_runs.drain_together(
            self.client, pcloud.id, parsed_args.names, wish)
        if parsed_args.wait:
            host_runs.wait_until_drained(
                self.client, pcloud.id, parsed_args.names, self.tell)


class RemovePcloudHost(common.PcloudCommand):
    """Give hosts of a Pcloud back; they must be disabled and empty"""

    _epilog = ('Example:\n  openstack pcloud host remove render-farm web-1 '
               'web-2 --drain --drain-timeout 3600')

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Add the hosts and the options of draining."""
        _add_hosts_arguments(parser)
        parser.add_argument(
            '--drain', action='store_true',
            help='Disable the hosts, wait until their instances are gone, '
                 'and remove each as soon as it is empty; moving or deleting '
                 'the instances is left to you, and hosts that are drained '
                 'already are drained on as they were')
        parser.add_argument(
            '--drain-timeout', metavar='<seconds>', type=arguments.positive,
            help=f'How long to wait with --drain (default: {_DRAIN_TIMEOUT})')

    def take_action(self, parsed_args: argparse.Namespace) -> None:
        """Remove the hosts."""
        if parsed_args.drain_timeout is not None and not parsed_args.drain:
            raise osc_exceptions.CommandError(
                '--drain-timeout says how long --drain waits; give both')
        pcloud = self.client.find_pcloud(parsed_args.pcloud)
        if parsed_args.drain and not parsed_args.dry_run:
            host_runs.drain_and_remove(
                self.client, pcloud.id, parsed_args.names,
                parsed_args.drain_timeout or _DRAIN_TIMEOUT, self.tell)
            return
        obstacle = (host_forecasts.to_changing if parsed_args.drain
                    else host_forecasts.to_removing)
        common.run_or_forecast(
            self, parsed_args, parsed_args.names,
            lambda name: self.client.remove_host(pcloud.id, name),
            lambda name: obstacle(self.client, pcloud.id, name), 'removed')


class ListPcloudServer(common.Lister):
    """List your project's servers, with the Pcloud and the host of each

    Hosts have the names that the owner of the Pcloud has given, and are shown
    to the owner alone; racks are numbers. A server that is on no host, such as
    a shelved server, has the Pcloud of its hint. Formats for programs, such as
    -f json, have the columns of --long always.
    """

    _epilog = 'Example:\n  openstack pcloud server list --pcloud render-farm'

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Add the option that narrows the list, and that of more columns."""
        parser.add_argument(
            '--pcloud', metavar='<pcloud>',
            help='List only the servers in this Pcloud (name or id)')
        parser.add_argument(
            '--long', action='store_true',
            help='Show the id of the Pcloud too')

    def take_action(self, parsed_args: argparse.Namespace) -> common.Listed:
        """List the servers."""
        pcloud_id = None if parsed_args.pcloud is None else (
            self.client.find_pcloud(parsed_args.pcloud).id)
        everything = (parsed_args.long or parsed_args.columns or
                      common.is_for_programs(parsed_args))
        return common.table_for(
            parsed_args, self.client.list_servers(pcloud_id),
            display.SERVER_LIST if everything else display.SERVER_SHORT_LIST)


def _add_hosts_arguments(parser: argparse.ArgumentParser) -> None:
    common.add_pcloud_argument(parser)
    parser.add_argument(
        'names', metavar='<name>', nargs='+', help='Names of hosts there')
    common.add_dry_run(parser)


def _described(hosts: Sequence[resources.Host]) -> common.Shown:
    described: list[dict[str, typing.Any]] = [
        {field.name: getattr(host, field.name)
         for field in display.host_fields(host)} for host in hosts]
    return ['hosts'], [common.Readable(described, _names)]


def _names(described: list[dict]) -> str:
    return display.joined([host['name'] for host in described])
