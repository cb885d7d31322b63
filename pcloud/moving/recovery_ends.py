# SPDX-License-Identifier: Apache-2.0

"""The ends of the recoveries of hosts after their return.

Rule: reference-recovery-return
"""

import dataclasses

from nova import context as nova_context

from pcloud.backend.aggregates import rows
from pcloud.backend.cells import computes
from pcloud.backend.changes import change
from pcloud.backend.changes import writes
from pcloud import exception
from pcloud.moving import recovery_subjects as subjects
from pcloud import names
from pcloud.objects.changing_hands import host_removal
from pcloud.objects import emptiness
from pcloud.objects import notifications
from pcloud.objects import pclouds
from pcloud.objects import reconcile
from pcloud.rules.moving import recovery
from pcloud.rules.placing import access

# What listeners are told when a host has come back.
_RETURNED = 'returned'


def end(
    context: nova_context.RequestContext, pcloud: pclouds.Head,
    aggregate: rows.Aggregate, subject: subjects.Subject,
    kept: recovery.Recovery,
) -> None:
    """End the recovery of a host after the return of the host.

    A host with a replacement returns to the pool once empty; any other host
    gets back the earlier state. Nova lets go of servers started elsewhere when
    nova-compute starts again.

    :raises: `exception.HostNotEmpty`, `exception.HostBusy`, and as
        `change.run`
    """
    if kept.has_begun and subject.other is not None:
        _give_back(context, pcloud, aggregate, subject, kept)
        return
    if kept.has_begun and _is_held_by_nova(context, subject):
        return
    try:
        done = _write(context, pcloud, aggregate, subject, kept)
    except exception.HostBusy:
        reconcile.finish(context, [subject.host])
        done = _write(context, pcloud, aggregate, subject, kept)
    if done:
        subjects.tell(context, pcloud, subject, _RETURNED, kept.since)


def _give_back(
    context: nova_context.RequestContext, pcloud: pclouds.Head,
    aggregate: rows.Aggregate, subject: subjects.Subject,
    kept: recovery.Recovery,
) -> None:
    """Have a host return to the host's pool, once the host is empty.

    Servers left on the host run there again, and stay.

    :raises: as `host_removal.give_back`
    """
    # Afterwards there is no host with the name to tell of.
    event = subjects.event_of(
        context, pcloud, subject, _RETURNED, kept.since)
    try:
        host_removal.give_back(context, pcloud, subject.name)
    except exception.HostNotEmpty:
        if kept.state == recovery.MOVING:
            _write_done(context, pcloud, aggregate, subject, kept)
        raise
    if event is not None:
        reconcile.notified(notifications.recovery, context, event)


def _write_done(
    context: nova_context.RequestContext, pcloud: pclouds.Head,
    aggregate: rows.Aggregate, subject: subjects.Subject,
    kept: recovery.Recovery,
) -> None:
    """Write that no more servers are started elsewhere."""
    def work(written: writes.Rows) -> bool:
        if not subject.is_as_seen(written.values(aggregate.id, subject.keys)):
            return False
        subjects.keep(
            written, aggregate.id, subject, dataclasses.replace(
                kept, state=recovery.DONE))
        return True

    if change.run(context, subjects.anchors(pcloud), work):
        subjects.tell(
            context, pcloud, subject, recovery.DONE, kept.since)


def _is_held_by_nova(
    context: nova_context.RequestContext, subject: subjects.Subject,
) -> bool:
    """Whether servers started elsewhere have still capacity here."""
    found = emptiness.occupants(
        context, computes.of_host(context, subject.host))
    there = {each.uuid for each in found if each.kind != emptiness.ALLOCATION}
    return any(each.kind == emptiness.ALLOCATION and each.uuid not in there
               for each in found)


def _write(
    context: nova_context.RequestContext, pcloud: pclouds.Head,
    aggregate: rows.Aggregate, subject: subjects.Subject,
    kept: recovery.Recovery,
) -> bool:
    """Give a host back the state from before the failure.

    :raises: `exception.HostBusy` for a host to be enabled with due work
    """
    state_key = names.state_key(subject.node)

    def work(written: writes.Rows) -> bool:
        values = written.values(aggregate.id, subject.keys)
        if not subject.is_as_seen(values):
            return False
        written.drop(aggregate.id, [names.recovery_key(subject.host)])
        if kept.chosen and values.get(state_key) == access.DISABLED:
            written.exchange(aggregate.id, state_key, kept.chosen)
            if kept.chosen == access.ENABLED and not written.open(
                    subject.host):
                raise exception.HostBusy(name=subject.name)
        return True

    return change.run(context, subjects.anchors(pcloud), work)
