# SPDX-License-Identifier: Apache-2.0

"""Calls about the hosts of a Pcloud."""

from collections.abc import Iterable
import typing

from pcloud.client.calls import base
from pcloud.client import resources
from pcloud.client import transport


# How many servers the API takes at once.
_MOST_NAMED = 100


class Hosts(base.Calls):
    """The hosts of a Pcloud, and the servers on hosts."""

    def list_hosts(self, pcloud_id: str) -> list[resources.Host]:
        """List the hosts of a Pcloud."""
        bodies = self._transport.member(
            'hosts', 'GET', base.pcloud_path(pcloud_id, 'hosts'))
        return [resources.Host.from_body(body) for body in bodies]

    def get_host(self, pcloud_id: str, name: str) -> resources.Host:
        """Get a host of a Pcloud by the host's name in the Pcloud."""
        return self._resource(
            resources.Host, 'GET', base.host_path(pcloud_id, name))

    def add_host(self, pcloud_id: str, name: str,
                 host_flavor: str | None = None,
                 availability_zone: str | None = None,
                 constraints: str | None = None,
                 until: str | None = None,
                 move: str | None = None) -> resources.Host:
        """Take a free host into a Pcloud; the host is disabled at first.

        Either a host flavor or constraints must be given.

        :param name: the new name of the host, 1 to 63 of letters, digits, ".",
            "_" and "-", unique in the Pcloud whatever the letter case
        :param availability_zone: the zone of the host, or None for any zone
        :param constraints: what the host must have, such as "ram=64G cpu=16";
            the host flavor that wastes least is taken, and the returned host
            names the flavor
        :param until: when the host is to leave, in ISO 8601; None for no date
        :param move: which servers are moved then: "none", "live" or "any"
        :raises exceptions.BadRequest: when a constraint is not valid, or with
            both a host flavor and constraints, or neither
        :raises exceptions.Conflict: when no host is free, no free host fits,
            or the name is taken
        :raises exceptions.Forbidden: when the host would exceed the quota
        """
        wanted = {'host_flavor': host_flavor, 'constraints': constraints,
                  'availability_zone': availability_zone, 'until': until,
                  'move': move}
        given = {member: value for member, value in wanted.items()
                 if value is not None}
        return self._resource(
            resources.Host, 'POST', base.pcloud_path(pcloud_id, 'hosts'),
            json={'host': {'name': name, **given}})

    def add_hosts(self, pcloud_id: str, name: str, count: int,
                  first: int | None = None,
                  host_flavor: str | None = None,
                  availability_zone: str | None = None,
                  constraints: str | None = None,
                  until: str | None = None,
                  move: str | None = None) -> list[resources.Host]:
        """Take several free hosts into a Pcloud: all of them, or none.

        :param name: the beginning of the names, which "-" and numbers follow
        :param count: how many hosts, 50 at most
        :param first: the number of the first host, or None for 1
        :param until: as of :meth:`add_host`; likewise the others
        :raises: as :meth:`add_host`
        """
        wanted = {'host_flavor': host_flavor, 'constraints': constraints,
                  'availability_zone': availability_zone, 'first': first,
                  'until': until, 'move': move}
        given = {member: value for member, value in wanted.items()
                 if value is not None}
        return [resources.Host.from_body(body) for body in
                self._transport.member(
                    'hosts', 'POST', base.pcloud_path(pcloud_id, 'hosts'),
                    json={'host': {'name': name, 'count': count, **given}})]

    def set_host_state(
            self, pcloud_id: str, name: str,
            state: typing.Literal['enabled', 'disabled', 'spare'],
    ) -> resources.Host:
        """Enable or disable a host for new servers; a drain ends.

        A host that is a spare takes no servers until a host of the same host
        flavor and zone is away.
        """
        return self._resource(
            resources.Host, 'PUT', base.host_path(pcloud_id, name),
            json={'host': {'state': state}})

    def set_host_until(
            self, pcloud_id: str, name: str, until: str | None,
            move: str | None = None) -> resources.Host:
        """Set when a host is to leave, in place of any date that is set.

        :param until: ISO 8601, a moment to come; None for no date
        :param move: which servers are moved then: "none" (also for None),
            "live" or "any"
        """
        moved = {} if move is None else {'move': move}
        return self._resource(
            resources.Host, 'PUT', base.host_path(pcloud_id, name),
            json={'host': {'until': until, **moved}})

    def drain_host(
            self, pcloud_id: str, name: str,
            **wish: typing.Any) -> resources.Host:
        """Have a host emptied: no new servers start on the host.

        Enabling or disabling the host ends the drain.

        :param wish: "move": "none", "live" for running servers, or "any" for
            stopped servers too; "release", whether the host leaves the Pcloud
            when it is empty; "deadline", ISO 8601, a moment to come;
            "dry_run", whether the answer is only to tell, with "moves" in the
            host's drain, what would happen; "together_with", the names of
            other hosts that a dry run takes for drained too. A wish of None
            counts as not given
        :raises exceptions.BadRequest: when the deadline has passed
        """
        return self._resource(
            resources.Host, 'PUT', base.host_path(pcloud_id, name),
            json={'host': {'state': 'draining', 'drain': {
                member: value for member, value in wish.items()
                if value is not None}}})

    def remove_host(self, pcloud_id: str, name: str) -> None:
        """Give a host of a Pcloud back.

        :raises exceptions.Conflict: unless the host is disabled and empty
        """
        self._transport.request('DELETE', base.host_path(pcloud_id, name))

    def list_placed_servers(
            self, servers: Iterable[str]) -> list[resources.PlacedServer]:
        """List which of some servers are on hosts of Pclouds.

        One request for each hundred servers. Servers that are not on a host,
        outside of Pclouds or not the caller's project's are left out.

        :param servers: ids of servers
        :raises exceptions.NotFound: when the cloud is too old for the call
        """
        ids = list(servers)
        return [resources.PlacedServer.from_body(body)
                for start in range(0, len(ids), _MOST_NAMED)
                for body in self._transport.member(
                    'servers', 'GET', transport.SERVERS,
                    params={'server': ids[start:start + _MOST_NAMED]})]
