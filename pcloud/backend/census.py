# Licensed under the Apache License, Version 2.0 (the "License"); you may
# not use this file except in compliance with the License. You may obtain
# a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the
# License for the specific language governing permissions and limitations
# under the License.

"""Count very many hosts: which are known, which serve, and how large they are.

No host is read as a row; `computes` reads hosts one by one, and agrees.
"""

from __future__ import annotations

from collections.abc import Collection
from collections.abc import Iterable
from collections.abc import Mapping
from collections.abc import Sequence
import dataclasses
import functools
import itertools

from nova import context as nova_context
from nova.db.main import api as main_db
from nova.db.main import models
from nova import servicegroup
from oslo_config import cfg
import sqlalchemy as sa

from pcloud.backend import bulk
from pcloud.backend import cells

CONF = cfg.CONF

# More rows than any table has: a table with a limit is made by itself.
_ALL = 2 ** 62

Size = tuple[int, int, int]


@dataclasses.dataclass(frozen=True)
class Census:
    """What is known of very many hosts.

    :ivar known: the hosts that `computes.load` returns
    :ivar silent: the known hosts in silent cells
    :ivar serving: the known hosts that are up and enabled, with one node
    :ivar sizes: the vcpus, MiB of memory and GiB of disk of each host with
        nodes; the smallest numbers of a host with several nodes
    """

    known: frozenset[str]
    silent: frozenset[str]
    serving: frozenset[str]
    sizes: Mapping[str, Size]


def take(
    context: nova_context.RequestContext, hosts: Collection[str],
) -> Census:
    """Return what a choice among very many hosts depends on.

    One query, and two queries a cell, as `bulk.groups`.
    """
    answers = cells.ask_hosts(context, hosts, _census)
    silent = cells.silent_hosts(answers)
    known, serving = set(silent), set()
    sizes: dict[str, Size] = {}
    for there, ready, its_sizes in answers.known.values():
        known |= there
        serving |= ready
        sizes |= its_sizes
    return Census(frozenset(known), silent, frozenset(serving), sizes)


def named(
    context: nova_context.RequestContext, hosts: Collection[str], name: str,
) -> frozenset[str]:
    """Return which of some hosts, or the nodes of which, have a name.

    One query, and one query a cell.

    :raises: `exception.Unavailable` when a cell is silent
    """
    answers = cells.ask_hosts(
        context, hosts, functools.partial(_named, name=name))
    return frozenset().union(*answers.all())


@main_db.pick_context_manager_reader
def _census(
    context: nova_context.RequestContext, hosts: frozenset[str],
) -> tuple[frozenset[str], frozenset[str], dict[str, Size]]:
    """Return the known hosts, the serving hosts and the hosts' sizes."""
    service, node = models.Service, models.ComputeNode
    # MariaDB sorts these columns fast, but not with the columns of criteria.
    services = sa.select(
        service.disabled, service.forced_down,
        sa.func.coalesce(service.last_seen_up, service.created_at).label(
            'seen'), *_asked_for(), service.host,
    ).where(service.deleted == 0, service.binary == 'nova-compute',
            bulk.among(service.host, hosts)).limit(_ALL).subquery()
    states = bulk.groups(context.session, sa.select(*services.c))
    nodes = bulk.groups(context.session, sa.select(
        node.vcpus, node.memory_mb, node.local_gb, node.host).where(
            node.deleted == 0, bulk.among(node.host, hosts)))
    # Databases that compare without case find other hosts too.
    known = hosts.intersection(itertools.chain(*(
        there for *_, there in states)))
    sizes, several = _sizes(nodes, known)
    return known, (_ready(states) & sizes.keys()) - several, sizes


def _asked_for() -> Sequence[sa.ColumnElement[str]]:
    """Return the columns of a service for which Nova asks elsewhere."""
    if CONF.servicegroup_driver == 'db':
        return []
    # Memcached knows each service by these two.
    return [models.Service.topic, models.Service.host.label('asked')]


def _ready(states: Iterable[tuple]) -> frozenset[str]:
    """Return the hosts whose services are up and enabled.

    :param states: what the state of a service depends on, and the service
        hosts
    """
    group = servicegroup.API()
    return frozenset().union(*(
        hosts for disabled, forced_down, seen, *asked, hosts in states
        if not disabled and group.service_is_up({
            'host': hosts[0], 'binary': 'nova-compute',
            'topic': asked[0] if asked else None,
            'forced_down': forced_down, 'last_seen_up': seen,
            'created_at': seen})))


def _sizes(
    nodes: Iterable[tuple], wanted: frozenset[str],
) -> tuple[dict[str, Size], set[str]]:
    """Return the sizes of hosts, and the hosts with several nodes.

    :param nodes: vcpus, memory, disk and the service hosts, a host for each of
        the host's nodes
    """
    sizes: dict[str, Size] = {}
    several = set()
    for vcpus, memory_mb, disk_gb, hosts in nodes:
        size = vcpus, memory_mb, disk_gb
        for host in hosts:
            if host in sizes:
                several.add(host)
                sizes[host] = _smallest(sizes[host], size)
            elif host in wanted:
                sizes[host] = size
    return sizes, several


def _smallest(one: Size, other: Size) -> Size:
    return min(one[0], other[0]), min(one[1], other[1]), min(one[2], other[2])


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
