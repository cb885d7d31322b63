# SPDX-License-Identifier: Apache-2.0

"""Calls about those who wait for hosts."""

from pcloud.client.calls import base
from pcloud.client import resources
from pcloud.client import waiting_resources


class WaitingLists(base.Calls):
    """What Pclouds wait for."""

    def add_or_wait_for_host(
        self, pcloud_id: str, name: str, host_flavor: str, wait_until: str,
        availability_zone: str | None = None, until: str | None = None,
        move: str | None = None,
    ) -> waiting_resources.HostOrWaiting:
        """Take a free host into a Pcloud, or wait until one is free.

        :param name: the name of the host, as of :meth:`add_host`
        :param wait_until: until when to wait, in ISO 8601
        :param availability_zone: the zone of the host, or None for any zone
        :param until: when the host is to leave again, as of :meth:`add_host`;
            likewise move
        :returns: the host, disabled; or the entry in the waiting list
        :raises exceptions.BadRequest: when the moment has passed or is too far
            ahead
        :raises exceptions.Conflict: when the name is taken
        :raises exceptions.Forbidden: when the host would exceed the quota, or
            the project waits for too many hosts
        """
        more = {'availability_zone': availability_zone, 'until': until,
                'move': move}
        wanted = {'name': name, 'host_flavor': host_flavor,
                  'wait_until': wait_until, **{
                      member: value for member, value in more.items()
                      if value is not None}}
        body = self._transport.request(
            'POST', base.pcloud_path(pcloud_id, 'hosts'),
            json={'host': wanted})
        if 'waiting' in body:
            return waiting_resources.HostOrWaiting(
                None, waiting_resources.Waiting.from_body(body['waiting']))
        return waiting_resources.HostOrWaiting(
            resources.Host.from_body(body.get('host')), None)

    def list_waiting(
        self, pcloud_id: str,
    ) -> list[waiting_resources.Waiting]:
        """List what a Pcloud waits for, the oldest entry first."""
        return self._entries(base.pcloud_path(pcloud_id, 'waiting'))

    def list_waiting_for(
        self, flavor_id: str,
    ) -> list[waiting_resources.Waiting]:
        """List who waits for hosts of a host flavor, in order. Admin."""
        return self._entries(base.flavor_path(flavor_id, 'waiting'))

    def _entries(self, path: str) -> list[waiting_resources.Waiting]:
        return [waiting_resources.Waiting.from_body(body) for body
                in self._transport.member('waiting', 'GET', path)]

    def cancel_waiting(self, pcloud_id: str, entry_id: str) -> None:
        """End an entry of a Pcloud.

        :raises exceptions.NotFound: also when the entry has got its host
        """
        self._transport.request(
            'DELETE', base.pcloud_path(pcloud_id, 'waiting', entry_id))
