# SPDX-License-Identifier: Apache-2.0

"""Co-located services: which server may, or must, share a host with which.

A service is the set of servers of one project that were started with the same
``service`` hint; each server is a unit of the service.

============  ==========================================================
hint          meaning
============  ==========================================================
``service``   the server is a unit of the named service
``in``        the server goes to a host with a unit of the named
              service, or to the host of the named server
``with``      the server is co-located with the named service, whose
              unit is started after the server, on the server's host;
              ``in`` names the place of both
``beside``    the server is started on the host of the named server;
              repeated for several servers on a host
``room_for``  the server is started on a host with capacity for a server of
              the named flavor too; repeated for several servers;
              ``<flavor>:volume`` for a server whose root disk is a volume
============  ==========================================================

Rule: reference-colocation
"""

from collections.abc import Mapping
import dataclasses
import re

from pcloud import exception
from pcloud.rules import forms
from pcloud.rules.placing import hints as hint_rules

ALLOW, ALWAYS, NEVER = FLAGS = ('allow', 'always', 'never')
# Where a flavor and an image name the flag of a server, a word of `FLAGS`.
EXTRA_SPEC = 'pcloud:co_located'
IMAGE_PROPERTY = 'pcloud_co_located'
# The name of a service, in words.
EXPECTED_NAME = '1 to 64 letters, digits, ".", "_" or "-"'

_NAME = re.compile(forms.SERVICE_OR_SERVER)
_COMPANION = re.compile(forms.COMPANION)
# Stands behind the flavor of a server whose root disk is a volume.
_VOLUME = 'volume'
# The most servers, or flavors, that a request may name.
_MOST = 100


@dataclasses.dataclass(frozen=True)
class Companion:
    """A server that is to have capacity beside another server.

    :ivar flavor: the id of the server's flavor
    :ivar on_volume: whether the server's root disk is a volume
    """

    flavor: str
    on_volume: bool = False

    def __str__(self) -> str:
        return f'{self.flavor}:{_VOLUME}' if self.on_volume else self.flavor


@dataclasses.dataclass(frozen=True)
class Wish:
    """What a request asks about its service and its neighbours.

    :ivar service: the service of the server
    :ivar parent: the service, or the id of the server, whose host the server
        goes to
    :ivar coming: the service whose unit comes to the server's host later
    :ivar beside: the ids of servers whose host the server is started on
    :ivar room_for: the servers for which the server's host must have capacity
        too
    """

    service: str | None = None
    parent: str | None = None
    coming: str | None = None
    beside: tuple[str, ...] = ()
    room_for: tuple[Companion, ...] = ()

    @property
    def is_co_located(self) -> bool:
        """Whether the server is to be co-located."""
        return bool(self.parent or self.coming)

    @property
    def needs_some_hosts(self) -> bool:
        """Whether hosts need named servers, or capacity, to be right."""
        return bool(self.parent or self.beside or self.room_for)

    @property
    def followed(self) -> tuple[str, ...]:
        """The services that a moved server follows, the nearest first."""
        return tuple(
            service for service in (self.coming, self.parent) if service)


def wish(hints: Mapping[str, object] | None) -> Wish:
    """Read the co-location hints of a request.

    :raises: `exception.InvalidValue`
    """
    hints = hints or {}
    return Wish(
        service=_name(hints, hint_rules.SERVICE), parent=_parent(hints),
        coming=_name(hints, hint_rules.WITH),
        beside=_ids(hints, hint_rules.BESIDE), room_for=_companions(hints))


def is_server(parent: str) -> bool:
    """Whether a parent is a server's id, and not a service's name."""
    return forms.is_uuid(parent)


def is_service(text: str) -> bool:
    """Whether a text is a valid name of a service.

    A uuid, in any letter case, is not a valid name: a service of such a name
    could not be distinguished from a server.
    """
    return (_NAME.fullmatch(text) is not None and
            not forms.is_uuid_in_any_case(text))


def check_parent(text: str) -> str:
    """Refuse any text but a service's name or a server's id.

    :raises: `exception.InvalidValue`
    """
    if is_service(text) or is_server(text):
        return text
    raise exception.InvalidValue(
        f'Scheduler hint {hint_rules.IN}', text,
        'the id of a server in small letters'
        if forms.is_uuid_in_any_case(text) else EXPECTED_NAME)


def companion(text: str) -> Companion:
    """Read a server of a group, in the form `forms.COMPANION`."""
    flavor, _, place = text.partition(':')
    return Companion(flavor, place == _VOLUME)


def flag(extra_spec: object, image_property: object) -> str:
    """Return the permission of a server to be co-located: a word of `FLAGS`.

    The flavor, as the lower level, counts before the image. Without a value,
    and with a value outside of `FLAGS`, the permission is never.

    Rule: reference-colocation-permission
    """
    permission = image_property if extra_spec is None else extra_spec
    return permission if permission in FLAGS else NEVER


def check_flag(permission: str) -> str:
    """Refuse a flag outside of `FLAGS`.

    :raises: `exception.InvalidValue`
    """
    if permission not in FLAGS:
        raise exception.InvalidValue(
            'Co-located flag', permission, f'one of {", ".join(FLAGS)}')
    return permission


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

    Rule: reference-colocation-permission
    """
    return permission == ALLOW or (permission == ALWAYS) == is_co_located


def check(asked: Wish, permission: str) -> None:
    """Refuse a server that `is_permitted` does not let start.

    :raises: `exception.Invalid`
    """
    if is_permitted(permission, asked.is_co_located):
        return
    if asked.is_co_located:
        raise exception.Invalid(
            'The server may not be co-located with '
            f"'{asked.parent or asked.coming}': its flavor "
            '(pcloud:co_located) or, where the flavor is silent, its image '
            '(pcloud_co_located=allow) has to allow it.')
    raise exception.Invalid(
        'The server can only be co-located, its flavor (pcloud:co_located) '
        'or image says (pcloud_co_located=always): name its parent with the '
        'hint in.')


def _texts(hints: Mapping[str, object], name: str) -> tuple[str, ...]:
    if name not in hints:
        return ()
    values = hints[name]
    values = values if isinstance(values, list) else [values]
    if len(values) > _MOST or not all(
            isinstance(text, str) and text for text in values):
        raise exception.InvalidValue(
            f'Scheduler hint {name}', values,
            f'at most {_MOST} texts, none of them empty')
    return tuple(values)


def _text(hints: Mapping[str, object], name: str) -> str | None:
    values = _texts(hints, name)
    if name in hints and len(values) != 1:
        raise exception.InvalidValue(
            f'Scheduler hint {name}', list(values), 'given once')
    return values[0] if values else None


def _name(hints: Mapping[str, object], name: str) -> str | None:
    service = _text(hints, name)
    if service is None or is_service(service):
        return service
    raise exception.InvalidValue(
        f'Scheduler hint {name}', service,
        'no uuid' if forms.is_uuid_in_any_case(service)
        else EXPECTED_NAME)


def _parent(hints: Mapping[str, object]) -> str | None:
    parent = _text(hints, hint_rules.IN)
    return None if parent is None else check_parent(parent)


def _companions(hints: Mapping[str, object]) -> tuple[Companion, ...]:
    texts = _texts(hints, hint_rules.ROOM_FOR)
    for text in texts:
        if not _COMPANION.fullmatch(text):
            raise exception.InvalidValue(
                f'Scheduler hint {hint_rules.ROOM_FOR}', ascii(text),
                'the id of a flavor')
    return tuple(map(companion, texts))


def _ids(hints: Mapping[str, object], name: str) -> tuple[str, ...]:
    servers = _texts(hints, name)
    for server in servers:
        if not is_server(server):
            raise exception.InvalidValue(
                f'Scheduler hint {name}', server, 'the id of a server')
    return servers
