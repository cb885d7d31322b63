# SPDX-License-Identifier: Apache-2.0

"""What tenants use of a Pcloud and what projects hold of hosts, as values."""

import dataclasses

from pcloud.client import resources


@dataclasses.dataclass(frozen=True)
class HeldFlavor(resources.Resource):
    """What a project has held of the hosts of a host flavor in a month.

    :ivar hosts: how often a host was held
    :ivar host_hours: for how long, all hosts together
    :ivar unit_hours: likewise, each second as often as the host had units
    :ivar cost: what that comes to, as a decimal text; None without a price
    """

    MEMBER = 'host_flavor'

    id: str
    hosts: int
    host_hours: float
    unit_hours: float
    cost: str | None = None


@dataclasses.dataclass(frozen=True)
class Day(resources.Resource):
    """What a project has held of hosts in a day.

    :ivar day: such as "2026-11-01"
    """

    MEMBER = 'day'
    PARTS = {'host_flavors': HeldFlavor}

    day: str
    host_flavors: tuple[HeldFlavor, ...]


@dataclasses.dataclass(frozen=True)
class Usage(resources.Resource):
    """What a project has held of hosts in a month.

    :ivar project: the id of the project
    :ivar month: such as "2026-11"
    :ivar complete: whether the month is over
    :ivar days: each day up to now; None where nobody asked
    :ivar currency: of the costs; None where the operator has not set it
    """

    MEMBER = 'usage'
    PARTS = {'host_flavors': HeldFlavor, 'days': Day}

    project: str
    month: str
    complete: bool
    host_flavors: tuple[HeldFlavor, ...]
    currency: str | None = None
    days: tuple[Day, ...] | None = None


@dataclasses.dataclass(frozen=True)
class TenantUse(resources.Resource):
    """What a tenant uses of a Pcloud.

    :ivar project: the id of the project
    :ivar name: None where the caller may not know the name
    :ivar vcpus: the processors of the flavors of the tenant's servers;
        likewise memory_mb (MiB)
    :ivar share: the tenant's part of the processors that all tenants use,
        from 0 to 1
    """

    MEMBER = 'tenant'

    project: str
    servers: int
    vcpus: int
    memory_mb: int
    share: float
    name: str | None = None


@dataclasses.dataclass(frozen=True)
class HeldHost(resources.Resource):
    """A host of a Pcloud.

    :ivar since: when the host has joined the Pcloud, None where nobody knows
    :ivar empty_since: since when the host is empty, None for a host with
        servers, and where nobody knows
    """

    MEMBER = 'host'

    name: str
    since: str | None = None
    empty_since: str | None = None


@dataclasses.dataclass(frozen=True)
class PcloudUse(resources.Resource):
    """What the tenants use of a Pcloud, and since when it has its hosts."""

    MEMBER = 'usage'
    PARTS = {'tenants': TenantUse, 'hosts': HeldHost}

    tenants: tuple[TenantUse, ...]
    hosts: tuple[HeldHost, ...]
