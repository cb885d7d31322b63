# SPDX-License-Identifier: Apache-2.0

"""The servers on hosts, as servers that have to be placed again.

Rule: reference-planning-rehearsal
"""

# Nova's objects are registered when its services start, perhaps after us.
from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
import dataclasses

from nova import context as nova_context
from nova import objects
from oslo_serialization import jsonutils

from pcloud.backend.cells import guests
from pcloud.backend import request_specs
from pcloud import exception
from pcloud.explain import conductor
from pcloud.explain import filtering
from pcloud.objects import hosts
from pcloud.objects import pclouds
from pcloud.planning import bundles
from pcloud.planning import obstacles
from pcloud.rules import coded
from pcloud.rules.placing import hints
from pcloud.rules.placing import house_rules

# So many groups of servers are looked at, those with most servers first:
# filters are asked about each.
MOST_KINDS = 20
# Hints of which a plan knows all, beside the hosts of the Pcloud.
_KNOWN = frozenset((hints.PCLOUD, hints.PREFER, hints.DOMAIN_RECORD))

_NOT_A_TENANT = coded.Reason('not_a_tenant')
_UNUSABLE = coded.Reason('flavor_unusable')
# Owners may not see flavors of other tenants.
_NOT_ALLOWED = coded.Reason('not_allowed')
_PINNED = coded.Reason('pinned_to_its_host')
_NOT_FOR_PCLOUD = coded.Reason('not_for_pcloud_again')


@dataclasses.dataclass(frozen=True)
class RefusedServer:
    """A server that no host of the Pcloud takes again.

    :ivar server: the uuid
    :ivar reason: a sentence for the owner of the Pcloud
    """

    server: str
    reason: coded.Reason


@dataclasses.dataclass(frozen=True)
class Group:
    """Servers that have to be placed again alike.

    :ivar zone: the only availability zone for the servers, None for any
    :ivar comes_first: whether a recovery starts the servers before others
    :ivar flavor: the id of the flavor; None for a flavor of another tenant,
        which the owner of the Pcloud may not see
    :ivar unknown: what no plan knows of the servers
    :ivar numbers: ``owner's name of a host -> number of servers``
    """

    zone: str | None
    comes_first: bool
    flavor: str | None
    unknown: Sequence[coded.Reason]
    numbers: Mapping[str, int]


@dataclasses.dataclass(frozen=True)
class Servers:
    """All servers on some hosts.

    :ivar groups: the servers that may be placed again, group after group
    :ivar bundle: an entry for each group, in the same order
    :ivar refused: ``owner's name of a host -> servers``
    :ivar strange: ``owner's name of a host -> number of servers`` of which
        nothing is known
    """

    groups: Sequence[Group]
    bundle: bundles.Bundle
    refused: Mapping[str, Sequence[RefusedServer]]
    strange: Mapping[str, int]


def read(
    context: nova_context.RequestContext, pcloud: pclouds.Pcloud,
    there: Sequence[hosts.Host],
) -> Servers:
    """Return the servers on hosts of a Pcloud.

    One query for five hundred servers, one more, and four a cell. Servers in
    any state count: all of them have allocations in Placement.

    :param there: hosts; the servers on a host in a silent cell are not known
    """
    on = {server: host for host in there for server in host.instances or ()}
    kept = request_specs.kept(context, on.keys())
    loaded = filtering.load()
    found = _Found(context, pcloud, loaded, bundles.sticky_servers(
        context, loaded, {
            server: host.compute.host for server, host in on.items()}),
        frozenset(server for server, guest in guests.of_hosts(context, {
            host.compute.host for host in on.values()}).items()
            if guest.comes_first))
    for server, host in on.items():
        found.add(server, host.name, kept.get(server))
    return found.servers()


class _Found:
    """Servers that are sorted into groups, one after the other."""

    def __init__(
        self, context: nova_context.RequestContext, pcloud: pclouds.Pcloud,
        loaded: filtering.Loaded, sticky: frozenset[str],
        first: frozenset[str],
    ) -> None:
        self._context, self._pcloud = context, pcloud
        self._loaded, self._sticky, self._first = loaded, sticky, first
        self._specs: dict[str, objects.RequestSpec] = {}
        self._kept: dict[str, request_specs.Kept] = {}
        self._there: dict[str, list[tuple[str, str]]] = {}
        self._numbers: dict[str, dict[str, int]] = {}
        self._refused: dict[str, list[RefusedServer]] = {}
        self._strange: dict[str, int] = {}

    def add(
        self, server: str, host: str, kept: request_specs.Kept | None,
    ) -> None:
        """Add a server on a host.

        :param host: the owner's name
        :param kept: None for a server of which Nova does not know what it
            was started with
        """
        if kept is None:
            self._strange[host] = self._strange.get(host, 0) + 1
            return
        reason, key = self._wrong(kept), _key(
            kept, server in self._sticky, server in self._first)
        if reason is not None:
            self._refuse(server, host, reason)
            return
        self._kept.setdefault(key, kept)
        self._there.setdefault(key, []).append((server, host))

    def _refuse(
        self, server: str, host: str, reason: coded.Reason,
    ) -> None:
        self._refused.setdefault(host, []).append(
            RefusedServer(server, reason))

    def _wrong(self, kept: request_specs.Kept) -> coded.Reason | None:
        """Return why the Pcloud does not take a server, None when it does."""
        if kept.project not in self._pcloud.tenants:
            return _NOT_A_TENANT
        try:
            is_inside = self._pcloud.id in hints.places(kept.hints)
        except exception.InvalidHint:
            is_inside = False
        if not is_inside:
            return _NOT_FOR_PCLOUD
        if (house_rules.against_flavor(
                self._pcloud.flavors, kept.asked.flavor.flavorid) or
                house_rules.against_image(self._pcloud.images, kept.image_id)):
            return _NOT_ALLOWED
        return _PINNED if hints.HOST in kept.hints else None

    def _request(
        self, key: str, kept: request_specs.Kept,
    ) -> coded.Reason | None:
        """Keep the request of a group, or return why there is none."""
        try:
            spec = _spec(self._context, self._pcloud, kept)
        except exception.FlavorUnusable as error:
            return coded.of(error) if self._is_owners(kept) else _UNUSABLE
        self._specs[key] = spec
        return obstacles.refusal_of_nova(self._context, spec)

    def servers(self) -> Servers:
        """Return the servers that were added."""
        for number, key in enumerate(sorted(
                self._there, key=lambda key: (-len(self._there[key]), key))):
            self._group(key, number < MOST_KINDS)
        keys = list(self._countable())
        bundle = bundles.of_requests([
            bundles.Entry(
                self._specs[key].flavor, sum(self._numbers[key].values()),
                False, key) for key in keys],
            {key: self._specs[key] for key in keys}, self._loaded)
        return Servers([
            Group(self._kept[key].zone,
                  self._there[key][0][0] in self._first, self._called(key),
                  list(self._unknown(key)), self._numbers[key])
            for key in keys], bundle, self._refused, self._strange)

    def _unknown(self, key: str) -> Iterator[coded.Reason]:
        """Yield what no plan knows of a group of servers."""
        kept, number = self._kept[key], sum(self._numbers[key].values())
        if not _KNOWN.issuperset(kept.hints):
            yield coded.Reason('servers_with_hints', servers=number)
        if kept.has_devices_of_ports:
            yield coded.Reason('servers_with_devices', servers=number)
        if self._there[key][0][0] in self._sticky:
            yield coded.Reason('servers_with_sticky_keys', servers=number)

    def _called(self, key: str) -> str | None:
        return (self._specs[key].flavor.flavorid
                if self._is_owners(self._kept[key]) else None)

    def _is_owners(self, kept: request_specs.Kept) -> bool:
        return kept.project == self._pcloud.owner

    def _group(self, key: str, is_asked: bool) -> None:
        """Count the servers of a group, as far as its request is known."""
        reason = self._request(key, self._kept[key]) if is_asked else None
        for server, host in self._there[key]:
            if reason is not None:
                self._refuse(server, host, reason)
                continue
            numbers = (self._numbers.setdefault(key, {}) if is_asked else
                       self._strange)
            numbers[host] = numbers.get(host, 0) + 1

    def _countable(self) -> Iterator[str]:
        """Yield the groups that need what Placement is asked about."""
        needs = {key: obstacles.need_of(self._specs[key])
                 for key in self._numbers}
        classes = bundles.common_classes(needs.values())
        for key, need in needs.items():
            if not need.amounts.keys().isdisjoint(classes):
                yield key
                continue
            for host, number in self._numbers[key].items():
                self._strange[host] = self._strange.get(host, 0) + number


def _key(
    kept: request_specs.Kept, is_sticky: bool, comes_first: bool,
) -> str:
    """Return a text that servers share which are placed again alike."""
    return jsonutils.dumps([
        kept.project, kept.flavor, kept.image, kept.on_volume,
        kept.zone, hints.domain(kept.hints),
        kept.has_devices_of_ports, not _KNOWN.issuperset(kept.hints),
        is_sticky, comes_first], sort_keys=True)


def _spec(
    context: nova_context.RequestContext, pcloud: pclouds.Pcloud,
    kept: request_specs.Kept,
) -> objects.RequestSpec:
    """Return the request that Nova would have for a server.

    :raises: `exception.FlavorUnusable`
    """
    records = {name: kept.hints[name] for name in [hints.DOMAIN_RECORD]
               if name in kept.hints}
    spec = conductor.make(
        context, objects.Flavor.obj_from_primitive(kept.flavor),
        conductor.no_image() if kept.image is None else
        objects.ImageMeta.obj_from_primitive(kept.image),
        kept.project, {hints.PCLOUD: [pcloud.id], **records})
    spec.is_bfv = kept.on_volume
    spec.requested_destination = objects.Destination(
        aggregates=[pcloud.aggregate.uuid])
    return spec
