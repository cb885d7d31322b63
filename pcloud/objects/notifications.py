# SPDX-License-Identifier: Apache-2.0

"""Tell billing and audit of changes of Pclouds, hosts and tenants.

The payloads are versioned objects in the form of Nova's own notifications, and
are sent the same way: where ``[notifications] notification_format`` is
'versioned' or 'both', on the topics of ``versioned_notifications_topics``. No
payload has the real name of a host.
"""

import dataclasses
import typing

from nova import context as nova_context
from nova import rpc
from oslo_config import cfg
from oslo_versionedobjects import base
from oslo_versionedobjects import fields

CONF = cfg.CONF

# How often a broker is tried, where Nova would try for ever.
_RETRIES = 1


class _Payload(base.VersionedObject):
    # A reader of Nova's notifications can read the payloads.
    OBJ_SERIAL_NAMESPACE = 'nova_object'
    OBJ_PROJECT_NAMESPACE = 'pcloud'


@base.VersionedObjectRegistry.register
class PcloudPayload(_Payload):
    """The payload of ``pcloud.create``, ``.update`` and ``.delete``."""

    VERSION = '1.0'
    fields = {
        'pcloud_id': fields.StringField(),
        'name': fields.StringField(),
        'owner': fields.StringField(),
        'cpu_allocation_ratio': fields.FloatField(nullable=True),
        'ram_allocation_ratio': fields.FloatField(nullable=True),
    }


@base.VersionedObjectRegistry.register
class PcloudHostPayload(_Payload):
    """The payload of ``pcloud.host.add``, ``.update`` and ``.remove``.

    `name` is the owner's name for the host, `units` the units of the host.
    `reason` is 'growth' where a launch has added the host, 'maintenance' or
    'recovery' where the host stands in for another, and None where a user has
    added it.
    """

    # 1.1: reason
    VERSION = '1.1'
    fields = {
        'pcloud_id': fields.StringField(),
        'owner': fields.StringField(),
        'name': fields.StringField(),
        'host_flavor': fields.StringField(nullable=True),
        'units': fields.IntegerField(),
        'availability_zone': fields.StringField(),
        'state': fields.StringField(),
        'reason': fields.StringField(nullable=True),
    }


@base.VersionedObjectRegistry.register
class PcloudHostMaintenancePayload(_Payload):
    """The payload of ``pcloud.host.maintenance``.

    `name` is the owner's name for the host. `action` is 'announced',
    'changed' or 'withdrawn'; `begin` and `end` are seconds since the epoch, of
    the maintenance that was withdrawn in the last case.
    """

    VERSION = '1.0'
    fields = {
        'pcloud_id': fields.StringField(),
        'owner': fields.StringField(),
        'name': fields.StringField(),
        'host_flavor': fields.StringField(),
        'availability_zone': fields.StringField(),
        'state': fields.StringField(),
        'action': fields.StringField(),
        'begin': fields.IntegerField(),
        'end': fields.IntegerField(nullable=True),
        'reason': fields.StringField(),
    }


@base.VersionedObjectRegistry.register
class PcloudHostRecoveryPayload(_Payload):
    """The payload of ``pcloud.host.recovery``.

    `name` is the owner's name for the host, `replacement` the owner's name for
    the host that has joined. `state` is 'moving', 'done' or 'held', or
    'returned' when the host has come back. `since` is when the recovery began
    or was held, in seconds since the epoch.
    """

    VERSION = '1.0'

    fields = {
        'pcloud_id': fields.StringField(),
        'owner': fields.StringField(),
        'name': fields.StringField(),
        'host_flavor': fields.StringField(nullable=True),
        'availability_zone': fields.StringField(),
        'state': fields.StringField(),
        'since': fields.IntegerField(),
        'replacement': fields.StringField(nullable=True),
    }


@base.VersionedObjectRegistry.register
class PcloudHostExistsPayload(_Payload):
    """The payload of ``pcloud.host.exists``.

    `name` is the owner's name for the host; `units` and `price`, a decimal
    text, are what it counts and costs an hour now. `since` and `hour` are
    seconds since the epoch: when the project has got the host, and the
    beginning of the hour in which it is told.
    """

    VERSION = '1.0'
    fields = {
        'pcloud_id': fields.StringField(),
        'owner': fields.StringField(),
        'name': fields.StringField(),
        'host_flavor': fields.StringField(),
        'units': fields.IntegerField(),
        'price': fields.StringField(nullable=True),
        'since': fields.IntegerField(),
        'hour': fields.IntegerField(),
    }


@base.VersionedObjectRegistry.register
class PcloudHostWaitingPayload(_Payload):
    """The payload of ``pcloud.host.waiting.begun`` and the like.

    The others are ``.matched`` and ``.expired``. `id` is the entry's, `name`
    the owner's name for the host. `since` and `until` are seconds since the
    epoch; `availability_zone` is None for any.
    """

    VERSION = '1.0'
    fields = {
        'pcloud_id': fields.StringField(),
        'owner': fields.StringField(),
        'id': fields.UUIDField(),
        'name': fields.StringField(),
        'host_flavor': fields.StringField(),
        'availability_zone': fields.StringField(nullable=True),
        'since': fields.IntegerField(),
        'until': fields.IntegerField(),
    }


@base.VersionedObjectRegistry.register
class PcloudHostUntilPayload(_Payload):
    """The payload of ``pcloud.host.until``, a day before a host leaves.

    `name` is the owner's name for the host, `until` when it is drained, in
    seconds since the epoch, and `move` which servers are moved then.
    """

    VERSION = '1.0'
    fields = {
        'pcloud_id': fields.StringField(),
        'owner': fields.StringField(),
        'name': fields.StringField(),
        'until': fields.IntegerField(),
        'move': fields.StringField(),
    }


@base.VersionedObjectRegistry.register
class PcloudTenantPayload(_Payload):
    """The payload of ``pcloud.tenant.add`` and ``pcloud.tenant.remove``."""

    VERSION = '1.0'
    fields = {
        'pcloud_id': fields.StringField(),
        'owner': fields.StringField(),
        'tenant': fields.StringField(),
    }


def pcloud(
    context: nova_context.RequestContext, action: str, subject: typing.Any,
) -> None:
    """Tell that a Pcloud was created, updated or deleted.

    :param action: 'create', 'update' or 'delete'
    :param subject: the `pclouds.Pcloud`
    """
    _emit(context, f'pcloud.{action}', PcloudPayload(
        pcloud_id=subject.id, name=subject.name, owner=subject.owner,
        cpu_allocation_ratio=subject.cpu_allocation_ratio,
        ram_allocation_ratio=subject.ram_allocation_ratio))


@dataclasses.dataclass(frozen=True)
class HostEvent:
    """A change of a host; the fields are the fields of the payload."""

    pcloud_id: str
    owner: str
    name: str
    host_flavor: str | None
    units: int
    availability_zone: str
    state: str
    reason: str | None = None


def host(
    context: nova_context.RequestContext, action: str, event: HostEvent,
) -> None:
    """Tell that a host was added, updated or removed.

    :param action: 'add', 'update' or 'remove'
    """
    _emit(context, f'pcloud.host.{action}', PcloudHostPayload(
        **dataclasses.asdict(event)))


@dataclasses.dataclass(frozen=True)
class MaintenanceEvent:
    """A maintenance of a host; the fields are the fields of the payload."""

    pcloud_id: str
    owner: str
    name: str
    host_flavor: str
    availability_zone: str
    state: str
    action: str
    begin: int
    end: int | None
    reason: str


def maintenance(
    context: nova_context.RequestContext, event: MaintenanceEvent,
) -> None:
    """Tell that a maintenance was announced, changed or withdrawn."""
    _emit(context, 'pcloud.host.maintenance', PcloudHostMaintenancePayload(
        **dataclasses.asdict(event)))


@dataclasses.dataclass(frozen=True)
class RecoveryEvent:
    """The recovery of a host; the fields are the fields of the payload."""

    pcloud_id: str
    owner: str
    name: str
    host_flavor: str | None
    availability_zone: str
    state: str
    since: int
    replacement: str | None


def recovery(
    context: nova_context.RequestContext, event: RecoveryEvent,
) -> None:
    """Tell that a recovery has begun, is done, is held or is over."""
    _emit(context, 'pcloud.host.recovery', PcloudHostRecoveryPayload(
        **dataclasses.asdict(event)))


@dataclasses.dataclass(frozen=True)
class ExistingHost:
    """A host that is held; the fields are the fields of the payload."""

    pcloud_id: str
    owner: str
    name: str
    host_flavor: str
    units: int
    price: str | None
    since: int
    hour: int


def existing(
    context: nova_context.RequestContext, host_: ExistingHost,
) -> None:
    """Tell that a host is held."""
    _emit(context, 'pcloud.host.exists', PcloudHostExistsPayload(
        **dataclasses.asdict(host_)))


@dataclasses.dataclass(frozen=True)
class WaitingEvent:
    """An entry of a waiting list; the fields are those of the payload."""

    pcloud_id: str
    owner: str
    id: str
    name: str
    host_flavor: str
    availability_zone: str | None
    since: int
    until: int


def waiting(
    context: nova_context.RequestContext, action: str, event: WaitingEvent,
) -> None:
    """Tell what has become of an entry of a waiting list.

    :param action: 'begun', 'matched' or 'expired'
    """
    _emit(context, f'pcloud.host.waiting.{action}', PcloudHostWaitingPayload(
        **dataclasses.asdict(event)))


@dataclasses.dataclass(frozen=True)
class UntilEvent:
    """A date of a host; the fields are the fields of the payload."""

    pcloud_id: str
    owner: str
    name: str
    until: int
    move: str


def until(
    context: nova_context.RequestContext, event: UntilEvent,
) -> None:
    """Tell that the date at which a host is to leave is near."""
    _emit(context, 'pcloud.host.until', PcloudHostUntilPayload(
        **dataclasses.asdict(event)))


def tenant(
    context: nova_context.RequestContext, action: str,
    subject: typing.Any, project_id: str,
) -> None:
    """Tell that a project was made a tenant, or is no tenant any more.

    :param action: 'add' or 'remove'
    :param subject: the `pclouds.Pcloud`
    """
    _emit(context, f'pcloud.tenant.{action}', PcloudTenantPayload(
        pcloud_id=subject.id, owner=subject.owner, tenant=project_id))


def wanted() -> bool:
    """Whether Nova is configured to send versioned notifications."""
    return CONF.notifications.notification_format in ('both', 'versioned')


def _emit(
    context: nova_context.RequestContext, event_type: str, payload: _Payload,
) -> None:
    if not wanted():
        return
    payload.obj_reset_changes(recursive=True)
    notifier = rpc.get_versioned_notifier(
        f'nova-api:{CONF.host}').prepare(retry=_RETRIES)
    notifier.info(context, event_type, payload.obj_to_primitive())
