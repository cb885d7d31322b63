# SPDX-License-Identifier: Apache-2.0

"""Which of many hosts serve.

`computes` reads the services and nodes of few hosts whole, and agrees.
"""

from __future__ import annotations

import collections
from collections.abc import Collection
from collections.abc import Iterator
from collections.abc import Mapping
import dataclasses
import datetime

from nova import context as nova_context
from nova.db.main import api as main_db
from nova.db.main import models
from nova import servicegroup
from oslo_config import cfg
from oslo_utils import timeutils
import sqlalchemy as sa

from pcloud.backend.cells import asking

CONF = cfg.CONF

_IS_COMPUTE = (models.Service.deleted == 0,
               models.Service.binary == 'nova-compute')


@dataclasses.dataclass(frozen=True)
class Census:
    """What is known of many hosts.

    :ivar known: the hosts that `computes.load` returns
    :ivar silent: those of `known` that are in silent cells
    :ivar serving: the hosts that are up and enabled, with one node
    :ivar cells: ``(name, uuid) of a cell -> whether the cell answers``
    """

    known: frozenset[str]
    silent: frozenset[str]
    serving: frozenset[str]
    cells: Mapping[tuple[str, str], bool]


def take(
    context: nova_context.RequestContext, hosts: Collection[str],
    ids: Collection[int] = (), timeout: float | None = None,
) -> Census:
    """Return what a choice among hosts depends on.

    One query, and two queries a cell.

    :param ids: the ids of cells that are asked even without a host
    :param timeout: seconds; None for as long as Nova waits for a cell
    """
    questions: dict[int | None, frozenset[str]] = dict.fromkeys(
        ids, frozenset())
    answers = asking.ask(
        questions | asking.of_hosts(context, hosts), _census, timeout)
    silent = asking.silent_hosts(answers)
    return Census(
        silent.union(*(known for known, _ in answers.known.values())), silent,
        frozenset().union(*(
            serving for _, serving in answers.known.values())),
        asking.answering(answers))


def named(
    context: nova_context.RequestContext, hosts: Collection[str], name: str,
) -> frozenset[str]:
    """Return which of some hosts, or the nodes of which, have a name.

    One query, and one query a cell.

    :raises: `exception.Unavailable` when a cell is silent
    """
    answers = asking.ask_hosts(
        context, hosts, lambda cell, its_hosts: _named(cell, its_hosts, name))
    return frozenset().union(*answers.all())


@main_db.pick_context_manager_reader
def _census(
    context: nova_context.RequestContext, hosts: frozenset[str],
) -> tuple[frozenset[str], frozenset[str]]:
    """Return which hosts of a cell are known, and which serve."""
    service, node = models.Service, models.ComputeNode
    known: set[str] = set()
    nodes: collections.Counter[str] = collections.Counter()
    for host, its_host in context.session.execute(sa.select(
            service.host, node.host,
    ).select_from(service).outerjoin(node, sa.and_(
            node.host == service.host, node.deleted == 0)
    ).where(*_IS_COMPUTE, service.host.in_(hosts))):
        known.add(host)
        # Databases that compare without case find the nodes of others too.
        nodes[host] += its_host == host
    away = frozenset(_away(context, hosts))
    return hosts & known, frozenset(
        host for host in hosts if nodes[host] == 1 and host not in away)


def _away(
    context: nova_context.RequestContext, hosts: frozenset[str],
) -> Iterator[str]:
    """Yield the hosts of a cell whose services are down or disabled.

    Nova's database driver finds a service up that was seen less than
    ``service_down_time`` seconds before or after now, unless the service is
    forced down. Half of ``service_down_time`` leaves the last word to the
    driver. The other drivers have the last word always.
    """
    service = models.Service
    seen = sa.func.coalesce(service.last_seen_up, service.created_at)
    statement = sa.select(
        service.host, service.topic, service.disabled, service.forced_down,
        seen).where(*_IS_COMPUTE, service.host.in_(hosts))
    if CONF.servicegroup_driver == 'db':
        now = timeutils.utcnow()
        margin = datetime.timedelta(seconds=CONF.service_down_time / 2)
        statement = statement.where(sa.or_(
            service.disabled != 0, service.forced_down != 0,
            service.last_seen_up.is_(None),
            service.last_seen_up < now - margin,
            service.last_seen_up > now + margin))
    group = servicegroup.API()
    for host, topic, disabled, forced_down, seen_up in (
            context.session.execute(statement)):
        if disabled or not group.service_is_up({
                'host': host, 'binary': 'nova-compute', 'topic': topic,
                'forced_down': forced_down, 'last_seen_up': seen_up,
                'created_at': seen_up}):
            yield host


@main_db.pick_context_manager_reader
def _named(
    context: nova_context.RequestContext, hosts: Collection[str], name: str,
) -> frozenset[str]:
    node = models.ComputeNode
    # Databases that compare without case find other names too.
    return frozenset(host for host, its_name in context.session.execute(
        sa.select(node.host, node.hypervisor_hostname).where(
            node.deleted == 0,
            sa.or_(node.host == name, node.hypervisor_hostname == name)))
        if host in hosts and name in (host, its_name))
