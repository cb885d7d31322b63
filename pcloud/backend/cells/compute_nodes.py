# SPDX-License-Identifier: Apache-2.0

"""Read the compute nodes of hosts, of any service."""

from __future__ import annotations

import collections
from collections.abc import Collection
from collections.abc import Mapping
from collections.abc import Sequence
import functools

from nova import context as nova_context
from nova.db.main import api as main_db
from nova.db.main import models
from nova import objects
from nova import servicegroup
import sqlalchemy as sa

from pcloud.backend.cells import asking
from pcloud.backend.cells import computes


def known_nodes(
    context: nova_context.RequestContext, hosts: Collection[str],
) -> tuple[dict[str, computes.Node], frozenset[str]]:
    """Return the compute nodes of the hosts with just one node.

    One query a cell.

    :returns: ``service host -> node``, and the service hosts in silent cells
    """
    answers = asking.ask_hosts(context, hosts, _nodes)
    nodes = collections.defaultdict(list)
    for rows in answers.known.values():
        for host, *columns in rows:
            nodes[host].append(computes.Node(*columns))
    return {host: its_nodes[0] for host, its_nodes in nodes.items()
            if len(its_nodes) == 1}, asking.silent_hosts(answers)


def details(
    context: nova_context.RequestContext, hosts: Collection[str],
) -> Mapping[str, tuple[Sequence[dict], Sequence[objects.ComputeNode]]]:
    """Return compute services and whole compute nodes of each cell.

    Two queries a cell. Silent cells are left out.

    :returns: ``cell uuid -> (services, nodes)``; a service has only the fields
        for a scheduler
    """
    return asking.ask_hosts(context, hosts, _details).known


def every_node(
    context: nova_context.RequestContext,
) -> dict[str, tuple[str, str]]:
    """Return all compute nodes.

    One query a cell. Silent cells are left out.

    :returns: ``node uuid -> (service host, hypervisor hostname)``
    """
    answers = asking.ask(asking.of_hosts(context), _every_node)
    return {uuid: (host, name) for rows in answers.known.values()
            for uuid, host, name in rows}


def serving_nodes(
    context: nova_context.RequestContext, uuids: Collection[str],
) -> dict[str, str]:
    """Return the compute nodes whose service is up and enabled.

    One query, and one query a cell. Nodes in silent cells are left out.

    :param uuids: the uuids of the nodes in question
    :returns: ``node uuid -> service host``
    """
    if not uuids:
        return {}
    answers = asking.ask(
        asking.of_hosts(context),
        functools.partial(_serving, uuids=frozenset(uuids)))
    group = servicegroup.API()
    return {service['uuid']: service['host']
            for services in answers.known.values() for service in services
            if group.service_is_up(service)}


def _details(
    context: nova_context.RequestContext, hosts: Collection[str],
) -> tuple[list[dict], objects.ComputeNodeList]:
    services, nodes = computes.services_and_nodes(context, hosts)
    uuids = [node.uuid for its_nodes in nodes.values() for node in its_nodes]
    return services, objects.ComputeNodeList.get_all_by_uuids(context, uuids)


@main_db.pick_context_manager_reader
def _nodes(
    context: nova_context.RequestContext, hosts: Collection[str],
) -> list[sa.Row]:
    return context.session.execute(_select_nodes(hosts)).all()


@main_db.pick_context_manager_reader
def _every_node(
    context: nova_context.RequestContext, hosts: Collection[str],
) -> list[sa.Row]:
    node = models.ComputeNode
    return [row for row in context.session.execute(
        sa.select(node.uuid, node.host, node.hypervisor_hostname)
        .where(node.deleted == 0)) if row.host in hosts]


@main_db.pick_context_manager_reader
def _serving(
    context: nova_context.RequestContext, hosts: Collection[str],
    uuids: Collection[str],
) -> list[dict]:
    node, service = models.ComputeNode, models.Service
    found = context.session.execute(
        sa.select(node.uuid, *computes.STATE)
        .join(service, service.host == node.host)
        .where(node.deleted == 0, service.deleted == 0,
               service.binary == 'nova-compute',
               sa.not_(service.disabled)))
    return [dict(row._mapping) for row in found
            if row.host in hosts and row.uuid in uuids]


def _select_nodes(hosts: Collection[str]) -> sa.Select:
    """Select the service host, and then the columns of `Node` in order."""
    return sa.select(models.ComputeNode.host, *computes.NODE).where(
        models.ComputeNode.deleted == 0, models.ComputeNode.host.in_(hosts))
