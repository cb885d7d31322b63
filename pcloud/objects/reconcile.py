# SPDX-License-Identifier: Apache-2.0
"""Bring Placement, the compute service and the schedulers after the rows.

A change of a host writes into the journal what is due for the host. Any later
call may reconcile the host: the call that made the change, the next call that
wants the host, the audit. Every function here works from the present rows, and
is harmless when repeated or run several times at once. As long as something is
due, the host takes nobody's servers and is not free.

Rule: reference-changes-reconcile
"""

from collections.abc import Callable
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Mapping
import itertools
import random
import time

from nova import context as nova_context
from nova.objects import fields
from oslo_config import cfg
from oslo_log import log as logging
from oslo_utils import timeutils
import tenacity

from pcloud.backend.aggregates import closed_rows
from pcloud.backend.aggregates import inherited_metadata
from pcloud.backend.aggregates import pcloud_rows
from pcloud.backend.aggregates import pool_rows
from pcloud.backend.aggregates import readings
from pcloud.backend.aggregates import rows
from pcloud.backend.calls import announce
from pcloud.backend.calls import compute_calls
from pcloud.backend.calls import placement
from pcloud.backend.cells import arrivals
from pcloud.backend.cells import computes
from pcloud.backend.changes import due
from pcloud.backend.changes import journal
from pcloud.backend import outages
from pcloud import exception
from pcloud import names
from pcloud.objects import allocation_ratios
from pcloud.objects import emptiness
from pcloud.objects import notifications
from pcloud.rules.placing import access

CONF = cfg.CONF
LOG = logging.getLogger(__name__)

# How often a host is looked at again while other changes go on.
_ROUNDS = 10

# Why a host was added, where the owner has not asked for the host.
_REASONS = {due.GROWN: 'growth', due.REPLACING: 'maintenance',
            due.RECOVERING: 'recovery'}

# Seconds after which a silent part of the cloud ends the work on further
# hosts.
_PATIENCE = 10.0


@tenacity.retry(
    retry=tenacity.retry_if_exception_type(allocation_ratios.HostChanged),
    stop=tenacity.stop_after_attempt(_ROUNDS),
    retry_error_callback=lambda _: False)
def host(context: nova_context.RequestContext, name: str) -> bool:
    """Do what is due for a host.

    :param name: the service host
    :returns: whether nothing is due any more; a host may have to settle
    :raises: `exception.Unavailable` when a part of the cloud does not
        answer; what is due stays due then
    """
    text = _text(context, name)
    return text is None or _reconcile(context, name, text)


def _host_written(
    context: nova_context.RequestContext, name: str, what: due.Due,
) -> bool:
    """Do what is due for a host, as `host`, right after a change of the host.

    :param what: what the change has written as due
    """
    try:
        return _reconcile(context, name, what.text())
    except allocation_ratios.HostChanged:
        return host(context, name)


def _reconcile(
    context: nova_context.RequestContext, name: str, text: str,
) -> bool:
    """Do what is due for a host, as written.

    :raises: `allocation_ratios.HostChanged` when something else is due by now
    """
    remainder = _do(context, name, text)
    if not journal.settle(context, name, text, remainder):
        _take_back(context, name, text)
        raise allocation_ratios.HostChanged()
    return remainder is None


def _text(context: nova_context.RequestContext, name: str) -> str | None:
    return journal.dues(context, [name]).get(name)


def _take_back(
    context: nova_context.RequestContext, name: str, text: str,
) -> None:
    """Disable a host again that has left the pool while being enabled."""
    if due.parse(text).service == due.ON and not (
            closed_rows.closed_of(context, name)):
        compute_calls.disable(context, name)


def finish(
    context: nova_context.RequestContext, names_: Iterable[str],
) -> None:
    """Reconcile hosts as far as possible, after a change or before a use.

    When a part of the cloud is away, what is due stays due, and the outage is
    only written to the log. The work goes on with hosts of other cells, but
    neither for ever nor while Placement is away.

    :param names_: service hosts
    """
    for _ in _finished(context, dict.fromkeys(names_)):
        pass


def finish_all(context: nova_context.RequestContext) -> None:
    """Reconcile all hosts for which something is due, in any order.

    The requests under way are read once for all hosts that settle. A request
    that was under way before a host changed hands ends, and none begins.
    """
    dues = {host: due.parse(text)
            for host, text in journal.dues(context).items()}
    settling = due.settling(dues)
    hosts = sorted(dues.keys() - arrivals.awaited(context, settling))
    random.shuffle(hosts)
    finish(context, hosts)


def finish_written(
    context: nova_context.RequestContext, dues: Mapping[str, due.Due],
) -> None:
    """Reconcile hosts as `finish` does, after a change of the hosts.

    :param dues: ``service host -> what the change has written as due``
    """
    for _ in _finished(context, dues):
        pass


def finish_some(
    context: nova_context.RequestContext, names_: Iterable[str], count: int,
) -> None:
    """Reconcile hosts as `finish` does, until some hosts are finished.

    :param names_: service hosts
    :param count: how many hosts
    """
    for _ in itertools.islice(
            _finished(context, dict.fromkeys(names_)), count):
        pass


def _finished(
    context: nova_context.RequestContext,
    dues: Mapping[str, due.Due | None],
) -> Iterator[str]:
    """Yield the hosts for which nothing is due any more.

    :param dues: ``service host -> what is due``, None where unknown
    """
    deadline = time.monotonic() + _PATIENCE
    for name, what in dues.items():
        try:
            if (host(context, name) if what is None else
                    _host_written(context, name, what)):
                yield name
        except outages.ANY as error:
            LOG.warning('What is due for host %(host)s has still to be '
                        'done: %(error)s', {'host': name, 'error': error})
            if (isinstance(error, exception.PlacementSilent) or
                    time.monotonic() > deadline):
                return


def announced(
    context: nova_context.RequestContext, aggregates: Iterable[str],
) -> None:
    """Tell the schedulers of a committed change, as far as possible.

    :param aggregates: the uuids of the aggregates that have changed
    """
    try:
        announce.changed(context, list(aggregates))
    except outages.ANY as error:
        LOG.warning('The schedulers could not be told of a change: '
                    '%(error)s', {'error': error})


def notified(
    notify: Callable[..., None], *arguments: object,
) -> None:
    """Send a notification of a committed change, as far as possible.

    :param notify: a function of `notifications` or `announce`
    """
    try:
        notify(*arguments)
    except outages.ANY as error:
        LOG.warning('A notification could not be sent: %(error)s',
                    {'error': error})


def _do(
    context: nova_context.RequestContext, name: str, text: str,
) -> str | None:
    """Do what is due; return the text of what remains due, or None."""
    what = due.parse(text)
    if what.only_settles and what.since is not None:
        return _settle_down(context, name, what, what.provider)
    # As long as Placement keeps a host in a pool, nobody is given the host:
    # its service is disabled before, and enabled after Placement is told.
    if what.service == due.OFF:
        compute_calls.disable(context, name)
    provider = what.provider or _provider(context, name)
    if provider is None:
        there = closed_rows.closed_of(context, name)
    else:
        there = _tell_aggregates(context, provider, name, what.origin)
        allocation_ratios.settle(context, provider, name, text, there)
    if _is_seen_at_once(what) and _text(context, name) != text:
        raise allocation_ratios.HostChanged()
    if what.service == due.ON:
        compute_calls.enable(context, name)
    _tell_listeners(context, name, what, there)
    if what.empty:
        return _settle_down(context, name, what, provider)
    return None


def _is_seen_at_once(what: due.Due) -> bool:
    """Whether what follows is seen by others before the due row is settled."""
    return what.service == due.ON or (
        what.event is not None and notifications.wanted())


def _settle_down(
    context: nova_context.RequestContext, name: str, what: due.Due,
    provider: str | None,
) -> str | None:
    """Return what remains due for a settling host, None for a settled host.

    The change is committed by now: requests that begin from now on see the
    change.
    """
    since = what.since if what.only_settles else None
    waiting = due.Due(
        what.mark or due.new_mark(), provider=provider, pcloud=what.pcloud,
        since=since or int(timeutils.utcnow_ts()) + 1)
    # A request ends on the host, so the host is looked at last.
    if arrivals.awaited(context, {name: waiting}) or not is_empty(
            context, name):
        return waiting.text()
    return None


def _provider(
    context: nova_context.RequestContext, name: str,
) -> str | None:
    """Return the uuid of a host's resource provider, None without a node.

    While the host's cell is silent, Placement is asked by the name of the node
    that the Pcloud keeps.
    """
    try:
        return computes.of_host(context, name).node.uuid
    except exception.ComputeHostNotFound:
        return None
    except exception.Unavailable:
        node = next((
            names.nodes(aggregate.metadata).get(name) for aggregate
            in pcloud_rows.whole(closed_rows.closed_of(context, name))), None)
        if node is None:
            raise
        return placement.provider(context, node)


@placement.until_newest
def _tell_aggregates(
    context: nova_context.RequestContext, provider: str, name: str,
    former_uuid: str | None,
) -> list[rows.Aggregate]:
    """Tell Placement in which pools and Pclouds a host is, or that in none.

    A host in any is in the aggregate of all closed hosts as well.

    The generation is read before the rows, and unchanged aggregates are
    written too, for the reasons in `allocation_ratios`.

    :returns: the pools and Pclouds of the host
    """
    body = placement.aggregates(context, provider)
    there = closed_rows.closed_of(context, name)
    if body is None:
        # Nova has deleted the node, and Placement all memberships with it.
        return there
    others = set(body['aggregates']) - {former_uuid, names.CLOSED_UUID}
    body['aggregates'] = sorted(
        others.union(aggregate.uuid for aggregate in there).union(
            [names.CLOSED_UUID] if there else []))
    if not placement.set_aggregates(context, provider, body):
        raise placement.Outdated()
    return there


def is_empty(context: nova_context.RequestContext, name: str) -> bool:
    """Whether a host is empty, or has no compute service any more.

    :raises: `exception.Unavailable`
    """
    try:
        return not emptiness.occupants(
            context, computes.of_host(context, name))
    except exception.ComputeHostNotFound:
        return True


def _tell_listeners(
    context: nova_context.RequestContext, name: str, what: due.Due,
    there: list[rows.Aggregate],
) -> None:
    """Tell the schedulers of the aggregates, and listeners of the event.

    :param there: the pools and Pclouds of the host
    """
    uuids = {aggregate.uuid for aggregate in there}
    if what.origin:
        uuids.add(what.origin)
    announce.moved(context, sorted(uuids))
    if what.event and notifications.wanted():
        _notify(context, name, what, what.event)


def _notify(
    context: nova_context.RequestContext, name: str, what: due.Due,
    event: str,
) -> None:
    pcloud = pcloud_rows.find(context, what.pcloud or '')
    if pcloud is None:
        LOG.info('Pcloud %s is gone before its listeners were told.',
                 what.pcloud)
        return
    pool = next(iter(pool_rows.of_hosts(context, [name])), None)
    action = due.REMOVED if event == due.REMOVED else due.ADDED
    zones = inherited_metadata.zones_of_hosts(context, [name])
    notifications.host(context, action, notifications.HostEvent(
        pcloud_id=pcloud.metadata[names.ID],
        owner=pcloud.metadata.get(names.OWNER, ''), name=what.name or '',
        host_flavor=pool.metadata[names.FLAVOR_ID] if pool else None,
        units=pool and readings.units(pool.metadata) or 0,
        availability_zone=zones.get(name, CONF.default_availability_zone),
        state=access.ENABLED if event in _REASONS else access.DISABLED,
        reason=_REASONS.get(event)))
    announce.notify(context, pcloud, (
        fields.NotificationAction.REMOVE_HOST if event == due.REMOVED
        else fields.NotificationAction.ADD_HOST))


def finish_or_refuse(context: nova_context.RequestContext, name: str) -> None:
    """Do what is due for a host before the host changes hands again.

    :param name: the service host
    :raises: `exception.Conflict` for a host that settles, `exception.HostBusy`
        when something else stays due, `exception.Unavailable`
    """
    if host(context, name):
        return
    what = due.parse(journal.dues(context, [name]).get(name, ''))
    if what.only_settles:
        raise exception.Conflict(
            f"Host '{name}' is settling: a server that was asked for before "
            'the host changed hands may still land on it, or has. Repeat the '
            'request later.')
    raise exception.HostBusy(name=name)
