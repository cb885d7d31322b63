# SPDX-License-Identifier: Apache-2.0

"""How the commands find images."""

from __future__ import annotations

from collections.abc import Callable
import typing

from openstack import exceptions as sdk_exceptions

from pcloud.client import exceptions

if typing.TYPE_CHECKING:
    from pcloud.client import servers


def finder(client_manager: typing.Any) -> Callable[[str], servers.Image]:
    """Return a function that finds an image by id or name.

    The function raises exceptions.NotFound when there is no such image, and
    exceptions.BadRequest when several images have the name.
    """
    from pcloud.client import servers

    def find(name_or_id: str) -> servers.Image:
        try:
            image = client_manager.image.find_image(
                name_or_id, ignore_missing=False)
        except sdk_exceptions.NotFoundException:
            raise exceptions.NotFound(
                f"No image has the id or name '{name_or_id}'") from None
        except sdk_exceptions.DuplicateResource:
            raise exceptions.BadRequest(
                f"Several images are named '{name_or_id}'; give the id of "
                f"one of them instead") from None
        return servers.Image(
            image.id, image.name or image.id, image.status or 'active',
            image.min_ram or 0, image.min_disk or 0, image.properties or {})
    return find
