# SPDX-License-Identifier: Apache-2.0

"""Pictures of the hosts of a Pcloud, to scale.

A host is a bar, and each server is a segment as wide as its share of the
resource that keeps most servers of the flavor away: the binding resource.
"""

from collections.abc import Iterable
from collections.abc import Mapping
from collections.abc import Sequence
import dataclasses
import math

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.utils.translation import ngettext

from pcloud_dashboard.project.hosts import sizes
from pcloud_dashboard import shown
from pcloud_dashboard.words import reasons

from pcloud.client import plan_resources
from pcloud.client import resources

# The most ghosts of a bar; more are told as a number.
MOST_GHOSTS = 40
_SHORT = {'VCPU': gettext_lazy('vCPUs'), 'MEMORY_MB': gettext_lazy('memory'),
          'DISK_GB': gettext_lazy('disk')}


@dataclasses.dataclass(frozen=True)
class Segment:
    """A part of a bar.

    :ivar kind: the class: server, other, ghost, rest or closed
    :ivar percent: the width
    """

    kind: str
    percent: float
    title: str


@dataclasses.dataclass(frozen=True)
class Picture:
    """A host with its servers, and with those that would fit.

    :ivar running: how many servers are on the host, None where not known
    :ivar resource: the binding resource in words, '' where not known
    :ivar reasons: what keeps the next server away, in words
    """

    name: str
    state: str
    zone: str | None
    rack: int | None
    running: int | None
    fits: int
    resource: str
    segments: tuple[Segment, ...]
    reasons: tuple[str, ...]

    @property
    def text(self) -> str:
        """The picture in words."""
        if self.running is None:
            runs = _('the number of instances is not known')
        else:
            runs = ngettext('%d instance runs', '%d instances run',
                            self.running) % self.running
        return _('%(runs)s, %(fits)s') % {
            'runs': runs,
            'fits': ngettext('%d more fits', '%d more fit', self.fits)
            % self.fits}


@dataclasses.dataclass(frozen=True)
class _Amounts:
    """How much of a resource a host has, and uses."""

    size: float
    used: float


def pictures(explanation: plan_resources.Explanation,
             hosts: Iterable[resources.Host], pcloud: resources.Pcloud,
             need: Mapping[str, float],
             servers: Mapping[str, sizes.ServerSize]) -> list[Picture]:
    """Return the picture of each host, in the order of their names.

    :param need: what a server of the flavor needs
    :param servers: the servers of the user's project, by id
    """
    by_name = {host.name: host for host in hosts}
    return sorted(
        (_picture(each, by_name.get(each.name), pcloud, need, servers)
         for each in explanation.hosts),
        key=lambda picture: shown.natural(picture.name))


def _picture(explained: plan_resources.ExplainedHost,
             host: resources.Host | None, pcloud: resources.Pcloud,
             need: Mapping[str, float],
             servers: Mapping[str, sizes.ServerSize]) -> Picture:
    why = tuple(map(reasons.spoken, explained.in_the_way))
    # A host may have joined or left between the two calls.
    if host is None:
        return Picture(explained.name, '', None, None, None, explained.fits,
                       '', (), why)
    name, amounts = _binding(explained, host, pcloud, need)
    running = host.instances
    return Picture(
        explained.name, host.state or '', host.availability_zone, host.rack,
        None if running is None else len(running), explained.fits,
        str(_SHORT.get(name, name)) if amounts else '',
        _segments(explained, amounts, need.get(name, 0), sizes.parts(
            running or (), name, amounts.used, servers))
        if amounts else (), why)


def _amounts(host: resources.Host, pcloud: resources.Pcloud, name: str,
             ) -> _Amounts | None:
    """Return the size of a host by the ratio of the Pcloud, and its use."""
    told = (host.resources or {}).get(name)
    of_class = (None, None) if told is None else (told['total'], told['used'])
    size, used = {
        'VCPU': (host.vcpus, host.vcpus_used),
        'MEMORY_MB': (host.memory_mb, host.memory_mb_used)}.get(
            name, of_class)
    if size is None or used is None:
        return None
    ratio = {'VCPU': pcloud.cpu_allocation_ratio,
             'MEMORY_MB': pcloud.ram_allocation_ratio}.get(name)
    return _Amounts(size * (ratio or 1), told['used'] if told else used)


def _binding(explained: plan_resources.ExplainedHost, host: resources.Host,
             pcloud: resources.Pcloud, need: Mapping[str, float],
             ) -> tuple[str, _Amounts | None]:
    """Return the binding resource of a host, and its amounts.

    The resource of which too little is left, where the API says so. Else the
    one of which the fewest servers have enough; the cloud may have ratios of
    its own, and a size that the servers which fit exceed is too small.
    """
    known = {name: amounts for name in need
             if (amounts := _amounts(host, pcloud, name))}
    for each in explained.in_the_way:
        params = each.params or {}
        name = params.get('resource', '')
        if each.code == 'too_little' and name in known:
            used = known[name].used
            return name, _Amounts(used + params['left'], used)
    if not known:
        return '', None
    enough = {name: (amounts.size - amounts.used) / need[name]
              for name, amounts in known.items()}
    able = {name: number for name, number in enough.items()
            if math.floor(number) >= explained.fits}
    if able:
        name = min(able, key=lambda each: able[each])
        return name, known[name]
    name = max(enough, key=lambda each: enough[each])
    used = known[name].used
    return name, _Amounts(used + explained.fits * need[name], used)


def _segments(explained: plan_resources.ExplainedHost, amounts: _Amounts,
              need: float, servers: Sequence[tuple[str, float]],
              ) -> tuple[Segment, ...]:
    """Return the segments: servers, what else is used, ghosts, the rest."""
    fits = explained.fits
    told = sum(size for _name, size in servers)
    over = max(0.0, amounts.used - told)
    used = max(amounts.used, told)
    whole = max(amounts.size, used + fits * need) or 1
    found = [Segment('server', 100 * size / whole, name)
             for name, size in servers]
    if over > 1e-6 * whole:
        found.append(Segment('other', 100 * over / whole, _('other use')))
    if fits <= MOST_GHOSTS:
        found += [Segment('ghost', 100 * need / whole, _('would fit'))] * fits
    else:
        found.append(Segment('ghost', 100 * fits * need / whole,
                             _('%d would fit') % fits))
    rest = 100 * (whole - used - fits * need) / whole
    if rest > 0.05:
        found.append(_rest(explained, rest))
    return tuple(dataclasses.replace(each, percent=round(each.percent, 2))
                 for each in found)


def _rest(explained: plan_resources.ExplainedHost,
          percent: float) -> Segment:
    """Return what is neither used nor of use.

    What a host has left that lets no server in need not be too little.
    """
    if explained.fits or any(each.code == 'too_little'
                             for each in explained.in_the_way):
        return Segment('rest', percent, _('too little for one more'))
    return Segment('closed', percent, _('takes no new instances'))


@dataclasses.dataclass(frozen=True)
class Group:
    """The pictures of the hosts of a zone and a rack.

    :ivar title: '' where there are few hosts
    """

    title: str
    pictures: list[Picture]

    @property
    def text(self) -> str:
        """How many servers fit the group."""
        fits = sum(picture.fits for picture in self.pictures)
        return ngettext('%d more fits', '%d more fit', fits) % fits
