# SPDX-License-Identifier: Apache-2.0

"""The commands that show what is used of Pclouds and of hosts."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from collections.abc import Sequence
import dataclasses
import typing

from pcloud.client import display
from pcloud.client.osc import common
from pcloud.client.osc import projects

if typing.TYPE_CHECKING:
    from pcloud.client import usage_resources

_MONTH_HELP = ('Month in UTC, such as 2026-11: one of the last 13 (default: '
               'the present one)')


def _held(values: Sequence[usage_resources.HeldFlavor]) -> str:
    """Format what was held of host flavors, one a line."""
    return display.lines([
        f'{each.id}: {each.host_hours} host hours, {each.unit_hours} unit '
        f'hours' + (f', cost {each.cost}' if each.cost is not None else '')
        for each in values])


def _by_day(values: Sequence[usage_resources.Day]) -> str:
    """Format what was held in each day, one a line and host flavor."""
    return display.lines([
        f'{day.day}  {line}' for day in values
        for line in _held(day.host_flavors).splitlines()])


_USAGE = (
    display.Field('project', 'Project'),
    display.Field('month', 'Month'),
    display.Field('complete', 'Complete'),
    display.Field('host_flavors', 'Host Flavors', _held),
    display.Field('currency', 'Currency'),
)
_BY_DAY = (*_USAGE, display.Field('days', 'Days', _by_day))
_USAGE_LIST = (
    display.Field('project', 'Project'),
    display.Field('id', 'Host Flavor'),
    display.Field('hosts', 'Hosts'),
    display.Field('host_hours', 'Host Hours'),
    display.Field('unit_hours', 'Unit Hours'),
    display.Field('cost', 'Cost'),
)
_TENANTS = (
    display.Field('project', 'Project'),
    display.Field('name', 'Name'),
    display.Field('servers', 'Servers'),
    display.Field('vcpus', 'VCPUs'),
    display.Field('memory_mb', 'Memory MB', title='Memory MiB'),
    display.Field('share', 'Share'),
)


@dataclasses.dataclass(frozen=True)
class _Row:
    """What a project has held of a host flavor."""

    project: str
    id: str
    hosts: int
    host_hours: float
    unit_hours: float
    cost: str | None


class ShowPcloudUsage(common.ShowOne):
    """Show for how long a project has held hosts in a month

    Each second counts with the units and the price that the host flavor had
    then, up to now.
    """

    _epilog = 'Example:\n  openstack pcloud usage show --month 2026-11'

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Add the project and the month."""
        projects.add_arguments(
            parser, nargs='?',
            help='Project (name or id; default: the one you are logged in '
                 'to; admin for others)')
        parser.add_argument('--month', metavar='<month>', help=_MONTH_HELP)
        parser.add_argument(
            '--by-day', action='store_true',
            help='Show each day too, for the present month and the one before')

    def take_action(self, parsed_args: argparse.Namespace) -> common.Shown:
        """Show the usage."""
        keystone = self.app.client_manager
        project_id = parsed_args.project and projects.find_id(
            keystone, parsed_args)
        get, fields = ((self.client.get_usage_by_day, _BY_DAY)
                       if parsed_args.by_day else
                       (self.client.get_usage, _USAGE))
        usage = get(project_id, parsed_args.month)
        names = {} if common.is_for_programs(parsed_args) else projects.names(
            keystone, [usage.project])
        return common.record(usage, display.named(fields, names, 'project'))


class ListPcloudUsage(common.Lister):
    """List what projects have held of hosts, or what tenants use of a Pcloud

    Without a Pcloud, all projects that have held hosts in a month are listed
    (admin only). With --pcloud, what each tenant uses of it now.
    """

    _epilog = 'Example:\n  openstack pcloud usage list --pcloud render-farm'

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Add the Pcloud, or the month."""
        what = parser.add_mutually_exclusive_group()
        what.add_argument('--pcloud', metavar='<pcloud>',
                          help='Pcloud whose tenants are listed (name or id)')
        what.add_argument('--month', metavar='<month>', help=_MONTH_HELP)

    def take_action(self, parsed_args: argparse.Namespace) -> common.Listed:
        """List what is used."""
        if parsed_args.pcloud is not None:
            pcloud = self.client.find_pcloud(parsed_args.pcloud)
            return common.table_for(
                parsed_args, self.client.get_pcloud_use(pcloud.id).tenants,
                _TENANTS)
        usages = self.client.list_usages(parsed_args.month)
        names = {} if common.is_for_programs(parsed_args) else projects.names(
            self.app.client_manager, {usage.project for usage in usages})
        return common.table(
            _rows(usages), display.named(_USAGE_LIST, names, 'project'))


def _rows(usages: Sequence[usage_resources.Usage]) -> Iterator[_Row]:
    for usage in usages:
        for its in usage.host_flavors:
            yield _Row(usage.project, its.id, its.hosts, its.host_hours,
                       its.unit_hours, its.cost)
