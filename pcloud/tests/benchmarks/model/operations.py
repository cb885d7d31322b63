# SPDX-License-Identifier: Apache-2.0

"""What happens in a control plane, and how often."""

from __future__ import annotations

from collections.abc import Mapping
import dataclasses

# The two parts of a launch: nova-api accepts, nova-scheduler chooses.
ACCEPT = 'launch, nova-api'
CHOOSE = 'launch, choice without a hint'
CHOOSE_HINTED = 'launch, choice in a Pcloud'

ADD = 'POST /os-pclouds/{id}/hosts'
SWITCH = 'PUT /os-pclouds/{id}/hosts/{name}'
REMOVE = 'DELETE /os-pclouds/{id}/hosts/{name}'
ENTER = 'POST /os-host-flavors/{id}/hosts'
ENTER_MANY = 'POST /os-host-flavors/{id}/hosts, 10 hosts'
LEAVE = 'DELETE /os-host-flavors/{id}/hosts/{host}'
ATTRIBUTE = 'PUT /os-pcloud-attributes/{name}'

PASS = 'pass of a worker'
START = 'start of nova-scheduler'

# Of 100 changes. A host that is added is enabled, and later disabled and
# removed; few hosts enter pools, and few attributes change.
CHANGES: Mapping[str, float] = {
    ADD: 20, SWITCH: 45, REMOVE: 20, ENTER: 4, ENTER_MANY: 1, LEAVE: 5,
    ATTRIBUTE: 5}
# The part of the launches that go into Pclouds.
HINTED = 0.5
# Seconds between two passes of a worker.
INTERVAL = 10.0


@dataclasses.dataclass(frozen=True)
class Stream:
    """What comes in a minute.

    :ivar launches: launches of one server
    :ivar changes: changes, shared out as `CHANGES`
    """

    launches: float
    changes: float

    def times(self, factor: float) -> Stream:
        """Return a stream with so many times more."""
        return Stream(self.launches * factor, self.changes * factor)

    @property
    def rates(self) -> dict[str, float]:
        """Operation -> number a second, without passes of workers."""
        launches = self.launches / 60
        of_all = self.changes / 60 / sum(CHANGES.values())
        return {ACCEPT: launches, CHOOSE: launches * (1 - HINTED),
                CHOOSE_HINTED: launches * HINTED,
                **{name: each * of_all for name, each in CHANGES.items()}}


@dataclasses.dataclass(frozen=True)
class Plant:
    """The processes of a control plane.

    :ivar apis: processes of nova-api
    :ivar schedulers: processes of nova-scheduler
    :ivar workers: processes of Pcloud's worker
    :ivar placements: processes of Placement
    :ivar cores: processors of MariaDB
    """

    apis: int
    schedulers: int
    workers: int
    placements: int
    cores: int

    @property
    def places(self) -> dict[str, int]:
        """Resource -> how many jobs the resource serves at once."""
        return {NOVA_API: self.apis, SCHEDULER: self.schedulers,
                WORKER: self.workers, PLACEMENT: self.placements,
                DATABASE: self.cores}


NOVA_API, SCHEDULER, WORKER, PLACEMENT, DATABASE = (
    'nova-api', 'nova-scheduler', 'worker', 'Placement', 'MariaDB')


def process(name: str) -> str:
    """Return the resource whose process does an operation."""
    if name in (CHOOSE, CHOOSE_HINTED, START):
        return SCHEDULER
    return WORKER if name == PASS else NOVA_API
