# SPDX-License-Identifier: Apache-2.0

"""Calls that show which servers fit, and rebalances."""

from collections.abc import Iterable
from collections.abc import Mapping
from collections.abc import Sequence
import typing

from pcloud.client.calls import base
from pcloud.client import plan_resources
from pcloud.client import transport


class Planning(base.Calls):
    """What fits now, what would fit, and what would be moved."""

    def room(self, group: Iterable[str], *,
             pcloud_id: str | None = None, parent: str | None = None,
             count: int = 1) -> plan_resources.Room:
        """Return the number of groups of servers that fit now.

        A group is a server of each flavor, all on a single host. Cpus, memory
        and disk count, with the ratios of the cloud. Capacity is not reserved.

        :param group: the ids of the flavors of a group's servers; a flavor
            that is given twice stands for two servers. The root disk of a
            server with the flavor ``<id>:volume`` is a volume
        :param pcloud_id: the Pcloud of the groups; None for hosts outside of
            Pclouds
        :param parent: only hosts that run a unit of this service, or the
            server with this id, count
        :param count: the number of groups to look for, 1 to 1000
        :raises exceptions.BadRequest: when a value is not valid
        :raises exceptions.Forbidden: when the caller is neither the owner of
            the Pcloud nor an administrator; outside of Pclouds when the caller
            is not an administrator
        :raises exceptions.NotFound: when there is no such flavor, or no such
            Pcloud for the caller
        """
        query: dict[str, typing.Any] = {
            'flavor': list(group), 'count': count}
        if pcloud_id is not None:
            query['pcloud'] = pcloud_id
        if parent is not None:
            query['in'] = parent
        return self._resource(
            plan_resources.Room, 'GET', transport.ROOM, params=query)

    def explain(self, pcloud_id: str, flavor_id: str,
                ) -> plan_resources.Explanation:
        """Return the obstacles to servers in a Pcloud of the caller's project.

        :raises exceptions.NotFound: when there is no such flavor, or no such
            Pcloud for the caller
        :raises exceptions.Forbidden: for a tenant that is not the owner
        """
        return self._resource(
            plan_resources.Explanation, 'GET',
            base.pcloud_path(pcloud_id, 'explain'),
            params={'flavor': flavor_id})

    def simulate(
            self, pcloud_id: str,
            servers: Sequence[Mapping[str, typing.Any]],
            include_disabled: bool = False,
            without: Sequence[str] = ()) -> plan_resources.Simulation:
        """Return whether servers fit a Pcloud of the caller's project.

        :param servers: entries with "flavor" (an id), "count" and perhaps
            "apart", for servers each on another host
        :param include_disabled: whether disabled hosts count
        :param without: names of hosts that do not count
        :raises exceptions.NotFound: when there is no such flavor or host, or
            no such Pcloud for the caller
        :raises exceptions.Forbidden: for a tenant that is not the owner
        """
        question: dict[str, typing.Any] = {'servers': list(servers)}
        if include_disabled:
            question['include_disabled'] = True
        if without:
            question['without'] = list(without)
        return self._resource(
            plan_resources.Simulation, 'POST',
            base.pcloud_path(pcloud_id, 'simulate'),
            json={'simulate': question})

    def rehearse(
            self, pcloud_id: str, lose: str | None = None,
    ) -> plan_resources.Rehearsal:
        """Return which hosts of a Pcloud of the caller's project may fail.

        :param lose: "host" or "rack"; by default each host by itself fails
        :raises exceptions.NotFound: when there is no such Pcloud for the
            caller
        :raises exceptions.Forbidden: for a tenant that is not the owner
        """
        return self._resource(
            plan_resources.Rehearsal, 'GET',
            base.pcloud_path(pcloud_id, 'rehearsal'),
            params={} if lose is None else {'lose': lose})

    def plan_rebalance(
            self, pcloud_id: str, goal: str,
            **more: typing.Any) -> plan_resources.Rebalance:
        """Return which servers of a Pcloud to move, and move nothing.

        :param goal: "free_hosts", or "fit"
        :param more: "flavor" (an id) and perhaps "count" for the goal "fit";
            perhaps "max_moves", and "move": "live", or "any" for stopped
            servers too
        :raises exceptions.NotFound: when there is no such flavor, or no such
            Pcloud for the caller
        :raises exceptions.Forbidden: for a tenant that is not the owner
        """
        return self._resource(
            plan_resources.Rebalance, 'GET',
            base.pcloud_path(pcloud_id, 'rebalance'),
            params={'goal': goal, **more})

    def rebalance(
            self, pcloud_id: str, valid_for: str, goal: str,
            **more: typing.Any) -> plan_resources.Rebalance:
        """Have the servers of a plan moved; the call does not wait.

        :param valid_for: as the plan has it
        :param goal: as for :meth:`plan_rebalance`, like `more`
        :raises exceptions.Conflict: when the Pcloud has changed
        :raises exceptions.Forbidden: for a caller who may not have servers
            moved
        """
        return self._resource(
            plan_resources.Rebalance, 'POST',
            base.pcloud_path(pcloud_id, 'rebalance'),
            json={'rebalance': {'valid_for': valid_for, 'goal': goal, **more}})

    def end_rebalance(self, pcloud_id: str) -> None:
        """Have no more servers of a rebalance moved, if there is one.

        Servers that are on their way arrive.

        :raises exceptions.Forbidden: for a caller who may not have servers
            moved
        """
        self._transport.request(
            'DELETE', base.pcloud_path(pcloud_id, 'rebalance'))
