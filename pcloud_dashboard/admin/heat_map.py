# SPDX-License-Identifier: Apache-2.0

"""A heat map of the hosts of all pools: a square for each host."""

from collections.abc import Callable
from collections.abc import Iterable
from collections.abc import Mapping
import dataclasses

from django.utils.translation import gettext as _

from pcloud_dashboard import shown

from pcloud.client import resources

# What a square is shaded by.
MEMORY, VCPUS = 'memory', 'vcpus'
# The least percentage of each shade, the lightest first.
SHADES = (0, 1, 25, 50, 75, 100)
# How many different borders there are; Pclouds share them, and have numbers.
BORDERS = 8


@dataclasses.dataclass(frozen=True)
class Square:
    """A host of a pool.

    :ivar percent: how much of the host is used, None where nobody knows
    :ivar number: the number of the host's Pcloud in the legend, None for a
        host in no Pcloud
    :ivar is_out: whether the compute service is disabled, or does not answer
    :ivar text: all of it in words
    """

    host: str
    flavor: str
    percent: int | None
    number: int | None
    is_settling: bool
    is_out: bool
    is_in_maintenance: bool
    text: str

    @property
    def shade(self) -> str:
        """The class of the shade; the percentage says the same."""
        if self.percent is None:
            return 'unknown'
        return str(max(number for number, least in enumerate(SHADES)
                       if self.percent >= least))

    @property
    def border(self) -> str:
        """The class of the border; the number says the same."""
        if self.number is not None:
            return str(self.number % BORDERS)
        return 'settling' if self.is_settling else 'free'


@dataclasses.dataclass(frozen=True)
class Pcloud:
    """A Pcloud in the legend."""

    number: int
    name: str

    @property
    def border(self) -> str:
        """The class of the border of the Pcloud's squares."""
        return str(self.number % BORDERS)


@dataclasses.dataclass(frozen=True)
class Map:
    """The squares in rows, and the legend.

    :ivar rows: name of a row -> squares
    """

    rows: list[tuple[str, list[Square]]]
    pclouds: list[Pcloud]


def make(flavors: Iterable[resources.HostFlavor],
         pclouds: Mapping[str, str], measure: str,
         row_of: Callable[[resources.HostFlavor, resources.PoolHost], str],
         ) -> Map:
    """Return the map of all hosts in pools.

    :param pclouds: id of a Pcloud -> name
    :param measure: MEMORY or VCPUS
    :param row_of: returns the name of the row of a host
    """
    found = [(flavor, host) for flavor in flavors
             for host in flavor.hosts or ()]
    names = {host.pcloud: pclouds.get(host.pcloud, host.pcloud)
             for _flavor, host in found if host.pcloud}
    numbers = {each: number for number, each in enumerate(sorted(
        names, key=lambda each: (shown.natural(names[each]), each)), 1)}
    rows: dict[str, list[Square]] = {}
    for flavor, host in sorted(
            found, key=lambda each: shown.natural(each[1].host)):
        rows.setdefault(row_of(flavor, host), []).append(_square(
            flavor, host, measure, numbers.get(host.pcloud or ''),
            names.get(host.pcloud or '')))
    return Map(
        sorted(rows.items(), key=lambda row: shown.natural(row[0])),
        [Pcloud(number, names[each]) for each, number in numbers.items()])


def _square(flavor: resources.HostFlavor, host: resources.PoolHost,
            measure: str, number: int | None, name: str | None) -> Square:
    used, size = ((host.vcpus_used, host.vcpus) if measure == VCPUS else
                  (host.memory_mb_used, host.memory_mb))
    percent = (None if used is None or not size
               else round(100 * used / size))
    return Square(
        host.host, flavor.id, percent, number,
        is_settling=host.settling is not None,
        is_out=(host.status, host.state) != ('enabled', 'up'),
        is_in_maintenance=host.maintenance is not None,
        text=', '.join([
            _use(host.host, percent, measure),
            _('host flavor %s') % flavor.id,
            _('zone %s') % (host.availability_zone or '-'),
            _holder(host, name), *_troubles(host)]))


def _use(host: str, percent: int | None, measure: str) -> str:
    if percent is None:
        return _('%s: what is used is not known') % host
    words = (_('%(host)s: %(percent)s %% of the vCPUs are used')
             if measure == VCPUS else
             _('%(host)s: %(percent)s %% of the memory is used'))
    return words % {'host': host, 'percent': percent}


def _holder(host: resources.PoolHost, name: str | None) -> str:
    if name is not None:
        return _('Pcloud %s') % name
    return _('settling') if host.settling else _('free')


def _troubles(host: resources.PoolHost) -> list[str]:
    found = []
    if host.status == 'disabled':
        found.append(_('its compute service is disabled'))
    if host.state == 'down':
        found.append(_('its compute service does not answer'))
    if host.maintenance is not None:
        found.append(_('maintenance from %s')
                     % shown.day_and_time(host.maintenance.get('from')))
    return found
