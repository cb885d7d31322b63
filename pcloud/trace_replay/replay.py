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

"""Weeks of a cloud in a minute: which hosts do servers end up on?

Servers come and go by a trace, and Nova's own weight handler chooses a host
for each among those with room, with the weighers that are configured. There
is no service and no database; what is simulated is the choice.

The question is that of RFD 24, "Desired State": are hosts with old platforms
drained "over time", when servers are "destroyed and re-created elsewhere",
and do servers stay away from hosts that are rebooted soon?
"""

# Nova's objects are registered when a replay begins.
from __future__ import annotations

import collections
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
import contextlib
import dataclasses
import datetime
import random

import nova.conf
from nova import objects
from nova.scheduler import host_manager
from nova.scheduler import weights
from oslo_utils import timeutils

from pcloud.aggregates import names
from pcloud import conf
from pcloud.rules import attributes

CONF = nova.conf.CONF

START = datetime.datetime(2026, 11, 2, tzinfo=datetime.UTC)
# From old to new, a quarter of the hosts each.
PLATFORMS = ('20250801T000000Z', '20251201T000000Z', '20260401T000000Z',
             '20260901T000000Z')
# The oldest are rebooted first, to a newer platform; the newest are not.
REBOOT_WEEKS = (8, 11, 14, None)

HOST_VCPUS = 48
HOST_MB = 96 * 1024
HOST_DISK_MB = 2 * 1024 * 1024
SERVER_MB = (4096, 8192, 16384, 32768)

NOVA = ('nova.scheduler.weights.all_weighers',)
# Those by attributes; the others have nothing to say here.
PCLOUD = (*NOVA, *(f'pcloud.scheduler.weights.{each}' for each in (
    'platform.PlatformWeigher', 'reboot.RebootWeigher',
    'hardware_class.HardwareClassWeigher')))


@dataclasses.dataclass(frozen=True)
class Server:
    """A server of a trace.

    :ivar start: days since `START`; 0 for those that are there already
    :ivar end: days since `START`
    """

    start: float
    end: float
    memory_mb: int


@dataclasses.dataclass(frozen=True)
class Outcome:
    """What became of a trace.

    :ivar days: for each day, how many servers were on each platform
    :ivar by_reboot: how many servers there were at the end, by the week of
        their host's next reboot
    """

    days: Sequence[Mapping[str, int]]
    by_reboot: Mapping[int | None, int]

    def share(self, platform: str) -> list[float]:
        """Return which part of the servers was on a platform, day by day."""
        return [day.get(platform, 0) / (sum(day.values()) or 1)
                for day in self.days]


def trace(
    chance: random.Random, days: int, servers: int, lifetime: float,
) -> list[Server]:
    """Return servers that come and go, in the order of their coming.

    :param servers: how many there are at any moment, about
    :param lifetime: how many days one lives on average, exponentially
    """
    def server(start: float) -> Server:
        return Server(start, start + chance.expovariate(1 / lifetime),
                      chance.choice(SERVER_MB))

    found = [server(0) for _ in range(servers)]
    moment = 0.0
    while (moment := moment + chance.expovariate(servers / lifetime)) < days:
        found.append(server(moment))
    return found


def run(
    servers: Sequence[Server], hosts: int, days: int,
    weighers: Sequence[str], chance: random.Random,
) -> Outcome:
    """Place the servers of a trace, each on the host that weighs most.

    Those of day 0 are spread over all hosts, whatever the weighers: they
    were there before.
    """
    cloud = _Cloud(hosts, weighers, chance)
    seen = []
    waiting = collections.deque(servers)
    with _clock() as set_day:
        for day in range(days + 1):
            while waiting and waiting[0].start <= day:
                server = waiting.popleft()
                set_day(server.start)
                cloud.end_until(server.start)
                cloud.place(server)
            cloud.end_until(day)
            seen.append(cloud.count(_platform))
    return Outcome(seen, cloud.count(_reboot_week))


@contextlib.contextmanager
def _clock() -> Iterator:
    try:
        yield lambda day: timeutils.set_time_override(
            START + datetime.timedelta(days=day))
    finally:
        timeutils.clear_time_override()


class _Cloud:
    """Hosts, what is on them, and what chooses among them."""

    def __init__(self, hosts: int, weighers: Sequence[str],
                 chance: random.Random) -> None:
        objects.register_all()
        conf.register_opts(CONF)
        self._handler = weights.HostWeightHandler()
        self._weighers = [
            weigher() for weigher in
            self._handler.get_matching_classes(list(weighers))]
        self._chance = chance
        self._hosts = [_host(number, number * len(PLATFORMS) // hosts)
                       for number in range(hosts)]
        self._running: list[tuple[float, int, host_manager.HostState]] = []

    def place(self, server: Server) -> None:
        """Put a server onto a host, if there is room for it."""
        room = [host for host in self._hosts
                if host.free_ram_mb >= server.memory_mb]
        if not room:
            return
        host = self._choose(room, server)
        _use(host, server.memory_mb)
        self._running.append((server.end, server.memory_mb, host))

    def _choose(self, room: list, server: Server):
        if server.start == 0:
            return self._chance.choice(room)
        weighed = self._handler.get_weighed_objects(
            self._weighers, room, _request(server))
        return self._chance.choice([
            each.obj for each in weighed
            if each.weight == weighed[0].weight])

    def end_until(self, day: float) -> None:
        """Let the servers end that do so until a day."""
        ended = [each for each in self._running if each[0] <= day]
        if ended:
            self._running = [each for each in self._running
                             if each[0] > day]
        for _, memory_mb, host in ended:
            _use(host, -memory_mb)

    def count(self, kind) -> Mapping:
        """Count the servers by something of their hosts."""
        return collections.Counter(kind(host) for *_, host in self._running)


def _host(number: int, platform: int) -> host_manager.HostState:
    host = host_manager.HostState(f'host-{number}', f'host-{number}', 'cell')
    host.total_usable_ram_mb = host.free_ram_mb = HOST_MB
    host.free_disk_mb = HOST_DISK_MB
    host.vcpus_total = HOST_VCPUS
    host.cpu_allocation_ratio = 4.0
    host.hypervisor_version = 1
    host.metrics = []
    metadata = {names.attribute_key(attributes.PLATFORM): PLATFORMS[platform]}
    week = REBOOT_WEEKS[platform]
    if week is not None:
        date = START + datetime.timedelta(weeks=week + number % 3)
        metadata[names.attribute_key(attributes.REBOOT)] = date.isoformat()
    host.aggregates = [objects.Aggregate(metadata=metadata)]
    return host


def _use(host: host_manager.HostState, memory_mb: int) -> None:
    host.free_ram_mb -= memory_mb
    # 20 GiB of disk and two virtual cpus for 4 GiB of memory.
    host.free_disk_mb -= 5 * memory_mb
    host.vcpus_used += memory_mb // 2048
    host.num_instances += 1 if memory_mb > 0 else -1


def _request(server: Server) -> objects.RequestSpec:
    return objects.RequestSpec(
        instance_group=None, scheduler_hints={}, requested_destination=None,
        flavor=objects.Flavor(memory_mb=server.memory_mb, vcpus=1,
                              root_gb=1, ephemeral_gb=0, swap=0,
                              extra_specs={}),
        image=None, pci_requests=None, numa_topology=None)


def _said(host: host_manager.HostState, name: str) -> str | None:
    return host.aggregates[0].metadata.get(names.attribute_key(name))


def _platform(host: host_manager.HostState) -> str | None:
    return _said(host, attributes.PLATFORM)


def _reboot_week(host: host_manager.HostState) -> int | None:
    date = _said(host, attributes.REBOOT)
    return date and (datetime.datetime.fromisoformat(date) - START).days // 7
