# SPDX-License-Identifier: Apache-2.0

"""The commands of the tenants of a Pcloud."""

import argparse

from pcloud.client import display
from pcloud.client.osc import common
from pcloud.client.osc import projects


class AddPcloudTenant(common.PcloudCommand):
    """Let a project start servers in a Pcloud"""

    _epilog = 'Example:\n  openstack pcloud tenant add render-farm animation'

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Add the Pcloud and the project."""
        common.add_pcloud_argument(parser)
        projects.add_arguments(
            parser, help='Project (name or id; the name of a project of '
                         'another domain than yours where the operator '
                         'allows that)')

    def take_action(self, parsed_args: argparse.Namespace) -> None:
        """Add the tenant."""
        pcloud = self.client.find_pcloud(parsed_args.pcloud)
        self.client.let_in(
            pcloud.id, parsed_args.project, parsed_args.project_domain)


class RemovePcloudTenant(common.PcloudCommand):
    """Let a project no longer start servers in a Pcloud"""

    _epilog = ('Example:\n  openstack pcloud tenant remove render-farm '
               'animation')

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Add the Pcloud, the project and the force."""
        common.add_pcloud_argument(parser)
        parser.add_argument(
            'project', metavar='<project>',
            help='Project (id, or name as pcloud tenant list shows it)')
        common.add_force(parser)

    def take_action(self, parsed_args: argparse.Namespace) -> None:
        """Remove the tenant."""
        pcloud = self.client.find_pcloud(parsed_args.pcloud)
        self.client.let_out(
            pcloud.id, parsed_args.project, force=parsed_args.force)


class ListPcloudTenant(common.Lister):
    """List the projects that may start servers in a Pcloud"""

    _epilog = 'Example:\n  openstack pcloud tenant list render-farm'

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Add the Pcloud, and the option of further columns."""
        common.add_pcloud_argument(parser)
        parser.add_argument(
            '--long', action='store_true',
            help='Show how much the tenants may use too')

    def take_action(self, parsed_args: argparse.Namespace) -> common.Listed:
        """List the tenants."""
        pcloud = self.client.find_pcloud(parsed_args.pcloud)
        tenants = self.client.list_tenants(pcloud.id)
        if not common.is_for_programs(parsed_args):
            tenants.sort(key=lambda tenant: tenant.place)
        return common.table_for(
            parsed_args, tenants, display.TENANT_LONG if parsed_args.long
            else display.TENANT_LIST)
