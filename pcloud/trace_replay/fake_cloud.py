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

"""Hosts without a service or a database, and Nova's choice among them."""

# Nova's objects are registered when a cloud is made.
from __future__ import annotations

import collections
from collections.abc import Callable
from collections.abc import Mapping
from collections.abc import Sequence
import datetime
import random

import nova.conf
from nova import objects
from nova.scheduler import host_manager
from nova.scheduler import weights

from pcloud import conf
from pcloud import names
from pcloud.rules import attributes
from pcloud.trace_replay import trace

CONF = nova.conf.CONF

START = datetime.datetime(2026, 11, 2, tzinfo=datetime.UTC)
# From old to new, a quarter of the hosts each.
PLATFORMS = ('20250801T000000Z', '20251201T000000Z', '20260401T000000Z',
             '20260901T000000Z')
# The oldest platforms are rebooted first, to a newer platform; the newest
# platform is not.
REBOOT_WEEKS = (8, 11, 14, None)

HOST_VCPUS = 48
HOST_MB = 96 * 1024
HOST_DISK_MB = 2 * 1024 * 1024


class Cloud:
    """Hosts, their servers, and Nova's choice among the hosts."""

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

    def place(self, server: trace.Server) -> None:
        """Put a server onto a host, if any host has room."""
        room = [host for host in self._hosts
                if host.free_ram_mb >= server.memory_mb]
        if not room:
            return
        host = self._choose(room, server)
        _use(host, server.memory_mb)
        self._running.append((server.end, server.memory_mb, host))

    def _choose(
        self, room: list, server: trace.Server,
    ) -> host_manager.HostState:
        if server.start == 0:
            return self._chance.choice(room)
        weighed = self._handler.get_weighed_objects(
            self._weighers, room, _request(server))
        return self._chance.choice([
            candidate.obj for candidate in weighed
            if candidate.weight == weighed[0].weight])

    def end_until(self, day: float) -> None:
        """End the servers whose end is not after a day."""
        ended = [entry for entry in self._running if entry[0] <= day]
        if ended:
            self._running = [entry for entry in self._running
                             if entry[0] > day]
        for _, memory_mb, host in ended:
            _use(host, -memory_mb)

    def count(self, kind: Callable) -> Mapping:
        """Count the servers by a value of their hosts.

        :param kind: a function ``host -> value``
        """
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


def _request(server: trace.Server) -> objects.RequestSpec:
    return objects.RequestSpec(
        instance_group=None, scheduler_hints={}, requested_destination=None,
        flavor=objects.Flavor(memory_mb=server.memory_mb, vcpus=1,
                              root_gb=1, ephemeral_gb=0, swap=0,
                              extra_specs={}),
        image=None, pci_requests=None, numa_topology=None)


def _attribute(host: host_manager.HostState, name: str) -> str | None:
    return host.aggregates[0].metadata.get(names.attribute_key(name))


def platform(host: host_manager.HostState) -> str | None:
    """Return the platform of a host."""
    return _attribute(host, attributes.PLATFORM)


def reboot_week(host: host_manager.HostState) -> int | None:
    """Return the week since `START` in which a host is rebooted."""
    date = _attribute(host, attributes.REBOOT)
    return None if date is None else (
        datetime.datetime.fromisoformat(date) - START).days // 7
