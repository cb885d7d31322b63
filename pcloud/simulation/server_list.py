# Licensed under the Apache License, Version 2.0 (the "License"); you may
# not use this file except in compliance with the License. You may obtain
# a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the
# License for the specific language governing permissions and limitations
# under the License.

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
from pcloud.simulation import input_values
from pcloud.simulation import workload

# Days, where the ages of the servers are not known.
LIFETIME = 30.0

_ID = ('ID', 'id')
_HOST = ('Host', 'host', 'hypervisor_hostname',
         'OS-EXT-SRV-ATTR:hypervisor_hostname')
_FLAVOR = ('Flavor', 'Flavor Name', 'flavor', 'flavor_name', 'Flavor ID',
           'flavor_id')
_CREATED = ('Created At', 'created_at', 'created', 'Launched At',
            'launched_at', 'OS-SRV-USG:launched_at')
_FLAVOR_ID, _FLAVOR_NAME = ('ID', 'id'), ('Name', 'name')
_MEMORY, _VCPUS = ('RAM', 'ram'), ('VCPUs', 'vcpus')
_DISKS = (('Disk', 'disk'), ('Ephemeral', 'OS-FLV-EXT-DATA:ephemeral'))


@dataclasses.dataclass(frozen=True)
class _Entry:
    """An object of a list in JSON.

    :ivar number: counted from 1
    """

    path: str
    kind: str
    number: int
    members: Mapping[str, Any]

    def place(self, names: Sequence[str]) -> input_values.Place:
        found = next((name for name in names if name in self.members),
                     names[0])
        return input_values.Cell(
            self.path, f'{self.kind} {self.number}', found)

    def text(self, names: Sequence[str]) -> str:
        """Return a member by the first of its names that is there."""
        found = next((self.members[name] for name in names
                      if self.members.get(name) is not None), '')
        if isinstance(found, (dict, list, bool)):
            raise self.place(names).wrong(found, 'a text or a number')
        return str(found).strip()


@dataclasses.dataclass(frozen=True)
class Running:
    """A server that runs now.

    :ivar created: None where the list does not tell
    """

    size: workload.Size
    host: str
    created: datetime.datetime | None


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


def sizes(path: str) -> dict[str, workload.Size]:
    """Read ``openstack flavor list --all -f json``.

    :returns: id of each flavor, and name of each flavor, to its size
    :raises: `exception.InvalidInput`, `exception.InputUnreadable`
    """
    found: dict[str, workload.Size] = {}
    for entry in _entries(path, 'flavor'):
        size = _size(entry)
        for names in (_FLAVOR_ID, _FLAVOR_NAME):
            name = entry.text(names)
            if name:
                found.setdefault(name, size)
    return found


def _size(entry: _Entry) -> workload.Size:
    disk = 0
    for names in _DISKS:
        value = entry.text(names)
        if value not in ('', '0'):
            disk += input_values.whole(value, entry.place(names))
    return workload.Size(
        input_values.whole(entry.text(_MEMORY), entry.place(_MEMORY)),
        input_values.whole(entry.text(_VCPUS), entry.place(_VCPUS)), disk)


def read(
    path: str, flavors: Mapping[str, workload.Size], hosts: frozenset[str],
    turnover: Turnover, chance: random.Random,
) -> workload.Trace:
    """Read a list of servers, and draw what becomes of the servers.

    =========================  ==============================================
    member                     value
    =========================  ==============================================
    ``ID``                     a text, once in the file
    ``Flavor``                 the name or the id of a flavor of `flavors`
    ``Host``                   the name of the host, as in the file of hosts;
                               a server without a host, or on a host that is
                               not in that file, is left out with a note
    ``Created At``             optional: ISO 8601, UTC without a zone
    any other                  not read
    =========================  ==============================================

    :param hosts: the names of the hosts; without hosts that have names, the
        servers are spread by chance
    :raises: `exception.InvalidInput`, `exception.InputUnreadable`
    """
    running = list(_running(path, flavors))
    if not running:
        raise exception.InputUnreadable(
            path=path, reason='the list has no server')
    kept = [server for server in running if server.host in hosts] \
        if hosts else running
    created = [server.created for server in running if server.created]
    lifetime = turnover.lifetime or _age(created) or LIFETIME
    seconds = turnover.days * workload.DAY
    servers = [
        server for first in kept for server in _generations(
            first, seconds, lifetime * workload.DAY, chance)]
    servers.sort(key=lambda server: server.start)
    return workload.Trace(
        tuple(servers), seconds, max(created, default=None),
        _notes(len(running) - len(kept), lifetime))


def _notes(missing: int, lifetime: float) -> tuple[str, ...]:
    notes = [f'Servers live for {lifetime:.1f} days on average.']
    if missing:
        notes.append(f'{missing} servers that are on no host of the file of '
                     'hosts are left out.')
    return tuple(notes)


def _age(created: Sequence[datetime.datetime]) -> float | None:
    """Return the average age in days, at the latest creation."""
    if not created:
        return None
    now = max(created)
    total = sum((now - moment).total_seconds() for moment in created)
    return total / len(created) / workload.DAY or None


def _generations(
    first: Running, seconds: float, lifetime: float, chance: random.Random,
) -> Iterator[workload.Server]:
    """Yield a server, and the servers that follow the server one by one."""
    start, host = 0.0, first.host or None
    while start < seconds:
        end = start + chance.expovariate(1 / lifetime)
        yield workload.Server(
            start, workload.FOREVER if end >= seconds else end, first.size,
            host)
        start, host = end, None


def _running(
    path: str, flavors: Mapping[str, workload.Size],
) -> Iterator[Running]:
    numbers: dict[str, int] = {}
    for entry in _entries(path, 'server'):
        name = entry.text(_ID)
        if not name or name in numbers:
            raise entry.place(_ID).wrong(
                name, 'an id of its own for each server' + (
                    f'; server {numbers[name]} has this id' if name else ''))
        numbers[name] = entry.number
        flavor = entry.text(_FLAVOR)
        if flavor not in flavors:
            raise entry.place(_FLAVOR).wrong(
                flavor, 'a name or an id of the list of flavors')
        yield Running(flavors[flavor], entry.text(_HOST), _created(entry))


def _created(entry: _Entry) -> datetime.datetime | None:
    value = entry.text(_CREATED)
    return input_values.moment(value, entry.place(_CREATED)) if value else None


def _entries(path: str, kind: str) -> Iterator[_Entry]:
    try:
        with open(path, encoding='utf-8-sig') as file:
            entries = json.load(file)
    except json.JSONDecodeError as error:
        raise exception.InvalidInput(
            path=path, spot=f'line {error.lineno}',
            column=f'character {error.colno}', value=error.msg,
            expected='JSON, as -f json prints JSON')
    except (OSError, UnicodeError, RecursionError) as error:
        raise exception.InputUnreadable(path=path, reason=error)
    if not isinstance(entries, list):
        raise exception.InputUnreadable(
            path=path, reason='the JSON is not a list of objects')
    for number, members in enumerate(entries, 1):
        entry = _Entry(path, kind, number,
                       members if isinstance(members, dict) else {})
        if not isinstance(members, dict):
            raise entry.place(_ID).wrong(members, 'an object in JSON')
        yield entry
