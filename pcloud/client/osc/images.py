# SPDX-License-Identifier: Apache-2.0

"""How the commands find images, volumes in their place, and networks."""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Iterator
import contextlib
import dataclasses
import typing

from keystoneauth1 import exceptions as ks_exc
from openstack import exceptions as sdk_exceptions

from pcloud.client import exceptions
from pcloud.rules import forms

if typing.TYPE_CHECKING:
    from pcloud.client.deploy import plans
    from pcloud.client import servers

# The member of a volume in which Cinder keeps the image of the volume.
_IMAGE_ID = 'image_id'


def finder(client_manager: typing.Any) -> Callable[[str], servers.Image]:
    """Return a function that finds an image by id or name.

    The function raises exceptions.NotFound when there is no such image, and
    exceptions.BadRequest when several images have the name.
    """
    from pcloud.client import servers

    def find(name_or_id: str) -> servers.Image:
        with _named('image', name_or_id):
            image = client_manager.image.find_image(
                name_or_id, ignore_missing=False)
        return servers.Image(
            image.id, image.name or image.id, image.status or 'active',
            image.min_ram or 0, image.min_disk or 0, image.properties or {})
    return find


def with_volume(client_manager: typing.Any, part: plans.Part) -> plans.Part:
    """Return a service with the id of its volume, and the volume's image.

    A service without a volume in the place of an image is returned as given.

    :raises exceptions.NotFound: when there is no such volume
    :raises exceptions.BadRequest: when several volumes have the name
    :raises exceptions.ClientError: when the cloud has no volumes, or Cinder
        refuses the call
    """
    from pcloud.client.deploy import devices
    if part.image:
        return part
    root, *more = part.options.devices
    name_or_id = root['uuid']
    with _read('volume', name_or_id):
        volume = client_manager.sdk_connection.block_storage.find_volume(
            name_or_id, ignore_missing=False)
    # Cinder keeps an image that Glance may have lost.
    image = (volume.volume_image_metadata or {}).get(_IMAGE_ID) or ''
    image = _known(client_manager, image) if image else ''
    return dataclasses.replace(part, image=image, options=dataclasses.replace(
        part.options, devices=(devices.root(volume.id), *more)))


def with_networks(client_manager: typing.Any, part: plans.Part) -> plans.Part:
    """Return a service with the ids of its networks and ports.

    What is an id already is not looked up; Nova tells what it does not know.

    :raises exceptions.NotFound: when there is no such network or port
    :raises exceptions.BadRequest: when several have the name
    :raises exceptions.ClientError: when Neutron refuses the call
    """
    if not isinstance(part.options.networks, list):
        return part
    return dataclasses.replace(part, options=dataclasses.replace(
        part.options, networks=[
            {kind: _network_id(client_manager, kind, name_or_id)}
            for each in part.options.networks
            for kind, name_or_id in each.items()]))


def _network_id(
    client_manager: typing.Any, kind: str, name_or_id: str,
) -> str:
    """Return the id of a network or port.

    :param kind: "uuid" for a network, or "port", as in Nova's API
    """
    if forms.is_uuid_in_any_case(name_or_id):
        return name_or_id
    neutron = client_manager.sdk_connection.network
    what, find = (('port', neutron.find_port) if kind == 'port'
                  else ('network', neutron.find_network))
    with _read(what, name_or_id):
        found: str = find(name_or_id, ignore_missing=False).id
    return found


@contextlib.contextmanager
def _read(what: str, name_or_id: str) -> Iterator[None]:
    """As `_named`, of a service that may be away or refuse the call."""
    try:
        with _named(what, name_or_id):
            yield
    except (sdk_exceptions.SDKException, ks_exc.ClientException) as error:
        raise exceptions.ClientError(
            f"{what.capitalize()} '{name_or_id}' cannot be read: {error}"
        ) from None


@contextlib.contextmanager
def _named(what: str, name_or_id: str) -> Iterator[None]:
    """Find what an id or name stands for, within the context.

    :param what: the word for what is looked for
    """
    try:
        yield
    except sdk_exceptions.NotFoundException:
        raise exceptions.NotFound(
            f"No {what} has the id or name '{name_or_id}'") from None
    except sdk_exceptions.DuplicateResource:
        raise exceptions.BadRequest(
            f"Several {what}s are named '{name_or_id}'; give the id of one of "
            'them instead') from None


def _known(client_manager: typing.Any, image: str) -> str:
    """Return the id of an image, or '' where Glance does not know it."""
    try:
        return finder(client_manager)(image).id
    except exceptions.NotFound:
        return ''
