# SPDX-License-Identifier: Apache-2.0

"""The commands of the attributes and the placement keys of hosts."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
import datetime
import re
import typing

from osc_lib import exceptions as osc_exceptions

from pcloud.client import display
from pcloud.client.osc import common

if typing.TYPE_CHECKING:
    from pcloud.client import v1


class ListPcloudAttribute(common.Lister):
    """List the attributes that were set for hosts (admin only)

    Attributes that hosts inherit from other aggregates are not shown.
    """

    _epilog = 'Example:\n  openstack pcloud attribute list --name rack'

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Add the options that narrow the list."""
        parser.add_argument(
            '--name', metavar='<name>', help='Only the attribute of this name')
        parser.add_argument(
            '--value', metavar='<value>',
            help='Only attributes with this value')
        parser.add_argument(
            '--host', metavar='<host>', help='Only attributes of this host')

    def take_action(self, parsed_args: argparse.Namespace) -> common.Listed:
        """List the attributes."""
        return common.table(self.client.list_attributes(
            name=parsed_args.name, value=parsed_args.value,
            host=parsed_args.host), display.ATTRIBUTE)


class SetPcloudAttribute(common.PcloudCommand):
    """Set an attribute of hosts, in place of a former value (admin only)

    platform_version: a stamp such as 20261231T235959Z or a version such as
    2.10.1, all hosts of the cloud alike. next_reboot: ISO 8601.
    hardware_class: a number, higher is better. rack: a name. Any other name is
    free for constraints.
    """

    _epilog = ('Example:\n  openstack pcloud attribute set rack r12 '
               '--host compute-17 --host compute-18')

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Add the attribute, the value and the hosts."""
        _add_name_argument(parser)
        parser.add_argument('value', metavar='<value>', help='Its value')
        _add_host_option(parser, 'Host of the compute service that has it '
                                 'from now on', required=True)
        common.add_dry_run(parser)

    def take_action(self, parsed_args: argparse.Namespace) -> None:
        """Set the attribute."""
        name, value = parsed_args.name, parsed_args.value
        if parsed_args.dry_run:
            _check(name, value)
            former = _values(self.client, name)
            for host in parsed_args.hosts:
                self.say(f'{host}: {former.get(host, "-")} -> {value}')
            self.tell('It is not checked whether the hosts exist')
        else:
            self.client.set_attribute(name, value, parsed_args.hosts)
        if has_passed(name, value):
            self.tell(f'{value} has passed: the hosts count as hosts '
                      'without a coming reboot')


def has_passed(name: str, value: str) -> bool:
    """Whether an attribute is a date of a reboot which has passed."""
    from pcloud.rules.placing import attributes
    return (name == attributes.REBOOT and
            attributes.reboot(value) <= datetime.datetime.now(datetime.UTC))


class UnsetPcloudAttribute(common.PcloudCommand):
    """Remove an attribute from hosts (admin only)"""

    _epilog = ('Example:\n  openstack pcloud attribute unset next_reboot '
               '--host compute-17')

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Add the attribute and the hosts."""
        _add_name_argument(parser)
        _add_host_option(parser, 'Host to take it from; without this option, '
                                 'all hosts')
        common.add_dry_run(parser)

    def take_action(self, parsed_args: argparse.Namespace) -> None:
        """Remove the attribute."""
        if parsed_args.dry_run:
            former = _values(self.client, parsed_args.name)
            hosts = parsed_args.hosts or sorted(former)
            if former.keys().isdisjoint(hosts):
                raise osc_exceptions.CommandError(_nobody(
                    parsed_args.name, hosts))
            for host in hosts:
                self.say(f'{host}: {former.get(host, "-")} -> -')
        else:
            self.client.unset_attribute(parsed_args.name, parsed_args.hosts)


class ListPcloudKey(common.Lister):
    """List the placement keys of hosts and aggregates (admin only)

    A key of an aggregate is a key of each of its hosts. Where a host has
    several values of a name, the lowest counts.
    """

    _epilog = 'Example:\n  openstack pcloud key list --host compute-17'

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Add the options that narrow the list."""
        parser.add_argument(
            '--name', metavar='<name>', help='Only keys of this name')
        parser.add_argument(
            '--host', metavar='<host>', help='Only keys that this host has')

    def take_action(self, parsed_args: argparse.Namespace) -> common.Listed:
        """List the keys."""
        return common.table([
            key for key in self.client.node_keys.list_all()
            if parsed_args.name in (None, key.name) and
            parsed_args.host in (None, *key.hosts)], display.NODE_KEY)


class SetPcloudKey(common.PcloudCommand):
    """Set a placement key of hosts or of an aggregate (admin only)

    The key takes the place of a former key of that name. A server that starts
    on a host with a sticky key keeps a copy of the key, with the weight.
    Names that begin with "_" are compared with the keys of customers.
    """

    _epilog = ('Example:\n  openstack pcloud key set premium 1 '
               '--host compute-17 --host compute-18\n  openstack pcloud key '
               'set store 2 --sticky 60 --aggregate store-2-hosts')

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Add the key, the value, the weight and the hosts."""
        _add_key_arguments(parser)
        parser.add_argument('value', metavar='<value>',
                            help='Its value, a decimal number')
        parser.add_argument(
            '--sticky', metavar='<weight>',
            help='Make the key sticky, with this weight')
        common.add_dry_run(parser)

    def take_action(self, parsed_args: argparse.Namespace) -> None:
        """Set the key."""
        name, value = parsed_args.name, parsed_args.value
        keys = self.client.node_keys
        if parsed_args.dry_run:
            _forecast_key(self, parsed_args, _with_weight(
                value, parsed_args.sticky))
        elif parsed_args.aggregate is not None:
            keys.set_for_aggregate(
                name, value, parsed_args.sticky, parsed_args.aggregate)
        else:
            keys.set_for_hosts(
                name, value, parsed_args.sticky, parsed_args.hosts)
            self._tell_of_others(name, parsed_args.hosts)

    def _tell_of_others(self, name: str, hosts: Sequence[str]) -> None:
        """Tell of the values that hosts have from other aggregates too."""
        for key in self.client.node_keys.list_all():
            inheriting = sorted(set(hosts) & set(key.hosts))
            if key.name == name and inheriting and not key.is_of_hosts:
                self.tell(
                    f'{", ".join(inheriting)}: {name} is {key.value} by '
                    f"aggregate '{key.aggregate}' too; the lowest counts")


class UnsetPcloudKey(common.PcloudCommand):
    """Remove a placement key from hosts or from an aggregate (admin only)"""

    _epilog = ('Example:\n  openstack pcloud key unset premium '
               '--host compute-17')

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Add the key and the hosts."""
        _add_key_arguments(parser)
        common.add_dry_run(parser)

    def take_action(self, parsed_args: argparse.Namespace) -> None:
        """Remove the key."""
        keys = self.client.node_keys
        if parsed_args.dry_run:
            _forecast_key(self, parsed_args, '-')
        elif parsed_args.aggregate is not None:
            keys.unset_for_aggregate(parsed_args.name, parsed_args.aggregate)
        else:
            keys.unset_for_hosts(parsed_args.name, parsed_args.hosts)


def _add_key_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument('name', metavar='<name>', help='Name of the key')
    whose = parser.add_mutually_exclusive_group(required=True)
    whose.add_argument(
        '--host', metavar='<host>', dest='hosts', action='append',
        help='Host of the compute service (repeat for several)')
    whose.add_argument(
        '--aggregate', metavar='<aggregate>',
        help='Aggregate (name or id) whose hosts have the key')


def _forecast_key(command: common.PcloudCommand,
                  parsed_args: argparse.Namespace, new: str) -> None:
    """Say what hosts or an aggregate have of a key, and would have."""
    keys = [key for key in command.client.node_keys.list_all()
            if key.name == parsed_args.name]
    for whose in parsed_args.hosts or [parsed_args.aggregate]:
        former = [_with_weight(key.value, key.sticky) for key in keys if (
            key.aggregate == whose if parsed_args.hosts is None else
            key.is_of_hosts and whose in key.hosts)]
        command.say(f'{whose}: {", ".join(former) or "-"} -> {new}')
    command.tell('It is not checked whether they exist')


def _with_weight(value: str, sticky: str | None) -> str:
    return value if sticky is None else f'{value} (sticky, weight {sticky})'


def _check(name: str, value: str) -> None:
    """Check a name and a value, as far as that takes no cloud.

    :raises osc_lib.exceptions.CommandError: for what no host can have; for
        a value that is not right for the name, `attributes.read` raises
    """
    from pcloud.rules import forms
    from pcloud.rules.placing import attributes
    from pcloud.rules.placing import constraints
    if not re.fullmatch(forms.ATTRIBUTE_NAME, name):
        raise osc_exceptions.CommandError(
            f"'{name}' is not a possible name; it has to be 1 to 64 letters, "
            f'digits, ".", "_", "-" or blanks, without a blank at either end')
    if not constraints.is_attribute(name.casefold()):
        raise osc_exceptions.CommandError(
            f"'{name}' is not a possible name: as a machine constraint it "
            f'means something else')
    attributes.read(name, value)
    if not value or value != value.strip():
        raise osc_exceptions.CommandError(
            f"'{value}' is not a possible value; it has to be 1 or more "
            f'characters, without a blank at either end')


def _nobody(name: str, hosts: Sequence[str]) -> str:
    """Return why an attribute is taken from nobody."""
    whom = f'None of the hosts {", ".join(hosts)}' if hosts else 'No host'
    return f"{whom} has host attribute '{name}'"


def _values(client: v1.Client, name: str) -> dict[str, str]:
    """Return host -> value of an attribute."""
    return {host: attribute.value
            for attribute in client.list_attributes(name=name)
            for host in attribute.hosts}


def _add_name_argument(parser: argparse.ArgumentParser) -> None:
    parser.add_argument('name', metavar='<name>',
                        help='Name of the attribute')


def _add_host_option(parser: argparse.ArgumentParser, text: str,
                     **options: typing.Any) -> None:
    parser.add_argument(
        '--host', metavar='<host>', dest='hosts', action='append',
        help=f'{text} (repeat for several)', **options)
