# SPDX-License-Identifier: Apache-2.0

"""Drain hosts of a Pcloud: what an owner wishes, and what is due by now.

The steps that are due are made by a worker; each step looks at the present
rows, and is harmless when repeated or made several times at once.

Rule: reference-draining
"""

from collections.abc import Sequence
import dataclasses
from typing import TypeAlias

from nova import context as nova_context
from oslo_log import log as logging
from oslo_utils import timeutils

from pcloud.backend.aggregates import pcloud_rows
from pcloud.backend.aggregates import step_rows
from pcloud.backend.cells import computes
from pcloud.backend.changes import change
from pcloud.backend.changes import journal
from pcloud.backend.changes import writes
from pcloud.backend import outages
from pcloud import exception
from pcloud import names
from pcloud.objects.changing_hands import host_removal
from pcloud.objects import hosts
from pcloud.objects import notifications
from pcloud.objects import pclouds
from pcloud.objects import reconcile
from pcloud.rules.moving import draining
from pcloud.rules.moving import spares
from pcloud.rules.placing import access

LOG = logging.getLogger(__name__)

# A host as kept, and the drain of the host.
Drained: TypeAlias = tuple[pcloud_rows.HostRows, draining.Drain]

# How many empty hosts one look takes out of a Pcloud: others wait meanwhile.
_RELEASED = 5


def wish(move: str, release: bool, deadline: str | None) -> draining.Drain:
    """Return a drain that begins now.

    :param deadline: ISO 8601, None for a drain without a deadline
    :raises: `exception.InvalidValue`
    """
    now = int(timeutils.utcnow_ts())
    return draining.Drain(
        since=now, move=move, release=release,
        deadline=None if deadline is None else draining.deadline(
            deadline, now))


def drained(
    context: nova_context.RequestContext, pcloud: pclouds.Head,
) -> list[Drained]:
    """Return the drained hosts of a Pcloud; one query for none."""
    return [(row, drain) for row in step_rows.draining(
        context, pcloud.aggregate.id)
        if (drain := draining.of(row.state, row.drain)) is not None]


def step(
    context: nova_context.RequestContext, pcloud: pclouds.Head,
    drained: Sequence[Drained],
) -> None:
    """Release and tell what is due for drained hosts, as far as possible.

    What could not be done stays due.

    Rule: reference-draining-steps
    """
    try:
        for row, drain in drained:
            if not drain.told and drain.is_overdue(timeutils.utcnow_ts()):
                _tell(context, pcloud, row, drain)
        _end_empty(context, pcloud, [
            (row, drain) for row, drain in drained
            if drain.release or drain.spare])
    except outages.ANY as error:
        LOG.warning('What is due for the drained hosts of Pcloud %(pcloud)s '
                    'has still to be done: %(error)s',
                    {'pcloud': pcloud.id, 'error': error})


def _end_empty(
    context: nova_context.RequestContext, pcloud: pclouds.Head,
    drained: Sequence[Drained],
) -> None:
    """Have empty hosts leave the Pcloud, or be spares again.

    A host by which the Pcloud shrinks stays when a server has come.
    """
    if not drained:
        return
    used, silent = computes.known_in_use(
        context, [row.host for row, _ in drained])
    empty = [(row, drain) for row, drain in drained
             if row.host not in used | silent]
    for row, drain in drained:
        if drain.idle and row.host in used:
            _stay(context, pcloud, row, drain)
    for row, drain in empty:
        if drain.spare:
            _rest(context, pcloud, row, drain)
    for row in [row for row, drain in empty if drain.release][:_RELEASED]:
        _release(context, pcloud, row.name)


def _stay(
    context: nova_context.RequestContext, pcloud: pclouds.Head,
    row: pcloud_rows.HostRows, drain: draining.Drain,
) -> None:
    """Enable a host on which a server has landed meanwhile.

    :raises: `exception.HostBusy` while something is due for the host
    """
    def work(written: writes.Rows) -> bool:
        # The owner may have another wish by now.
        if not written.drop_if(
                pcloud.aggregate.id, names.drain_key(row.host), drain.text()):
            return False
        written.exchange(
            pcloud.aggregate.id, names.state_key(row.node), access.ENABLED)
        if not written.open(row.host):
            raise exception.HostBusy(name=row.name)
        return True

    if change.run(context, [journal.pcloud_anchor(pcloud.id)], work):
        LOG.info('Host %(host)s of Pcloud %(pcloud)s is in use, and stays.',
                 {'host': row.host, 'pcloud': pcloud.id})
        _tell_state(context, pcloud, row)


def _rest(
    context: nova_context.RequestContext, pcloud: pclouds.Head,
    row: pcloud_rows.HostRows, drain: draining.Drain,
) -> None:
    """Write that a host which has stood in is a spare again."""
    spare = spares.Spare(int(timeutils.utcnow_ts()))

    def work(written: writes.Rows) -> bool:
        # The owner may have another wish by now.
        if not written.drop_if(
                pcloud.aggregate.id, names.drain_key(row.host), drain.text()):
            return False
        written.insert(
            pcloud.aggregate.id, {names.spare_key(row.host): spare.text()})
        return True

    if change.run(context, [journal.pcloud_anchor(pcloud.id)], work):
        LOG.info('Host %(host)s of Pcloud %(pcloud)s is a spare again.',
                 {'host': row.host, 'pcloud': pcloud.id})
        _tell_state(context, pcloud, row)


def _tell_state(
    context: nova_context.RequestContext, pcloud: pclouds.Head,
    row: pcloud_rows.HostRows,
) -> None:
    if notifications.wanted():
        reconcile.notified(lambda: notifications.host(
            context, 'update', hosts.event_of(
                pcloud, hosts.show(context, pcloud, row.name))))


def _release(
    context: nova_context.RequestContext, pcloud: pclouds.Head, name: str,
) -> None:
    try:
        host_removal.release(context, pcloud, name)
    except outages.ANY as error:
        LOG.info('A drained host of Pcloud %(pcloud)s stays for now: '
                 '%(error)s', {'pcloud': pcloud.id, 'error': error})


def _tell(
    context: nova_context.RequestContext, pcloud: pclouds.Head,
    row: pcloud_rows.HostRows, drain: draining.Drain,
) -> None:
    """Tell listeners that a deadline has passed, and note that they know.

    Told first: who dies in between tells twice, and never not at all.
    """
    notifications.host(context, 'drain.overdue', hosts.event_of(
        pcloud, hosts.show(context, pcloud, row.name)))
    key, told = names.drain_key(row.host), dataclasses.replace(
        drain, told=True)

    def work(written: writes.Rows) -> None:
        # The owner may have another wish by now.
        if written.drop_if(pcloud.aggregate.id, key, drain.text()):
            written.insert(pcloud.aggregate.id, {key: told.text()})

    change.run(context, [journal.pcloud_anchor(pcloud.id)], work)
