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

"""Co-located services: which server may, and has to, be on whose host.

A service is a set of servers of one project that were started with the same
``service`` hint; each is a unit of it.

===========  ===========================================================
hint         what it says
===========  ===========================================================
``service``  the server is a unit of this service
``in``       it goes to a host that runs a unit of this service, or the
             server of this id
``with``     it is co-located with this service, whose unit is started
             after it, on its host; ``in`` says where that will be
``beside``   it is started on the host that runs this server; repeated
             for several on one host
``room_for`` it is started on a host that has room for a server of this
             flavor too; repeated for several
===========  ===========================================================

Source: CONTRACT section 7; co-located-services, "Deploy" and "Metadata
Changes".
"""

from collections.abc import Mapping
import dataclasses
import re

from pcloud import exception
from pcloud.rules import forms
from pcloud.rules import hints as hint_rules
from pcloud.rules import uuids

ALLOW, ALWAYS, NEVER = FLAGS = ('allow', 'always', 'never')
# Where a flavor and an image say which of `FLAGS` a server has.
EXTRA_SPEC = 'pcloud:co_located'
IMAGE_PROPERTY = 'pcloud_co_located'
# The name of a service, in words.
EXPECTED_NAME = '1 to 64 letters, digits, ".", "_" or "-"'

_NAME = re.compile(forms.SERVICE_OR_SERVER)
_FLAVOR = re.compile(forms.FLAVOR_ID)
# So many servers or flavors a request names at most.
_MOST = 100


@dataclasses.dataclass(frozen=True)
class Wish:
    """What a request says of its service and of its neighbours.

    :ivar service: what it is a unit of
    :ivar parent: the service, or the id of the server, on whose host it
        goes
    :ivar coming: the service whose unit comes to its host later
    :ivar beside: the ids of servers on whose host it is started
    :ivar room_for: the ids of flavors that its host has room for too
    """

    service: str | None = None
    parent: str | None = None
    coming: str | None = None
    beside: tuple[str, ...] = ()
    room_for: tuple[str, ...] = ()

    @property
    def is_co_located(self) -> bool:
        """Whether it is to be co-located."""
        return bool(self.parent or self.coming)

    @property
    def needs_some_hosts(self) -> bool:
        """Whether only hosts with something on them, or with room, do."""
        return bool(self.parent or self.beside or self.room_for)

    @property
    def followed(self) -> tuple[str, ...]:
        """What it follows when it is moved, the nearest first."""
        return tuple(each for each in (self.coming, self.parent) if each)


@dataclasses.dataclass(frozen=True)
class Room:
    """Room on a host: cpus, MiB of memory and GiB of disk."""

    vcpus: int
    memory_mb: int
    disk_gb: int

    def __str__(self) -> str:
        return (f'{self.vcpus} cpus, {self.memory_mb} MiB of memory, '
                f'{self.disk_gb} GiB of disk')

    def __add__(self, other: 'Room') -> 'Room':
        return Room(self.vcpus + other.vcpus,
                    self.memory_mb + other.memory_mb,
                    self.disk_gb + other.disk_gb)

    def __le__(self, other: 'Room') -> bool:
        """Whether it has its place in another one."""
        return (self.vcpus <= other.vcpus and
                self.memory_mb <= other.memory_mb and
                self.disk_gb <= other.disk_gb)


def wish(hints: Mapping[str, object] | None) -> Wish:
    """Read what the hints of a request say.

    :raises: `exception.InvalidServiceHint`
    """
    hints = hints or {}
    return Wish(
        service=_name(hints, hint_rules.SERVICE), parent=_parent(hints),
        coming=_name(hints, hint_rules.WITH),
        beside=_ids(hints, hint_rules.BESIDE), room_for=_flavors(hints))


def is_server(parent: str) -> bool:
    """Whether a parent is the id of a server, and not a service's name."""
    return uuids.is_uuid(parent)


def is_service(text: str) -> bool:
    """Whether a service can have a name.

    No uuid is such a name, in whatever letter case: a service of that name
    could not be told from a server.
    """
    return (_NAME.fullmatch(text) is not None and
            not uuids.is_uuid_in_any_case(text))


def check_parent(text: str) -> str:
    """Refuse what is neither the name of a service nor the id of a server.

    :raises: `exception.InvalidServiceHint`
    """
    if is_service(text) or is_server(text):
        return text
    raise exception.InvalidServiceHint(
        name=hint_rules.IN, value=text,
        expected='the id of a server in small letters'
        if uuids.is_uuid_in_any_case(text) else EXPECTED_NAME)


def flag(extra_spec: object, image_property: object) -> str:
    """Return whether a server may be co-located: `FLAGS`.

    The flavor, as the lower level, counts before the image. Anything else
    than the three words is as good as none, which is never.

    Source: co-located-services, "Metadata Changes": "defaulting to never
    when omitted".
    """
    return next((each for each in (extra_spec, image_property)
                 if each in FLAGS), NEVER)


def check_flag(found: str) -> str:
    """Refuse what is not one of `FLAGS`.

    :raises: `exception.InvalidColocationFlag`
    """
    if found not in FLAGS:
        raise exception.InvalidColocationFlag(
            value=found, expected=', '.join(FLAGS))
    return found


def is_permitted(permission: str, is_co_located: bool) -> bool:
    """Whether a server may be started, co-located or alone.

    ==========  ==========  =======
    permission  co-located  alone
    ==========  ==========  =======
    allow       passes      passes
    always      passes      refused
    never       refused     passes
    ==========  ==========  =======

    :param permission: the permission of the server itself; the permission of
        its parent does not matter
    :param is_co_located: whether the server is started with ``in`` or
        ``with``
    """
    return permission == ALLOW or (permission == ALWAYS) == is_co_located


def check(asked: Wish, permission: str) -> None:
    """Refuse a server that `is_permitted` does not let start.

    :raises: `exception.NotColocatable`, `exception.OnlyColocated`
    """
    if is_permitted(permission, asked.is_co_located):
        return
    if asked.is_co_located:
        raise exception.NotColocatable(parent=asked.parent or asked.coming)
    raise exception.OnlyColocated()


def _texts(hints: Mapping[str, object], name: str) -> tuple[str, ...]:
    if name not in hints:
        return ()
    values = hints[name]
    values = values if isinstance(values, list) else [values]
    if len(values) > _MOST or not all(
            isinstance(each, str) and each for each in values):
        raise exception.InvalidServiceHint(
            name=name, value=values, expected=f'at most {_MOST} texts')
    return tuple(values)


def _one(hints: Mapping[str, object], name: str) -> str | None:
    values = _texts(hints, name)
    if name in hints and len(values) != 1:
        raise exception.InvalidServiceHint(
            name=name, value=values, expected='given once')
    return values[0] if values else None


def _name(hints: Mapping[str, object], name: str) -> str | None:
    found = _one(hints, name)
    if found is None or is_service(found):
        return found
    raise exception.InvalidServiceHint(
        name=name, value=found,
        expected='no uuid' if uuids.is_uuid_in_any_case(found)
        else EXPECTED_NAME)


def _parent(hints: Mapping[str, object]) -> str | None:
    found = _one(hints, hint_rules.IN)
    return None if found is None else check_parent(found)


def _flavors(hints: Mapping[str, object]) -> tuple[str, ...]:
    found = _texts(hints, hint_rules.ROOM_FOR)
    for each in found:
        if not _FLAVOR.fullmatch(each):
            raise exception.InvalidServiceHint(
                name=hint_rules.ROOM_FOR, value=ascii(each),
                expected='the id of a flavor')
    return found


def _ids(hints: Mapping[str, object], name: str) -> tuple[str, ...]:
    found = _texts(hints, name)
    for each in found:
        if not is_server(each):
            raise exception.InvalidServiceHint(
                name=name, value=each, expected='the id of a server')
    return found
