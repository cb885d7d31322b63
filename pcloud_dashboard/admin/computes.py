# SPDX-License-Identifier: Apache-2.0

"""The compute hosts that a pool would accept, and why not the others."""

from collections.abc import Iterable
from collections.abc import Mapping
import dataclasses
import typing

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from pcloud_dashboard import shown

from pcloud.client import resources


@dataclasses.dataclass(frozen=True)
class Compute:
    """A compute host.

    :ivar refusal: why a pool does not take the host; None where a pool does
    """

    host: str
    zone: str
    refusal: str | None


def computes(services: Iterable[typing.Any],
             flavors: Iterable[resources.HostFlavor],
             servers: Mapping[str, int]) -> list[Compute]:
    """Return all compute hosts, those first that a pool would take.

    The API decides anew when a host is added; a refusal here saves the try.

    :param services: compute services, as Nova's client returns them
    :param flavors: all host flavors, with their pools
    :param servers: host -> the number of servers there
    """
    pools = {host.host: flavor.id for flavor in flavors
             for host in flavor.hosts or ()}
    return sorted(
        (Compute(service.host, _zone(service), _refusal(
            service, pools.get(service.host), servers))
         for service in services),
        key=lambda each: (each.refusal is not None,
                          shown.natural(each.host)))


# Horizon asks through openstacksdk, earlier releases through novaclient.

def servers(hypervisors: Iterable[typing.Any]) -> dict[str, int]:
    """Return how many servers run, by host.

    A host whose hypervisor does not tell is left out.
    """
    found = {}
    for each in hypervisors:
        service = getattr(each, 'service_details', None) or each.service
        running = getattr(each, 'running_vms', None)
        if running is not None:
            found[service['host']] = running
    return found


def _zone(service: typing.Any) -> str:
    return str(getattr(service, 'availability_zone', None)
               or getattr(service, 'zone', ''))


def _refusal(service: typing.Any, pool: str | None,
             servers: Mapping[str, int]) -> str | None:
    if pool is not None:
        return _('is in the pool of %s') % pool
    count = servers.get(service.host, 0)
    if count:
        return ngettext('%d instance is on the host',
                        '%d instances are on the host', count) % count
    if service.status != 'disabled':
        return _('is enabled: disable its compute service first')
    return None
