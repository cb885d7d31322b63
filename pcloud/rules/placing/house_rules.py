# SPDX-License-Identifier: Apache-2.0

"""What the owner of a Pcloud allows there, beside the choice of tenants.

nova-api, the request filter and the scheduler filter ask this module, so the
answers cannot disagree.

Rule: reference-house-rules
"""

from collections.abc import Collection
from collections.abc import Iterable
from collections.abc import Mapping
import dataclasses

from pcloud import exception
from pcloud.rules import coded
from pcloud.rules import forms
from pcloud.rules.placing import access
from pcloud.rules.placing import hints as hint_rules

# The metadata values of a rule that is switched on, and off by the owner.
ON, OFF = '1', '0'
NO_IMAGE = ''
# The most ids in a list, and in a message.
MOST_IDS = 100
_SHOWN = 10


@dataclasses.dataclass(frozen=True)
class Asked:
    """What a request for a server asks a Pcloud for.

    :ivar project: the id of the project of the server
    :ivar flavor: the id of the flavor
    :ivar image: the id of the image; `NO_IMAGE` for a server on a volume of
        which Nova does not know the image; None for a server of a plan, which
        has some image
    :ivar host: the owner's name of the only host for the server, in any
        letter case; None for any host
    """

    project: str
    flavor: str
    image: str | None
    host: str | None = None


def packed(ids: Iterable[str]) -> list[str]:
    """Return ids as metadata values, as few as there can be; one for none.

    :param ids: texts without commas, each no longer than a metadata value
    """
    parts = ['']
    for id_ in sorted(ids):
        longer = f'{parts[-1]},{id_}' if parts[-1] else id_
        if len(longer) <= forms.LIMIT:
            parts[-1] = longer
        else:
            parts.append(id_)
    return parts


def listed(
    metadata: Mapping[str, str], prefix: str,
) -> frozenset[str] | None:
    """Return the ids in the parts of a list, None where there is no list.

    A part that is not right allows nothing else.

    :param prefix: what the key of each part begins with
    """
    parts = [value for key, value in metadata.items()
             if key.startswith(prefix)]
    return None if not parts else frozenset(
        id_ for part in parts for id_ in part.split(',') if id_)


def check_flavor(pcloud: access.Pcloud, flavor: str) -> None:
    """Refuse a flavor that the owner of a Pcloud does not allow.

    :raises: `exception.HouseRuleBroken`

    Rule: reference-house-rules-lists
    """
    _check(pcloud, against_flavor(pcloud.flavors, flavor))


def check_image(pcloud: access.Pcloud, image: str | None) -> None:
    """Refuse an image that the owner of a Pcloud does not allow.

    :raises: `exception.HouseRuleBroken`

    Rule: reference-house-rules-lists
    """
    _check(pcloud, against_image(pcloud.images, image))


def _check(pcloud: access.Pcloud, reason: coded.Reason | None) -> None:
    if reason is not None:
        raise exception.HouseRuleBroken(pcloud=pcloud.id, reason=reason)


def against_flavor(
    flavors: Collection[str] | None, flavor: str,
) -> coded.Reason | None:
    """Return why a Pcloud does not take a flavor, None when it does.

    :param flavors: the ids of the flavors that the Pcloud takes, None for all
    """
    if flavors is None or flavor in flavors:
        return None
    return coded.Reason('flavor_not_allowed', flavor=flavor, **_some(flavors))


def against_image(
    images: Collection[str] | None, image: str | None,
) -> coded.Reason | None:
    """Return why a Pcloud does not take an image, None when it does.

    =================  ==================  =======
    `images`           image               refused
    =================  ==================  =======
    None               any                 no
    a list             in the list         no
    a list             not in the list     yes
    a list             `NO_IMAGE`          yes
    a list             None, of a plan     no
    =================  ==================  =======

    :param images: the ids of the images that the Pcloud takes, None for all
    :param image: as `Asked.image`
    """
    if images is None or image is None or image in images:
        return None
    if not image:
        return coded.Reason('volume_not_allowed', **_some(images))
    return coded.Reason('image_not_allowed', image=image, **_some(images))


def _some(ids: Collection[str]) -> dict[str, str | int | None]:
    """Return the params of what is allowed, as far as it is shown."""
    return {'allowed': ', '.join(sorted(ids)[:_SHOWN]),
            'more': max(0, len(ids) - _SHOWN)}


def narrowed(pcloud: access.Pcloud, asked: Asked) -> access.Pcloud:
    """Return a Pcloud with the hosts that a server may have.

    ================  ==============  ===========  =================
    host named        project         host known   result
    ================  ==============  ===========  =================
    no                any tenant      any          all hosts
    yes               the owner       yes          the host alone
    yes               the owner       no           `NamedHostUnknown`
    yes               another tenant  any          `HouseRuleBroken`
    yes, where        another tenant  as for the   as for the owner
    `pin_by_tenants`                  owner
    ================  ==============  ===========  =================

    Whatever the host is, the flavor and the image have to be allowed. Names
    that differ in letter case alone are the same, as among the hosts of a
    Pcloud. A tenant who may not name hosts learns no names.

    :param pcloud: a Pcloud that the project may use
    :raises: `exception.HouseRuleBroken`, `exception.NamedHostUnknown`

    Rule: reference-house-rules-pin
    """
    check_flavor(pcloud, asked.flavor)
    check_image(pcloud, asked.image)
    if asked.host is None:
        return pcloud
    if asked.project != pcloud.owner and not pcloud.pin_by_tenants:
        raise exception.HouseRuleBroken(
            pcloud=pcloud.id, reason='its owner alone may name the host of '
            f'a server; leave the hint {hint_rules.HOST} out, or ask the '
            'owner to set pin_by_tenants')
    pin = next((name for name in pcloud.named
                if name.lower() == asked.host.lower()), None)
    if pin is None:
        raise exception.NamedHostUnknown(
            pcloud=pcloud.id, reason=f"it has no host named '{asked.host}', "
            f'which the hint {hint_rules.HOST} asks for; name one of its '
            'hosts')
    return dataclasses.replace(pcloud, pin=pin)
