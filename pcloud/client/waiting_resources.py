# SPDX-License-Identifier: Apache-2.0

"""What Pclouds wait for, as values."""

import dataclasses

from pcloud.client import resources


@dataclasses.dataclass(frozen=True)
class Waiting(resources.Resource):
    """An entry of the waiting list of a host flavor.

    :ivar name: the name that the host will have
    :ivar host_flavor: the id of the host flavor
    :ivar availability_zone: of the host, None for any zone
    :ivar position: 1 for the next; it may become worse
    :ivar since: when the Pcloud began to wait, in ISO 8601; likewise until
    :ivar pcloud: the id of the Pcloud, for admins in the list of a host
        flavor, else None; likewise owner, the id of the project
    """

    MEMBER = 'waiting'

    id: str
    name: str
    host_flavor: str
    availability_zone: str | None
    position: int
    since: str
    until: str
    pcloud: str | None = None
    owner: str | None = None


@dataclasses.dataclass(frozen=True)
class HostOrWaiting:
    """What has become of a request that may wait: one of both.

    :ivar host: the host, None while the Pcloud waits
    :ivar waiting: the entry in the waiting list, None where a host was free
    """

    host: resources.Host | None
    waiting: Waiting | None
