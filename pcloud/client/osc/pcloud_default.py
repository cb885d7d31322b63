# SPDX-License-Identifier: Apache-2.0

"""The default Pcloud of a project, a domain or the cloud."""

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

# The fields of what a default is for, by the scope.
_OF = {'project': display.DEFAULT_PCLOUD[:1],
       'domain': (display.Field('domain_id', 'Domain ID'),),
       'cloud': ()}


class SetPcloudDefault(common.PcloudCommand):
    """Set where servers go that name no Pcloud

    Without options the default is for your project. Servers that run already
    stay where they are, and move as they were started.
    """

    _epilog = ('Example:\n  openstack pcloud default set render-farm '
               '--mode prefer\n'
               '  openstack pcloud default set render-farm --domain film')

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Add the Pcloud, the mode and whose servers are meant."""
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
        projects.add_scope_options(parser)

    def take_action(self, parsed_args: argparse.Namespace) -> None:
        """Set the default."""
        wrong = arguments.misplaced_growth(
            parsed_args.mode, parsed_args.grow_flavor, parsed_args.max_hosts,
            parsed_args.availability_zone)
        if wrong:
            raise osc_exceptions.CommandError(wrong)
        scope = _scope(self, parsed_args)
        default = self.client.set_default_of(
            *scope, self.client.find_pcloud(parsed_args.pcloud).id,
            parsed_args.mode, host_flavor=parsed_args.grow_flavor,
            max_hosts=parsed_args.max_hosts,
            availability_zone=parsed_args.availability_zone)
        if default.warning is not None:
            self.tell(default.warning)


class UnsetPcloudDefault(common.PcloudCommand):
    """Let servers that name no Pcloud start outside of Pclouds

    The defaults of wider scopes, of the domain and of the cloud, do not count
    for the project then, or for the projects of the domain.
    """

    _epilog = ('Example:\n  openstack pcloud default unset\n'
               '  openstack pcloud default unset --cloud')

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Add whose servers are meant."""
        projects.add_scope_options(parser)

    def take_action(self, parsed_args: argparse.Namespace) -> None:
        """Unset the default."""
        self.client.set_default_of(*_scope(self, parsed_args), None)


class ShowPcloudDefault(common.ShowOne):
    """Show where servers go that name no Pcloud"""

    _epilog = ('Example:\n  openstack pcloud default show\n'
               '  openstack pcloud default show --domain film')

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Add whose servers are meant."""
        projects.add_scope_options(parser)

    def take_action(self, parsed_args: argparse.Namespace) -> common.Shown:
        """Show the default that counts, and where the default is set."""
        scope, scope_id = _scope(self, parsed_args)
        default = self.client.get_default_of(scope, scope_id)
        names = ({} if common.is_for_programs(parsed_args)
                 else _names(self, default))
        return common.record(default, display.named(
            (*_OF[scope], *display.DEFAULT_PCLOUD[1:]), names, 'project_id',
            'pcloud'))


def _names(command: common.PcloudCommand,
           default: resources.DefaultPcloud) -> dict[str, str]:
    """Return id -> name of the project and the Pcloud, as far as known."""
    names = {} if default.project_id is None else projects.names(
        command.app.client_manager, [default.project_id])
    if default.pcloud is not None:
        # The id of a Pcloud that is gone, or hidden, is shown alone.
        with contextlib.suppress(exceptions.ClientError):
            names[default.pcloud] = command.client.get_pcloud(
                default.pcloud).name
    return names


def _scope(command: common.PcloudCommand,
           parsed_args: argparse.Namespace) -> tuple[str, str]:
    """Return the scope of a default, and the id of the scope."""
    keystone = command.app.client_manager
    if parsed_args.cloud:
        return 'cloud', 'default'
    if parsed_args.domain:
        return 'domain', projects.find_domain(keystone, parsed_args.domain).id
    return 'project', (projects.find_id(keystone, parsed_args)
                       if parsed_args.project
                       else command.client.own_project_id())
