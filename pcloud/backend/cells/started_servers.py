# SPDX-License-Identifier: Apache-2.0

"""Read what a server was started with, so that another one can be like it.

Users are not shown all of it: user data and the zone that was asked for are
in the databases alone, and so is the key of a key pair that is gone.
"""

# Nova's objects are registered when its services start, perhaps after us.
from __future__ import annotations

from collections.abc import Collection
from collections.abc import Mapping
from collections.abc import Sequence
import dataclasses
import typing

from nova import context as nova_context
from nova import exception as nova_exception
from nova import objects

from pcloud.backend.cells import asking

_BLANK, _IMAGE, _SNAPSHOT, _VOLUME = 'blank', 'image', 'snapshot', 'volume'
_SSH = 'ssh'
# The members of a block device that Nova keeps as the user wrote them.
_MEMBERS = ('volume_size', 'boot_index', 'delete_on_termination',
            'disk_bus', 'device_type', 'guest_format', 'tag', 'volume_type')
# What Nova gives to servers whose user has asked for no security group.
_DEFAULT_GROUP = 'default'


@dataclasses.dataclass(frozen=True)
class KeyPair:
    """A key pair, as it was when a server was started with the key pair.

    :ivar kind: "ssh" or "x509"
    """

    name: str
    public_key: str
    kind: str = _SSH


@dataclasses.dataclass(frozen=True)
class Start:
    """What a server was started with beside name, flavor and hints.

    :ivar image: the id of the image; '' for a server from a volume that was
        there before
    :ivar volume_size: GiB of the volume that was made of the image for the
        root disk; None for any other root disk
    :ivar user_data: in Base64; '' for none
    :ivar zone: the availability zone that was asked for, or ''
    :ivar security_groups: names or ids; empty for the project's default
    :ivar devices: further volumes that were made for the server, in the form
        of Nova's API
    :ivar attached: the ids of the volumes that are attached, and that no other
        server can have
    """

    image: str = ''
    volume_size: int | None = None
    user_data: str = ''
    key_pair: KeyPair | None = None
    zone: str = ''
    security_groups: tuple[str, ...] = ()
    devices: tuple[Mapping[str, typing.Any], ...] = ()
    attached: tuple[str, ...] = ()


def read(context: nova_context.RequestContext, server: str) -> Start:
    """Return what a server was started with.

    A few queries in the API's database, and a few in the cell of the server.

    :returns: an empty start for a server that is in no cell
    :raises: `exception.Unavailable` when the cell is silent
    """
    answers = asking.ask(asking.of_servers(context, [server]), _in_cell)
    for start in answers.all():
        if start is not None:
            return _with_wishes(context, server, start)
    return Start()


def _with_wishes(
    context: nova_context.RequestContext, server: str, start: Start,
) -> Start:
    """Add the zone and the security groups that were asked for."""
    try:
        spec = objects.RequestSpec.get_by_instance_uuid(context, server)
    except nova_exception.RequestSpecNotFound:
        return start
    groups = [group.uuid if 'uuid' in group and group.uuid else group.name
              for group in spec.security_groups]
    return dataclasses.replace(
        start, zone=spec.availability_zone or '', security_groups=tuple(
            group for group in groups if group != _DEFAULT_GROUP))


def _in_cell(
    context: nova_context.RequestContext, servers: Collection[str],
) -> Start | None:
    server, = servers
    try:
        instance = objects.Instance.get_by_uuid(
            context, server, expected_attrs=['keypairs'])
    except nova_exception.InstanceNotFound:
        return None
    devices = objects.BlockDeviceMappingList.get_by_instance_uuid(
        context, server)
    root = next((device for device in devices if device.is_root), None)
    image, size = instance.image_ref or '', None
    if not image and root and root.source_type == _IMAGE:
        image, size = root.image_id, root.volume_size
    return Start(
        image, size, instance.user_data or '', _key_pair(instance),
        devices=_made(devices, root),
        attached=tuple(
            device.volume_id for device in devices
            if device.volume_id and not device.is_root
            and device.source_type == _VOLUME))


def _made(
    devices: Sequence[objects.BlockDeviceMapping],
    root: objects.BlockDeviceMapping | None,
) -> tuple[Mapping[str, typing.Any], ...]:
    """Return the volumes that Nova has made for a server, but for the root.

    An image whose root disk is a snapshot names snapshots for the other
    volumes of all its servers, too. Disks of the host are the flavor's.
    """
    of_image = root is not None and root.source_type == _SNAPSHOT
    return tuple(
        _device(device) for device in sorted(
            devices, key=lambda device: device.id)
        if not device.is_root and device.destination_type == _VOLUME
        and device.source_type in (_BLANK, _IMAGE, _SNAPSHOT)
        and not (of_image and device.source_type == _SNAPSHOT))


def _device(device: objects.BlockDeviceMapping) -> dict[str, typing.Any]:
    made_of = {_IMAGE: device.image_id, _SNAPSHOT: device.snapshot_id}
    return {'source_type': device.source_type, 'destination_type': _VOLUME} | {
        member: value for member, value in (
            ('uuid', made_of.get(device.source_type)),
            *((member, getattr(device, member)) for member in _MEMBERS))
        if value is not None}


def _key_pair(instance: objects.Instance) -> KeyPair | None:
    for pair in instance.keypairs:
        return KeyPair(pair.name, pair.public_key, pair.type)
    if instance.key_name and instance.key_data:
        return KeyPair(instance.key_name, instance.key_data)
    return None
