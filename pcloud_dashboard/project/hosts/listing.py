# SPDX-License-Identifier: Apache-2.0

"""Which hosts the list of a Pcloud shows, in which groups."""

from collections.abc import Iterable
from collections.abc import Mapping
from collections.abc import Sequence
import dataclasses
import itertools
import typing

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from pcloud_dashboard import shown

from pcloud.client import resources
from pcloud.client import servers

# So many hosts are found without a filter, and need no groups.
FEW = 12
# The members of a filter in the query of a page.
MEMBERS = ('text', 'zone', 'flavor', 'state')


@dataclasses.dataclass(frozen=True)
class Filter:
    """What the hosts of the list have; '' for anything.

    :ivar text: a part of the name of the host or of a server on the host
    """

    text: str = ''
    zone: str = ''
    flavor: str = ''
    state: str = ''

    @property
    def is_set(self) -> bool:
        """Whether the filter may leave hosts out."""
        return any(dataclasses.astuple(self))

    def takes(self, host: shown.ShownHost) -> bool:
        """Return whether a host is in the list."""
        wanted = self.text.casefold()
        names = [host.name, *map(str, host.servers or ())]
        return (any(wanted in each.casefold() for each in names)
                and self.zone in ('', host.availability_zone)
                and self.flavor in ('', host.host_flavor)
                and self.state in ('', host.state, host.status))


def asked(query: Mapping[str, typing.Any]) -> Filter:
    """Return the filter in the query of a page."""
    return Filter(**{member: query.get(f'host_{member}', '').strip()
                     for member in MEMBERS})


@dataclasses.dataclass(frozen=True)
class Choices:
    """What there is to choose from in the filter, without what all have."""

    zones: list[str]
    flavors: list[str]
    states: list[tuple[str, str]]


def choices(hosts: Iterable[shown.ShownHost]) -> Choices:
    """Return what the hosts of a Pcloud differ in."""
    there = list(hosts)
    states = {host.state: host.state_words for host in there}
    states |= {host.status: host.status_words for host in there
               if host.status != 'up'}
    return Choices(
        sorted({host.availability_zone for host in there
                if host.availability_zone}),
        sorted({host.host_flavor for host in there if host.host_flavor}),
        shown.choices(states))


_Host = typing.TypeVar('_Host')


def by_place(
    hosts: Sequence[_Host],
    place: typing.Callable[[_Host], tuple[str | None, int | None]],
) -> list[tuple[str, list[_Host]]]:
    """Return hosts in groups of a zone and a rack, each with a title.

    Few hosts are one group without a title.

    :param place: returns the zone and the rack of a host
    """
    if len(hosts) <= FEW:
        return [('', list(hosts))] if hosts else []

    def key(host: _Host) -> tuple[str, int]:
        zone, rack = place(host)
        return zone or '', -1 if rack is None else rack

    return [(_title(zone, rack, len(group)), group)
            for (zone, rack), found in itertools.groupby(
                sorted(hosts, key=key), key)
            for group in [list(found)]]


def _title(zone: str, rack: int, number: int) -> str:
    where = ', '.join(filter(None, [
        zone or _('no zone'), '' if rack < 0 else _('rack %s') % rack]))
    return ngettext('%(where)s: %(n)d host', '%(where)s: %(n)d hosts',
                    number) % {'where': where, 'n': number}


@dataclasses.dataclass(frozen=True)
class Unplaced:
    """The servers of the user's project that are on no host.

    :ivar failed: each with the reason of Nova, '' for none
    """

    starting: list[shown.ShownServer]
    failed: list[tuple[shown.ShownServer, str]]


def unplaced(found: Iterable[servers.Server],
             pcloud: resources.Pcloud) -> Unplaced:
    """Return which servers are starting, and which could not be started.

    :param pcloud: where they were to start; the reasons have its id
    """
    there = list(found)
    return Unplaced(
        [shown.ShownServer(each.id, each.name) for each in there
         if each.status == servers.BUILD],
        [(shown.ShownServer(each.id, each.name),
          each.fault.replace(pcloud.id, pcloud.name))
         for each in there if each.status == servers.ERROR])


def is_pending(hosts: Iterable[shown.ShownHost], servers: Unplaced) -> bool:
    """Return whether the list is going to change by itself soon.

    A drain that leaves the empty host in the Pcloud is over when nothing is
    left on the host.
    """
    return bool(servers.starting) or any(
        host.is_draining and (host.left != () or (host.drain or {}).get(
            'release')) or (host.recovery or {}).get('state') == 'moving'
        for host in hosts)
