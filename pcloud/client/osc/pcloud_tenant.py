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
        projects.add_arguments(parser)

    def take_action(self, parsed_args: argparse.Namespace) -> None:
        """Add the tenant."""
        project_id = projects.find_id(self.app.client_manager, parsed_args)
        pcloud = self.client.find_pcloud(parsed_args.pcloud)
        self.client.add_tenant(pcloud.id, project_id)


class RemovePcloudTenant(common.PcloudCommand):
    """Let a project no longer start servers in a Pcloud"""

    _epilog = ('Example:\n  openstack pcloud tenant remove render-farm '
               'animation')

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Add the Pcloud and the project."""
        common.add_pcloud_argument(parser)
        projects.add_arguments(parser)
        common.add_force(parser)

    def take_action(self, parsed_args: argparse.Namespace) -> None:
        """Remove the tenant."""
        project_id = projects.find_id_even_deleted(
            self.app.client_manager, parsed_args)
        pcloud = self.client.find_pcloud(parsed_args.pcloud)
        self.client.remove_tenant(
            pcloud.id, project_id, force=parsed_args.force)


class ListPcloudTenant(common.Lister):
    """List the projects that may start servers in a Pcloud"""

    _epilog = 'Example:\n  openstack pcloud tenant list render-farm'

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Add the Pcloud."""
        common.add_pcloud_argument(parser)

    def take_action(self, parsed_args: argparse.Namespace) -> common.Listed:
        """List the tenants."""
        pcloud = self.client.find_pcloud(parsed_args.pcloud)
        tenants = self.client.list_tenants(pcloud.id)
        if common.is_for_programs(parsed_args):
            return common.table(tenants, display.TENANT_LIST)
        names = projects.names(
            self.app.client_manager,
            [tenant.project_id for tenant in tenants])
        # People read names; projects without a known name come last.
        tenants.sort(key=lambda tenant: (
            tenant.project_id not in names,
            names.get(tenant.project_id, tenant.project_id)))
        return common.table(tenants, display.named(
            display.TENANT_LIST, names, 'project_id'))
