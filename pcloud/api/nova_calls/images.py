# SPDX-License-Identifier: Apache-2.0

"""The image of a server, and whether administrators trust the image.

Nova reads the image a moment later in the same call. Nova takes the image that
was read here then, so a launch or a rebuild makes no more calls of Glance than
without Pcloud.
"""

from collections.abc import Mapping
import dataclasses
import typing

from cinderclient import exceptions as cinder_exc
from keystoneauth1 import exceptions as ks_exc
from nova.compute import api
from nova import context as nova_context
from nova import exception as nova_exception
from nova.image import glance
from nova.volume import cinder
from oslo_config import cfg
from oslo_utils import uuidutils

from pcloud.api import constraint_levels
from pcloud import exception
from pcloud.objects.placing import machine_constraints
from pcloud.rules.placing import colocation
from pcloud.rules.placing import constraints as constraint_rules

CONF = cfg.CONF

_FAILURES = (nova_exception.NovaException, ks_exc.ClientException,
             cinder_exc.ClientException)
# The member of a volume in which Cinder keeps the image of the volume.
_OF_VOLUME = 'volume_image_metadata'
# The property with which an image names the type of volumes made of it.
_TYPE_OF_IMAGE = 'cinder_img_volume_type'
# The attribute of a request's context for the image that was just read.
_JUST_READ = '_pcloud_image'


@dataclasses.dataclass(frozen=True)
class Source:
    """What a server boots from.

    :ivar properties: the properties of the image, or of the image that the
        volume was, or will be, made of
    :ivar trusted: whether administrators trust the image
    :ivar volume: the metadata of the volume; empty where the server does not
        boot from a volume that exists
    :ivar volume_type: the name or id of the type of the volume, which exists
        or will be made; '' for the default type of Cinder; None for no volume,
        and for a volume without a type
    """

    properties: Mapping[str, str] = dataclasses.field(default_factory=dict)
    trusted: bool = False
    volume: Mapping[str, str] = dataclasses.field(default_factory=dict)
    volume_type: str | None = None


@dataclasses.dataclass(frozen=True)
class _Root:
    """The root disk of a server.

    :ivar image: the id of the image that the disk was, or will be, made of
    :ivar volume: as of `Source`; likewise `volume_type`
    :ivar is_typed_by_image: whether the image may name the type of the volume
    """

    image: object = None
    volume: Mapping[str, str] = dataclasses.field(default_factory=dict)
    volume_type: str | None = None
    is_typed_by_image: bool = False


class _Images(glance.API):
    """Nova's access to images, which takes an image that was just read."""

    def get(
        self, context: nova_context.RequestContext, id_or_uri: str,
        include_locations: bool = False, show_deleted: bool = True,
    ) -> dict:
        """Return an image; the image that was just read is returned once."""
        wanted = id_or_uri, include_locations, show_deleted
        image_id, image = getattr(context, _JUST_READ, (None, {}))
        if wanted != (image_id, False, True):
            return super().get(
                context, id_or_uri, include_locations, show_deleted)
        delattr(context, _JUST_READ)
        return image


def share(compute_api: api.API) -> None:
    """Have Nova take the images that `source` reads.

    An access to images that somebody else has put there stays.

    :param compute_api: what Nova creates servers with
    """
    if type(compute_api.image_api) is glance.API:
        compute_api.image_api = _Images()


def source(
    context: nova_context.RequestContext, server: Mapping,
) -> Source:
    """Return what a server boots from.

    An image that cannot be read has no properties, and is refused by Nova.
    Public images, and images of the projects in ``[pcloud]
    system_key_image_projects``, are trusted. The volume is read for the image
    of the volume in any case.

    :param server: the server in the body of a request to create the server
    """
    root = _Root(server.get('imageRef'))
    if not root.image:
        root = _of_root_device(context, server)
    # Nova would send the token to the host of an address.
    if not uuidutils.is_uuid_like(root.image):
        return Source(volume=root.volume, volume_type=root.volume_type)
    try:
        image = glance.API().get(context, root.image)
    except _FAILURES:
        return Source(volume=root.volume, volume_type=root.volume_type)
    setattr(context, _JUST_READ, (root.image, image))
    trusted = bool(image.get('is_public')) or (
        image.get('owner') in CONF.pcloud.system_key_image_projects)
    properties = image.get('properties') or {}
    return Source(properties, trusted, root.volume, str(
        properties.get(_TYPE_OF_IMAGE) or root.volume_type)
        if root.is_typed_by_image else root.volume_type)


def constraints(
    context: nova_context.RequestContext, properties_: Mapping[str, str],
) -> str:
    """Return the machine constraints of an image, '' for none.

    The queries of `constraint_levels.read` and of
    `machine_constraints.check_attributes`. Whoever makes an image may name no
    host: the image may be for everybody.

    :param properties_: the properties of the image
    :raises: `exception.Invalid`

    Rule: reference-constraints-image
    """
    name = constraint_rules.IMAGE_PROPERTY
    written = properties_.get(name) or ''
    try:
        machine_constraints.check_attributes(context, constraint_levels.read(
            written, lambda rule: False))
    except (exception.Invalid, exception.HostConstraint) as error:
        raise exception.Invalid(
            f'The image property {name} is not right: {error} Correct the '
            'property, or use another image.')
    return written


def check_flag(
    wish: colocation.Wish, extra_spec: str | None,
    properties_: Mapping[str, str],
) -> None:
    """Refuse an image that forbids a server to be where the server is to be.

    :param wish: what the hints of the server ask about its neighbours
    :param extra_spec: the permission to co-locate of the server's flavor, None
        where the flavor has none
    :param properties_: the properties of the image
    :raises: as `rules.placing.colocation.check`
    """
    colocation.check(wish, colocation.flag(
        extra_spec, properties_.get(colocation.IMAGE_PROPERTY)))


def image_id(server: Mapping) -> str:
    """Return the id of the image that Nova will know of a new server.

    Nova does not know of which image a volume was made.

    :returns: '' where there is no such image
    """
    found = server.get('imageRef') or next((
        device.get('uuid') for device
        in _devices(server, 'block_device_mapping_v2')
        if _is_root(device.get('boot_index')) and
        device.get('source_type') == 'image'), None)
    return str(found or '')


def is_on_volume(server: Mapping) -> bool:
    """Whether the root disk of a new server will be a volume."""
    if 'block_device_mapping_v2' in server:
        return any(
            _is_root(device.get('boot_index')) and
            device.get('destination_type', 'volume') == 'volume'
            for device in _devices(server, 'block_device_mapping_v2'))
    return not server.get('imageRef')


def _of_root_device(
    context: nova_context.RequestContext, server: Mapping,
) -> _Root:
    """Return the root disk by the block devices of a new server."""
    if 'block_device_mapping_v2' not in server:
        return _of_first_device(context, server)
    for device in _devices(server, 'block_device_mapping_v2'):
        if _is_root(device.get('boot_index')):
            if device.get('source_type') in ('snapshot', 'volume'):
                return _of_volume(context, device)
            return _of_new_volume(device)
    return _Root()


def _of_new_volume(device: Mapping) -> _Root:
    """Return the root disk that is made of an image, or of nothing."""
    image = device.get('uuid') if (
        device.get('source_type') == 'image') else None
    if device.get('destination_type', 'volume') != 'volume':
        return _Root(image)
    given = str(device.get('volume_type') or '')
    return _Root(image, {}, given, not given)


def _of_first_device(
    context: nova_context.RequestContext, server: Mapping,
) -> _Root:
    """Return the root disk by the older kind of mapping.

    Nova boots from the first device of the mapping.
    """
    for device in _devices(server, 'block_device_mapping'):
        for source in ('snapshot', 'volume'):
            source_id = device.get(f'{source}_id')
            if source_id and not device.get('no_device'):
                return _of_volume(
                    context, {'source_type': source, 'uuid': source_id})
    return _Root()


def _devices(server: Mapping, member: str) -> list[Mapping]:
    devices = server.get(member)
    return [device for device in devices if isinstance(device, dict)
            ] if isinstance(devices, list) else []


def _is_root(boot_index: typing.Any) -> bool:
    try:
        return int(boot_index) == 0
    except (ValueError, TypeError, OverflowError):
        return False


def _of_volume(
    context: nova_context.RequestContext, device: Mapping,
) -> _Root:
    """Return the root disk that is a volume, or is made of a snapshot.

    Of a snapshot the image and the type of its volume: the volume of the
    server will be another volume, without the metadata.
    """
    volume_id = device.get('uuid')
    if not uuidutils.is_uuid_like(volume_id):
        return _Root()
    is_snapshot = device.get('source_type') == 'snapshot'
    try:
        if is_snapshot:
            volume_id = cinder.API().get_snapshot(
                context, volume_id)['volume_id']
        volume = cinder.API().get(context, volume_id)
    except _FAILURES:
        return _Root()
    # Nova calls the name of the type an id.
    return _Root(
        volume.get(_OF_VOLUME, {}).get('image_id'),
        {} if is_snapshot else volume.get('volume_metadata') or {},
        device.get('volume_type') or volume.get('volume_type_id') or None)
