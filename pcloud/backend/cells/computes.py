# SPDX-License-Identifier: Apache-2.0

"""Read compute services, compute nodes and servers from Nova's cells.

Each function reads the cells of the hosts from the API database, and then asks
each cell once, with a number of queries independent of the number of hosts.
"""

# Nova's objects are registered when its services start, perhaps after us.
from __future__ import annotations

import collections
from collections.abc import Collection
import dataclasses

from nova.compute import vm_states
from nova import context as nova_context
from nova.db.main import api as main_db
from nova.db.main import models
from nova import servicegroup
from oslo_config import cfg
from oslo_log import log as logging
import sqlalchemy as sa

from pcloud.backend.aggregates import inherited_metadata
from pcloud.backend.cells import asking
from pcloud import exception

CONF = cfg.CONF
LOG = logging.getLogger(__name__)

# Nova's own notion of a migration that is over. 'finished' is not among
# them: a finished resize can still be reverted to its source.
MIGRATION_OVER = ('confirmed', 'reverted', 'error', 'failed', 'completed',
                  'cancelled', 'done')
# What Nova reads of a service to tell whether the service is up.
STATE = (models.Service.host, models.Service.disabled,
         models.Service.forced_down, models.Service.last_seen_up,
         models.Service.created_at, models.Service.binary,
         models.Service.topic)
_STATE_KEYS = tuple(column.key for column in STATE)
# In the order of the fields of `Node`.
NODE = (models.ComputeNode.uuid, models.ComputeNode.hypervisor_hostname,
        models.ComputeNode.vcpus, models.ComputeNode.vcpus_used,
        models.ComputeNode.memory_mb, models.ComputeNode.memory_mb_used,
        models.ComputeNode.local_gb, models.ComputeNode.local_gb_used)
_SERVER, _MIGRATION = 'server', 'migration'
# The parameter of statements that are made once.
_HOSTS = 'hosts'

# Seconds to wait for a cell where the answer may come later too.
_PATIENCE = 5.0


@dataclasses.dataclass(frozen=True)
class Node:
    """A compute node.

    :ivar uuid: also the uuid of the node's resource provider in Placement
    :ivar hypervisor_hostname: the name of the node and of the resource
        provider
    :ivar vcpus: physical CPUs; memory and disk are in MiB and GiB
    """

    uuid: str
    hypervisor_hostname: str
    vcpus: int
    vcpus_used: int
    memory_mb: int
    memory_mb_used: int
    disk_gb: int
    disk_gb_used: int


@dataclasses.dataclass(frozen=True)
class UnknownNode:
    """A compute node of which only the name is known.

    The cell of the node does not answer.
    """

    hypervisor_hostname: str
    uuid: None = None
    vcpus: None = None
    vcpus_used: None = None
    memory_mb: None = None
    memory_mb_used: None = None
    disk_gb: None = None
    disk_gb_used: None = None


@dataclasses.dataclass(frozen=True, slots=True)
class Server:
    """A server on a host.

    :ivar flavor: the flavor's id in the database
    """

    uuid: str
    flavor: int


@dataclasses.dataclass(frozen=True)
class Compute:
    """A service host with the compute nodes of the host.

    A host in a silent cell has no known node, and counts as neither up nor
    enabled.

    :ivar nodes: the compute nodes; exactly one node on any host of a pool
    :ivar up: whether the compute service reports, and is not forced down
    :ivar enabled: whether the compute service is enabled
    :ivar zone: the availability zone
    :ivar answered: whether the host's cell answers
    :ivar fenced: whether the compute service is forced down
    """

    host: str
    nodes: tuple[Node, ...]
    up: bool
    enabled: bool
    zone: str
    answered: bool = True
    fenced: bool = False

    @property
    def node(self) -> Node:
        """The only compute node of the host.

        :raises: `exception.Conflict` when the host has another number
            of nodes, `exception.Unavailable` when the host's cell is silent
        """
        if not self.answered:
            raise exception.Unavailable()
        if len(self.nodes) != 1:
            # The error may reach an owner, who must not learn the host.
            LOG.warning('Host %(host)s has %(count)d compute nodes.',
                        {'host': self.host, 'count': len(self.nodes)})
            raise exception.Conflict(
                f'The host has {len(self.nodes)} compute nodes; only a host '
                'with exactly one can be given away as a whole.')
        return self.nodes[0]


def load(
    context: nova_context.RequestContext, hosts: Collection[str],
) -> dict[str, Compute]:
    """Return the compute services and nodes of hosts.

    One query a cell and one query for the zones. A host in no cell, or
    without a compute service in the cell, has no entry. A host in a silent
    cell has an entry, see `Compute.answered`.

    :returns: ``service host -> Compute``
    """
    if not hosts:
        return {}
    zones = inherited_metadata.zones_of_hosts(context, hosts)

    def zone(host: str) -> str:
        return zones.get(host, CONF.default_availability_zone)

    answers = asking.ask_hosts(context, hosts, services_and_nodes)
    computes = {host: Compute(host, nodes=(), up=False, enabled=False,
                              zone=zone(host), answered=False)
                for host in asking.silent_hosts(answers)}
    group = servicegroup.API()
    for services, nodes_of in answers.known.values():
        for service in services:
            computes[service['host']] = Compute(
                host=service['host'],
                nodes=tuple(nodes_of.get(service['host'], ())),
                up=bool(group.service_is_up(service)),
                enabled=not service['disabled'],
                zone=zone(service['host']),
                fenced=bool(service['forced_down']))
    return computes


def of_host(context: nova_context.RequestContext, host: str) -> Compute:
    """Return the compute service and nodes of one host.

    :raises: `exception.ComputeHostNotFound` when no compute service has
        exactly the given name, `exception.Unavailable` when the host's cell is
        silent
    """
    compute = load(context, [host]).get(host)
    if compute is None:
        raise exception.ComputeHostNotFound(host=host)
    if not compute.answered:
        raise exception.Unavailable()
    return compute


def instances(
    context: nova_context.RequestContext, hosts: Collection[str],
) -> dict[str, list[str]]:
    """Return the uuids of the servers on hosts.

    One query a cell. Servers in any state count, shelved and soft-deleted
    servers too, as long as the server has the host.

    :returns: ``service host -> server uuids``
    :raises: `exception.Unavailable` when a cell is silent
    """
    servers, silent = known_instances(context, hosts)
    if silent:
        raise exception.Unavailable()
    return servers


def known_instances(
    context: nova_context.RequestContext, hosts: Collection[str],
) -> tuple[dict[str, list[str]], frozenset[str]]:
    """Return `instances`, and the service hosts in silent cells.

    One query a cell.
    """
    answers = asking.ask_hosts(context, hosts, _instances)
    return asking.by_host(answers), asking.silent_hosts(answers)


def running(
    context: nova_context.RequestContext, hosts: Collection[str],
) -> dict[str, list[Server]]:
    """Return the servers that run on hosts, or may run at any time.

    One query a cell. Stopped servers count, because no scheduler is asked when
    a stopped server starts; soft-deleted servers do not. Silent cells are left
    out.

    :returns: ``service host -> servers``
    """
    servers = collections.defaultdict(list)
    for rows in asking.ask_hosts(context, hosts, _running).known.values():
        for host, *columns in rows:
            servers[host].append(Server(*columns))
    return servers


def servers_and_migrations(
    context: nova_context.RequestContext, host: str,
) -> tuple[list[str], list[str]]:
    """Return what is on a host, or may still end there.

    One query in the host's cell. Servers count as in `instances`. Resizes and
    evacuations are migrations too.

    :returns: the uuids of the servers on the host, and of the migrations from
        or to the host that are not over
    :raises: `exception.Unavailable` when the host's cell is silent
    """
    answers = asking.ask_hosts(context, [host], _servers_and_migrations)
    found = [row for rows in answers.all() for row in rows]
    return ([uuid for kind, uuid in found if kind == _SERVER],
            [uuid for kind, uuid in found if kind == _MIGRATION])


def hosts_in_use(
    context: nova_context.RequestContext, hosts: Collection[str],
) -> frozenset[str]:
    """Return the hosts with servers, or with migrations that are not over.

    One query and one query a cell. A host in a silent cell counts as in use. A
    cell that does not answer within seconds is silent here: nobody has asked
    for the hosts.
    """
    used, silent = known_in_use(context, hosts)
    return used | silent


def known_in_use(
    context: nova_context.RequestContext, hosts: Collection[str],
) -> tuple[frozenset[str], frozenset[str]]:
    """Return `hosts_in_use`, and apart from those the hosts in silent cells.

    The queries of `hosts_in_use`.
    """
    answers = asking.ask(
        asking.of_hosts(context, hosts), _hosts_in_use, _PATIENCE)
    return (frozenset().union(*answers.known.values()),
            asking.silent_hosts(answers))


@main_db.pick_context_manager_reader
def services_and_nodes(
    context: nova_context.RequestContext, hosts: Collection[str],
) -> tuple[list[dict], dict[str, list[Node]]]:
    """Return the services of hosts, and ``service host -> nodes``."""
    services: dict[str, dict] = {}
    nodes = collections.defaultdict(list)
    for row in context.session.execute(
            _select_services_and_nodes(), {_HOSTS: list(hosts)}):
        state = dict(zip(_STATE_KEYS, row, strict=False))
        # Databases that compare without case find other hosts too.
        if state['host'] not in hosts:
            continue
        services[state['host']] = state
        host, *columns = row[len(STATE):]
        if host == state['host']:
            nodes[host].append(Node(*columns))
    return list(services.values()), nodes


def _select_services_and_nodes() -> sa.Select:
    """Select `STATE`, service host and `NODE`, of the hosts `_HOSTS`."""
    service, node = models.Service, models.ComputeNode
    return sa.select(*STATE, node.host, *NODE).select_from(
        service,
    ).outerjoin(
        node, sa.and_(node.host == service.host, node.deleted == 0),
    ).where(service.deleted == 0, service.binary == 'nova-compute',
            service.host.in_(_hosts()))


def _hosts() -> sa.BindParameter:
    """Return the parameter `_HOSTS` of a statement that is made once."""
    return sa.bindparam(_HOSTS, expanding=True)


@main_db.pick_context_manager_reader
def _instances(
    context: nova_context.RequestContext, hosts: Collection[str],
) -> list[sa.Row]:
    return context.session.execute(
        sa.select(models.Instance.host, models.Instance.uuid)
        .where(models.Instance.deleted == 0,
               models.Instance.host.in_(hosts))
        .order_by(models.Instance.created_at, models.Instance.uuid)).all()


@main_db.pick_context_manager_reader
def _running(
    context: nova_context.RequestContext, hosts: Collection[str],
) -> list[sa.Row]:
    """Return the host, and then the columns of `Server` in order."""
    server = models.Instance
    return context.session.execute(
        sa.select(server.host, server.uuid, server.instance_type_id)
        .where(server.deleted == 0, server.host.in_(hosts),
               sa.func.coalesce(server.vm_state, '') !=
               vm_states.SOFT_DELETED)).all()


@main_db.pick_context_manager_reader
def _servers_and_migrations(
    context: nova_context.RequestContext, hosts: Collection[str],
) -> list[sa.Row]:
    return context.session.execute(
        _select_servers_and_migrations(), {_HOSTS: list(hosts)}).all()


def _select_servers_and_migrations() -> sa.CompoundSelect:
    """Select what uses the hosts `_HOSTS`: the kind, and the uuid."""
    server, migration = models.Instance, models.Migration
    return sa.union_all(
        sa.select(sa.literal(_SERVER), server.uuid)
        .where(server.deleted == 0, server.host.in_(_hosts())),
        sa.select(sa.literal(_MIGRATION), migration.uuid)
        .where(migration.deleted == 0,
               sa.or_(migration.source_compute.in_(_hosts()),
                      migration.dest_compute.in_(_hosts())),
               sa.not_(migration.status.in_(MIGRATION_OVER))))


@main_db.pick_context_manager_reader
def _hosts_in_use(
    context: nova_context.RequestContext, hosts: Collection[str],
) -> frozenset[str]:
    server, migration = models.Instance, models.Migration

    def moved(column: sa.Column) -> sa.Select:
        return sa.select(column).where(
            migration.deleted == 0, column.in_(hosts),
            sa.not_(migration.status.in_(MIGRATION_OVER)))

    return frozenset(context.session.scalars(sa.union(
        sa.select(server.host).where(
            server.deleted == 0, server.host.in_(hosts)),
        moved(migration.source_compute), moved(migration.dest_compute))))
