# SPDX-License-Identifier: Apache-2.0

"""The nova commands of Pclouds, their hosts and tenants, and the quota.

An extension of python-novaclient: each function named do_... is a command.
"""

from __future__ import annotations

import argparse
import typing

from novaclient import exceptions as nova_exceptions
from novaclient import utils

from pcloud.client import arguments
from pcloud.client import display
from pcloud.client.nova_cli import output

if typing.TYPE_CHECKING:
    from pcloud.client import v1

_pcloud_arg = utils.arg(
    'pcloud', metavar='<pcloud>',
    help='Pcloud (name or id).')
_host_arg = utils.arg(
    'name', metavar='<name>', help='Name of the host in the Pcloud.')
_force_arg = utils.arg(
    '--force', action='store_true',
    help='Also when shelved servers, which have no other home, can never be '
         'unshelved then.')


@utils.arg('name', metavar='<name>',
           help='Name of the new Pcloud; need not be unique.')
def do_pcloud_create(cs: typing.Any, args: typing.Any) -> None:
    """Create a Pcloud, without hosts yet."""
    output.show(output.client(cs).create_pcloud(args.name), display.PCLOUD)


@utils.arg('--all-tenants', action='store_true',
           help='List the Pclouds of all projects (admin only).')
def do_pcloud_list(cs: typing.Any, args: typing.Any) -> None:
    """List the Pclouds that your project owns or is a tenant of."""
    pclouds = output.client(cs).list_pclouds(all_tenants=args.all_tenants)
    output.show_all(pclouds, display.PCLOUD_LIST)


@_pcloud_arg
def do_pcloud_show(cs: typing.Any, args: typing.Any) -> None:
    """Show a Pcloud."""
    client = output.client(cs)
    output.show(client.with_growth(client.find_pcloud(args.pcloud)),
                display.PCLOUD_WITH_GROWTH)


@_pcloud_arg
@utils.arg('--name', metavar='<name>', default=argparse.SUPPRESS,
           help='New name of the Pcloud.')
@utils.arg('--cpu-allocation-ratio', metavar='<ratio>',
           type=arguments.ratio_or_none, default=argparse.SUPPRESS,
           help='Virtual CPUs for each physical one of its hosts, or "none" '
                "for the cloud's own ratio.")
@utils.arg('--ram-allocation-ratio', metavar='<ratio>',
           type=arguments.ratio_or_none, default=argparse.SUPPRESS,
           help='Memory given out for what its hosts have, or "none" for '
                "the cloud's own ratio.")
@utils.arg('--maintenance-policy', metavar='<policy>',
           choices=arguments.MAINTENANCE_POLICIES, default=argparse.SUPPRESS,
           help='What becomes of the servers of a host before a maintenance: '
                '"stay", "migrate" to the other hosts, or "replace", where a '
                'free host joins first.')
@utils.arg('--host-recovery', metavar='<recovery>',
           choices=arguments.HOST_RECOVERIES, default=argparse.SUPPRESS,
           help='What is done for a host that has failed and is fenced: '
                '"off", "in_place", where its servers are started on the '
                'other hosts, or "replace", where a free host joins first.')
@utils.arg('--pin-by-tenants', metavar='<yes|no>',
           type=arguments.is_yes, default=argparse.SUPPRESS,
           help='Whether tenants other than you may name the host of a server '
                '(--hint pcloud_host=<name>).')
@utils.arg('--placement', metavar='<placement>',
           choices=arguments.PLACEMENTS, default=argparse.SUPPRESS,
           help='How servers fill the hosts: "pack", "spread", or "default", '
                'as everywhere in the cloud.')
@utils.arg('--flavors', metavar='<ids|all>',
           type=arguments.ids_or_all, default=argparse.SUPPRESS,
           help='Flavors that the Pcloud takes (ids with commas between), or '
                '"all".')
@utils.arg('--images', metavar='<ids|all>',
           type=arguments.ids_or_all, default=argparse.SUPPRESS,
           help='Images that the Pcloud takes, likewise.')
def do_pcloud_update(cs: typing.Any, args: typing.Any) -> None:
    """Change the name, the ratios or the rules of a Pcloud."""
    changes = output.given(args, (
        'name', 'cpu_allocation_ratio', 'ram_allocation_ratio',
        'maintenance_policy', 'host_recovery', 'pin_by_tenants', 'placement',
        'flavors', 'images'))
    client, pcloud_id = _find(cs, args)
    output.show(client.update_pcloud(pcloud_id, **changes), display.PCLOUD)


@_pcloud_arg
@_force_arg
def do_pcloud_delete(cs: typing.Any, args: typing.Any) -> None:
    """Delete a Pcloud that has no hosts."""
    client, pcloud_id = _find(cs, args)
    client.delete_pcloud(pcloud_id, force=args.force)


@_pcloud_arg
@utils.arg('name', metavar='<name>',
           help='New name of the host, unique in the Pcloud.')
@utils.arg('--host-flavor', metavar='<host-flavor>', dest='host_flavor',
           group='kind',
           help='Kind of host (id, see "nova host-flavor-list").')
@utils.arg('--constraints', metavar='<constraints>', dest='constraints',
           group='kind',
           help='Instead of the kind: what the host must have, such as '
                '"ram=64G cpu=16", "resource:VGPU=2", '
                '"trait:HW_CPU_X86_AVX=required" or "hardware_class>=3"; the '
                'host flavor that wastes least is taken.')
@utils.arg('--availability-zone', metavar='<zone>',
           help='Zone the host must be in (default: any).')
def do_pcloud_host_add(cs: typing.Any, args: typing.Any) -> None:
    """Take a free host into a Pcloud. The host is disabled at first."""
    # A group of novaclient's refuses two options, but not none.
    if args.host_flavor is None and args.constraints is None:
        raise nova_exceptions.CommandError(
            'Which host is wanted? Give one of --host-flavor, --constraints')
    client, pcloud_id = _find(cs, args)
    host = client.add_host(
        pcloud_id, args.name, args.host_flavor, args.availability_zone,
        args.constraints)
    output.show(host, display.host_fields(host))


@_pcloud_arg
@utils.arg('--long', action='store_true',
           help='Show sizes, what is used, the next reboot and the rack too.')
def do_pcloud_host_list(cs: typing.Any, args: typing.Any) -> None:
    """List the hosts of a Pcloud."""
    client, pcloud_id = _find(cs, args)
    output.show_all(
        client.list_hosts(pcloud_id),
        display.HOST_LIST if args.long else display.HOST_SHORT_LIST)


@_pcloud_arg
@_host_arg
def do_pcloud_host_show(cs: typing.Any, args: typing.Any) -> None:
    """Show a host of a Pcloud."""
    client, pcloud_id = _find(cs, args)
    host = client.get_host(pcloud_id, args.name)
    output.show(host, (*display.host_fields(host), *display.HOST_KIND))


@_pcloud_arg
@_host_arg
def do_pcloud_host_enable(cs: typing.Any, args: typing.Any) -> None:
    """Let servers start on a host of a Pcloud."""
    _set_state(cs, args, 'enabled')


@_pcloud_arg
@_host_arg
def do_pcloud_host_disable(cs: typing.Any, args: typing.Any) -> None:
    """Start no more servers on a host of a Pcloud. Running servers stay."""
    _set_state(cs, args, 'disabled')


@_pcloud_arg
@_host_arg
def do_pcloud_host_remove(cs: typing.Any, args: typing.Any) -> None:
    """Give a host of a Pcloud back. The host must be disabled and empty."""
    client, pcloud_id = _find(cs, args)
    client.remove_host(pcloud_id, args.name)


@_pcloud_arg
@utils.arg('tenant', metavar='<tenant>',
           help='Id or name of the project; the name of a project of another '
                'domain than yours where the operator allows that.')
@utils.arg('--project-domain', metavar='<domain>', default=None,
           help='Domain (name or id) of a project that is given by name; '
                'yours by default.')
def do_pcloud_tenant_add(cs: typing.Any, args: typing.Any) -> None:
    """Let a project start servers in a Pcloud."""
    client, pcloud_id = _find(cs, args)
    client.let_in(pcloud_id, args.tenant, args.project_domain)


@_pcloud_arg
@utils.arg('tenant', metavar='<tenant>',
           help='Id of the project, or its name as pcloud-tenant-list shows '
                'it.')
@_force_arg
def do_pcloud_tenant_remove(cs: typing.Any, args: typing.Any) -> None:
    """Let a project no longer start servers in a Pcloud."""
    client, pcloud_id = _find(cs, args)
    client.let_out(pcloud_id, args.tenant, force=args.force)


@_pcloud_arg
def do_pcloud_tenant_list(cs: typing.Any, args: typing.Any) -> None:
    """List the projects that may start servers in a Pcloud."""
    client, pcloud_id = _find(cs, args)
    tenants = client.list_tenants(pcloud_id)
    tenants.sort(key=lambda each: each.place)
    output.show_all(tenants, display.TENANT_LIST)


@utils.arg('project', metavar='<project>', nargs='?',
           help='Id of the project (default: the one you are logged in to; '
                'admin only for others).')
def do_pcloud_quota_show(cs: typing.Any, args: typing.Any) -> None:
    """Show the limit of a project's units of hosts, and the units in use."""
    output.show(output.client(cs).get_quota(args.project), display.QUOTA)


@utils.arg('project', metavar='<project>', help='Id of the project.')
@utils.arg('--units', metavar='<units>', type=int, required=True,
           help='Limit in units of host flavors; -1 is unlimited.')
def do_pcloud_quota_update(cs: typing.Any, args: typing.Any) -> None:
    """Set how many units of hosts a project may own. Admin only."""
    quota = output.client(cs).update_quota(args.project, args.units)
    output.show(quota, display.QUOTA)


_default_project_arg = utils.arg(
    '--project', metavar='<project>',
    help='Id of the project (default: the one you are logged in to; admin '
         'only for others).')


@_pcloud_arg
@utils.arg('--mode', metavar='<mode>', default='strict',
           choices=('strict', 'prefer', 'grow'),
           help='strict: in the Pcloud or not at all (the default); prefer: '
                'outside of Pclouds when the Pcloud has no capacity; grow: in '
                'the Pcloud, which free hosts join when there is no '
                'capacity.')
@utils.arg('--grow-flavor', metavar='<host-flavor>',
           help='Host flavor of new hosts (mode grow).')
@utils.arg('--max-hosts', metavar='<n>', type=int,
           help='Most hosts in the Pcloud (mode grow).')
@utils.arg('--availability-zone', metavar='<zone>',
           help='Zone of new hosts (mode grow; default: any).')
@_default_project_arg
def do_pcloud_default_set(cs: typing.Any, args: typing.Any) -> None:
    """Set where servers of a project go that name no Pcloud."""
    wrong = arguments.misplaced_growth(
        args.mode, args.grow_flavor, args.max_hosts, args.availability_zone)
    if wrong:
        raise nova_exceptions.CommandError(wrong)
    client, pcloud_id = _find(cs, args)
    output.show(client.set_default_pcloud(
        pcloud_id, args.mode, args.project, host_flavor=args.grow_flavor,
        max_hosts=args.max_hosts, availability_zone=args.availability_zone),
        display.DEFAULT_PCLOUD)


@_default_project_arg
def do_pcloud_default_show(cs: typing.Any, args: typing.Any) -> None:
    """Show where servers of a project go that name no Pcloud."""
    output.show(output.client(cs).get_default_pcloud(args.project),
                display.DEFAULT_PCLOUD)


@_default_project_arg
def do_pcloud_default_unset(cs: typing.Any, args: typing.Any) -> None:
    """Let servers that name no Pcloud start outside of Pclouds."""
    output.show(
        output.client(cs).set_default_pcloud(None, project_id=args.project),
        display.DEFAULT_PCLOUD)


def _find(cs: typing.Any, args: argparse.Namespace) -> tuple[v1.Client, str]:
    client = output.client(cs)
    return client, client.find_pcloud(args.pcloud).id


def _set_state(cs: typing.Any, args: argparse.Namespace,
               state: typing.Literal['enabled', 'disabled']) -> None:
    client, pcloud_id = _find(cs, args)
    client.set_host_state(pcloud_id, args.name, state)
