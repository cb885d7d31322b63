# SPDX-License-Identifier: Apache-2.0

"""What the hosts of pools and Pclouds are, as Placement has it.

Placement has no call for the inventories of many resource providers. But the
candidates for the least request come with all that the hosts have: classes,
amounts and traits of every provider.

Rule: reference-host-resources, reference-host-resources-read
"""

from collections.abc import Collection
from collections.abc import Iterable
from collections.abc import Mapping
from collections.abc import Sequence
import dataclasses
import threading
import time

from nova import context as nova_context
from oslo_log import log as logging

from pcloud.backend.aggregates import pool_rows
from pcloud.backend.calls import placement
from pcloud.backend.cells import compute_nodes
from pcloud.backend.cells import computes
from pcloud import exception
from pcloud import names
from pcloud.rules import capacity
from pcloud.rules import host_resources

LOG = logging.getLogger(__name__)

# A host has one of these left, mostly.
COMMON = (capacity.MEMORY, capacity.VCPU, capacity.DISK)

# The number of hosts, without anything left of the classes asked for, that are
# read one by one. A host takes three calls for each resource provider, so that
# many more hosts would keep a list of host flavors waiting for seconds.
_ALONE = 16

# The number of further classes, those of hosts that were read one by one, that
# all hosts are asked for. Hosts of a pool are alike, mostly.
_FURTHER = 3

# The number of aggregates in one call: web servers limit the length of a URL,
# some to 4094 characters, and a uuid takes 39.
_AGGREGATES = 80

# Seconds. What a host is changes with the hardware and the configuration.
_LIFETIME = 60

# Seconds for which Placement is not asked again when Placement does not
# answer, and for which hosts in silent cells are left out.
_PAUSE = 10


@dataclasses.dataclass(frozen=True)
class Description:
    """What the known hosts of a pool are, that is those with one node.

    :ivar vcpus: the smallest number of a node, None without a known host; so
        are `memory_mb` (MiB) and `disk_gb` (GiB)
    :ivar kind: what all hosts have by Placement, None while unknown
    """

    vcpus: int | None
    memory_mb: int | None
    disk_gb: int | None
    kind: host_resources.Kind | None

    @property
    def cpus(self) -> int | None:
        """The number of shared and dedicated cpus, as far as that is known.

        Nova's rows have no dedicated cpus.
        """
        return self.vcpus if self.kind is None else self.kind.cpus


NOTHING = Description(None, None, None, None)


@dataclasses.dataclass(frozen=True)
class _Remembered:
    """What was read of a pool.

    :ivar version: of the hosts of the pool at that time
    :ivar until: when to read again, by the monotonic clock
    """

    version: pool_rows.Version
    description: Description
    until: float


class Memory:
    """What this process remembers of pools, and of Placement's silence."""

    def __init__(self) -> None:
        # Whoever comes meanwhile waits for the answer, and asks nobody.
        self.lock = threading.Lock()
        self._pools: dict[str, _Remembered] = {}
        self._silent_until = 0.

    def known(
        self, pools: Mapping[str, pool_rows.Version], now: float,
    ) -> dict[str, Description]:
        """Return what is known of pools with just these hosts."""
        there = {flavor_id: self._pools.get(flavor_id) for flavor_id in pools}
        return {flavor_id: its.description for flavor_id, its in there.items()
                if its is not None and its.until > now and
                its.version == pools[flavor_id]}

    def remember(
        self, found: Mapping[str, _Remembered], now: float,
    ) -> None:
        """Keep what was read of pools, and drop what is too old."""
        self._pools = {flavor_id: its for flavor_id, its in {
            **self._pools, **found}.items() if its.until > now}

    def is_silent(self, now: float) -> bool:
        """Whether Placement did not answer a moment ago."""
        return now < self._silent_until

    def silence(self, now: float) -> bool:
        """Remember that Placement does not answer.

        :returns: whether Placement has answered the last time
        """
        is_new = not self._silent_until
        self._silent_until = now + _PAUSE
        return is_new

    def answer(self) -> None:
        """Remember that Placement answers."""
        self._silent_until = 0.


_memory = Memory()


def of_pools(
    context: nova_context.RequestContext,
    pools: Mapping[str, pool_rows.Version],
) -> dict[str, Description]:
    """Return what the hosts of each pool have in common.

    Nothing is read where this process has read the pool, with the same hosts,
    within a minute. Else three queries and one query a cell, and the calls of
    `of_hosts` to Placement.

    :param pools: ``host flavor id -> version``, of pools with hosts
    :returns: ``host flavor id -> description``
    """
    known = _memory.known(pools, time.monotonic())
    if known.keys() != pools.keys():
        with _memory.lock:
            now = time.monotonic()
            # Another thread may have read the pools meanwhile.
            known = _memory.known(pools, now)
            found = _read_pools(context, {
                flavor_id: version for flavor_id, version in pools.items()
                if flavor_id not in known}, now)
            _memory.remember(found, now)
            known |= {flavor_id: its.description
                      for flavor_id, its in found.items()}
    return {flavor_id: known.get(flavor_id, NOTHING) for flavor_id in pools}


def _read_pools(
    context: nova_context.RequestContext,
    pools: Mapping[str, pool_rows.Version], now: float,
) -> dict[str, _Remembered]:
    """Read pools; what is not known for an outage is read again soon."""
    if not pools:
        return {}
    aggregates = pool_rows.of_flavors(context, pools)
    wanted = frozenset().union(*(pool.hosts for pool in aggregates))
    known, silent = compute_nodes.known_nodes(context, wanted)
    # Databases that compare without case find other hosts too.
    nodes = {host: known[host] for host in wanted & known.keys()}
    try:
        there = of_hosts(context, nodes.values(),
                         [pool.uuid for pool in aggregates])
    except exception.Unavailable:
        there = {}
    found = {}
    for pool in aggregates:
        flavor_id = pool.metadata[names.FLAVOR_ID]
        its = [nodes[host] for host in pool.hosts & nodes.keys()]
        kind = host_resources.kind(filter(None, (
            there.get(node.uuid) for node in its)))
        found[flavor_id] = _Remembered(
            pools[flavor_id], Description(
                min((node.vcpus for node in its), default=None),
                min((node.memory_mb for node in its), default=None),
                min((node.disk_gb for node in its), default=None), kind),
            now + (_PAUSE if pool.hosts & silent or not there else _LIFETIME))
    return found


def of_hosts(
    context: nova_context.RequestContext, nodes: Iterable[computes.Node],
    aggregates: Collection[str], classes: Sequence[str] = COMMON,
) -> dict[str, host_resources.Resources]:
    """Return what hosts have, and how much of it is used.

    A host without anything left of `classes` may have no entry: some such
    hosts are read one by one, and whatever these hosts have left all are
    asked for too. The number of calls to Placement does not grow with the
    number of hosts: one call, where all hosts have something left of the first
    class, for 80 aggregates.

    :param nodes: the compute nodes of the hosts
    :param aggregates: the uuids of aggregates, of which each host is in one.
        Placement may not know it yet: such a host is read alone, too
    :param classes: the resource classes to ask for
    :returns: ``uuid of the node -> resources``
    :raises: `exception.Unavailable` when Placement does not answer, and some
        seconds thereafter without asking
    """
    sizes = {node.uuid: node for node in nodes}
    if _memory.is_silent(time.monotonic()):
        raise exception.Unavailable()
    try:
        found = _found(context, frozenset(sizes), aggregates, classes)
    except exception.PlacementSilent:
        # Perhaps after a long wait.
        if _memory.silence(time.monotonic()):
            LOG.warning('Placement does not answer: resources and traits of '
                        'hosts are not known. Placement is asked again every '
                        '%d seconds.', _PAUSE)
        raise
    _memory.answer()
    return {uuid: host_resources.sized(
        its, sizes[uuid].vcpus, sizes[uuid].memory_mb, sizes[uuid].disk_gb)
        for uuid, its in found.items()}


def _found(
    context: nova_context.RequestContext, uuids: frozenset[str],
    aggregates: Collection[str], classes: Sequence[str],
) -> dict[str, host_resources.Resources]:
    """Read hosts by their uuids, as far as `of_hosts` does."""
    found = _offered(context, uuids, aggregates, classes)
    left = sorted(uuids - found.keys())
    if not left:
        return found
    first = _alone(context, left[:1])
    further = sorted({name for its in first.values() for name in its.total
                      if name not in classes})[:_FURTHER]
    found |= first
    found |= _offered(context, uuids - found.keys(), aggregates, further)
    return found | _alone(
        context, sorted(uuids - found.keys())[:_ALONE - 1])


def _offered(
    context: nova_context.RequestContext, uuids: frozenset[str],
    aggregates: Collection[str], classes: Iterable[str],
) -> dict[str, host_resources.Resources]:
    """Read the hosts with something left of one of some classes.

    A class is asked for only while hosts are missing.
    """
    found: dict[str, host_resources.Resources] = {}
    for name in classes:
        missing = uuids - found.keys()
        for part in _parts(missing, sorted(aggregates)):
            there = placement.holdings(
                context, [('resources', f'{name}:1'), part])
            found |= {uuid: its for uuid, its in there.items()
                      if uuid in missing}
    return found


def _parts(
    uuids: Collection[str], aggregates: Sequence[str],
) -> list[tuple[str, str]]:
    """Return the parameters of queries that find all of some hosts."""
    if not uuids:
        return []
    if len(uuids) == 1:
        return [('in_tree', uuid) for uuid in uuids]
    return [('member_of', 'in:' + ','.join(
        aggregates[start:start + _AGGREGATES]))
        for start in range(0, len(aggregates), _AGGREGATES)]


def _alone(
    context: nova_context.RequestContext, uuids: Iterable[str],
) -> dict[str, host_resources.Resources]:
    """Read hosts one by one."""
    found = {uuid: placement.holding(context, uuid) for uuid in uuids}
    return {uuid: its for uuid, its in found.items() if its is not None}
