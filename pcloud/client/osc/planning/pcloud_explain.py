# SPDX-License-Identifier: Apache-2.0

"""The command that shows why a Pcloud takes no more servers."""

import argparse
import dataclasses

from pcloud.client import display
from pcloud.client.osc import common


class ExplainPcloud(common.ShowOne):
    """Show how many more servers fit, and the obstacles to the next server

    For each host all obstacles are shown, and then the changes that would free
    capacity, the smallest change first.
    """

    _epilog = ('Example:\n  openstack pcloud explain render-farm '
               '--flavor m1.large')

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Add the Pcloud and the flavor."""
        common.add_pcloud_argument(parser)
        parser.add_argument('--flavor', metavar='<flavor>', required=True,
                            help='Flavor of the servers (name or id)')

    def take_action(self, parsed_args: argparse.Namespace) -> common.Shown:
        """Show the explanation."""
        pcloud = self.client.find_pcloud(parsed_args.pcloud)
        flavor = self.client.servers.find_flavor(parsed_args.flavor)
        explanation = dataclasses.replace(
            self.client.explain(pcloud.id, flavor.id), flavor=flavor.name)
        return common.record(explanation, display.EXPLANATION)
