# SPDX-License-Identifier: Apache-2.0

"""Choose among the hosts of a host flavor by their attributes.

Rule: reference-attributes-choosing
"""

import dataclasses

from pcloud.client import exceptions
from pcloud.client import resources


def matching(
    flavor: resources.HostFlavor, rack: str | None,
    platform_before: str | None,
) -> resources.HostFlavor:
    """Return a host flavor with the hosts that match alone. Admin.

    A host without a platform version, or with one that cannot be compared,
    counts as the oldest.

    :param flavor: as :meth:`pcloud.client.v1.Client.get_host_flavor` returns
    :param rack: the name of the rack, None for any
    :param platform_before: a stamp or a dotted version, None for any
    :raises exceptions.Forbidden: when the hosts are not visible
    :raises pcloud.exception.InvalidValue: for what is no platform version
    """
    if rack is None and platform_before is None:
        return flavor
    if flavor.hosts is None:
        raise exceptions.Forbidden(
            'Only administrators see the hosts of a host flavor, and choose '
            'among them')
    return dataclasses.replace(flavor, hosts=tuple(
        host for host in flavor.hosts
        if rack in (None, (host.attributes or {}).get('rack')) and
        _is_before(host, platform_before)))


def _is_before(host: resources.PoolHost, version: str | None) -> bool:
    if version is None:
        return True
    # A nova command that shows no such hosts needs none of the rules.
    from pcloud.rules.placing import attributes
    return attributes.is_before(
        (host.attributes or {}).get(attributes.PLATFORM),
        attributes.platform(version))
