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

"""What a sandbox was asked to be, and what it is: its state file."""

import dataclasses
import json
import os
import secrets

from pcloud.sandbox import layout
from pcloud.sandbox import ports

USERS = ('admin', 'alice', 'bob', 'carol')
REGION = 'RegionOne'
DOMAIN = 'default'
ZONES = ('az1', 'az2')
# Hosts of conductor and schedulers where those are processes of their own.
CONTROLLERS = ('controller-1', 'controller-2')


def cell_controller(cell: int) -> str:
    """The host of the conductor of a cell; of the first, of all of Nova."""
    return CONTROLLERS[0] if cell == 1 else f'controller-cell{cell}'


@dataclasses.dataclass
class Settings:
    """A sandbox's settings; they do not change while it runs.

    :ivar hosts: how many fake computes
    :ivar ports: service name -> TCP port
    :ivar debug: whether the services log at DEBUG
    :ivar database: URL of the MariaDB server for the databases; None keeps
        them in files
    :ivar messaging: URL of the RabbitMQ through which Nova's processes
        talk; None makes all of Nova one process
    :ivar cells: over how many cells of Nova the computes are spread; more
        than one only where Nova's services are processes of their own
    :ivar key: tells this sandbox from others on the same servers
    :ivar password: of every user; drawn anew for each sandbox
    """

    hosts: int
    ports: dict[str, int]
    debug: bool = False
    database: str | None = None
    messaging: str | None = None
    cells: int = 1
    key: str = dataclasses.field(
        default_factory=lambda: secrets.token_hex(4))
    password: str = dataclasses.field(
        default_factory=lambda: secrets.token_hex(16))

    def url(self, service: str) -> str:
        """The root URL of a service, without a final slash."""
        return f'http://{ports.HOST}:{self.ports[service]}'

    @property
    def auth_url(self) -> str:
        """Where Keystone gives out tokens."""
        return self.url('keystone') + '/v3'

    @property
    def separate(self) -> bool:
        """Whether each service of Nova is a process of its own."""
        return self.messaging is not None

    def host_names(self) -> list[str]:
        """The compute hosts' names, in order."""
        return [f'node-{n}' for n in range(1, self.hosts + 1)]

    def cell_numbers(self) -> range:
        """The numbers of the cells, from 1."""
        return range(1, self.cells + 1)

    def cell_of(self, host: str) -> int:
        """The number of a compute host's cell.

        Each cell has hosts in every zone, where there are enough.
        """
        place = self.host_names().index(host)
        return place // len(ZONES) % self.cells + 1

    def cell_hosts(self) -> dict[str, list[str]]:
        """Cell -> its hosts."""
        return {f'cell{cell}': [host for host in self.host_names()
                                if self.cell_of(host) == cell]
                for cell in self.cell_numbers()}

    def zone_hosts(self) -> dict[str, list[str]]:
        """Availability zone -> its hosts; the hosts alternate."""
        names = self.host_names()
        return {zone: names[n::len(ZONES)] for n, zone in enumerate(ZONES)}


@dataclasses.dataclass
class State:
    """What is in the state file.

    :ivar processes: name -> {'pid': int, 'created': float}; the creation
        time tells a process from a later one with the same number
    :ivar ready: whether everything is usable
    """

    settings: Settings
    processes: dict[str, dict] = dataclasses.field(default_factory=dict)
    ready: bool = False


def save(where: layout.Layout, state: State) -> None:
    """Write the state file; a reader sees the old or the new one, whole.

    It holds passwords: nobody but its owner can read it.
    """
    descriptor = os.open(
        where.fresh_state, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with open(descriptor, 'w') as stream:
        json.dump(dataclasses.asdict(state), stream, indent=2)
    os.replace(where.fresh_state, where.state)


def load(where: layout.Layout) -> State | None:
    """Read the state file; None when there is none."""
    try:
        content = json.loads(where.state.read_text())
    except FileNotFoundError:
        return None
    return State(settings=Settings(**content['settings']),
                 processes=content['processes'], ready=content['ready'])
