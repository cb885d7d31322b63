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

"""Nova's own calls that services need: servers, flavors and limits."""

from collections.abc import Mapping
from collections.abc import Sequence
import dataclasses
import typing

from pcloud.client import exceptions
from pcloud.client import resources
from pcloud.client import transport

# From this one on lists show the hints that servers were started with.
MICROVERSION = '2.100'
ACTIVE, BUILD, ERROR, SHUTOFF = 'ACTIVE', 'BUILD', 'ERROR', 'SHUTOFF'
# What is being done with a server that is about to be gone.
DELETING = 'deleting'
# A server that its user can only have restored.
SOFT_DELETED = 'SOFT_DELETED'
# What Nova may still show of a server that was deleted; one that is DELETED
# holds its room in Placement until Nova does not find it any more.
GONE = ('DELETED', SOFT_DELETED)
# What Nova says of servers in a part of the cloud that does not answer.
UNKNOWN = 'UNKNOWN'
# What a server leaves by itself, and cannot be stopped in.
SETTLING = ('BUILD', 'REBUILD', 'REBOOT', 'HARD_REBOOT', 'MIGRATING',
            'RESIZE', 'PASSWORD')

_SERVERS = '/servers'
_FLAVORS = '/flavors'
_LIMITS = '/limits'


@dataclasses.dataclass(frozen=True)
class Server:
    """A server of the caller's project.

    :ivar host_id: the same for all of a project's servers on one host; ''
        while it is on none
    :ivar hints: what it was started with, each with all its values
    :ivar image_id: '' for one that was started from a volume
    :ivar flavor: the name of its flavor
    :ivar fault: what Nova says of its error, or ''
    :ivar created: when, ISO 8601 in UTC; it may change as long as it is on
        no host
    :ivar task: what is being done with it, or ''
    """

    id: str
    name: str = ''
    status: str = ''
    host_id: str = ''
    hints: Mapping[str, tuple[str, ...]] = dataclasses.field(
        default_factory=dict)
    metadata: Mapping[str, str] = dataclasses.field(default_factory=dict)
    image_id: str = ''
    flavor: str = ''
    fault: str = ''
    created: str = ''
    task: str = ''

    @classmethod
    def from_body(cls, body: typing.Any) -> typing.Self:
        """Make one from what Nova sent; a cell that is down sends little.

        :raises exceptions.UnexpectedResponse: when it tells no id
        """
        try:
            return cls(
                id=body['id'], name=body.get('name') or '',
                status=body.get('status') or '',
                host_id=body.get('hostId') or '',
                hints={name: _texts(value) for name, value in
                       (body.get('scheduler_hints') or {}).items()},
                metadata=body.get('metadata') or {},
                image_id=(body.get('image') or {}).get('id') or '',
                flavor=(body.get('flavor') or {}).get('original_name') or '',
                fault=(body.get('fault') or {}).get('message') or '',
                created=body.get('created') or '',
                task=body.get('OS-EXT-STS:task_state') or '')
        except (AttributeError, KeyError, TypeError):
            raise exceptions.UnexpectedResponse(
                f'The server sent {body!r} for a server') from None

    def hint(self, name: str) -> str | None:
        """Return the value of a hint that is given once."""
        values = self.hints.get(name, ())
        return values[0] if values else None


@dataclasses.dataclass(frozen=True)
class Flavor(resources.Resource):
    """A flavor of servers.

    :ivar ram: MiB
    :ivar disk: GiB; 0 for as much as the image needs
    """

    MEMBER = 'flavor'

    id: str
    name: str
    vcpus: int
    ram: int
    disk: int = 0
    extra_specs: Mapping[str, str] = dataclasses.field(default_factory=dict)


@dataclasses.dataclass(frozen=True)
class Image:
    """An image, as far as it matters here.

    :ivar min_ram: MiB
    :ivar min_disk: GiB
    :ivar properties: those that are not Glance's own
    """

    id: str
    name: str = ''
    status: str = 'active'
    min_ram: int = 0
    min_disk: int = 0
    properties: Mapping[str, str] = dataclasses.field(default_factory=dict)


class NotAllKnown(exceptions.ClientError):
    """A part of the cloud does not answer, and servers are in it."""


class Servers:
    """Nova's own calls, for servers of the caller's project.

    Every method raises :class:`pcloud.client.exceptions.ClientError` or one
    of its subclasses when Nova refuses.
    """

    def __init__(self, sender: transport.Transport) -> None:
        self._transport = sender

    def list_all(self) -> list[Server]:
        """List the servers of the caller's project.

        Those in a part of the cloud that does not answer have the status
        :data:`UNKNOWN`, and little else. Nova tells of them only on a first
        page without a query, and as far as there is place on it (``[api]
        max_limit``, 1000 unless it is configured otherwise).

        Source: the Compute API guide, "Handling Down Cells".
        """
        return [Server.from_body(body)
                for body in self._transport.linked_pages(
                    'servers', f'{_SERVERS}/detail',
                    microversion=MICROVERSION)]

    def list_known(self) -> list[Server]:
        """List the servers of the caller's project, as :meth:`list_all`.

        :raises NotAllKnown: when a part of the cloud does not answer
        """
        found = self.list_all()
        hidden = sum(each.status == UNKNOWN for each in found)
        if hidden:
            raise NotAllKnown(
                f'Nothing is changed while a part of the cloud does not tell '
                f'which servers are where; of yours {hidden} '
                f'{"is" if hidden == 1 else "are"} in it. Try again later')
        return found

    def get(self, server_id: str) -> Server:
        """Get one server by its id.

        :raises exceptions.NotFound: when there is none, or no longer
        """
        return Server.from_body(self._member(
            'server', 'GET', transport.path(_SERVERS, server_id)))

    def create(self, name: str, image_id: str, flavor_id: str,
               networks: object, hints: Mapping[str, object],
               metadata: Mapping[str, str]) -> str:
        """Have a server built; it is not ready when this returns.

        :param networks: "auto", "none" or a list, as Nova takes them
        :returns: its id
        """
        body = self._member('server', 'POST', _SERVERS, json={
            'server': {'name': name, 'imageRef': image_id,
                       'flavorRef': flavor_id, 'networks': networks,
                       'metadata': dict(metadata)},
            'os:scheduler_hints': dict(hints)})
        return Server.from_body(body).id

    def stop(self, server_id: str) -> None:
        """Have a server shut down.

        :raises exceptions.Conflict: when it is not running
        """
        self._request('POST', transport.path(_SERVERS, server_id, 'action'),
                      json={'os-stop': None})

    def delete(self, server_id: str) -> None:
        """Have a server deleted; it is not gone when this returns.

        :raises exceptions.NotFound: when there is none, or no longer
        """
        self._request('DELETE', transport.path(_SERVERS, server_id))

    def find_flavor(self, name_or_id: str) -> Flavor:
        """Find a flavor by its id or its name.

        :raises exceptions.NotFound: when there is none
        """
        try:
            return self._flavor(name_or_id)
        except exceptions.NotFound:
            pass  # It may still be a name.
        # An administrator sees private ones only when asking for all.
        for found in self._transport.pages(
                'flavors', _FLAVORS, {'is_public': 'None'},
                microversion=MICROVERSION):
            if found.get('name') == name_or_id:
                return self._flavor(found['id'])
        raise exceptions.NotFound(
            f"No flavor has the id or name '{name_or_id}'")

    def networks(self, server_id: str) -> str | list[dict[str, str]]:
        """Tell the networks of a server, as :meth:`create` takes them."""
        found = self._member(
            'interfaceAttachments', 'GET',
            transport.path(_SERVERS, server_id, 'os-interface'))
        return [{'uuid': each['net_id']} for each in found] or 'none'

    def limits(self) -> Mapping[str, int]:
        """Get the project's limits and what is used of them.

        :returns: such as maxTotalInstances and totalInstancesUsed; -1 is
            unlimited
        """
        return self._member('limits', 'GET', _LIMITS)['absolute']

    def _flavor(self, flavor_id: str) -> Flavor:
        return Flavor.from_body(self._member(
            'flavor', 'GET', transport.path(_FLAVORS, flavor_id)))

    def _request(self, method: str, url_path: str,
                 **options: typing.Any) -> typing.Any:
        return self._transport.request(
            method, url_path, microversion=MICROVERSION, **options)

    def _member(self, name: str, method: str, url_path: str,
                **options: typing.Any) -> typing.Any:
        return self._transport.member(
            name, method, url_path, microversion=MICROVERSION, **options)


def _texts(value: object) -> tuple[str, ...]:
    values: Sequence = value if isinstance(value, list) else [value]
    return tuple(map(str, values))
