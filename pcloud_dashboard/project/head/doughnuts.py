# SPDX-License-Identifier: Apache-2.0

"""How much of a Pcloud is used, as doughnuts."""

from collections.abc import Callable
from collections.abc import Iterable
import dataclasses

from django.utils.translation import gettext as _

from pcloud_dashboard import shown

from pcloud.client import resources

# The circumference of a doughnut in its own points, which the form of the
# template has too.
_AROUND = 100


@dataclasses.dataclass(frozen=True)
class Segment:
    """A part of a doughnut.

    :ivar kind: the class of the part: used, other, closed or free
    :ivar length: in hundredths of the doughnut
    :ivar start: where the part begins, likewise
    """

    kind: str
    length: float
    start: float


@dataclasses.dataclass(frozen=True)
class Doughnut:
    """How much of something is used.

    :ivar left: how much is left, in words
    :ivar text: all of it in words
    """

    title: str
    left: str
    text: str
    segments: tuple[Segment, ...]


def vcpus(hosts: Iterable[resources.Host],
          pcloud: resources.Pcloud) -> Doughnut | None:
    """Return the vCPUs of a Pcloud; None while no host tells its size."""
    return _of_hosts(
        _('vCPUs'), [(each.state, each.status, each.vcpus_used, each.vcpus)
                     for each in hosts],
        pcloud.cpu_allocation_ratio, shown.amount)


def memory(hosts: Iterable[resources.Host],
           pcloud: resources.Pcloud) -> Doughnut | None:
    """Return the memory of a Pcloud, likewise."""
    return _of_hosts(
        _('Memory'),
        [(each.state, each.status, each.memory_mb_used, each.memory_mb)
         for each in hosts], pcloud.ram_allocation_ratio, shown.memory)


def _of_hosts(title: str,
              hosts: list[tuple[str | None, str | None,
                                int | None, int | None]],
              ratio: float | None,
              words: Callable[[float], str]) -> Doughnut | None:
    """Return what hosts use, and what they have left for new servers.

    ==================  ========================================
    host                what is not used counts as
    ==================  ========================================
    enabled and up      free, by the ratio of the Pcloud
    any other           closed: no new server starts there
    of unknown size     nothing
    ==================  ========================================
    """
    used = free = closed = 0.0
    known = False
    for state, status, taken, size in hosts:
        if taken is None or size is None:
            continue
        known = True
        left = max(0.0, size * (ratio or 1) - taken)
        used += taken
        if (state, status) == ('enabled', 'up'):
            free += left
        else:
            closed += left
    if not known:
        return None
    text = _('%(used)s used, %(free)s free') % {
        'used': words(used), 'free': words(free)}
    if closed:
        text += ', ' + _('%s on hosts that take no new instances') % (
            words(closed))
    return Doughnut(title, _left(words(free)), text, _segments(
        ('used', used), ('closed', closed), ('free', free)))


def units(quota: resources.Quota,
          pcloud: resources.Pcloud) -> Doughnut:
    """Return the units of the owner's quota, and the Pcloud's part of it.

    Without a limit nothing is a part of anything, and the doughnut is empty.
    """
    here = pcloud.units or 0
    elsewhere = max(0, (quota.units_in_use or 0) - here)
    if quota.units_limit == shown.UNLIMITED:
        return Doughnut(
            _('Units'), _('no limit'),
            _('%(here)s here, %(other)s in other Pclouds, no limit') % {
                'here': here, 'other': elsewhere}, ())
    free = max(0, quota.units_limit - here - elsewhere)
    return Doughnut(
        _('Units'), _left(str(free)),
        _('%(here)s here, %(other)s in other Pclouds, %(free)s free') % {
            'here': here, 'other': elsewhere, 'free': free},
        _segments(('used', here), ('other', elsewhere), ('free', free)))


def _left(amount: str) -> str:
    return _('%(free)s free') % {'free': amount}


def _segments(*parts: tuple[str, float]) -> tuple[Segment, ...]:
    """Return the parts of a doughnut, none for parts of nothing."""
    whole = sum(amount for _kind, amount in parts)
    found = []
    start = 0.0
    for kind, amount in parts:
        if amount:
            length = round(_AROUND * amount / whole, 2)
            found.append(Segment(kind, length, start))
            start = round(start + length, 2)
    return tuple(found)
