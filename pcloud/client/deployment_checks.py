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

"""What has to be so before the first server of a deployment is created."""

from collections.abc import Callable
from collections.abc import Collection
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
import contextlib
import dataclasses

from pcloud.client import exceptions
from pcloud.client import resources
from pcloud.client import servers
from pcloud.client import v1

# Finds an image by its id or name, or raises a ClientError.
FindImage = Callable[[str], servers.Image]

_QUOTAS = {'instances': ('maxTotalInstances', 'totalInstancesUsed'),
           'cores': ('maxTotalCores', 'totalCoresUsed'),
           'MiB of memory': ('maxTotalRAMSize', 'totalRAMUsed')}


class DeploymentRefused(exceptions.ClientError):
    """It cannot be deployed as asked; nothing was created."""


@dataclasses.dataclass(frozen=True)
class Kind:
    """What the units of a service are started from."""

    service: str
    image: servers.Image
    flavor: servers.Flavor


@dataclasses.dataclass(frozen=True)
class Size:
    """How much a group of servers takes on a host.

    :ivar memory_mb: MiB
    """

    vcpus: int
    memory_mb: int

    @classmethod
    def of(cls, kinds: Iterable[Kind]) -> 'Size':
        """Return the size of one unit of each."""
        flavors = [each.flavor for each in kinds]
        return cls(sum(each.vcpus for each in flavors),
                   sum(each.ram for each in flavors))


class Problems:
    """Collects what is wrong, so that all of it can be told at once."""

    def __init__(self) -> None:
        self._found: list[str] = []

    def add(self, problem: str | None, about: str = '') -> None:
        """Take note of a problem, if it is one."""
        if problem:
            self._found.append(f'{about}: {problem}' if about else problem)

    @contextlib.contextmanager
    def collecting(self, about: str = '') -> Iterator[None]:
        """Take note when what is asked for is not there."""
        try:
            yield
        except (exceptions.NotFound, exceptions.BadRequest,
                exceptions.AmbiguousName) as error:
            self.add(str(error), about)

    def refuse(self) -> None:
        """Refuse to go on when anything is wrong.

        :raises DeploymentRefused: telling all of it
        """
        if self._found:
            told = list(dict.fromkeys(self._found))
            raise DeploymentRefused(
                f"Nothing was created: {'; '.join(told)}")


def find_kind(nova: servers.Servers, find_image: FindImage, service: str,
              image: str, flavor: str, problems: Problems) -> Kind | None:
    """Find the image and the flavor of a service.

    :param image: its id or name; likewise flavor
    :returns: None, with the problems noted, when one is not there or they do
        not fit each other
    """
    found_image = found_flavor = None
    with problems.collecting(service):
        found_image = find_image(image)
    with problems.collecting(service):
        found_flavor = nova.find_flavor(flavor)
    if found_image is None or found_flavor is None:
        return None
    problems.add(_unfit(found_image, found_flavor), service)
    return Kind(service, found_image, found_flavor)


def check_quota(nova: servers.Servers, kinds: Sequence[Kind], count: int,
                problems: Problems) -> None:
    """Note when so many units of each would exceed the project's quota."""
    size = Size.of(kinds)
    wanted = {'instances': count * len(kinds), 'cores': count * size.vcpus,
              'MiB of memory': count * size.memory_mb}
    limits = nova.limits()
    for name, (limit_name, used_name) in _QUOTAS.items():
        limit, used = limits.get(limit_name, -1), limits.get(used_name, 0)
        if 0 <= limit < used + wanted[name]:
            problems.add(
                f'the quota of your project is {limit} {name}, of which '
                f'{used} are used and {wanted[name]} more are needed')


def check_tenant(client: v1.Client, pcloud: resources.Pcloud,
                 problems: Problems) -> None:
    """Note when the caller's project may not start servers in a Pcloud."""
    if pcloud.tenants is not None and (
            client.own_project_id() not in pcloud.tenants):
        problems.add(f'your project is not a tenant of Pcloud {pcloud.name}')


def hosts_of(client: v1.Client, pcloud: resources.Pcloud,
             ) -> list[resources.Host] | None:
    """List a Pcloud's hosts, or None when they are not for the caller."""
    try:
        return client.list_hosts(pcloud.id)
    except (exceptions.Forbidden, exceptions.NotFound):
        return None


def place(pcloud: resources.Pcloud, hosts: Iterable[resources.Host],
          size: Size, count: int,
          near: Collection[str] | None = None) -> list[resources.Host] | None:
    """Choose a host with room for each of some groups.

    Without a ratio of the Pcloud's own, its hosts' cpus are not looked at,
    and memory is not given out twice.

    :param near: only hosts that run one of these servers; None for all
    :returns: a host for each group; None when there is no room for all
    """
    found: list[resources.Host] = []
    for host in hosts:
        if near is not None and not set(near) & set(host.instances):
            continue
        if host.state != 'enabled' or host.status != 'up':
            continue
        while len(found) < count and _has_room(
                pcloud, host, size, found.count(host) + 1):
            found.append(host)
    return found if len(found) >= count else None


def check_room_beside(client: v1.Client, pcloud: resources.Pcloud | None,
                      kinds: Sequence[Kind],
                      anchors: Iterable[servers.Server],
                      problems: Problems) -> None:
    """Note when there is no room for one of each beside some servers.

    Where a tenant cannot know, there may be.
    """
    hosts = pcloud and hosts_of(client, pcloud)
    if pcloud is None or hosts is None:
        return
    size = Size.of(kinds)
    for each in anchors:
        if place(pcloud, hosts, size, 1, {each.id}) is None:
            problems.add(no_room(pcloud, size, 1), f'beside {each.name}')


def no_room(pcloud: resources.Pcloud, size: Size, count: int) -> str:
    """Say that there is no room."""
    return (f'Pcloud {pcloud.name} has no room for {count} times '
            f'{size.vcpus} vcpus and {size.memory_mb} MiB of memory on those '
            f'of its enabled hosts where it may be')


def _has_room(pcloud: resources.Pcloud, host: resources.Host, size: Size,
              groups: int) -> bool:
    ratios: Mapping[str, float | None] = {
        'vcpus': pcloud.cpu_allocation_ratio,
        'memory_mb': pcloud.ram_allocation_ratio or 1.0}
    for name, ratio in ratios.items():
        total = getattr(host, name)
        if ratio is None or total is None:
            continue
        free = int(total * ratio) - (getattr(host, f'{name}_used') or 0)
        if free < groups * getattr(size, name):
            return False
    return True


def _unfit(image: servers.Image, flavor: servers.Flavor) -> str | None:
    if image.status != 'active':
        return f'image {image.name} is {image.status}, not active'
    if image.min_ram > flavor.ram or 0 < flavor.disk < image.min_disk:
        return f'flavor {flavor.name} is too small for image {image.name}'
    return None
