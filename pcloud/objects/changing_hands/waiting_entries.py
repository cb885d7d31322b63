# SPDX-License-Identifier: Apache-2.0

"""Begin and end to wait for a host.

Rule: reference-waiting
"""

from collections.abc import Iterable

from nova import context as nova_context
from oslo_config import cfg
from oslo_utils import timeutils
from oslo_utils import uuidutils

from pcloud.backend.aggregates import pcloud_rows
from pcloud.backend.changes import change
from pcloud.backend.changes import journal
from pcloud.backend.changes import writes
from pcloud.backend import limits
from pcloud import exception
from pcloud import names
from pcloud.objects.changing_hands import waiting_lists
from pcloud.objects import host_flavors
from pcloud.objects import notifications
from pcloud.objects import pclouds
from pcloud.objects import quotas
from pcloud.objects import reconcile
from pcloud.rules import forms
from pcloud.rules.moving import dates
from pcloud.rules import waiting as rules

CONF = cfg.CONF

# The refusals of a host that time may change.
PASSING = (exception.NoFreeHost, exception.HostsSettling,
           exception.HostsContended, exception.OthersWaiting)


def begin(
    context: nova_context.RequestContext, pcloud: pclouds.Head, name: str,
    flavor_id: str, zone: str | None, until: int,
    leaving: dates.Until | None = None,
) -> rules.Place:
    """Have a Pcloud wait for a host, and return its place.

    :param name: the owner's name for the host
    :param zone: the availability zone of the host, None for any zone
    :param until: until when, in seconds since the epoch
    :param leaving: when the host is to leave again, None for no date
    :raises: `exception.QuotaExceeded`, `exception.TooManyWaiting`,
        `exception.HostNameInUse` also for the name of another entry of the
        Pcloud, `exception.NameTooLong` for a zone, `exception.PcloudNotFound`,
        `exception.HostFlavorNotFound`, `exception.LimitsSilent`,
        `exception.LimitsOutdated`, and as `change.run`

    Rule: reference-waiting-calls
    """
    waiting = rules.Waiting(
        uuidutils.generate_uuid(), flavor_id, pcloud.owner, rules.Entry(
            pcloud.id, name, int(timeutils.utcnow_ts()), until,
            None if leaving is None else leaving.at,
            None if leaving is None else leaving.move, zone))
    value = _checked(waiting.entry)

    def work(written: writes.Rows) -> rules.Place:
        written.write_kept({
            names.waiting_key(flavor_id, waiting.id): value})
        return _place(context, written, known, pcloud, waiting)

    known = limits.read(context, [pcloud.owner])
    place = change.run(context, [
        journal.waiting_anchor(flavor_id), journal.pcloud_anchor(pcloud.id),
        journal.owner_anchor(pcloud.owner)], work)
    tell(context, 'begun', [waiting])
    return place


def _checked(entry: rules.Entry) -> str:
    """Return the value of an entry.

    :raises: `exception.NameTooLong`
    """
    if not entry.fits():
        raise exception.NameTooLong(
            what='Availability zone', value=entry.zone,
            length=entry.length, limit=forms.LIMIT)
    return entry.text()


def _place(
    context: nova_context.RequestContext, written: writes.Rows,
    known: limits.Limits, pcloud: pclouds.Head, waiting: rules.Waiting,
) -> rules.Place:
    """Return the place of a new entry, read after its row is written.

    :raises: as `begin`
    """
    if written.find(names.pcloud(pcloud.id)) is None:
        raise exception.PcloudNotFound(pcloud=pcloud.id)
    units = host_flavors.units(context, waiting.flavor)
    quotas.check_more(
        quotas.show_within(context, known, pcloud.owner), units)
    lists = waiting_lists.all_(context)
    count = sum(each.owner == pcloud.owner for each in lists.every()) - 1
    if count >= CONF.pcloud.wait_entries:
        raise exception.TooManyWaiting(
            count=count, limit=CONF.pcloud.wait_entries)
    name = waiting.entry.name
    if pcloud_rows.host_rows(context, pcloud.aggregate.id, name) or any(
            each.entry.pcloud == pcloud.id and each.id != waiting.id and
            each.entry.name.lower() == name.lower()
            for each in lists.every()):
        raise exception.HostNameInUse(name=name, pcloud=pcloud.id)
    return next(place for place in lists.places(waiting.flavor)
                if place.waiting.id == waiting.id)


def cancel(
    context: nova_context.RequestContext, pcloud: pclouds.Head, id_: str,
) -> None:
    """End an entry of a Pcloud.

    :raises: `exception.WaitingNotFound`, also when the entry has got a host
        meanwhile; and as `change.run`
    """
    gone = exception.WaitingNotFound(pcloud=pcloud.id, id=id_)
    found = next((each for each in waiting_lists.all_(context).every()
                  if (each.id, each.entry.pcloud) == (id_, pcloud.id)), None)
    if found is None:
        raise gone
    if not end(context, found.flavor, [found]):
        raise gone


def end(
    context: nova_context.RequestContext, flavor_id: str,
    entries: Iterable[rules.Waiting],
) -> list[rules.Waiting]:
    """End entries of a host flavor, in one change.

    :returns: the entries that the change has ended, and no other change
    """
    def work(written: writes.Rows) -> list[rules.Waiting]:
        return [each for each in entries if drop(written, each)]

    return change.run(context, [journal.waiting_anchor(flavor_id)], work)


def drop(written: writes.Rows, waiting: rules.Waiting) -> bool:
    """Delete the row of an entry; return whether it was there."""
    return written.drop_kept(
        names.waiting_key(waiting.flavor, waiting.id), waiting.entry.text())


def tell(
    context: nova_context.RequestContext, action: str,
    entries: Iterable[rules.Waiting],
) -> None:
    """Tell listeners what has become of entries, after the change.

    :param action: 'begun', 'matched' or 'expired'
    """
    for each in entries:
        reconcile.notified(
            notifications.waiting, context, action,
            notifications.WaitingEvent(
                pcloud_id=each.entry.pcloud, owner=each.owner, id=each.id,
                name=each.entry.name, host_flavor=each.flavor,
                availability_zone=each.entry.zone, since=each.entry.since,
                until=each.entry.until))
