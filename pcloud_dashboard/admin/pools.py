# SPDX-License-Identifier: Apache-2.0

"""What becomes of the hosts of the pools, by host flavor and zone."""

import collections
from collections.abc import Iterable
from collections.abc import Mapping
import dataclasses
import datetime
import typing

from django.utils import timezone
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from pcloud_dashboard import shown

from pcloud.client import resources

# The attribute with the moment of a reboot, which hosts may have.
NEXT_REBOOT = 'next_reboot'
# What a host is, in the order of the bars: the class, and the words.
KINDS = {'owned': _('%s in Pclouds'), 'free': _('%s free'),
         'settling': _('%s settling'), 'down': _('%s down or disabled')}


@dataclasses.dataclass(frozen=True)
class Part:
    """The hosts of a pool that are alike.

    :ivar kind: a key of KINDS
    :ivar percent: the length in the bar
    """

    kind: str
    percent: float
    text: str


@dataclasses.dataclass(frozen=True)
class Pool:
    """The hosts of a host flavor in a zone."""

    host_flavor: str
    zone: str
    parts: tuple[Part, ...]

    @property
    def text(self) -> str:
        """The bar in words."""
        return ', '.join(part.text for part in self.parts)


@dataclasses.dataclass(frozen=True)
class Announced:
    """A maintenance or a reboot to come.

    :ivar end: '' for a reboot
    """

    host_flavor: str
    host: str
    begin: str
    end: str
    text: str


@dataclasses.dataclass(frozen=True)
class Failed:
    """A host of a Pcloud whose compute service does not answer.

    :ivar fenced: whether the host has been promised to be off
    """

    host_flavor: str
    host: str
    pcloud: str
    fenced: bool


def kind(host: resources.PoolHost) -> str:
    """Return what a host is.

    ======================  =========  ===========  ========
    compute service         in Pcloud  settling     the host
    ======================  =========  ===========  ========
    not enabled, or not up  any        any          down
    enabled and up          yes        any          owned
    enabled and up          no         yes          settling
    enabled and up          no         no           free
    ======================  =========  ===========  ========
    """
    if (host.status, host.state) != ('enabled', 'up'):
        return 'down'
    if host.pcloud:
        return 'owned'
    return 'settling' if host.settling else 'free'


def pools(flavors: Iterable[resources.HostFlavor]) -> list[Pool]:
    """Return the pools, by host flavor and zone."""
    counts: dict[tuple[str, str], collections.Counter] = {}
    for flavor in flavors:
        for host in flavor.hosts or ():
            counts.setdefault(
                (flavor.id, host.availability_zone or '-'),
                collections.Counter())[kind(host)] += 1
    return [Pool(flavor, zone, _parts(counts[flavor, zone]))
            for flavor, zone in sorted(counts, key=lambda each: (
                shown.natural(each[0]), each[1]))]


def _parts(counts: Mapping[str, int]) -> tuple[Part, ...]:
    whole = sum(counts.values())
    return tuple(Part(each, round(100 * counts[each] / whole, 2),
                      str(words) % counts[each])
                 for each, words in KINDS.items() if counts[each])


def announced(flavors: Iterable[resources.HostFlavor],
              attributes: Iterable[resources.Attribute]) -> list[Announced]:
    """Return the maintenances that are announced, and the reboots to come.

    The next is the first.
    """
    found: list[tuple[datetime.datetime | None, Announced]] = []
    reboots = _reboots(attributes)
    for flavor in flavors:
        for host in flavor.hosts or ():
            given: Mapping[str, typing.Any] = host.maintenance or {}
            if given:
                found.append((shown.moment(given.get('from')), Announced(
                    flavor.id, host.host,
                    shown.day_and_time(given.get('from')),
                    shown.day_and_time(given.get('until')),
                    given.get('reason') or gettext('maintenance'))))
            if host.host in reboots:
                found.append((
                    shown.moment(reboots[host.host]), Announced(
                        flavor.id, host.host,
                        shown.day_and_time(reboots[host.host]), '',
                        gettext('reboot'))))
    return [each for _begin, each in sorted(
        found, key=lambda each: (each[0] or timezone.now(), each[1].host))]


def _reboots(attributes: Iterable[resources.Attribute]) -> dict[str, str]:
    """Return the moment of the next reboot of hosts, by host."""
    return {host: each.value for each in attributes
            if each.name == NEXT_REBOOT and _is_to_come(each.value)
            for host in each.hosts}


def _is_to_come(value: str) -> bool:
    when = shown.moment(value)
    return when is not None and when >= timezone.now()


def failed(flavors: Iterable[resources.HostFlavor]) -> list[Failed]:
    """Return the hosts of Pclouds that do not answer, by name."""
    return sorted((
        Failed(flavor.id, host.host, host.pcloud, host.fenced)
        for flavor in flavors for host in flavor.hosts or ()
        if host.pcloud and host.state == 'down'),
        key=lambda each: shown.natural(each.host))


def idle_units(flavors: Iterable[resources.HostFlavor]) -> dict[str, int]:
    """Return the units of the hosts of which nothing is used, by Pcloud."""
    found: collections.Counter[str] = collections.Counter()
    for flavor in flavors:
        for host in flavor.hosts or ():
            if host.pcloud and (host.vcpus_used, host.memory_mb_used) == (
                    0, 0):
                found[host.pcloud] += flavor.units
    return dict(found)
