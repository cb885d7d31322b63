# SPDX-License-Identifier: Apache-2.0

"""The settings and the state of a sandbox, in the state file."""

import dataclasses
import json
import os
import secrets

from pcloud_sandbox.configuration import layout
from pcloud_sandbox.configuration import ports

# Seconds between two passes of the worker.
WORKER_INTERVAL = 2
USERS = ('admin', 'alice', 'bob', 'carol')
REGION = 'RegionOne'
DOMAIN = 'default'
ZONES = ('az1', 'az2')
# Hosts of conductor and schedulers that are processes of their own.
CONTROLLERS = ('controller-1', 'controller-2')


def cell_controller(cell: int) -> str:
    """Return the host name of a cell's conductor.

    The conductor of the first cell is also the conductor of the cloud.
    """
    return CONTROLLERS[0] if cell == 1 else f'controller-cell{cell}'


@dataclasses.dataclass
class Settings:
    """A sandbox's settings, which do not change while the sandbox runs.

    :ivar hosts: number of compute hosts
    :ivar ports: service name -> TCP port
    :ivar debug: whether the services log at DEBUG
    :ivar database: URL of the MariaDB server for the databases; None keeps
        the databases in files
    :ivar messaging: URL of the RabbitMQ through which Nova's processes
        talk; None makes all of Nova a single process
    :ivar cells: number of cells over which the compute hosts are spread;
        several cells need services of Nova in processes of their own
    :ivar hypervisors: whether each compute host has a libvirtd and a QEMU
        of its own, instead of a fake hypervisor; such hosts need services of
        Nova in processes of their own
    :ivar dashboard: whether Horizon runs, with the panels of Pcloud
    :ivar heat: whether Heat runs, with the resources of Pcloud
    :ivar key: distinguishes the sandboxes that share a server
    :ivar password: password of every user; drawn for each sandbox
    """

    hosts: int
    ports: dict[str, int]
    debug: bool = False
    database: str | None = None
    messaging: str | None = None
    cells: int = 1
    hypervisors: bool = False
    dashboard: bool = False
    heat: bool = False
    key: str = dataclasses.field(
        default_factory=lambda: secrets.token_hex(4))
    password: str = dataclasses.field(
        default_factory=lambda: secrets.token_hex(16))

    def url(self, service: str) -> str:
        """Return the root URL of a service, without a final slash."""
        return f'http://{ports.HOST}:{self.ports[service]}'

    @property
    def auth_url(self) -> str:
        """The URL at which Keystone issues tokens."""
        return self.url('keystone') + '/v3'

    @property
    def separate(self) -> bool:
        """Whether each service of Nova is a process of its own."""
        return self.messaging is not None

    def host_names(self) -> list[str]:
        """Return the compute hosts' names, in order."""
        return [f'node-{n}' for n in range(1, self.hosts + 1)]

    def cell_numbers(self) -> range:
        """Return the numbers of the cells, from 1."""
        return range(1, self.cells + 1)

    def cell_of(self, host: str) -> int:
        """Return the number of a compute host's cell.

        Each cell has hosts in every availability zone, if there are enough
        hosts.
        """
        place = self.host_names().index(host)
        return place // len(ZONES) % self.cells + 1

    def cell_hosts(self) -> dict[str, list[str]]:
        """Return cell -> names of the compute hosts."""
        return {f'cell{cell}': [host for host in self.host_names()
                                if self.cell_of(host) == cell]
                for cell in self.cell_numbers()}

    def zone_hosts(self) -> dict[str, list[str]]:
        """Return availability zone -> names of the compute hosts.

        The hosts alternate between the zones.
        """
        names = self.host_names()
        return {zone: names[n::len(ZONES)] for n, zone in enumerate(ZONES)}


@dataclasses.dataclass
class State:
    """The content of the state file.

    :ivar settings: the settings of the sandbox
    :ivar processes: part name -> {'pid': int, 'created': float}; the
        creation time distinguishes a process from a later process with the
        same number
    :ivar ready: whether all parts are usable
    """

    settings: Settings
    processes: dict[str, dict] = dataclasses.field(default_factory=dict)
    ready: bool = False


def save(where: layout.Layout, state: State) -> None:
    """Write the state file.

    A reader sees either the whole old state or the whole new state. The
    state file holds a password: only the owner can read the file.
    """
    descriptor = os.open(
        where.fresh_state, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with open(descriptor, 'w') as stream:
        json.dump(dataclasses.asdict(state), stream, indent=2)
    os.replace(where.fresh_state, where.state)


def read(where: layout.Layout) -> State:
    """Read the state file, which is there: a sandbox starts or runs."""
    content = json.loads(where.state.read_text())
    return State(settings=Settings(**content['settings']),
                 processes=content['processes'], ready=content['ready'])


def load(where: layout.Layout) -> State | None:
    """Read the state file; return None when there is no state file."""
    try:
        return read(where)
    except FileNotFoundError:
        return None
