# SPDX-License-Identifier: Apache-2.0

"""What becomes of the hosts of the pools, by host flavor and zone."""

import collections
from collections.abc import Iterable
from collections.abc import Mapping
import dataclasses
import typing

from django.utils.translation import gettext_lazy as _

from pcloud_dashboard import shown

from pcloud.client import resources

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
    """A maintenance that is announced."""

    host_flavor: str
    host: str
    begin: str
    end: str
    reason: str


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


def announced(flavors: Iterable[resources.HostFlavor]) -> list[Announced]:
    """Return the maintenances that are announced, the next first."""
    found: list[tuple[str, Announced]] = []
    for flavor in flavors:
        for host in flavor.hosts or ():
            given: Mapping[str, typing.Any] = host.maintenance or {}
            if given:
                found.append((given.get('from') or '', Announced(
                    flavor.id, host.host,
                    shown.day_and_time(given.get('from')),
                    shown.day_and_time(given.get('until')),
                    given.get('reason') or '')))
    return [each for _begin, each in sorted(
        found, key=lambda each: (each[0], each[1].host))]
