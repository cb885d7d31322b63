# SPDX-License-Identifier: Apache-2.0

"""The commands that deploy and undeploy services."""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import typing

from pcloud.client import arguments
from pcloud.client.osc import common
from pcloud.client.osc import images
from pcloud.client.osc import service_options

if typing.TYPE_CHECKING:
    from pcloud.client.deploy import waits

TIMEOUT = 600


class DeployPcloudService(common.Lister):
    """Start a service, with co-located services: all servers or none

    The whole order is checked before the first server is created, capacity
    included where the caller may ask for capacity. The services of --with are
    running, and ready where --ready says when, before the main service is
    started. If a server fails, all created servers are deleted again.
    """

    _epilog = ('Example:\n  openstack pcloud service deploy db --image db '
               '--flavor xl --with disk=nbd:s')

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Add the services to deploy, and the place."""
        parser.add_argument(
            'name', metavar='<name>',
            help='Name of the service: up to 64 letters, digits, ".", "_" '
                 'and "-"')
        parser.add_argument('--image', metavar='<image>',
                            help='Image of its servers (name or id); see also '
                                 '--volume')
        parser.add_argument('--flavor', metavar='<flavor>', required=True,
                            help='Flavor of its servers (name or id)')
        parser.add_argument('--pcloud', metavar='<pcloud>',
                            help='Pcloud to start them in (name or id)')
        parser.add_argument(
            '--with', dest='parts', type=service_options.part,
            metavar='<name>=<image>:<flavor>[,<option>=<value>...]',
            action='append', default=[],
            help='Service that is started before it on the same host (repeat '
                 'for several); after commas, the options from --nic on, '
                 'without dashes: key-name=ops,property=tier=1; no image with '
                 'volume=')
        parser.add_argument(
            '--in-service', metavar='<service>', dest='parent',
            help='Start it, with its own of --with, on a host that runs a '
                 'unit of this service and has capacity for all')
        parser.add_argument(
            '--scale-with', metavar='<service>',
            help='Start one unit on every host that runs a unit of this '
                 'service, now and later; see also "openstack pcloud service '
                 'sync"')
        parser.add_argument(
            '--count', metavar='<count>', type=arguments.positive,
            help='How many units to start, each with its own of --with '
                 '(default: 1)')
        add_waiting_arguments(parser)
        parser.add_argument(
            '--ready-timeout', metavar='<seconds>', type=arguments.positive,
            help='How long to wait for the guest of each server with --ready '
                 '(default: that of --timeout)')
        service_options.add_arguments(parser)

    def take_action(self, parsed_args: argparse.Namespace) -> common.Listed:
        """Deploy the service and show the units."""
        from pcloud.client.deploy import deployments
        from pcloud.client.deploy import fields
        from pcloud.client.deploy import plans
        manager = self.app.client_manager
        main, *parts = (
            images.with_networks(manager, images.with_volume(manager, part))
            for part in (service_options.main(parsed_args),
                         *parsed_args.parts))
        order = plans.Order(
            main, tuple(parts), parsed_args.pcloud, parsed_args.parent,
            parsed_args.scale_with, parsed_args.count,
            plans.shared_networks(main))
        units = deployments.deploy(
            self.client, images.finder(manager), order,
            dataclasses.replace(pace(self, parsed_args),
                                ready_timeout=parsed_args.ready_timeout))
        return common.table(units, fields.UNIT_LIST)


class UndeployPcloudService(common.PcloudCommand):
    """Stop a service, then co-located servers, and delete all servers

    When a server does not stop, no server is deleted. Servers that are
    co-located with a server that cannot be deleted stay, too.
    """

    _epilog = 'Example:\n  openstack pcloud service undeploy db'

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Add the service."""
        parser.add_argument('name', metavar='<name>',
                            help='Name of the service')
        parser.add_argument(
            '--force', action='store_true',
            help='Delete all servers that can be deleted, even when a server '
                 'does not stop, or stays')
        add_waiting_arguments(parser)

    def take_action(self, parsed_args: argparse.Namespace) -> None:
        """Stop and delete the servers."""
        from pcloud.client.deploy import deployments
        undeploy = (deployments.undeploy_by_force if parsed_args.force
                    else deployments.undeploy)
        undeploy(self.client, parsed_args.name, pace(self, parsed_args))


def add_waiting_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the option of the timeout."""
    parser.add_argument(
        '--timeout', metavar='<seconds>', type=arguments.positive,
        default=TIMEOUT,
        help='How long to wait for each server (default: %(default)s)')


def pace(command: common.PcloudCommand,
         parsed_args: argparse.Namespace) -> waits.Pace:
    """Return the timeout, with reports to the terminal."""
    from pcloud.client.deploy import waits

    def report(progress: str) -> None:
        # A closed terminal is no reason to leave work half done.
        with contextlib.suppress(OSError):
            print(progress, file=command.app.stderr, flush=True)
    return waits.Pace(parsed_args.timeout, report)
