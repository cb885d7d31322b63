# SPDX-License-Identifier: Apache-2.0

"""What was asked about the place of an instance, and what came of it."""

from collections.abc import Iterable
from collections.abc import Mapping
import dataclasses
import typing

from django import http
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from pcloud_dashboard import api

from pcloud.client import resources
from pcloud.client import servers
from pcloud.client import v1

_TAG = 'tag:'
_OUTSIDE = 'none'
# The hints of Pcloud that have no words of their own, with their names.
_OTHERS = {'constraints': gettext_lazy('constraints'),
           'placement_key': gettext_lazy('placement key'),
           'service': gettext_lazy('service'),
           'in': gettext_lazy('in service'),
           'with': gettext_lazy('with service'),
           'beside': gettext_lazy('beside')}


@dataclasses.dataclass(frozen=True)
class Wishes:
    """What was asked for an instance, in words.

    :ivar asked: a text for each wish
    :ivar beside: where the instances are that were named, a text for each
    :ivar fault: why the instance is on no host, '' for no such reason
    """

    asked: tuple[str, ...] = ()
    beside: tuple[str, ...] = ()
    fault: str = ''


def read(request: http.HttpRequest, server_id: str,
         place: resources.PlacedServer | None) -> Wishes:
    """Return what was asked for an instance, and what came of it.

    Nova is asked for the instance, and for all of the project where the
    instance is to be near or far from some; their places are asked for then.

    :param place: where the instance is, None outside of Pclouds
    """
    try:
        return _read(api.client(request), server_id, place)
    except api.FAILURES as error:
        return Wishes(fault=api.words(error))


def _read(client: v1.Client, server_id: str,
          place: resources.PlacedServer | None) -> Wishes:
    server = client.servers.get(server_id)
    known: dict[str, servers.Server] = {}
    named: list[servers.Server] = []
    hints = [*server.hints.get('near', ()), *server.hints.get('far', ())]
    if hints:
        known = {each.id: each for each in client.servers.list_all()}
        named = [each for each in known.values() if each.id != server_id and (
            each.id in hints or any(_TAG + tag in hints for tag in each.tags))]
    places = {each.server: each for each in client.list_placed_servers(
        each.id for each in named)} if named and place else {}
    return Wishes(
        tuple(_asked(client, server, known)),
        tuple(f'{each.name or each.id}: {beside(place, places.get(each.id))}'
              for each in named),
        '' if place else _fault(client, server))


def _fault(client: v1.Client, server: servers.Server) -> str:
    """Return why a server has failed, with names of Pclouds for ids."""
    fault = server.fault
    for each in client.list_pclouds() if fault else ():
        fault = fault.replace(each.id, each.name)
    return fault


def _asked(client: v1.Client, server: servers.Server,
           known: Mapping[str, servers.Server]) -> Iterable[str]:
    """Yield a text for each wish of Pcloud's hints."""
    hints = server.hints
    for name in ('pcloud', 'pcloud_prefer'):
        if name in hints:
            yield _pcloud(client, name, hints[name][0])
    if 'pcloud_host' in hints:
        yield _('on host %s alone') % hints['pcloud_host'][0]
    for each in hints.get('near', ()):
        yield _('near to %s') % _named(each, known)
    for each in hints.get('far', ()):
        yield _('far from %s') % _named(each, known)
    if 'locality' in hints:
        yield _('strict: so, or not at all')
    for name, words in _OTHERS.items():
        for each in hints.get(name, ()):
            yield f'{words}: {each}'


def _pcloud(client: v1.Client, hint: str, pcloud_id: str) -> str:
    if pcloud_id == _OUTSIDE:
        return _('outside of Pclouds')
    names = {each.id: each.name for each in client.list_pclouds()}
    name = names.get(pcloud_id, pcloud_id)
    if hint == 'pcloud':
        return _('in Pcloud %s') % name
    return _('in Pcloud %s while there is capacity, else outside') % name


def _named(hint: str, known: Mapping[str, servers.Server]) -> str:
    """Return how a hint calls servers, in words."""
    if hint.startswith(_TAG):
        return _('tag %s') % hint.removeprefix(_TAG)
    server = known.get(hint)
    return server.name if server and server.name else hint


def beside(place: resources.PlacedServer | None,
           other: resources.PlacedServer | None) -> str:
    """Return where another server is, seen from a server, in words.

    Only the owner of a Pcloud may know of two servers whether they share a
    host there.
    """
    here: typing.Any = place and place.host
    if other is None or place is None or (
            other.pcloud['id'] != place.pcloud['id']):
        return _('not in the same Pcloud')
    if not here or not other.host:
        return _('in the same Pcloud; its owner alone knows the host')
    if other.host == here:
        return _('on the same host')
    if None in (place.rack, other.rack):
        return _('on another host')
    if place.rack == other.rack:
        return _('on another host of the same rack')
    return _('in another rack')
