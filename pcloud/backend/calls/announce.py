# SPDX-License-Identifier: Apache-2.0
"""Tell the schedulers and Nova's listeners of a changed aggregate.

Nova does the same after each of its own changes. A message shows the present
state of an aggregate, whatever the change, so a repeated message does no harm.
No message waits for a broker that is away.
"""

# Nova's objects are registered when its services start, perhaps after us.
from __future__ import annotations

from collections.abc import Collection

from kombu import exceptions as kombu_exc
from nova.compute import utils as compute_utils
from nova import context as nova_context
from nova.db.api import models
from nova import objects
from nova.objects import fields
from nova.scheduler import rpcapi
from oslo_log import log as logging
import oslo_messaging as messaging

from pcloud.backend.aggregates import rows
from pcloud import names

LOG = logging.getLogger(__name__)

# The version of the schedulers' calls that tell of aggregates.
_VERSION = '4.1'
# How often a broker is tried, instead of for ever.
_RETRIES = 1
# A broker that is away when the first message of a process is sent comes to
# an error of the library below oslo.messaging, later ones to its own.
OUTAGES = messaging.MessagingException, kombu_exc.KombuError

_PHASES = (fields.NotificationPhase.START, fields.NotificationPhase.END)


def changed(
    context: nova_context.RequestContext, uuids: Collection[str],
) -> None:
    """Send the present state of some aggregates to the schedulers.

    Two queries. Deleted aggregates are left out.

    :param uuids: the uuids of the aggregates
    """
    aggregates = rows.read(context, models.Aggregate.uuid.in_(list(uuids)))
    admin = context.elevated()
    _cast(admin, 'update_aggregates',
          aggregates=[_aggregate(admin, aggregate)
                      for aggregate in aggregates])


def moved(
    context: nova_context.RequestContext, uuids: Collection[str],
) -> None:
    """Tell the schedulers of hosts that have joined or left aggregates.

    One query, which reads nothing of any host. Nothing is sent of an aggregate
    that tells schedulers nothing about hosts: a message has all hosts of the
    aggregate, and a scheduler goes through a list for each host.

    :param uuids: the uuids of the aggregates
    """
    told = [uuid for uuid, metadata in rows.frames(context, uuids).items()
            if names.is_for_schedulers(metadata)]
    if told:
        changed(context, told)


def deleted(
    context: nova_context.RequestContext, aggregate: rows.Aggregate,
) -> None:
    """Tell the schedulers of a deleted aggregate that they need."""
    if not names.is_for_schedulers(aggregate.metadata):
        return
    admin = context.elevated()
    _cast(admin, 'delete_aggregate', aggregate=_aggregate(admin, aggregate))


def notify(
    context: nova_context.RequestContext, aggregate: rows.Aggregate,
    action: str,
) -> None:
    """Send Nova's own notifications of a change of an aggregate.

    :param action: a member of `nova.objects.fields.NotificationAction`
    """
    admin = context.elevated()
    made = _aggregate(admin, aggregate)
    for phase in _PHASES:
        compute_utils.notify_about_aggregate_update(
            admin, f'{action.replace("_", "")}.{phase}',
            {'aggregate_id': made.id, 'name': made.name})
        compute_utils.notify_about_aggregate_action(
            admin, made, action, phase)


def _aggregate(
    context: nova_context.RequestContext, aggregate: rows.Aggregate,
) -> objects.Aggregate:
    """Return Nova's object without Nova's expensive join."""
    made = objects.Aggregate(
        context, id=aggregate.id, uuid=aggregate.uuid, name=aggregate.name,
        hosts=sorted(aggregate.hosts), metadata=dict(aggregate.metadata),
        deleted=False, deleted_at=None, created_at=None, updated_at=None)
    made.obj_reset_changes()
    return made


def _cast(
    context: nova_context.RequestContext, method: str, **arguments: object,
) -> None:
    client = rpcapi.SchedulerAPI().client.prepare(
        fanout=True, version=_VERSION, retry=_RETRIES)
    try:
        client.cast(context, method, **arguments)
    except OUTAGES as error:
        LOG.warning('The schedulers could not be told of aggregates: '
                    '%(error)s', {'error': error})
