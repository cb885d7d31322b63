# SPDX-License-Identifier: Apache-2.0

"""What pages show of the resources and traits of hosts."""

import dataclasses

from django.utils.translation import gettext as _

from pcloud.client import resources


@dataclasses.dataclass(frozen=True)
class ShownKind:
    """What a host is, or what all hosts of a host flavor are.

    :ivar resources: resource class and amount, in words
    """

    resources: tuple[tuple[str, str], ...]
    traits: tuple[str, ...]


def of_flavor(flavor: resources.HostFlavor) -> ShownKind | None:
    """Return what all hosts of a host flavor are, None where not known."""
    if flavor.resources is None:
        return None
    return ShownKind(tuple((name, str(amount)) for name, amount
                           in sorted(flavor.resources.items())),
                     flavor.traits or ())


def of_host(host: resources.Host) -> ShownKind | None:
    """Return what a host is, None where not known."""
    if host.resources is None:
        return None
    return ShownKind(tuple(
        (name, _('%(used)s of %(size)s') % {
            'used': amount['used'], 'size': amount['total']})
        for name, amount in sorted(host.resources.items())),
        host.traits or ())
