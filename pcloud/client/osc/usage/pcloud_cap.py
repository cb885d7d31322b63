# SPDX-License-Identifier: Apache-2.0

"""The command that caps what a tenant uses of a Pcloud."""

import argparse

from pcloud.client import exceptions
from pcloud.client.osc import common

_NONE = -1
_CAPS = ('max_servers', 'max_vcpus', 'max_memory_mb')


class SetPcloudTenant(common.PcloudCommand):
    """Cap what a tenant uses of a Pcloud

    Launches, unshelves and resizes beyond a cap are refused. What is not given
    stays as it is.
    """

    _epilog = ('Example:\n  openstack pcloud tenant set render-farm animation '
               '--max-vcpus 64')

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Add the Pcloud, the project and the caps."""
        common.add_pcloud_argument(parser)
        parser.add_argument(
            'project', metavar='<project>',
            help='Project (id, or name as pcloud tenant list shows it)')
        for option, what in (
                ('--max-servers', 'Servers'),
                ('--max-vcpus', 'Processors of the servers'),
                ('--max-memory-mb', 'MiB of memory of the servers')):
            parser.add_argument(
                option, metavar='<n>', type=int,
                help=f'{what} that the tenant may use; {_NONE} is no cap')

    def take_action(self, parsed_args: argparse.Namespace) -> None:
        """Set the caps."""
        given = common.require_changes(
            {name: getattr(parsed_args, name) for name in _CAPS},
            '--max-servers, --max-vcpus and --max-memory-mb')
        pcloud = self.client.find_pcloud(parsed_args.pcloud)
        there = [tenant for tenant in self.client.list_tenants(pcloud.id)
                 if parsed_args.project in (tenant.project_id, tenant.name)]
        if len(there) > 1:
            raise exceptions.AmbiguousName(
                parsed_args.project, [each.project_id for each in there])
        if not there:
            raise exceptions.NotFound(
                f"No tenant of Pcloud '{parsed_args.pcloud}' is shown with "
                f"the id or name '{parsed_args.project}'; list the tenants "
                'to see which there are')
        caps = {name: getattr(there[0], name) for name in _CAPS} | {
            name: None if value == _NONE else value
            for name, value in given.items()}
        self.client.cap_tenant(pcloud.id, there[0].project_id, **caps)
