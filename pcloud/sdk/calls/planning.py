# SPDX-License-Identifier: Apache-2.0

"""Calls that show which servers fit, and rebalances."""

from collections.abc import Iterable
from collections.abc import Mapping
import typing

from openstack import proxy

from pcloud.sdk.resources import base
from pcloud.sdk.resources import pclouds as _pclouds
from pcloud.sdk.resources import plans as _plans


class Planning(proxy.Proxy):
    """What fits now, what would fit, and what would be moved."""

    def get_room(
        self, flavors: Iterable[str],
        pcloud: str | _pclouds.Pcloud | None = None, *,
        parent: str | None = None, count: int = 1,
    ) -> _plans.Room:
        """Get the number of groups of servers that fit now.

        :param flavors: the ids of the flavors of a group's servers, which are
            on one host together
        :param pcloud: None for hosts outside of Pclouds, for administrators
        :param parent: only hosts of this service or server count
        :param count: the number of groups to look for, 1 to 1000
        """
        query: dict[str, typing.Any] = {
            'flavor': list(flavors), 'count': count}
        if pcloud is not None:
            query['pcloud'] = base.id_of(pcloud)
        if parent is not None:
            query['in'] = parent
        return self._get_resource(_plans.Room, None).fetch(
            self, requires_id=False, **query)

    def explain(self, pcloud: str | _pclouds.Pcloud,
                flavor: typing.Any) -> _plans.Explanation:
        """Get the obstacles to servers of a flavor in a Pcloud.

        :param flavor: a flavor of ``conn.compute``, or an id
        """
        return self._about(_plans.Explanation, pcloud).fetch(
            self, requires_id=False, flavor=base.id_of(flavor))

    def simulate(self, pcloud: str | _pclouds.Pcloud,
                 servers: Iterable[Mapping[str, typing.Any]],
                 **more: typing.Any) -> _plans.Simulation:
        """Get whether servers fit a Pcloud together.

        :param servers: each with "flavor" (an id), "count" and perhaps
            "apart", for servers each on another host
        :param more: "include_disabled", whether disabled hosts count, and
            "without", the names of hosts that do not count
        """
        return self._create(
            _plans.Simulation, pcloud_id=base.id_of(pcloud),
            servers=[dict(each) for each in servers], **more)

    def rehearse(self, pcloud: str | _pclouds.Pcloud,
                 lose: str = 'host') -> _plans.Rehearsal:
        """Get which hosts of a Pcloud may fail.

        :param lose: "host" or "rack"
        """
        return self._about(_plans.Rehearsal, pcloud).fetch(
            self, requires_id=False, lose=lose)

    def plan_rebalance(self, pcloud: str | _pclouds.Pcloud, goal: str,
                       **more: typing.Any) -> _plans.Rebalance:
        """Get which servers of a Pcloud to move; no server is moved.

        :param goal: "free_hosts", or "fit"
        :param more: "flavor" (an id) and perhaps "count" for the goal "fit";
            perhaps "max_moves" and "move"
        """
        return self._about(_plans.Rebalance, pcloud).fetch(
            self, requires_id=False, goal=goal, **more)

    def rebalance(self, pcloud: str | _pclouds.Pcloud, valid_for: str,
                  **more: typing.Any) -> _plans.Rebalance:
        """Have the servers of a plan moved; the call does not wait.

        :param valid_for: as :meth:`plan_rebalance` has returned
        :param more: as of :meth:`plan_rebalance`, "goal" too; nothing for
            the goal of the plan
        :raises openstack.exceptions.ConflictException: when the Pcloud has
            changed
        """
        return self._create(
            _plans.Rebalance, pcloud_id=base.id_of(pcloud),
            valid_for=valid_for, **more)

    def end_rebalance(self, pcloud: str | _pclouds.Pcloud) -> None:
        """Have no more servers of a rebalance moved, if there is one."""
        self._about(_plans.Rebalance, pcloud).delete(self)

    def _about(self, kind: typing.Any,
               pcloud: str | _pclouds.Pcloud) -> typing.Any:
        return self._get_resource(kind, None, pcloud_id=base.id_of(pcloud))
