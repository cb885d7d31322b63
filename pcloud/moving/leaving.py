# SPDX-License-Identifier: Apache-2.0

"""Have hosts leave their Pclouds at the dates that owners have set.

Rule: reference-waiting-dates
"""

import dataclasses

from nova import context as nova_context
from oslo_log import log as logging
from oslo_utils import timeutils

from pcloud.backend.aggregates import isolation
from pcloud.backend.aggregates import kept_rows
from pcloud.backend.aggregates import pcloud_rows
from pcloud.backend.changes import change
from pcloud.backend.changes import journal
from pcloud.backend.changes import writes
from pcloud.backend import outages
from pcloud import exception
from pcloud.moving import drains
from pcloud import names
from pcloud.objects import host_states
from pcloud.objects import notifications
from pcloud.objects import pclouds
from pcloud.objects import reconcile
from pcloud.rules.moving import dates

LOG = logging.getLogger(__name__)


def step(context: nova_context.RequestContext) -> None:
    """Tell of dates that are near, and drain hosts whose date has come.

    One query while nothing is due. What cannot be done for a host stays due.
    """
    for key, text in kept_rows.of_prefix(
            context, names.UNTIL_PREFIX).items():
        until = dates.Until.known(text)
        what = dates.NOTHING if until is None else dates.due(
            until, timeutils.utcnow_ts())
        if until is not None and what != dates.NOTHING:
            host = key.removeprefix(names.UNTIL_PREFIX)
            try:
                _do(context, host, until, what)
            except (exception.PcloudError, *outages.ANY) as error:
                LOG.warning('Host %(host)s has still to leave its Pcloud: '
                            '%(error)s', {'host': host, 'error': error})


def _do(
    context: nova_context.RequestContext, host: str, until: dates.Until,
    what: str,
) -> None:
    """Do what is due for a host that is in a Pcloud.

    :raises: `exception.Conflict` for a host that is being recovered, and as
        `change.run`
    """
    for pcloud_id in isolation.pclouds_of(context, [host]).get(host, ()):
        pcloud = pclouds.head(context, pcloud_id)
        name = pcloud_rows.name_of(context, pcloud.aggregate.id, host)
        if name is not None and what == dates.DRAIN:
            host_states.leave(
                context, pcloud, name, drains.wish(until.move, True, None),
                until)
        elif name is not None and _note(context, pcloud, host, until):
            reconcile.notified(
                notifications.until, context, notifications.UntilEvent(
                    pcloud_id=pcloud.id, owner=pcloud.owner, name=name,
                    until=until.at, move=until.move))


def _note(
    context: nova_context.RequestContext, pcloud: pclouds.Head, host: str,
    until: dates.Until,
) -> bool:
    """Note that listeners are told; return whether nobody has told them."""
    key, told = names.until_key(host), dataclasses.replace(until, told=True)

    def work(written: writes.Rows) -> bool:
        if not written.drop_kept(key, until.text()):
            return False
        written.write_kept({key: told.text()})
        return True

    return change.run(context, [journal.pcloud_anchor(pcloud.id)], work)
