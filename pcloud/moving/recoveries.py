# SPDX-License-Identifier: Apache-2.0

"""What a Pcloud does for a failed host, but for the servers of the host.

The owner's policy says whether servers are started on the other hosts of the
Pcloud, and whether a free host joins before. A worker begins, holds and ends
recoveries. One change writes all of a beginning; the recovery of a host is
kept in one row of the journal.

Rule: reference-recovery
"""

from collections.abc import Mapping
import dataclasses

from nova import context as nova_context
from oslo_config import cfg
from oslo_log import log as logging
from oslo_utils import timeutils

from pcloud.backend.aggregates import pcloud_rows
from pcloud.backend.aggregates import rows
from pcloud.backend.cells import computes
from pcloud.backend.cells import fenced_services
from pcloud.backend.changes import change
from pcloud.backend.changes import due
from pcloud.backend.changes import journal
from pcloud.backend.changes import writes
from pcloud.backend import outages
from pcloud.counters import allocations
from pcloud import exception
from pcloud.moving import recovery_ends
from pcloud.moving import recovery_subjects as subjects
from pcloud import names
from pcloud.objects.changing_hands import allocation
from pcloud.objects.changing_hands import stand_ins
from pcloud.objects import hosts
from pcloud.objects import pclouds
from pcloud.objects import replacements
from pcloud.rules.moving import maintenance_policies
from pcloud.rules.moving import recovery
from pcloud.rules.placing import access

CONF = cfg.CONF
LOG = logging.getLogger(__name__)


def step(
    context: nova_context.RequestContext, pcloud: pclouds.Head,
) -> None:
    """Begin, hold and end recoveries, as far as possible.

    Steps that fail stay due.

    Rule: reference-recovery-steps
    """
    try:
        aggregate = pcloud_rows.find(context, pcloud.id)
        services = {} if aggregate is None else fenced_services.of_hosts(
            context, aggregate.hosts)
    except outages.ANY as error:
        LOG.warning('The failed hosts of Pcloud %(pcloud)s cannot be '
                    'recovered yet: %(error)s',
                    {'pcloud': pcloud.id, 'error': error})
        return
    if aggregate is None:
        return
    for subject in subjects.all_of(aggregate):
        _attempt(context, pcloud, aggregate, subject,
                 services.get(subject.host))
    for host in replacements.taken_over(aggregate):
        _take_over(context, pcloud, aggregate, host)


def _take_over(
    context: nova_context.RequestContext, pcloud: pclouds.Head,
    aggregate: rows.Aggregate, host: str,
) -> None:
    """Forget for whom a host has joined after Nova took the other host out."""
    def work(written: writes.Rows) -> None:
        if not written.holds(aggregate.id, host):
            replacements.take_over(written, aggregate.id, host)

    try:
        change.run(context, subjects.anchors(pcloud), work)
    except outages.ANY as error:
        LOG.warning('Who has joined Pcloud %(pcloud)s for host %(host)s is '
                    'kept for now: %(error)s', {
                        'pcloud': pcloud.id, 'host': host, 'error': error})


def _attempt(
    context: nova_context.RequestContext, pcloud: pclouds.Head,
    aggregate: rows.Aggregate, subject: subjects.Subject,
    service: recovery.Service | None,
) -> None:
    what = recovery.due(
        subjects.policy(aggregate), service, subject.kept,
        CONF.pcloud.recovery_after, timeutils.utcnow_ts())
    try:
        if what == recovery.BEGIN and service is not None:
            _begin(context, pcloud, aggregate, subject, service)
        elif what == recovery.MOVE and subject.kept is not None:
            _go_on(context, pcloud, aggregate, subject, subject.kept)
        elif what == recovery.RETURN and subject.kept is not None:
            recovery_ends.end(
                context, pcloud, aggregate, subject, subject.kept)
    except (allocation.Lost, *outages.ANY) as error:
        LOG.warning('What Pcloud %(pcloud)s does for host %(host)s, which has '
                    'failed, has still to be done: %(error)s', {
                        'pcloud': pcloud.id, 'host': subject.host,
                        'error': error})


def _begin(
    context: nova_context.RequestContext, pcloud: pclouds.Head,
    aggregate: rows.Aggregate, subject: subjects.Subject,
    service: recovery.Service,
) -> None:
    """Disable a host, and have a free host join if the policy says so.

    Where too many recoveries have begun in the cell, the recovery is held.

    :raises: `allocation.Lost` when another request has got the free host, and
        as `allocation.choose`, `change.run`
    """
    joining = _find_joining(context, pcloud, aggregate, subject)
    try:
        _write_begin(context, pcloud, aggregate, subject, service, joining)
    except exception.QuotaExceeded:
        # An administrator has lowered the limit below what is in use.
        _write_begin(context, pcloud, aggregate, subject, service, None)


def _find_joining(
    context: nova_context.RequestContext, pcloud: pclouds.Head,
    aggregate: rows.Aggregate, subject: subjects.Subject,
) -> hosts.Host | None:
    """Choose a host to stand in for a host, where the policy says so.

    There is none for a present or former stand-in, nor for a spare. The
    servers do not wait for an absent part of the cloud.
    """
    if (subjects.policy(aggregate) != recovery.REPLACE or
            _has_joined(aggregate, subject) or
            subject.host in stand_ins.kept_spares(aggregate)):
        return None
    try:
        return stand_ins.choose(
            context, pcloud, aggregate, maintenance_policies.StandIn(
                stays=True, host=subject.host), subject.name)
    except (*stand_ins.NONE_THERE, *outages.ANY) as error:
        LOG.warning('No host replaces host %(host)s of Pcloud %(pcloud)s yet, '
                    'which has failed: %(error)s', {
                        'host': subject.host, 'pcloud': pcloud.id,
                        'error': error})
        return None


def _has_joined(aggregate: rows.Aggregate, subject: subjects.Subject) -> bool:
    """Whether a host stands in for a host, or the host for another."""
    there = maintenance_policies.stand_ins(names.replaced(aggregate.metadata))
    standing_in = maintenance_policies.standing_in(there, aggregate.hosts)
    return (any(other.host == subject.host for other in standing_in.values())
            or subject.host in standing_in or
            subject.host in maintenance_policies.leaving(
                there, aggregate.hosts))


def _write_begin(
    context: nova_context.RequestContext, pcloud: pclouds.Head,
    aggregate: rows.Aggregate, subject: subjects.Subject,
    service: recovery.Service, joining: hosts.Host | None,
) -> None:
    """Write that a recovery begins or is held, unless the rows have changed.

    Nor is a recovery written where the owner has another policy by now.

    :param joining: the host to join, None for no host
    """
    now = int(timeutils.utcnow_ts())
    anchors = [*subjects.anchors(pcloud),
               journal.recovery_anchor(service.cell)]

    def work(
        written: writes.Rows,
    ) -> tuple[recovery.Recovery, list[due.Due]] | None:
        values = written.values(aggregate.id, subject.keys)
        if not subjects.is_wanted(aggregate, subject, values):
            return None
        if _is_held(written, subject, service.cell, now):
            held = recovery.Recovery(recovery.HELD, now)
            subjects.keep(written, aggregate.id, subject, held)
            return held, []
        kept = recovery.Recovery(recovery.MOVING, now, access.state(
            values.get(names.state_key(subject.node), '')))
        subjects.keep(written, aggregate.id, subject, kept)
        if kept.chosen is not None:
            written.exchange(aggregate.id, names.state_key(subject.node),
                             access.DISABLED)
        if subjects.policy(aggregate) == recovery.REPLACE:
            _keep_stand_in(written, aggregate, subject, values)
        return kept, _join(context, written, pcloud, joining)

    done = change.run(context, anchors, work)
    if done is None:
        return
    kept, dues = done
    _finish_joining(
        context, pcloud, None if kept.state == recovery.HELD else joining,
        dues)
    subjects.tell(context, pcloud, subject, kept.state, kept.since)


def _is_held(
    written: writes.Rows, subject: subjects.Subject, cell: str, now: int,
) -> bool:
    """Whether a recovery may not begin; else note that the recovery begins.

    Notes of recoveries too old to count are deleted.
    """
    there = written.kept(names.RECOVERED_PREFIX)
    begun = {key: recovery.Begun.known(text) for key, text in there.items()}
    own = names.recovered_key(subject.host)
    is_released = subject.kept is not None and subject.kept.released
    if not is_released and recovery.is_too_many(
            [each for key, each in begun.items()
             if each is not None and key != own], cell,
            CONF.pcloud.recovery_max_hosts, now):
        return True
    written.unmark([
        key for key, each in begun.items()
        if key == own or each is None or each.at <= now - recovery.PERIOD])
    written.insert(0, {own: recovery.Begun(now, cell).text()})
    return False


def _keep_stand_in(
    written: writes.Rows, aggregate: rows.Aggregate,
    subject: subjects.Subject, values: Mapping[str, str],
) -> None:
    """Have the stand-in of a host in maintenance stay for the recovery.

    :param values: the present metadata values of the subject's keys
    """
    key = names.reaction_key(subject.host)
    reaction = maintenance_policies.Reaction.known(values.get(key))
    if (reaction is None or reaction.begin is None or
            reaction.replacement not in aggregate.hosts):
        return
    kept_key = names.replaces_key(reaction.replacement or '')
    stand_in = maintenance_policies.StandIn.known(
        written.values(aggregate.id, [kept_key]).get(kept_key))
    if stand_in is not None and written.exchange(
            aggregate.id, kept_key, dataclasses.replace(
                stand_in, over=False, stays=True,
                host=subject.host).text()):
        written.exchange(aggregate.id, key, dataclasses.replace(
            reaction, replacement=None).text())


def _join(
    context: nova_context.RequestContext, written: writes.Rows,
    pcloud: pclouds.Head, joining: hosts.Host | None,
) -> list[due.Due]:
    return [] if joining is None else stand_ins.write(
        context, written, pcloud, joining, due.RECOVERING)


def _finish_joining(
    context: nova_context.RequestContext, pcloud: pclouds.Head,
    joining: hosts.Host | None, dues: list[due.Due],
) -> None:
    """Count a new host, and do what is due for a host that stands in."""
    if joining is None:
        return
    if dues:
        allocations.ALLOCATIONS.add(
            [joining.host_flavor or '', allocations.RECOVERY])
    stand_ins.finish(context, pcloud, joining, dues)


def _go_on(
    context: nova_context.RequestContext, pcloud: pclouds.Head,
    aggregate: rows.Aggregate, subject: subjects.Subject,
    kept: recovery.Recovery,
) -> None:
    """Look for a free host to join, and for the end.

    :raises: as `_begin`
    """
    joining = _find_joining(context, pcloud, aggregate, subject)
    used, silent = computes.known_in_use(context, [subject.host])
    state = recovery.MOVING if subject.host in used else recovery.DONE
    # Nobody knows of a silent cell whether servers are left.
    changed = kept if silent else dataclasses.replace(kept, state=state)
    if joining is not None:
        try:
            _write_state(context, pcloud, aggregate, subject, changed, joining)
            return
        except exception.QuotaExceeded as error:
            LOG.warning('No host replaces host %(host)s: %(error)s',
                        {'host': subject.host, 'error': error})
    if changed != kept:
        _write_state(context, pcloud, aggregate, subject, changed, None)


def _write_state(
    context: nova_context.RequestContext, pcloud: pclouds.Head,
    aggregate: rows.Aggregate, subject: subjects.Subject,
    changed: recovery.Recovery, joining: hosts.Host | None,
) -> None:
    """Write how far a recovery is, and that a free host joins."""
    def work(written: writes.Rows) -> list[due.Due] | None:
        values = written.values(aggregate.id, subject.keys)
        if not subjects.is_wanted(aggregate, subject, values):
            return None
        subjects.keep(written, aggregate.id, subject, changed)
        return _join(context, written, pcloud, joining)

    dues = change.run(context, subjects.anchors(pcloud), work)
    if dues is None:
        return
    _finish_joining(context, pcloud, joining, dues)
    if subject.kept is not None and changed.state != subject.kept.state:
        subjects.tell(
            context, pcloud, subject, changed.state, changed.since)
