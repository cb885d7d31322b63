# SPDX-License-Identifier: Apache-2.0

"""Count very many hosts: which are known, which serve, and how large they are.

No host is read as a row; `computes` reads hosts one by one, and agrees.
"""

from __future__ import annotations

from collections.abc import Collection
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
import dataclasses
import datetime
import functools
import weakref

from nova import context as nova_context
from nova.db.main import api as main_db
from nova.db.main import models
from nova import servicegroup
from oslo_config import cfg
from oslo_utils import timeutils
import sqlalchemy as sa

from pcloud.backend import bulk
from pcloud.backend.cells import asking
from pcloud.backend import host_sets

CONF = cfg.CONF

Size = tuple[int, int, int]
# None where no size is known.
Smallest = tuple[int | None, int | None, int | None]

# How many sets of hosts are remembered with the different sizes of the hosts.
_REMEMBERED = 256
# When a service was last seen that is surely up.
_EARLIEST, _LATEST = 'earliest', 'latest'


class Sizes:
    """The sizes of the hosts of a cell.

    :ivar of: service host -> vcpus, MiB of memory and GiB of disk; the
        smallest numbers of a host with several nodes
    :ivar single: the hosts with one node
    :ivar different: returns the different sizes of a set of hosts; from one
        request to the next the hosts of a pool are mostly the same
    """

    def __init__(
        self, of: Mapping[str, Size], several: frozenset[str],
    ) -> None:
        self.of = of
        self.single = frozenset(of) - several
        self.different = functools.lru_cache(_REMEMBERED)(self._different)

    def _different(self, hosts: frozenset[str]) -> frozenset[Size]:
        return frozenset(filter(None, map(self.of.get, hosts)))


@dataclasses.dataclass(frozen=True)
class Census:
    """What is known of very many hosts.

    :ivar unknown: the hosts that `computes.load` does not return
    :ivar silent: the other hosts in silent cells
    :ivar serving: the hosts to choose among that are up and enabled, with one
        node
    :ivar sizes: of the hosts with nodes, for each cell that answers
    """

    unknown: frozenset[str]
    silent: frozenset[str]
    serving: frozenset[str]
    sizes: Sequence[Sizes]

    def known(self, hosts: frozenset[str]) -> frozenset[str]:
        """Leave out the hosts that `computes.load` does not return."""
        return hosts - self.unknown if self.unknown else hosts

    def smallest(self, hosts: frozenset[str]) -> Smallest:
        """Return the smallest of each number in the sizes of known hosts.

        :param hosts: some of the hosts that were asked for
        """
        known = self.known(hosts)
        different = frozenset().union(*(
            sizes.different(known) for sizes in self.sizes))
        vcpus, memory_mb, disk_gb = (
            zip(*different) if different else ((),) * 3)
        return (min(vcpus, default=None), min(memory_mb, default=None),
                min(disk_gb, default=None))


def take(
    context: nova_context.RequestContext, hosts: frozenset[str],
    choice: frozenset[str],
) -> Census:
    """Return what a choice among very many hosts depends on.

    The queries of `asking.of_hosts`, and three queries a cell.

    :param choice: the hosts to choose among
    """
    answers = asking.ask_hosts(
        context, hosts, functools.partial(_census, choice=choice))
    silent = asking.silent_hosts(answers)
    known, serving, sizes = [silent], [], []
    for there, ready, its_sizes in answers.known.values():
        known.append(there)
        serving.append(ready)
        sizes.append(its_sizes)
    return Census(bulk.without(hosts, bulk.union(*known)), silent,
                  frozenset().union(*serving), sizes)


def named(
    context: nova_context.RequestContext, hosts: Collection[str], name: str,
) -> frozenset[str]:
    """Return which of some hosts, or the nodes of which, have a name.

    One query, and one query a cell.

    :raises: `exception.Unavailable` when a cell is silent
    """
    answers = asking.ask_hosts(
        context, hosts, functools.partial(_named, name=name))
    return frozenset().union(*answers.all())


@main_db.pick_context_manager_reader
def _census(
    context: nova_context.RequestContext, hosts: frozenset[str],
    choice: frozenset[str],
) -> tuple[frozenset[str], frozenset[str], Sizes]:
    """Return the known hosts, the serving hosts and the hosts' sizes."""
    doubtful = bulk.groups(context.session, bulk.only(
        _select_doubtful(CONF.servicegroup_driver), models.Service.host, hosts,
    ), _surely_up())
    kept = _KEPT.setdefault(context.session.connection().engine, _Nodes())
    sizes = kept.sizes(bulk.sets(context.session, bulk.only(
        _select_sizes(), models.ComputeNode.host, hosts), kept.memo))
    # Databases that compare without case find other hosts too.
    known = bulk.common(hosts, _with_services(context, hosts))
    return known, bulk.common(
        bulk.common(choice, known), sizes.single,
    ).difference(_away(doubtful)), sizes


def _with_services(
    context: nova_context.RequestContext, hosts: Collection[str],
) -> frozenset[str]:
    """Return hosts with a compute service, those of some hosts among them."""
    if len(hosts) > bulk.MOST_NAMED:
        return bulk.union(*host_sets.read(
            context.session, host_sets.SERVICES).values())
    host = models.Service.host
    return bulk.distinct(context.session, sa.select(host).where(
        *host_sets.SERVICES.criteria, host.in_(hosts)))


# To make the statements takes longer than to use them where hosts are few.
@functools.cache
def _select_doubtful(driver: str) -> sa.Select:
    """Select the services that may be down or are disabled, for `_away`.

    Nova's database driver finds a service up that was seen less than
    ``service_down_time`` seconds before or after now, unless the service is
    forced down. The other drivers have the last word always.

    :param driver: what Nova asks whether a service is up
    """
    service = models.Service
    statement = sa.select(
        service.disabled, service.forced_down, sa.func.coalesce(
            service.last_seen_up, service.created_at).label('seen'),
    ).where(*host_sets.SERVICES.criteria)
    if driver != 'db':
        # Memcached knows each service by these two.
        return statement.add_columns(
            service.topic, service.host.label('asked'), service.host)
    return statement.add_columns(service.host).where(sa.or_(
        service.disabled != 0, service.forced_down != 0,
        service.last_seen_up.is_(None),
        service.last_seen_up < sa.bindparam(_EARLIEST),
        service.last_seen_up > sa.bindparam(_LATEST)))


def _surely_up() -> dict[str, datetime.datetime]:
    """Return the parameters of `_select_doubtful`.

    Half of ``service_down_time`` leaves the last word to Nova's driver.
    """
    now = timeutils.utcnow()
    margin = datetime.timedelta(seconds=CONF.service_down_time / 2)
    return {_EARLIEST: now - margin, _LATEST: now + margin}


@functools.cache
def _select_sizes() -> sa.Select:
    """Select the sizes of nodes, and the service hosts."""
    node = models.ComputeNode
    return sa.select(
        node.vcpus, node.memory_mb, node.local_gb, node.host,
    ).where(node.deleted == 0)


def _away(states: Iterable[tuple]) -> Iterator[str]:
    """Yield the hosts whose services are down or disabled.

    :param states: what the state of a service depends on, and the service
        hosts
    """
    group = servicegroup.API()
    for disabled, forced_down, seen, *asked, hosts in states:
        if disabled or not group.service_is_up({
                'host': hosts[0], 'binary': 'nova-compute',
                'topic': asked[0] if asked else None,
                'forced_down': forced_down, 'last_seen_up': seen,
                'created_at': seen}):
            yield from hosts


class _Nodes:
    """The nodes of a cell in the last answer of the cell.

    :ivar memo: as for `bulk.sets`
    """

    def __init__(self) -> None:
        self.memo = bulk.Memo()
        self._last: tuple[Sequence[tuple], Sizes] = [], _sizes([])

    def sizes(self, nodes: Sequence[tuple]) -> Sizes:
        """Return the sizes of the hosts, the same where the nodes are."""
        if self._last[0] != nodes:
            self._last = nodes, _sizes(nodes)
        return self._last[1]


_KEPT: weakref.WeakKeyDictionary[sa.Engine, _Nodes] = (
    weakref.WeakKeyDictionary())


def _sizes(nodes: Iterable[tuple]) -> Sizes:
    """Return the sizes of hosts.

    :param nodes: vcpus, memory, disk, the service hosts, and the service hosts
        with several such nodes
    """
    sizes: dict[str, Size] = {}
    several: frozenset[str] = frozenset()
    for vcpus, memory_mb, disk_gb, hosts, repeated in nodes:
        size = vcpus, memory_mb, disk_gb
        there = hosts.intersection(sizes)
        several = several.union(repeated, there)
        smaller = {host: _smallest(sizes[host], size) for host in there}
        sizes |= dict.fromkeys(hosts, size) | smaller
    return Sizes(sizes, several)


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
