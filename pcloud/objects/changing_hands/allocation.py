# SPDX-License-Identifier: Apache-2.0

"""Give a Pcloud free hosts of a host flavor.

Several API processes may allocate at the same moment, and any process may die
at any line. Free hosts are drawn at random, and found empty; then one change
writes everything that makes the hosts the Pcloud's own:

1. what is due for each host, which is the claim: of two changes that want the
   same host the database lets one change through;
2. when the quota holds and the owner's names for the hosts are free, the
   hosts' memberships, the names, and the state 'disabled';
3. last, the change reads that each host is in its pool and in no other Pcloud,
   and commits.

A change that loses a host leaves nothing behind, and another host is tried.
After the commit Placement and the schedulers are told, see `reconcile`.

Rule: reference-allocation-writes, reference-allocation-choice
"""

from collections.abc import Callable
from collections.abc import Collection
from collections.abc import Iterable
from collections.abc import Mapping
from collections.abc import Sequence
import dataclasses
import random
import time
from typing import TypeVar

from nova import context as nova_context
from oslo_config import cfg
from oslo_log import log as logging
import tenacity

from pcloud.backend.aggregates import closed_rows
from pcloud.backend.aggregates import pool_rows
from pcloud.backend.cells import computes
from pcloud.backend.changes import change
from pcloud.backend.changes import due
from pcloud.backend.changes import journal
from pcloud.backend.changes import spans
from pcloud.backend.changes import writes
from pcloud.backend import limits
from pcloud.counters import allocations
from pcloud import exception
from pcloud import names
from pcloud.objects.changing_hands import choosing
from pcloud.objects.changing_hands import waiting_lists
from pcloud.objects import emptiness
from pcloud.objects import host_flavors
from pcloud.objects import hosts
from pcloud.objects import pclouds
from pcloud.objects.placing import machine_constraints
from pcloud.objects import quotas
from pcloud.objects import reconcile
from pcloud.rules.moving import dates
from pcloud.rules.placing import access
from pcloud.rules.placing import choice
from pcloud.rules.placing import constraints
from pcloud import text

CONF = cfg.CONF
LOG = logging.getLogger(__name__)

Result = TypeVar('Result')

# How many host flavors a request with constraints tries at most.
_FLAVORS = 100

# How often limits are read that do not tell.
_READ = 5


class Lost(Exception):
    """Hosts that cannot be had; other hosts may do.

    :ivar hosts: the service hosts
    """

    def __init__(self, reason: str, *hosts: str):
        super().__init__(reason)
        self.hosts = hosts


def add(
    context: nova_context.RequestContext, pcloud: pclouds.Head,
    wanted: Sequence[str], flavor_id: str, zone: str | None,
    only: frozenset[str] | None = None,
    chance: random.Random | None = None,
    until: dates.Until | None = None,
) -> list[hosts.Host]:
    """Add free hosts to a Pcloud, all or none.

    :param wanted: the owner's name for each host, all different
    :param zone: the availability zone of the hosts, None for any zone
    :param only: the service hosts that will do, None for any host
    :param chance: the source of randomness
    :param until: when the hosts are to leave, None for no date
    :returns: the hosts, disabled, in the order of the names
    :raises: `exception.HostFlavorNotFound`, `exception.HostNameInUse`,
        `exception.OthersWaiting`, `exception.NoFreeHost`,
        `exception.HostsSettling`, `exception.HostsContended`,
        `exception.QuotaExceeded`, `exception.PcloudNotFound` when the Pcloud
        is deleted meanwhile, `exception.Unavailable`, and as `change.run`.
        After any error but `exception.OutcomeUnknown` nothing has changed.
    """
    units = host_flavors.units(context, flavor_id)
    with allocations.allocation(flavor_id, len(wanted)):
        return _add(context, pcloud, wanted, flavor_id, units, zone, only,
                    chance or random.SystemRandom(), until)


def _add(
    context: nova_context.RequestContext, pcloud: pclouds.Head,
    wanted: Sequence[str], flavor_id: str, units: int, zone: str | None,
    only: frozenset[str] | None, chance: random.Random,
    until: dates.Until | None,
) -> list[hosts.Host]:
    zones = waiting_lists.open_zones(context, flavor_id, zone)
    deadline = time.monotonic() + CONF.pcloud.allocation_timeout
    tried: list[str] = []
    for attempt in range(1, CONF.pcloud.allocation_attempts + 1):
        chosen = choosing.choose_or_finish(
            context, pcloud, units, flavor_id, zones, only, (), tried,
            len(wanted), chance)
        try:
            added, dues = _take(
                context, pcloud, wanted, flavor_id, chosen, units, until)
        except Lost as lost:
            tried += lost.hosts
            allocations.RETRIES.add([flavor_id], len(lost.hosts))
            LOG.info('Attempt %(attempt)d to add hosts to Pcloud '
                     '%(pcloud)s: %(hosts)s cannot be had, %(reason)s.',
                     {'attempt': attempt, 'pcloud': pcloud.id,
                      'hosts': ', '.join(lost.hosts), 'reason': lost})
            if time.monotonic() > deadline:
                break
            time.sleep(chance.uniform(
                0, CONF.pcloud.allocation_backoff * attempt))
        else:
            reconcile.finish_written(context, {
                host.compute.host: what for host, what in zip(added, dues)})
            return added
    raise exception.HostsContended(
        host_flavor=flavor_id, zone=text.in_zone(zone),
        attempts=attempt)


def _is_late(state: tenacity.RetryCallState) -> bool:
    return state.seconds_since_start > CONF.pcloud.allocation_timeout


def add_fitting(
    context: nova_context.RequestContext, pcloud: pclouds.Head,
    wanted: Sequence[str], settings: Mapping[str, constraints.Setting],
    zone: str | None, until: dates.Until | None = None,
) -> list[hosts.Host]:
    """Add free hosts of the host flavor that fits with the least waste.

    All hosts are of one host flavor. When other requests take the flavor's
    last hosts meanwhile, the next best host flavor is chosen. Each repetition
    follows a host given to another request, so the repetitions end.

    :param wanted: the owner's name for each host, all different
    :param settings: the constraints that count
    :param until: as for `add`
    :raises: `exception.NothingFits`, and as `add`
    """
    with allocations.allocation('', len(wanted)) as counted:
        added = _add_fitting(context, pcloud, wanted, settings, zone, until)
        counted.host_flavor = added[0].host_flavor or ''
        return added


@tenacity.retry(
    retry=tenacity.retry_if_exception_type(
        (exception.NoFreeHost, exception.HostFlavorNotFound)),
    wait=tenacity.wait_random(0, 0.1),
    stop=tenacity.stop_any(
        tenacity.stop_after_attempt(_FLAVORS), _is_late), reraise=True)
def _add_fitting(
    context: nova_context.RequestContext, pcloud: pclouds.Head,
    wanted: Sequence[str], settings: Mapping[str, constraints.Setting],
    zone: str | None, until: dates.Until | None,
) -> list[hosts.Host]:
    flavor, fitting = machine_constraints.choose_flavor(
        context, settings, zone, len(wanted))
    return _add(context, pcloud, wanted, flavor.id, flavor.units, zone,
                fitting, random.SystemRandom(), until)


def choose(
    context: nova_context.RequestContext, pcloud: pclouds.Head,
    units: int, flavor_id: str, zones: choice.Zones, tried: list[str],
    chance: random.Random,
) -> computes.Compute:
    """Choose a free host for a Pcloud.

    :param units: the units of a host of the host flavor
    :param tried: service hosts that will not do
    :raises: `exception.QuotaExceeded` when the quota refuses any host,
        `exception.HostsSettling`, `exception.NoFreeHost`,
        `exception.OthersWaiting` where others wait for hosts of some zones,
        `exception.Unavailable` when a free host's cell is silent
    """
    without = frozenset(tried)
    while True:
        chosen = choosing.choose_or_finish(
            context, pcloud, units, flavor_id, zones, None, without, [], 1,
            chance)
        try:
            _check_empty(context, chosen)
            return chosen[0]
        except Lost as lost:
            without = without.union(lost.hosts)


def _take(
    context: nova_context.RequestContext, pcloud: pclouds.Head,
    wanted: Sequence[str], flavor_id: str,
    chosen: Sequence[computes.Compute], units: int,
    until: dates.Until | None,
) -> tuple[list[hosts.Host], list[due.Due]]:
    """Make free hosts the Pcloud's own, in one change.

    :returns: the hosts, and what is due for each host
    :raises: `Lost` when a host cannot be had
    """
    _check_empty(context, chosen)
    # The answer is read before the change: after the commit no error may
    # keep the hosts from the owner.
    added = [
        dataclasses.replace(hosts.new(
            context, pcloud, name, flavor_id, compute, units), until=until)
        for name, compute in zip(wanted, chosen)]
    return run(
        context, pcloud, [journal.pcloud_anchor(pcloud.id),
                          journal.owner_anchor(pcloud.owner)],
        lambda written, known: (added, write_within(
            context, written, known, pcloud, added, due.ADDED)))


def run(
    context: nova_context.RequestContext, pcloud: pclouds.Head,
    anchors: Collection[str],
    work: Callable[[writes.Rows, limits.Limits], Result],
) -> Result:
    """Make a change that adds hosts within the owner's limit.

    Nobody has to run for hosts to settle: where hosts that the owner has let
    go stand in the way, and have settled, the change is made once more.

    :param work: as for `change.run`, and with the owner's limit, which is read
        before the change
    :raises: `exception.LimitsSilent`, `exception.LimitsOutdated`, and as
        `change.run`
    """
    try:
        return _run(context, pcloud, anchors, work)
    except exception.ReleasedHostsSettling:
        if not _finish_released(context, pcloud.owner):
            raise
    return _run(context, pcloud, anchors, work)


@tenacity.retry(
    retry=tenacity.retry_if_exception_type(exception.LimitsOutdated),
    stop=tenacity.stop_after_attempt(_READ), reraise=True)
def _run(
    context: nova_context.RequestContext, pcloud: pclouds.Head,
    anchors: Collection[str],
    work: Callable[[writes.Rows, limits.Limits], Result],
) -> Result:
    known = limits.read(context, [pcloud.owner])
    return change.run(
        context, [*anchors, *known.anchors],
        lambda written: work(written, known))


def check_released(
    context: nova_context.RequestContext, owner: str, quota: quotas.Quota,
    units: int,
) -> None:
    """Refuse, before a change, what `quotas.check_added` would refuse.

    :raises: `exception.ReleasedHostsSettling`
    """
    try:
        quotas.check_released(context, owner, quota, units)
    except exception.ReleasedHostsSettling:
        if not _finish_released(context, owner):
            raise
        quotas.check_released(context, owner, quota, units)


def _finish_released(
    context: nova_context.RequestContext, owner: str,
) -> bool:
    """Finish hosts that an owner has let go, and that have settled.

    :returns: whether there are such hosts
    """
    ready = choosing.settled(
        context, list(journal.released_by(context, owner)))
    reconcile.finish(context, ready)
    return bool(ready)


def _check_empty(
    context: nova_context.RequestContext, chosen: Iterable[computes.Compute],
) -> None:
    """Refuse hosts that are not empty.

    :raises: `Lost`
    """
    used = {compute.host: occupants for compute in chosen
            if (occupants := emptiness.occupants(context, compute))}
    for host, occupants in used.items():
        LOG.warning('Host %(host)s of a pool is not empty: %(reasons)s.',
                    {'host': host, 'reasons': emptiness.text(occupants)})
    if used:
        raise Lost('not empty', *used)


def write(
    context: nova_context.RequestContext, written: writes.Rows,
    pcloud: pclouds.Head, added: Sequence[hosts.Host], event: str,
) -> list[due.Due]:
    """Write the rows of new hosts, and read what other changes did meanwhile.

    All hosts are claimed before the first read: a claim may wait for another
    change, and what that change has done is to be read. The number of
    statements grows with the number of hosts, and with nothing else.

    :param event: `due.ADDED`, `due.GROWN`, `due.REPLACING` or
        `due.RECOVERING`
    :returns: what is due for each host
    :raises: `Lost` when a host cannot be had, `exception.HostNameInUse`,
        `exception.PcloudNotFound`
    """
    dues = [due.Due(written.mark, provider=host.node.uuid, event=event,
                    pcloud=pcloud.id, name=host.name) for host in added]
    for host, what in zip(added, dues):
        try:
            written.claim(host.compute.host, what)
        except exception.KeyTaken:
            raise Lost('another change has it', host.compute.host)
    for host in added:
        _join(written, pcloud, host)
    for host in added:
        _check_alone(context, pcloud, host.compute.host, host.host_flavor)
    return dues


def write_within(
    context: nova_context.RequestContext, written: writes.Rows,
    known: limits.Limits, pcloud: pclouds.Head, added: Sequence[hosts.Host],
    event: str,
) -> list[due.Due]:
    """Write the rows of new hosts that cost units, within the owner's limit.

    :param known: the limits, read before the change
    :raises: as `write` and `quotas.check_added`
    """
    dues = write(context, written, pcloud, added, event)
    quotas.check_added(context, known, pcloud.owner,
                       sum(host.units for host in added))
    return dues


def _join(
    written: writes.Rows, pcloud: pclouds.Head, added: hosts.Host,
) -> None:
    """Write the rows of a new host that is claimed.

    :raises: `Lost` when the host cannot be had, `exception.HostNameInUse`,
        `exception.PcloudNotFound`
    """
    host, node = added.compute.host, added.node.hypervisor_hostname
    aggregate_id = pcloud.aggregate.id
    try:
        rows = {names.host_key(added.name): node, names.node_key(host): node,
                names.state_key(node): added.state or access.DISABLED}
        # Nobody can have been told of a host that was never open.
        if added.state != access.ENABLED:
            rows[names.unopened_key(host)] = pcloud.id
        rows[names.span_key(host)] = spans.begun(
            added.host_flavor or '', pcloud.id, pcloud.owner,
            added.replaces is not None)
        if added.until is not None:
            rows[names.until_key(host)] = added.until.text()
        if added.replaces is not None:
            rows[names.replaces_key(host)] = added.replaces.text()
        # When a compute service is deleted, Nova takes its host out and leaves
        # our metadata: such rows are not of this allocation.
        left = written.free_name(aggregate_id, added.name, host, node)
        if left is None:
            raise exception.HostNameInUse(
                name=added.name, pcloud=pcloud.id)
        if names.span_key(host) in left:
            spans.add_to_sums(
                written, left[names.span_key(host)], added.units)
        written.join(aggregate_id, host)
    except exception.HostInAggregate:
        raise Lost('it is in this Pcloud already', host)
    except exception.AggregateGone:
        raise exception.PcloudNotFound(pcloud=pcloud.id)
    except exception.NameTooLong:
        # The owner may not see the names.
        raise Lost('its names have become too long', host)
    written.insert(aggregate_id, rows)


def _check_alone(
    context: nova_context.RequestContext, pcloud: pclouds.Head, host: str,
    flavor_id: str | None,
) -> None:
    """Look for what other changes did to the host or the Pcloud.

    :raises: `Lost`, `exception.PcloudNotFound`
    """
    closed_names = {aggregate.name for aggregate
                    in closed_rows.closed_of(context, host)}
    pool = names.pool(flavor_id or '')
    if names.pcloud(pcloud.id) not in closed_names:
        raise exception.PcloudNotFound(pcloud=pcloud.id)
    if pool not in closed_names:
        raise Lost('it has left its pool', host)
    if not pool_rows.is_registered(context, flavor_id or '', host):
        raise Lost('it has left its pool, and entered it anew', host)
    if closed_names - {pool, names.pcloud(pcloud.id)}:
        raise Lost('it is in another Pcloud or pool too', host)
