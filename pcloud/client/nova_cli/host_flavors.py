# SPDX-License-Identifier: Apache-2.0

"""The nova commands of host flavors.

An extension of python-novaclient: each function named do_... is a command.
"""

import argparse
import typing

from novaclient import utils

from pcloud.client import display
from pcloud.client.nova_cli import output

_UNITS_HELP = "What one host counts against a project's quota, 0 or more."
_DESCRIPTION_HELP = 'What this kind of host is like.'

_flavor_arg = utils.arg('id', metavar='<id>', help='Id of the host flavor.')
_host_arg = utils.arg('host', metavar='<host>',
                      help='Host of the compute service.')


@utils.arg('id', metavar='<id>',
           help='Id of the new host flavor: up to 64 letters, digits, ".", '
                '"_" and "-".')
@utils.arg('--units', metavar='<units>', type=int, required=True,
           help=_UNITS_HELP)
@utils.arg('--description', metavar='<description>', default='',
           help=_DESCRIPTION_HELP)
def do_host_flavor_create(cs: typing.Any, args: typing.Any) -> None:
    """Create a host flavor, without hosts yet. Admin only."""
    flavor = output.client(cs).create_host_flavor(
        args.id, args.units, args.description)
    output.show(flavor, display.host_flavor_fields(flavor))


def do_host_flavor_list(cs: typing.Any, args: typing.Any) -> None:
    """List the host flavors, with the number of free hosts."""
    output.show_all(output.client(cs).list_host_flavors(),
                    display.HOST_FLAVOR_LIST)


@_flavor_arg
@utils.arg('--rack', metavar='<rack>',
           help='Only hosts in this rack (admin only).')
@utils.arg('--platform-before', metavar='<version>',
           help='Only hosts with an older platform version, or without one '
                '(admin only).')
def do_host_flavor_show(cs: typing.Any, args: typing.Any) -> None:
    """Show a host flavor. An admin sees the hosts of the pool too."""
    from pcloud.client import pool_hosts
    flavor = pool_hosts.matching(
        output.client(cs).get_host_flavor(args.id), args.rack,
        args.platform_before)
    output.show(flavor, display.host_flavor_fields(flavor))


@_flavor_arg
@utils.arg('--units', metavar='<units>', type=int,
           default=argparse.SUPPRESS, help=_UNITS_HELP)
@utils.arg('--description', metavar='<description>',
           default=argparse.SUPPRESS, help=_DESCRIPTION_HELP)
def do_host_flavor_update(cs: typing.Any, args: typing.Any) -> None:
    """Change a host flavor. Admin only."""
    changes = output.given(args, ('units', 'description'))
    flavor = output.client(cs).update_host_flavor(args.id, **changes)
    output.show(flavor, display.host_flavor_fields(flavor))


@_flavor_arg
def do_host_flavor_delete(cs: typing.Any, args: typing.Any) -> None:
    """Delete a host flavor that has no hosts. Admin only."""
    output.client(cs).delete_host_flavor(args.id)


@_flavor_arg
@_host_arg
def do_host_flavor_host_add(cs: typing.Any, args: typing.Any) -> None:
    """Put a host into the pool of a host flavor. Admin only.

    The host must be empty and the compute service of the host disabled. The
    command enables the service.
    """
    output.client(cs).add_pool_host(args.id, args.host)


@_flavor_arg
@_host_arg
def do_host_flavor_host_remove(cs: typing.Any, args: typing.Any) -> None:
    """Take a host out of the pool of a host flavor. Admin only.

    The host must be empty and in no Pcloud. The command disables the compute
    service of the host.
    """
    output.client(cs).remove_pool_host(args.id, args.host)
