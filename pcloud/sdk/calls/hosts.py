# SPDX-License-Identifier: Apache-2.0

"""Calls about the hosts of a Pcloud, drains, and what a Pcloud waits for."""

from collections.abc import Iterable
from collections.abc import Iterator
import typing

from openstack import exceptions
from openstack import proxy
from openstack import utils

from pcloud.sdk.resources import base
from pcloud.sdk.resources import hosts as _hosts
from pcloud.sdk.resources import pclouds as _pclouds

# Seconds between two looks at what a caller waits for.
_INTERVAL = 5

# How many servers the API takes at once.
_MOST_NAMED = 100


class Hosts(proxy.Proxy):
    """Hosts of Pclouds.

    A host is a resource, or a name together with the Pcloud of the host.
    """

    def hosts(self, pcloud: str | _pclouds.Pcloud) -> Iterator[_hosts.Host]:
        """Yield the hosts of a Pcloud."""
        return self._list(_hosts.Host, pcloud_id=base.id_of(pcloud))

    def get_host(self, host: str | _hosts.Host,
                 pcloud: str | _pclouds.Pcloud | None = None) -> _hosts.Host:
        """Get a host of a Pcloud."""
        return self._get(_hosts.Host, host, **self._place(host, pcloud))

    def add_host(self, pcloud: str | _pclouds.Pcloud,
                 **attrs: typing.Any) -> _hosts.Host:
        """Take a free host into a Pcloud; the host is disabled at first.

        :param attrs: "name", either "host_flavor" or "constraints", and
            perhaps "availability_zone", "until" and "move"
        :raises openstack.exceptions.ConflictException: when no host is free,
            no free host fits, or the name is taken
        :raises openstack.exceptions.ForbiddenException: when the host would
            exceed the quota
        """
        return self._create(
            _hosts.Host, pcloud_id=base.id_of(pcloud), **attrs)

    def add_hosts(self, pcloud: str | _pclouds.Pcloud, name: str, count: int,
                  **attrs: typing.Any) -> list[_hosts.Host]:
        """Take several free hosts into a Pcloud: all of them, or none.

        :param name: the beginning of the names, which "-" and numbers follow
        :param attrs: as of :meth:`add_host`, and perhaps "first", the number
            of the first host
        :raises: as :meth:`add_host`
        """
        id_ = base.id_of(pcloud)
        answer = self._host(None, id_).add(self, {
            'host': {'name': name, 'count': count, **attrs}})
        return [self._known(_hosts.Host, id_, each) for each
                in answer['hosts']]

    def add_or_wait_for_host(
        self, pcloud: str | _pclouds.Pcloud, **attrs: typing.Any,
    ) -> _hosts.Host | _hosts.Waiting:
        """Take a free host into a Pcloud, or wait until a host is free.

        :param attrs: "name", "host_flavor", "wait_until" (ISO 8601) and
            perhaps more, as of :meth:`add_host`
        :returns: the host; or the entry in the waiting list, for
            :meth:`wait_for_host`
        """
        id_ = base.id_of(pcloud)
        answer = self._host(None, id_).add(self, {'host': attrs})
        if 'waiting' in answer:
            return self._known(_hosts.Waiting, id_, answer['waiting'])
        return self._known(_hosts.Host, id_, answer['host'])

    def update_host(
        self, host: str | _hosts.Host,
        pcloud: str | _pclouds.Pcloud | None = None, **attrs: typing.Any,
    ) -> _hosts.Host:
        """Change a host of a Pcloud.

        :param attrs: "state", "enabled", "disabled" or "spare"; or "until"
            and perhaps "move", when the host is to leave, None for no date
        """
        return self._host(host, pcloud).change(self, attrs)

    def enable_host(
        self, host: str | _hosts.Host,
        pcloud: str | _pclouds.Pcloud | None = None,
    ) -> _hosts.Host:
        """Let servers start on a host; a drain of the host ends."""
        return self._host(host, pcloud).change(self, {'state': 'enabled'})

    def disable_host(
        self, host: str | _hosts.Host,
        pcloud: str | _pclouds.Pcloud | None = None,
    ) -> _hosts.Host:
        """Let no servers start on a host; a drain of the host ends."""
        return self._host(host, pcloud).change(self, {'state': 'disabled'})

    def drain_host(
        self, host: str | _hosts.Host,
        pcloud: str | _pclouds.Pcloud | None = None, **drain: typing.Any,
    ) -> _hosts.Host:
        """Have a host emptied: no new servers start on the host.

        :param drain: "move", the servers that are moved, "none", "live" or
            "any"; "release", whether the empty host leaves the Pcloud;
            "deadline", ISO 8601; "dry_run", whether the answer only tells what
            would happen; "together_with", for a dry run
        """
        return self._host(host, pcloud).change(
            self, {'state': 'draining', 'drain': drain})

    def remove_host(
        self, host: str | _hosts.Host,
        pcloud: str | _pclouds.Pcloud | None = None,
        ignore_missing: bool = True,
    ) -> None:
        """Give a host of a Pcloud back.

        :raises openstack.exceptions.ConflictException: unless the host is
            disabled and empty
        """
        self._delete(_hosts.Host, host, ignore_missing=ignore_missing,
                     **self._place(host, pcloud))

    def wait_for_drain(
        self, host: str | _hosts.Host,
        pcloud: str | _pclouds.Pcloud | None = None, *,
        interval: float | None = _INTERVAL, wait: float | None = None,
    ) -> _hosts.Host:
        """Wait until a drained host is empty, or has left the Pcloud.

        A host whose drain has "release" leaves when the host is empty. The end
        of the wait ends no drain.

        :param interval: seconds between two looks
        :param wait: the most seconds; None for as long as the drain takes
        :returns: the host as the last look has found the host
        :raises openstack.exceptions.ResourceTimeout: when the time is up
        :raises openstack.exceptions.ResourceFailure: when the drain has ended,
            or the deadline of the drain has passed

        Rule: reference-draining
        """
        seen = self._host(host, pcloud)
        for _ in utils.iterate_timeout(
                wait, f'Timeout waiting for {seen.id} to be empty',
                wait=interval):
            try:
                seen.fetch(self, skip_cache=True)
            except exceptions.NotFoundException:
                return seen
            if seen.is_drained():
                return seen
        raise AssertionError('the wait has no other end')

    def waiting_entries(
        self, pcloud: str | _pclouds.Pcloud,
    ) -> Iterator[_hosts.Waiting]:
        """Yield what a Pcloud waits for, the oldest first."""
        return self._list(_hosts.Waiting, pcloud_id=base.id_of(pcloud))

    def cancel_waiting(
        self, entry: str | _hosts.Waiting,
        pcloud: str | _pclouds.Pcloud | None = None,
        ignore_missing: bool = True,
    ) -> None:
        """End an entry of a Pcloud.

        :raises openstack.exceptions.NotFoundException: unless ignored, also
            when the entry has got a host
        """
        self._delete(_hosts.Waiting, entry, ignore_missing=ignore_missing,
                     **self._place(entry, pcloud))

    def wait_for_host(
        self, entry: _hosts.Waiting, *, interval: float | None = _INTERVAL,
        wait: float | None = None,
    ) -> _hosts.Host:
        """Wait until an entry has got a host.

        :param interval: seconds between two looks
        :param wait: the most seconds; None for as long as the entry lasts
        :returns: the host, disabled
        :raises openstack.exceptions.ResourceTimeout: when the time is up
        :raises openstack.exceptions.ResourceFailure: when the entry has ended
            without a host

        Rule: reference-waiting
        """
        for _ in utils.iterate_timeout(
                wait, f'Timeout waiting for a host as {entry.name}',
                wait=interval):
            if any(each.id == entry.id for each
                   in self.waiting_entries(entry.pcloud_id)):
                continue
            try:
                return self.get_host(entry.name, entry.pcloud_id)
            except exceptions.NotFoundException:
                raise exceptions.ResourceFailure(
                    f'{entry.name} has got no host') from None
        raise AssertionError('the wait has no other end')

    def placed_servers(
        self, servers: Iterable[typing.Any] | None = None,
    ) -> Iterator[_hosts.PlacedServer]:
        """Yield which servers of the project are on hosts of Pclouds.

        :param servers: ids or resources; None for all servers. Others than
            those on hosts of Pclouds are left out
        """
        if servers is None:
            yield from self._list(_hosts.PlacedServer)
            return
        ids = list(map(base.id_of, servers))
        for start in range(0, len(ids), _MOST_NAMED):
            yield from self._list(_hosts.PlacedServer, paginated=False,
                                  server=ids[start:start + _MOST_NAMED])

    def hidden_servers(self) -> list[str]:
        """List the project's servers in parts of the cloud that are silent.

        :returns: ids
        """
        response = self.get('/os-pcloud-hidden-servers')
        exceptions.raise_from_response(response)
        return response.json()['hidden_servers']

    def _host(self, host: str | _hosts.Host | None,
              pcloud: str | _pclouds.Pcloud | None) -> _hosts.Host:
        return self._get_resource(
            _hosts.Host, host, **self._place(host, pcloud))

    def _known(self, kind: typing.Any, pcloud_id: str,
               body: dict[str, typing.Any]) -> typing.Any:
        return kind.existing(connection=self._get_connection(),
                             pcloud_id=pcloud_id, **body)

    def _place(
        self, child: typing.Any, pcloud: str | _pclouds.Pcloud | None,
    ) -> dict[str, str]:
        """Return the Pcloud of a host or an entry.

        :raises ValueError: for a name without a Pcloud
        """
        if pcloud is None and not hasattr(child, 'pcloud_id'):
            raise ValueError(f'{child} is a name; say in which Pcloud')
        return {'pcloud_id': self._get_uri_attribute(
            child, pcloud, 'pcloud_id')}
