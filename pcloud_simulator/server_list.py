# SPDX-License-Identifier: Apache-2.0

"""Servers as ``openstack server list --all --long -f json`` prints servers.

Such a list has the servers that run now, and no end of any server. The
simulation begins with these servers on their hosts. Then servers end by
chance, and a new server of the same size is started for each that ends.

Rule: reference-simulation-traces
"""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
import dataclasses
import datetime
import json
import random
from typing import Any

from pcloud import exception
from pcloud import text
from pcloud_simulator import input_values
from pcloud_simulator import text_files
from pcloud_simulator import workload

# Days, where the ages of the servers are not known.
LIFETIME = 30.0
# The servers of all generations; more than public traces have.
MOST = 5_000_000

_ID = ('ID', 'id')
_HOST = ('Host', 'host', 'hypervisor_hostname',
         'OS-EXT-SRV-ATTR:hypervisor_hostname')
_FLAVOR = ('Flavor', 'Flavor Name', 'flavor', 'flavor_name', 'Flavor ID',
           'flavor_id')
_CREATED = ('Created At', 'created_at', 'created', 'Launched At',
            'launched_at', 'OS-SRV-USG:launched_at')
_IMAGE = ('Image Name', 'Image ID', 'Image')
# What OpenStackClient prints for the image of such a server.
_FROM_VOLUME = 'N/A (booted from volume)'
_FLAVOR_ID, _FLAVOR_NAME = ('ID', 'id'), ('Name', 'name')
_MEMORY, _VCPUS = ('RAM', 'ram'), ('VCPUs', 'vcpus')
_ROOT, _EPHEMERAL = ('Disk', 'disk'), (
    'Ephemeral', 'OS-FLV-EXT-DATA:ephemeral')


@dataclasses.dataclass(frozen=True)
class _Entry:
    """An object of a list in JSON.

    :ivar number: counted from 1
    """

    path: str
    kind: str
    number: int
    members: Mapping[str, Any]

    def place(self, names: Sequence[str]) -> str:
        present = [name for name in names if name in self.members]
        # A client prints an empty name for a flavor that was deleted.
        full = [name for name in present
                if self.members[name] not in (None, '')]
        return (f'{self.path}, {self.kind} {self.number}, '
                f'{[*full, *present, *names][0]}')

    def text(self, names: Sequence[str]) -> str:
        """Return the first of several members that is there and not empty."""
        found = next((self.members[name] for name in names
                      if self.members.get(name) not in (None, '')), '')
        if isinstance(found, (dict, list, bool)):
            raise exception.InvalidValue(
                self.place(names), found, 'a text or a number')
        return str(found).strip()

    def tells(self, names: Sequence[str]) -> bool:
        """Whether a member is there, perhaps empty."""
        return any(name in self.members for name in names)


@dataclasses.dataclass(frozen=True)
class Flavor:
    """What a server of a flavor takes from its host.

    :ivar size: of a server that boots from an image
    :ivar root_gb: the part of the disk that is on a volume when a server boots
        from a volume
    """

    size: workload.Size
    root_gb: int = 0

    def from_volume(self) -> workload.Size:
        """Return what a server takes that boots from a volume."""
        return dataclasses.replace(
            self.size, disk_gb=self.size.disk_gb - self.root_gb)

    def without_disk(self) -> Flavor:
        """Return the flavor for hosts whose disks are not looked at."""
        return Flavor(dataclasses.replace(self.size, disk_gb=0))


@dataclasses.dataclass(frozen=True)
class Running:
    """A server that runs now.

    :ivar host: empty where the list does not tell
    """

    size: workload.Size
    host: str


@dataclasses.dataclass(frozen=True)
class Turnover:
    """How servers come and go after the moment of the list.

    :ivar days: how long the simulation is
    :ivar lifetime: the days that a server lives on average, exponentially;
        None for the average age of the servers of the list, which is the
        average lifetime where as many servers come as go
    """

    days: float
    lifetime: float | None


def flavors(path: str) -> dict[str, Flavor]:
    """Read ``openstack flavor list --all -f json``.

    :returns: id of each flavor, and name of each flavor, to the flavor
    :raises: `exception.InvalidValue`, `exception.InputUnreadable`
    """
    found: dict[str, Flavor] = {}
    for entry in _entries(path, 'flavor'):
        flavor = _flavor(entry)
        for names in (_FLAVOR_ID, _FLAVOR_NAME):
            name = entry.text(names)
            if name:
                found.setdefault(name, flavor)
    return found


def _flavor(entry: _Entry) -> Flavor:
    root_gb = _disk(entry, _ROOT)
    return Flavor(workload.Size(
        input_values.whole(entry.text(_MEMORY), entry.place(_MEMORY)),
        input_values.whole(entry.text(_VCPUS), entry.place(_VCPUS)),
        root_gb + _disk(entry, _EPHEMERAL)), root_gb)


def _disk(entry: _Entry, names: Sequence[str]) -> int:
    value = entry.text(names)
    return 0 if value in ('', '0') else input_values.whole(
        value, entry.place(names))


def read(
    path: str, flavors_: Mapping[str, Flavor], hosts: frozenset[str],
    turnover: Turnover, chance: random.Random,
) -> workload.Trace:
    """Read a list of servers, and draw what becomes of the servers.

    =========================  ==============================================
    member                     value
    =========================  ==============================================
    ``ID``                     a text, once in the file
    ``Host``                   the name of the host, as in the file of hosts;
                               a server without a host, or on a host that is
                               not in that file, is left out with a note
    ``Flavor``                 the name or the id of a flavor of `flavors_`;
                               of servers that are not left out
    ``Image Name``             optional: a server that boots from a volume has
                               no root disk on its host
    ``Created At``             optional: ISO 8601, UTC without a zone
    any other                  not read
    =========================  ==============================================

    :param hosts: the names of the hosts; without hosts that have names, the
        servers are spread by chance
    :raises: `exception.InvalidValue`, `exception.InputUnreadable`,
        `exception.Invalid` when no server is on a host, or when
        there would be more than `MOST` servers
    """
    entries = list(_servers(path))
    if not entries:
        raise exception.InputUnreadable(
            path=path, reason='the list has no server')
    kept = [entry for entry in entries if _is_kept(entry, hosts)]
    if not kept:
        raise exception.Invalid(_nowhere(entries, hosts))
    running = [_running(entry, flavors_) for entry in kept]
    now = max(filter(None, map(_created, entries)), default=None)
    lifetime = turnover.lifetime or _age(kept, now) or LIFETIME
    _check_count(len(kept), turnover.days, lifetime)
    seconds = turnover.days * workload.DAY
    servers = [
        server for first in running for server in _generations(
            first, seconds, lifetime * workload.DAY, chance)]
    servers.sort(key=lambda server: server.start)
    return workload.Trace(
        tuple(servers), seconds, now,
        _notes(len(entries) - len(kept), hosts, lifetime))


def _is_kept(entry: _Entry, hosts: frozenset[str]) -> bool:
    host = entry.text(_HOST)
    # A list without the hosts of servers is not a list of servers without
    # hosts, such as servers that are shelved.
    return host in hosts if hosts else bool(host) or not entry.tells(_HOST)


def _nowhere(entries: Sequence[_Entry], hosts: frozenset[str]) -> str:
    """Return why no server of a list is kept."""
    names = {entry.text(_HOST) for entry in entries} - {''}
    if not names:
        return ('No server of the list has a host; administrators alone see '
                'the hosts of servers.')
    return (f'No server of the list is on a host of the file of hosts. The '
            f'list has hosts such as {min(names)}, and the file has hosts '
            f'such as {min(hosts)}; the hosts of the file need the names '
            'that "openstack hypervisor list" shows.')


def _check_count(count: int, days: float, lifetime: float) -> None:
    """Check that computing is possible.

    :raises: `exception.Invalid`
    """
    total = count * (1 + days / lifetime)
    if total > MOST:
        raise exception.Invalid(
            f'In {days:g} days, {count} servers that live for '
            f'{lifetime:g} days become {total:.0f}, more than {MOST}; '
            'choose fewer --days or a longer --lifetime.')


def _notes(
    missing: int, hosts: frozenset[str], lifetime: float,
) -> tuple[str, ...]:
    notes = [f'Servers live for {lifetime:.1f} days on average.']
    if missing:
        one, several = (
            ('server that is on no host of the file of hosts is',
             'servers that are on no host of the file of hosts are')
            if hosts else
            ('server without a host is', 'servers without a host are'))
        notes.append(f'{text.counted(missing, one, several)} left out.')
    return tuple(notes)


def _age(
    kept: Sequence[_Entry], now: datetime.datetime | None,
) -> float | None:
    """Return the average age in days."""
    created = list(filter(None, map(_created, kept)))
    if now is None or not created:
        return None
    total = sum((now - moment).total_seconds() for moment in created)
    return total / len(created) / workload.DAY or None


def _generations(
    first: Running, seconds: float, lifetime: float, chance: random.Random,
) -> Iterator[workload.TraceServer]:
    """Yield a server, and the servers that follow the server one by one."""
    start, host = 0.0, first.host or None
    while start < seconds:
        end = start + chance.expovariate(1 / lifetime)
        yield workload.TraceServer(
            start, workload.FOREVER if end >= seconds else end, first.size,
            host)
        start, host = end, None


def _servers(path: str) -> Iterator[_Entry]:
    """Yield the servers of a list, each with an id of its own."""
    numbers: dict[str, int] = {}
    for entry in _entries(path, 'server'):
        name = entry.text(_ID)
        if not name or name in numbers:
            raise exception.InvalidValue(
                entry.place(_ID), name, 'an id of its own for each server' + (
                    f'; server {numbers[name]} has this id' if name else ''))
        numbers[name] = entry.number
        yield entry


def _running(entry: _Entry, flavors_: Mapping[str, Flavor]) -> Running:
    name = entry.text(_FLAVOR)
    if name not in flavors_:
        raise exception.InvalidValue(
            entry.place(_FLAVOR), name,
            'a name or an id of the list of flavors; add a flavor that '
            'was deleted to that list')
    flavor = flavors_[name]
    from_volume = any(
        entry.members.get(member) == _FROM_VOLUME for member in _IMAGE)
    return Running(flavor.from_volume() if from_volume else flavor.size,
                   entry.text(_HOST))


def _created(entry: _Entry) -> datetime.datetime | None:
    value = entry.text(_CREATED)
    return input_values.moment(value, entry.place(_CREATED)) if value else None


def _entries(path: str, kind: str) -> Iterator[_Entry]:
    try:
        with text_files.reading(path) as file:
            entries = json.load(file)
    except json.JSONDecodeError as error:
        raise exception.InvalidValue(
            f'{path}, line {error.lineno}, character {error.colno}', error.msg,
            'JSON, as -f json prints JSON')
    except RecursionError as error:
        raise exception.InputUnreadable(path=path, reason=error)
    if not isinstance(entries, list):
        raise exception.InputUnreadable(
            path=path, reason='the JSON is not a list of objects')
    for number, members in enumerate(entries, 1):
        entry = _Entry(path, kind, number,
                       members if isinstance(members, dict) else {})
        if not isinstance(members, dict):
            raise exception.InvalidValue(
                entry.place(_ID), members, 'an object in JSON')
        yield entry
