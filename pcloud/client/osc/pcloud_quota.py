# SPDX-License-Identifier: Apache-2.0

"""The commands of the quota of units of hosts."""

import argparse

from pcloud.client import display
from pcloud.client.osc import common
from pcloud.client.osc import projects


class ShowPcloudQuota(common.ShowOne):
    """Show the limit of a project's units of hosts, and the units in use"""

    _epilog = 'Example:\n  openstack pcloud quota show'

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Add the project."""
        projects.add_arguments(
            parser, nargs='?',
            help='Project (name or id; default: the one you are logged in '
                 'to; admin for others)')

    def take_action(self, parsed_args: argparse.Namespace) -> common.Shown:
        """Show the quota."""
        project_id = parsed_args.project and projects.find_id(
            self.app.client_manager, parsed_args)
        quota = self.client.get_quota(project_id)
        names = {} if common.is_for_programs(parsed_args) else projects.names(
            self.app.client_manager, [quota.project_id])
        return common.record(
            quota, display.named(display.QUOTA, names, 'project_id'))


class SetPcloudQuota(common.PcloudCommand):
    """Set how many units of hosts a project may own (admin only)"""

    _epilog = 'Example:\n  openstack pcloud quota set animation --units 20'

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Add the project and the limit."""
        projects.add_arguments(parser)
        limit = parser.add_mutually_exclusive_group(required=True)
        limit.add_argument(
            '--units', metavar='<units>', type=int,
            help='Limit in units of host flavors; -1 is unlimited')
        limit.add_argument(
            '--default', action='store_true',
            help="Go back to the cloud's default limit")

    def take_action(self, parsed_args: argparse.Namespace) -> None:
        """Set the quota."""
        keystone = self.app.client_manager
        if parsed_args.default:
            self.client.delete_quota(
                projects.find_id_even_deleted(keystone, parsed_args))
        else:
            self.client.update_quota(projects.find_id(keystone, parsed_args),
                                     parsed_args.units)
