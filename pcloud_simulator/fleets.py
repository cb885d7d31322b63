# SPDX-License-Identifier: Apache-2.0

"""The hosts of a simulation: from a file, or made up.

Rule: reference-simulation-hosts
"""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Iterable
from collections.abc import Sequence
import dataclasses
import datetime
import re
from typing import Any

from pcloud import exception
from pcloud.rules.placing import attributes
from pcloud_simulator import csv_tables
from pcloud_simulator import workload

REQUIRED = ('host', 'vcpus', 'memory_mb')
# Nova's initial_..._allocation_ratio.
CPU_RATIO, RAM_RATIO, DISK_RATIO = 4.0, 1.0, 1.0

# From old to new, of a fleet that is made up: a quarter of the hosts each.
PLATFORMS = ('20250801T000000Z', '20251201T000000Z', '20260401T000000Z',
             '20260901T000000Z')
# The parts of the trace after which the hosts of a platform are rebooted, in
# three groups one after the other; the newest platform is not rebooted.
REBOOTS = (0.5, 0.65, 0.8)
_GROUPS = 3
_APART = 0.05

_VERSION = re.compile(r'\d{1,9}', re.ASCII)


@dataclasses.dataclass(frozen=True)
class Shape:
    """What a host has for servers."""

    vcpus: int
    memory_mb: int
    disk_gb: int = 0
    cpu_ratio: float = CPU_RATIO
    ram_ratio: float = RAM_RATIO
    disk_ratio: float = DISK_RATIO

    def takes(self, size: workload.Size) -> bool:
        """Whether one server may have this size; ratios do not matter.

        Placement has a greatest amount for one server: what the host really
        has.
        """
        return (size.vcpus <= self.vcpus and size.memory_mb <= self.memory_mb
                and size.disk_gb <= self.disk_gb)


@dataclasses.dataclass(frozen=True)
class FleetHost:
    """A host and its attributes, None where the host has no value.

    :ivar platform: as written
    :ivar version: the version of the hypervisor, as Nova's number
    """

    name: str
    shape: Shape
    platform: str | None = None
    reboot: datetime.datetime | None = None
    hardware: float | None = None
    version: int = 0


def read(path: str) -> tuple[FleetHost, ...]:
    """Read the hosts of a file in CSV.

    ========================  ==============================================
    column                    value
    ========================  ==============================================
    ``host``                  the name, once in the file
    ``vcpus``, ``memory_mb``  whole numbers: what the host really has
    ``disk_gb``               a whole number; where no host of the file has
                              one, the disks of servers are not looked at
    ``cpu_allocation_ratio``  a number; 4.0 without it
    ``ram_allocation_ratio``  a number; 1.0 without it
    ``disk_allocation_ratio`` a number; 1.0 without it
    ``platform_version``      as `rules.placing.attributes` reads the values
    ``next_reboot``           the same
    ``hardware_class``        the same
    ``hypervisor_version``    a whole number, as Nova shows it
    any other                 not read
    ========================  ==============================================

    All columns but the first three may be missing or empty.

    :raises: `exception.InvalidValue`, `exception.InputUnreadable`
    """
    hosts: list[FleetHost] = []
    lines: dict[str, int] = {}
    for row in csv_tables.rows(path, REQUIRED):
        name = csv_tables.own_name(row, 'host', lines, 'host')
        hosts.append(_host(name, row))
        _check_kind(row, hosts)
    if not hosts:
        raise exception.InputUnreadable(path=path, reason='it has no host')
    return tuple(hosts)


def _host(name: str, row: csv_tables.Row) -> FleetHost:
    return FleetHost(
        name,
        Shape(row.whole('vcpus'), row.whole('memory_mb'),
              _optional(row, 'disk_gb', row.whole) or 0,
              _optional(row, 'cpu_allocation_ratio', row.number) or CPU_RATIO,
              _optional(row, 'ram_allocation_ratio', row.number) or RAM_RATIO,
              _optional(row, 'disk_allocation_ratio', row.number)
              or DISK_RATIO),
        row.text('platform_version') if _attribute(
            row, 'platform_version', attributes.PLATFORM) else None,
        _attribute(row, 'next_reboot', attributes.REBOOT),
        _attribute(row, 'hardware_class', attributes.HARDWARE),
        _optional(row, 'hypervisor_version', _version(row)) or 0)


def _optional(
    row: csv_tables.Row, column: str, read_: Callable[[str], Any],
) -> Any:
    return read_(column) if row.text(column) else None


def _version(row: csv_tables.Row) -> Callable[[str], int]:
    def read_(column: str) -> int:
        value = row.text(column)
        if not _VERSION.fullmatch(value):
            raise exception.InvalidValue(
                row.place(column), value, 'a whole number, such as 8002000')
        return int(value)
    return read_


def _attribute(row: csv_tables.Row, column: str, name: str) -> Any:
    def read_(_: str) -> Any:
        try:
            return attributes.read(name, row.text(column))
        except exception.InvalidValue as error:
            raise exception.InvalidValue(
                row.place(column), row.text(column),
                str(error.details['expected']))
    return _optional(row, column, read_)


def _check_kind(row: csv_tables.Row, hosts: Sequence[FleetHost]) -> None:
    """Check that all versions are stamps, or all are dotted.

    :raises: `exception.InvalidValue`
    """
    value = hosts[-1].platform
    first = next((host.platform for host in hosts if host.platform), None)
    if value and first and (attributes.platform(value).dotted !=
                            attributes.platform(first).dotted):
        raise exception.InvalidValue(
            row.place('platform_version'), value,
            f'a version of the kind of {first}: all stamps, or all dotted')


def make(
    count: int, shapes: Sequence[Shape], begin: datetime.datetime,
    seconds: float,
) -> tuple[FleetHost, ...]:
    """Make up hosts, a quarter with each of four platforms.

    :param shapes: the shapes of the hosts in turn
    :param begin: the beginning of the trace
    :param seconds: how long the trace is
    """
    return tuple(
        FleetHost(f'host-{number + 1}', shapes[number % len(shapes)],
                  PLATFORMS[platform],
                  None if platform == len(REBOOTS) else
                  begin + datetime.timedelta(seconds=round(seconds * (
                      REBOOTS[platform] + _APART * (number % _GROUPS)))))
        for number in range(count)
        for platform in [number * len(PLATFORMS) // count])


def platforms(hosts: Iterable[FleetHost]) -> list[str]:
    """Return the platforms of hosts, from old to new."""
    return sorted({host.platform for host in hosts if host.platform},
                  key=attributes.platform)
