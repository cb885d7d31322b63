# SPDX-License-Identifier: Apache-2.0

"""The compute hosts that tests take from the cloud, and give back.

Only hosts that are empty, up and enabled are taken, so a host that is given
back is enabled again. A host in an aggregate with metadata serves a purpose
of the cloud's operator, and is left alone; so is a host of a pool.
"""

from collections.abc import Iterable
from collections.abc import Iterator
import dataclasses
import random

from pcloud.client import exceptions
from pcloud.tests.cloud import options
from pcloud.tests.cloud import users

BINARY = 'nova-compute'


@dataclasses.dataclass(frozen=True)
class Compute:
    """A compute host.

    :ivar host: the name of the compute service
    :ivar node: the hypervisor hostname
    """

    host: str
    node: str


def usable(admin: users.User) -> list[Compute]:
    """Return the hosts with an ordinary compute service that is at work.

    Servers of everybody are placed on these hosts; some hosts are empty.
    """
    compute = admin.cloud.compute
    nodes: dict[str, list[str]] = {}
    for hypervisor in compute.hypervisors(details=True):
        nodes.setdefault(hypervisor.service_details['host'], []).append(
            hypervisor.name)
    special = {host for aggregate in compute.aggregates()
               if set(aggregate.metadata or ()) - {'availability_zone'}
               for host in aggregate.hosts or ()}
    return [Compute(service.host, *nodes[service.host])
            for service in compute.services(binary=BINARY)
            if service.status == 'enabled' and service.state == 'up'
            and service.host not in special
            and len(nodes.get(service.host, ())) == 1]


def take(admin: users.User, flavor_id: str, count: int,
         reason: str) -> list[Compute]:
    """Put empty hosts into the pool of a host flavor.

    Another run may want the same hosts, so the order is random, and a host
    that the API refuses is passed over.

    :param reason: the reason with which the hosts are disabled meanwhile
    :returns: the hosts, fewer than wanted if there are no more
    """
    taken: list[Compute] = []
    for each in _empty(admin):
        if len(taken) == count:
            break
        disable(admin, each.host, reason)
        try:
            admin.pclouds.add_pool_host(flavor_id, each.host)
        except exceptions.Conflict:
            enable(admin, [each.host])
        else:
            taken.append(each)
    return taken


def _empty(admin: users.User) -> Iterator[Compute]:
    allowed = options.computes()
    found = [each for each in usable(admin)
             if allowed is None or each.host in allowed]
    random.shuffle(found)
    for each in found:
        if not any(admin.cloud.compute.servers(
                details=False, all_projects=True, host=each.host, limit=1)):
            yield each


def disable(admin: users.User, host: str, reason: str) -> None:
    """Disable a host's compute service."""
    admin.cloud.compute.disable_service(
        _service(admin, host), host, BINARY, disabled_reason=reason)


def enable(admin: users.User, hosts: Iterable[str]) -> None:
    """Enable the compute services of hosts."""
    for host in hosts:
        admin.cloud.compute.enable_service(
            _service(admin, host), host, BINARY)


def _service(admin: users.User, host: str):
    service, = admin.cloud.compute.services(host=host, binary=BINARY)
    return service
