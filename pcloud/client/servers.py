# SPDX-License-Identifier: Apache-2.0

"""Nova's own calls that services need: servers, flavors and limits."""

from collections.abc import Mapping
from collections.abc import Sequence
import dataclasses
import json
import typing

from pcloud.client import exceptions
from pcloud.client import resources
from pcloud.client import transport

# From this microversion on lists show the hints of servers.
MICROVERSION = '2.100'
ACTIVE, BUILD, ERROR, SHUTOFF = 'ACTIVE', 'BUILD', 'ERROR', 'SHUTOFF'
# The task of a server that is being deleted.
DELETING = 'deleting'
# The status of a server that the user can only have restored.
SOFT_DELETED = 'SOFT_DELETED'
# The statuses of deleted servers that Nova may still show. A DELETED server
# has allocations in Placement until Nova does not find the server any more.
GONE = ('DELETED', SOFT_DELETED)
# The status of servers in a part of the cloud that does not answer.
UNKNOWN = 'UNKNOWN'
# The statuses that a server leaves by itself, and cannot be stopped in.
SETTLING = ('BUILD', 'REBUILD', 'REBOOT', 'HARD_REBOOT', 'MIGRATING',
            'RESIZE', 'PASSWORD')

# What block devices are made of, and where the devices are.
BLANK, LOCAL, VOLUME = 'blank', 'local', 'volume'

# The property of an image that names volumes, in JSON.
_DEVICES = 'block_device_mapping'
_SERVERS = '/servers'
_FLAVORS = '/flavors'
_LIMITS = '/limits'
_KEY_PAIRS = '/os-keypairs'


@dataclasses.dataclass(frozen=True)
class Server:
    """A server of the caller's project.

    :ivar host_id: an id of the host, the same for all servers of a project on
        the host; '' without a host
    :ivar hints: hint -> all values, as the server was started with
    :ivar image_id: '' for a server that was started from a volume
    :ivar flavor: the name of the server's flavor
    :ivar fault: Nova's message about the server's error, or ''
    :ivar created: the time of creation, ISO 8601 in UTC; the time may change
        as long as the server has no host
    :ivar task: the task that Nova executes for the server, or ''
    :ivar launched: the time at which the server first ran, or ''
    :ivar locked: whether Nova refuses all actions on the server
    :ivar addresses: the IP addresses of the server, in Nova's order
    :ivar tags: the tags of the server
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
    launched: str = ''
    locked: bool = False
    addresses: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()

    @classmethod
    def from_body(cls, body: typing.Any) -> typing.Self:
        """Make a server from a body of Nova, which is short for a down cell.

        :raises exceptions.UnexpectedResponse: for a body without an id
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
                task=body.get('OS-EXT-STS:task_state') or '',
                launched=body.get('OS-SRV-USG:launched_at') or '',
                locked=bool(body.get('locked')),
                addresses=tuple(
                    str(address['addr'])
                    for network in (body.get('addresses') or {}).values()
                    for address in network),
                tags=tuple(body.get('tags') or ()))
        except (AttributeError, KeyError, TypeError):
            raise exceptions.UnexpectedResponse(
                f'The server sent {body!r} for a server') from None

    def hint(self, name: str) -> str | None:
        """Return the first value of a hint, or None."""
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
    """An image, with the members that deployments need.

    :ivar id: '' where the root disk is a volume that was made of no image
    :ivar min_ram: MiB
    :ivar min_disk: GiB
    :ivar properties: the properties that are not Glance's own
    """

    id: str
    name: str = ''
    status: str = 'active'
    min_ram: int = 0
    min_disk: int = 0
    properties: Mapping[str, str] = dataclasses.field(default_factory=dict)

    @property
    def on_volume(self) -> bool:
        """Whether the root disk of a server from the image is a volume.

        The image of a server with a root disk on a volume names a snapshot of
        the volume.
        """
        try:
            devices = json.loads(self.properties.get(_DEVICES) or '[]')
            return any(device.get('destination_type') == VOLUME and
                       int(device.get('boot_index')) == 0
                       for device in devices)
        except (ValueError, TypeError, AttributeError):
            return False


@dataclasses.dataclass(frozen=True)
class Options:
    """What a server is started with beside name, image and flavor.

    :ivar networks: "auto", "none" or a list, as in Nova's API; None where
        whoever starts the server has still to decide
    :ivar key_pair: the name of a key pair of the user who starts the server;
        '' for none
    :ivar user_data: in Base64; '' for none
    :ivar security_groups: names or ids; empty for the project's default
    :ivar zone: the availability zone; '' for any
    :ivar volume_size: GiB of a new volume of the image, which is the root
        disk, and is deleted with the server; None for any other root disk
    :ivar devices: further block devices in the form of Nova's API; the first
        is the root disk where its boot index is 0
    """

    networks: object = None
    key_pair: str = ''
    user_data: str = ''
    security_groups: tuple[str, ...] = ()
    zone: str = ''
    volume_size: int | None = None
    metadata: Mapping[str, str] = dataclasses.field(default_factory=dict)
    hints: Mapping[str, object] = dataclasses.field(default_factory=dict)
    devices: tuple[Mapping[str, typing.Any], ...] = ()

    @property
    def on_volume(self) -> bool:
        """Whether the options have the root disk on a volume."""
        return self.volume_size is not None or self._has_root()

    def _has_root(self) -> bool:
        return any(device.get('boot_index') == 0 for device in self.devices)

    def _root(self, image_id: str) -> dict[str, typing.Any]:
        """Return the root disk that is made of the image."""
        place = ({'destination_type': LOCAL} if self.volume_size is None else
                 {'destination_type': VOLUME,
                  'volume_size': self.volume_size})
        return {'boot_index': 0, 'uuid': image_id, 'source_type': 'image',
                **place, 'delete_on_termination': True}

    def body(self, name: str, image_id: str,
             flavor_id: str) -> dict[str, typing.Any]:
        """Return the body of Nova's call that creates a server."""
        server: dict[str, typing.Any] = {
            'name': name, 'imageRef': image_id, 'flavorRef': flavor_id,
            'networks': self.networks, 'metadata': dict(self.metadata)}
        if self.on_volume:
            server['imageRef'] = ''
        if self.on_volume or self.devices:
            roots = [] if self._has_root() else [self._root(image_id)]
            server['block_device_mapping_v2'] = [
                *roots, *map(dict, self.devices)]
        server.update({member: value for member, value in (
            ('key_name', self.key_pair), ('user_data', self.user_data),
            ('availability_zone', self.zone),
            ('security_groups', [
                {'name': group} for group in self.security_groups]))
            if value})
        return {'server': server, 'os:scheduler_hints': dict(self.hints)}


class NotAllKnown(exceptions.ClientError):
    """A part of the cloud that has servers of the project does not answer."""


class Servers:
    """Nova's own calls, for servers of the caller's project.

    Every method raises :class:`pcloud.client.exceptions.ClientError` or a
    subclass when Nova refuses the call.
    """

    def __init__(self, sender: transport.Transport) -> None:
        self._transport = sender

    def list_all(self) -> list[Server]:
        """List the servers of the caller's project.

        Servers in a part of the cloud that does not answer have the status
        :data:`UNKNOWN`, and few other members. Nova lists such servers only on
        a first page without a query, and as far as the page has place (``[api]
        max_limit``, 1000 unless configured otherwise). When the page is full,
        Pcloud's own call names such servers.

        Source: the Compute API guide, "Handling Down Cells".
        """
        listed: dict[str, Server] = {}
        is_cut = False
        for bodies, is_full in self._transport.linked_pages(
                'servers', f'{_SERVERS}/detail', microversion=MICROVERSION):
            is_cut = is_cut or is_full
            for body in bodies:
                server = Server.from_body(body)
                listed[server.id] = server
        for server_id in self._hidden() if is_cut else ():
            listed.setdefault(server_id, Server(server_id, status=UNKNOWN))
        return list(listed.values())

    def list_unplaced(self, pcloud_id: str) -> list[Server]:
        """List the servers that were started for a Pcloud and have no host.

        Servers of the caller's project that are starting, or that could not
        be started.
        """
        found = map(Server.from_body, self._transport.pages(
            'servers', f'{_SERVERS}/detail', {'status': [BUILD, ERROR]},
            microversion=MICROVERSION))
        return [server for server in found
                if not server.host_id and server.hint('pcloud') == pcloud_id]

    def list_known(self) -> list[Server]:
        """List the servers of the caller's project, as :meth:`list_all`.

        :raises NotAllKnown: when a part of the cloud does not answer
        """
        servers = self.list_all()
        hidden = sum(server.status == UNKNOWN for server in servers)
        if hidden:
            raise NotAllKnown(
                f'Nothing is changed while a part of the cloud does not '
                f'report which servers are where; of yours {hidden} '
                f'{"is" if hidden == 1 else "are"} in it. Try again later')
        return servers

    def get(self, server_id: str) -> Server:
        """Get a server by id.

        :raises exceptions.NotFound: when there is no such server, or no longer
        """
        return Server.from_body(self._member(
            'server', 'GET', transport.path(_SERVERS, server_id)))

    def create(self, name: str, image_id: str, flavor_id: str,
               options: Options) -> str:
        """Ask Nova to build a server; the build goes on after the return.

        :returns: the server's id
        """
        body = self._member('server', 'POST', _SERVERS, json=options.body(
            name, image_id, flavor_id))
        return Server.from_body(body).id

    def stop(self, server_id: str) -> None:
        """Ask Nova to stop a server.

        :raises exceptions.Conflict: when the server is not running
        """
        self._request('POST', transport.path(_SERVERS, server_id, 'action'),
                      json={'os-stop': None})

    def delete(self, server_id: str) -> None:
        """Ask Nova to delete a server; the deletion goes on after the return.

        :raises exceptions.NotFound: when there is no such server, or no longer
        """
        self._request('DELETE', transport.path(_SERVERS, server_id))

    def set_metadata(self, server_id: str,
                     metadata: Mapping[str, str]) -> None:
        """Add items to a server's metadata.

        :raises exceptions.NotFound: when there is no such server
        :raises exceptions.Conflict: when Nova is at work on the server, or the
            server is locked
        """
        self._request('POST', transport.path(_SERVERS, server_id, 'metadata'),
                      json={'metadata': dict(metadata)})

    def delete_metadata(self, server_id: str, key: str) -> None:
        """Delete an item of a server's metadata.

        :raises exceptions.NotFound: when there is no such item
        """
        self._request('DELETE', transport.path(
            _SERVERS, server_id, 'metadata', key))

    def find_flavor(self, name_or_id: str) -> Flavor:
        """Find a flavor by id or name.

        :raises exceptions.NotFound: when there is no such flavor
        """
        try:
            return self._flavor(name_or_id)
        except exceptions.NotFound:
            pass  # The text may still be a name.
        # An administrator sees private flavors only when asking for all.
        for flavor in self._transport.pages(
                'flavors', _FLAVORS, {'is_public': 'None'},
                microversion=MICROVERSION):
            if flavor.get('name') == name_or_id:
                return self._flavor(flavor['id'])
        raise exceptions.NotFound(
            f"No flavor has the id or name '{name_or_id}'")

    def networks(self, server_id: str) -> str | list[dict[str, str]]:
        """Return the networks of a server, in the form of :meth:`create`."""
        interfaces = self._member(
            'interfaceAttachments', 'GET',
            transport.path(_SERVERS, server_id, 'os-interface'))
        return [{'uuid': interface['net_id']}
                for interface in interfaces] or 'none'

    def import_key_pair(self, name: str, kind: str, public_key: str) -> None:
        """Give the caller a key pair.

        :param kind: "ssh" or "x509"
        :raises exceptions.Conflict: when the caller has one of the name
        """
        self._request('POST', _KEY_PAIRS, json={'keypair': {
            'name': name, 'type': kind, 'public_key': public_key}})

    def public_key(self, name: str) -> str:
        """Return the public key of a key pair of the caller.

        :raises exceptions.NotFound: when there is no such key pair
        """
        return self._member(
            'keypair', 'GET', transport.path(_KEY_PAIRS, name))['public_key']

    def delete_key_pair(self, name: str) -> None:
        """Delete a key pair of the caller.

        :raises exceptions.NotFound: when there is no such key pair
        """
        self._request('DELETE', transport.path(_KEY_PAIRS, name))

    def limits(self) -> Mapping[str, int]:
        """Get the limits of the project, and the usage.

        :returns: name -> number, such as maxTotalInstances and
            totalInstancesUsed; -1 is unlimited
        """
        return self._member('limits', 'GET', _LIMITS)['absolute']

    def _hidden(self) -> list[str]:
        """Return the ids of the servers that Nova cannot show at present."""
        try:
            return self._transport.member(
                'hidden_servers', 'GET', transport.HIDDEN_SERVERS)
        except exceptions.ExtensionNotEnabled:
            # Without Pcloud only Nova itself can tell.
            return []

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
