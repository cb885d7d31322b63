# SPDX-License-Identifier: Apache-2.0

"""The checks before the first server of a deployment is created.

Rule: reference-colocation-deploy
"""

from collections.abc import Callable
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Sequence
import contextlib
import dataclasses

from pcloud.client.deploy import readiness
from pcloud.client import exceptions
from pcloud.client import plan_resources
from pcloud.client import resources
from pcloud.client import servers
from pcloud.client import v1
from pcloud import exception
from pcloud.rules import forms
from pcloud.rules.placing import colocation
from pcloud.rules.placing import constraints
from pcloud.rules.placing import hints

# Finds an image by its id or name, or raises a ClientError.
FindImage = Callable[[str], servers.Image]

# The hints that a deployment gives by itself, and what a user gives instead.
OWN_HINTS = {
    hints.SERVICE: 'the name of the service', hints.PCLOUD: '--pcloud',
    hints.IN: '--in-service or --scale-with',
    **dict.fromkeys((hints.WITH, hints.BESIDE, hints.ROOM_FOR), '--with')}
# The beginning of the keys of metadata that are Pcloud's.
OWN_METADATA = 'pcloud_'

_QUOTAS = {'instances': ('maxTotalInstances', 'totalInstancesUsed'),
           'cores': ('maxTotalCores', 'totalCoresUsed'),
           'MiB of memory': ('maxTotalRAMSize', 'totalRAMUsed')}


class DeploymentRefused(exceptions.ClientError):
    """The deployment is not possible as asked; no server was created."""


@dataclasses.dataclass(frozen=True)
class UnitKind:
    """What the units of a service are started with.

    :ivar options: without the hints and metadata that scaling and co-location
        need
    :ivar ready: None where a unit is ready when the unit is active
    """

    service: str
    image: servers.Image
    flavor: servers.Flavor
    options: servers.Options = servers.Options()
    ready: readiness.Ready | None = None

    @property
    def companion(self) -> colocation.Companion:
        """A unit, as capacity is asked for."""
        return colocation.Companion(
            self.flavor.id,
            self.image.on_volume or self.options.on_volume)


class Problems:
    """Collects the problems of a deployment, to report all together."""

    def __init__(self) -> None:
        self._texts: list[str] = []

    def add(self, problem: str | None, about: str = '') -> None:
        """Note a problem, unless the problem is None or empty."""
        if problem:
            self._texts.append(f'{about}: {problem}' if about else problem)

    @contextlib.contextmanager
    def collecting(self, about: str = '') -> Iterator[None]:
        """Note a problem when a resource in the block is not found."""
        try:
            yield
        except (exceptions.NotFound, exceptions.BadRequest,
                exceptions.AmbiguousName) as error:
            self.add(str(error), about)

    @property
    def texts(self) -> list[str]:
        """The problems so far, each once."""
        return list(dict.fromkeys(self._texts))

    def refuse(self) -> None:
        """Refuse the deployment when problems are noted.

        :raises DeploymentRefused: with all problems in the message
        """
        if self._texts:
            raise DeploymentRefused(
                f"Nothing was created: {'; '.join(self.texts)}")


def find_kind(nova: servers.Servers, find_image: FindImage, service: str,
              image: str, flavor: str, options: servers.Options,
              ready: readiness.Ready | None,
              problems: Problems) -> UnitKind | None:
    """Find the image and the flavor of a service.

    :param image: the image's id or name, '' for a root disk that was made of
        none; likewise flavor, which is never ''
    :returns: None when the image or the flavor is not found; problems are
        noted, also when the image does not fit the flavor or the options
    """
    found_image = found_flavor = None
    with problems.collecting(service):
        found_image = find_image(image) if image else servers.Image('')
    with problems.collecting(service):
        found_flavor = nova.find_flavor(flavor)
    if None in (found_image, found_flavor):
        return None
    problems.add(_unfit(found_image, found_flavor, options), service)
    return UnitKind(service, found_image, found_flavor, options, ready)


def check_options(service: str, options: servers.Options,
                  ready: readiness.Ready | None, problems: Problems) -> None:
    """Note what is wrong with the options of a service, whatever the cloud.

    Rule: reference-colocation-options
    """
    for name, instead in OWN_HINTS.items():
        if name in options.hints:
            problems.add(f'the hint {name} is given by {instead}', service)
    if ready:
        if ready.key in options.metadata:
            problems.add(f"the property '{ready.key}' is for the guest to "
                         'set, as --ready says', service)
        if len(str(ready)) > forms.LIMIT:
            problems.add(f"--ready '{ready}' has more than {forms.LIMIT} "
                         'characters', service)
    if options.volume_size is not None and any(
            device.get('boot_index') == 0 for device in options.devices):
        problems.add('a volume that is there already and a new volume are '
                     'two root disks', service)
    for key in (*options.metadata, *([ready.key] if ready else ())):
        if key.startswith(OWN_METADATA):
            problems.add(f"the property '{key}' begins with {OWN_METADATA}, "
                         'as those of Pcloud do', service)
    written = options.hints.get(hints.CONSTRAINTS)
    if written is not None:
        try:
            constraints.parse(str(written))
        except exception.Invalid as error:
            problems.add(str(error).rstrip('.'), service)


def check_quota(nova: servers.Servers, wanted: Iterable[tuple[UnitKind, int]],
                problems: Problems) -> None:
    """Note when new units would exceed the project's quota.

    :param wanted: pairs of kind and number of new units
    """
    sizes = [(count, count * kind.flavor.vcpus, count * kind.flavor.ram)
             for kind, count in wanted]
    needed = dict(zip(_QUOTAS, map(sum, zip(*sizes))))
    limits = nova.limits()
    for name, (limit_name, used_name) in _QUOTAS.items():
        limit, used = limits.get(limit_name, -1), limits.get(used_name, 0)
        if 0 <= limit < used + needed[name]:
            problems.add(
                f'the quota of your project is {limit} {name}, of which '
                f'{used} are used and {needed[name]} more are needed')


def check_tenant(client: v1.Client, pcloud: resources.Pcloud,
                 problems: Problems) -> None:
    """Note when the caller's project may not start servers in a Pcloud."""
    if pcloud.tenants is not None and (
            client.own_project_id() not in pcloud.tenants):
        problems.add(f'your project is not a tenant of Pcloud {pcloud.name}')


def check_room(client: v1.Client, kinds: Sequence[UnitKind], count: int,
               pcloud: resources.Pcloud | None, parent: str | None,
               problems: Problems) -> None:
    """Note when a number of groups does not fit.

    A caller who may not ask for capacity skips the check.

    :param kinds: the kind of each unit of a group; a group is on a single host
    :param pcloud: the Pcloud of the groups; None for outside of Pclouds
    :param parent: only hosts that run a unit of this service count
    """
    text = (f'Pcloud {pcloud.name} has no capacity' if pcloud else
            'the cloud has no capacity outside of Pclouds')
    if parent:
        text += f" on hosts with a unit of '{parent}'"
    with problems.collecting(), _ignore_forbidden():
        room = client.room(
            _group(kinds), pcloud_id=pcloud.id if pcloud else None,
            parent=parent, count=count)
        problems.add(_no_room(text, room, kinds, count))


def check_room_beside(client: v1.Client, kinds: Sequence[UnitKind],
                      anchor: servers.Server, problems: Problems) -> None:
    """Note when new units do not fit on the host of a server.

    A caller who may not ask for capacity skips the check.

    :param kinds: the kind of each unit
    """
    about = f'beside {anchor.name}'
    with problems.collecting(about), _ignore_forbidden():
        room = client.room(
            _group(kinds), pcloud_id=anchor.hint(hints.PCLOUD),
            parent=anchor.id)
        problems.add(_no_room('there is no capacity', room, kinds, 1), about)


def _ignore_forbidden() -> contextlib.AbstractContextManager[None]:
    """Go on when the caller may not ask for capacity.

    A deployment without capacity then fails later, and created servers are
    deleted.
    """
    return contextlib.suppress(exceptions.Forbidden)


def _group(kinds: Sequence[UnitKind]) -> list[str]:
    return [str(kind.companion) for kind in kinds]


def _no_room(text: str, room: plan_resources.Room, kinds: Sequence[UnitKind],
             count: int) -> str | None:
    if room.groups >= count:
        return None
    names = [kind.flavor.name for kind in kinds]
    group = ' and '.join(filter(None, (', '.join(names[:-1]), names[-1])))
    together = ' together on one host' if len(names) > 1 else ''
    only = f', only for {room.groups}' if room.groups else ''
    reason = f': {room.reason}' if room.reason else ''
    return f'{text} for {count} times {group}{together}{only}{reason}'


def _unfit(image: servers.Image, flavor: servers.Flavor,
           options: servers.Options) -> str | None:
    """Return why no server can be started, or None."""
    volume_size = options.volume_size
    if image.status != 'active':
        return f'image {image.name} is {image.status}, not active'
    if volume_size is not None:
        if image.on_volume:
            return f'image {image.name} names a volume itself'
        if volume_size < image.min_disk:
            return (f'a volume of {volume_size} GiB is too small for image '
                    f'{image.name}, which needs {image.min_disk} GiB')
    # A volume has a size of its own.
    is_disk_small = (not image.on_volume and not options.on_volume
                     and 0 < flavor.disk < image.min_disk)
    if image.min_ram > flavor.ram or is_disk_small:
        return f'flavor {flavor.name} is too small for image {image.name}'
    return None
