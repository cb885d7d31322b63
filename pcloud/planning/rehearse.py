# SPDX-License-Identifier: Apache-2.0

"""Which hosts or racks of a Pcloud may fail, with capacity for their servers.

The reader is the owner of the Pcloud: hosts have the owner's names, racks are
numbers, and no fact about other hosts of the cloud is shown.

Rule: reference-planning-rehearsal
"""

# Nova's objects are registered when its services start, perhaps after us.
from __future__ import annotations

from collections.abc import Collection
from collections.abc import Sequence
import dataclasses

from nova import context as nova_context

from pcloud.objects import hosts
from pcloud.objects import pclouds
from pcloud.planning import bundles
from pcloud.planning import counted_hosts
from pcloud.planning import lost_servers
from pcloud.planning import new_hosts
from pcloud.planning import obstacles
from pcloud.planning.programs import losses
from pcloud.planning.programs import scheduled
from pcloud.planning.programs import solvers
from pcloud.rules import capacity
from pcloud.rules import coded
from pcloud.rules.moving import spares
from pcloud.rules.placing import access

HOST, RACK = LOSSES = 'host', 'rack'


@dataclasses.dataclass(frozen=True)
class Lost:
    """A host or a rack that fails.

    :ivar name: the owner's name of the host, or the number of the rack
    :ivar hosts: the owner's names of the hosts that fail
    :ivar servers: the servers on the hosts, None while unknown
    :ivar least: so many of the servers do not fit, or more
    :ivar most: no more of the servers do not fit; None while unknown
    """

    name: str | int
    hosts: Sequence[str]
    servers: int | None
    least: int
    most: int | None

    @property
    def survives(self) -> bool | None:
        """Whether all servers fit; None while nothing is proven."""
        if self.most == 0:
            return True
        return False if self.least else None


@dataclasses.dataclass(frozen=True)
class NamedRefusal:
    """A server that no host of the Pcloud takes again.

    :ivar host: the owner's name of the server's host
    :ivar server: the uuid
    :ivar reason: a sentence for the owner
    """

    host: str
    server: str
    reason: coded.Reason


@dataclasses.dataclass(frozen=True)
class Rehearsal:
    """What happens when a host or a rack fails.

    :ivar lose: a word of `LOSSES`
    :ivar losses: each host or rack, in the order of the names
    :ivar more: the host flavors of which more hosts would free capacity for
        all servers, whatever fails
    :ivar refused_servers: the servers that no host takes again
    :ivar not_explained: what may be otherwise
    """

    lose: str
    losses: Sequence[Lost]
    more: Sequence[new_hosts.Option]
    refused_servers: Sequence[NamedRefusal]
    not_explained: Sequence[coded.Reason]

    @property
    def least(self) -> int:
        """The number of losses after which every server fits, surely."""
        return sum(lost.survives is True for lost in self.losses)

    @property
    def most(self) -> int:
        """The number of losses after which every server may fit."""
        return sum(lost.survives is not False for lost in self.losses)

    @property
    def worst(self) -> Lost | None:
        """The loss that leaves most servers that do not fit, None for none."""
        failing = [lost for lost in self.losses if lost.least]
        return max(failing, key=lambda lost: (
            lost.least, lost.most or 0), default=None)


@dataclasses.dataclass(frozen=True)
class _Failure:
    """Hosts that fail together.

    :ivar failed: the hosts
    :ivar beside: more hosts of which it is not known whether they fail too
    """

    name: str | int
    failed: Sequence[hosts.Host]
    beside: Sequence[hosts.Host] = ()


def rehearse(
    context: nova_context.RequestContext, pcloud: pclouds.Pcloud, lose: str,
) -> Rehearsal:
    """Return which hosts or racks of a Pcloud may fail, one at a time.

    Placement is called at most three times. The number of queries depends
    neither on the number of hosts nor on the number of servers, but for one
    query for five hundred servers, and those of filters for each flavor and
    image.

    :param lose: a word of `LOSSES`
    :raises: `exception.PcloudNotFound`, `exception.Unavailable`
    """
    basis = read(context, pcloud)
    index, servers, there = basis.index, basis.servers, basis.there
    failures = _by_rack(index) if lose == RACK else [
        _Failure(host.name, [host]) for host in index]
    made = _Made.of(servers, there, failures)
    more, doubts = _more(context, pcloud, servers, there, made)
    return Rehearsal(
        lose, [_lost(made, place) for place in range(len(failures))], more, [
            NamedRefusal(name, each.server, each.reason)
            for name, its in servers.refused.items() for each in its],
        [*made.unknown, *_unknown_servers(made), *(
            [coded.Reason('servers_one_by_one')] if made.by_luck else ()), *(
            coded.Reason('cell_silent', host=host.name)
            for host in index if not host.compute.answered), *(
            coded.Reason('rack_unknown', host=host.name)
            for host in index if lose == RACK and host.rack is None),
         *doubts])


@dataclasses.dataclass(frozen=True)
class Basis:
    """What was read of a Pcloud, for any number of failures.

    :ivar index: the hosts of the Pcloud
    :ivar servers: the servers on the hosts
    :ivar there: the hosts that take servers, and the spares that may
    """

    index: Sequence[hosts.Host]
    servers: lost_servers.Servers
    there: counted_hosts.Counted


def read(
    context: nova_context.RequestContext, pcloud: pclouds.Pcloud,
) -> Basis:
    """Read what failures of a Pcloud's hosts are judged by.

    :raises: `exception.PcloudNotFound`, `exception.Unavailable`
    """
    access_ = obstacles.access_of(context, pcloud)
    index = hosts.index(context, pcloud)
    servers = lost_servers.read(context, pcloud, index)
    return Basis(index, servers, _there(context, [
        host for host in index if (verdict := access.host_verdict(
            access_, host.compute.host, host.node.hypervisor_hostname)) or
        verdict == access.IS_DISABLED and _is_spare(host) and
        host.maintenance is None], servers))


def _is_spare(host: hosts.Host) -> bool:
    """Whether a host may stand in for a host that fails.

    So may a host that is on its way back after it has stood in.
    """
    return host.is_spare if host.drain is None else host.drain.spare


def survive(basis: Basis, failed: Sequence[hosts.Host]) -> bool:
    """Whether all servers surely have room when hosts fail together."""
    made = _Made.of(basis.servers, basis.there, [_Failure('', failed)])
    return _lost(made, 0).survives is True


def _by_rack(index: Sequence[hosts.Host]) -> list[_Failure]:
    racks = {host.rack for host in index if host.rack is not None}
    nowhere = [host for host in index if host.rack is None]
    return [_Failure(rack, [host for host in index if host.rack == rack],
                     nowhere) for rack in sorted(racks)]


def _there(
    context: nova_context.RequestContext, able: Sequence[hosts.Host],
    servers: lost_servers.Servers,
) -> counted_hosts.Counted:
    """Return the hosts that take servers; in other zones than asked, none."""
    if not servers.groups:
        return counted_hosts.Counted((), (), (), (), ())
    there = counted_hosts.read(context, able, servers.bundle)
    return dataclasses.replace(there, packed=[
        dataclasses.replace(packed, refused=packed.refused.union(
            place for place, group in enumerate(servers.groups)
            if group.zone not in (None, host.compute.zone)))
        for host, packed in zip(there.there, there.packed)])


@dataclasses.dataclass(frozen=True)
class _Made:
    """What was found out about failures.

    :ivar cases: what is left without capacity, at least, of each failure
    :ivar careful: the same when the hosts beside fail too
    :ivar unknown: what may keep any server away
    :ivar doubts: what may keep the servers of each group away
    """

    servers: lost_servers.Servers
    there: counted_hosts.Counted
    failures: Sequence[_Failure]
    cases: Sequence[losses.Case]
    careful: Sequence[losses.Case]
    unknown: Sequence[coded.Reason]
    doubts: Sequence[Sequence[coded.Reason]]

    @classmethod
    def of(
        cls, servers: lost_servers.Servers, there: counted_hosts.Counted,
        failures: Sequence[_Failure],
    ) -> _Made:
        """Return what is found out about failures."""
        solver, kinds = solvers.Solver(solvers.DECIDING), servers.bundle.kinds
        both = losses.cases(kinds, there.packed, [
            _loss(servers, there, failed) for failed in (
                *(failure.failed for failure in failures),
                *([*failure.failed, *failure.beside] for failure in failures
                  if failure.beside))], solver)
        cases, careful = both[:len(failures)], both[len(failures):]
        return cls(servers, there, failures, cases, careful or cases, [
            *(bundles.unknown_of_all(servers.bundle)
              if servers.groups else ()), *there.doubts],
            [[*group.unknown, *(
                coded.Reason('flavor_unplanned', flavor=group.flavor,
                             doubt=doubt) for doubt in (
                    *bundles.unknown_of_flavor(
                        servers.bundle, entry.key, there.states),
                    *([there.unknown[place]] if place in there.unknown
                      else ())))]
             for place, (entry, group) in enumerate(zip(
                 servers.bundle.entries, servers.groups))])

    def placed(self, case: losses.Case) -> int:
        """Return how many servers of a case find hosts, surely."""
        if self.unknown:
            return 0
        return sum(number for number, doubts in zip(
            self._sure(case), self.doubts) if not doubts)

    def _sure(self, case: losses.Case) -> Sequence[int]:
        """Return how many servers of each group find hosts."""
        if any(host.patterns for host in case.hosts):
            return [sum(numbers) for numbers in zip(*case.made.counts)]
        return scheduled.sure(case.kinds, case.hosts, self._ranks)

    @property
    def _ranks(self) -> Sequence[tuple]:
        """The order in which a recovery has the groups started."""
        return [(not group.comes_first, *(-amount for amount in capacity.size(
            self.servers.bundle.needs[entry.key]))) for group, entry in zip(
                self.servers.groups, self.servers.bundle.entries)]

    @property
    def by_luck(self) -> bool:
        """Whether a failure may leave servers that fit without a host."""
        return any(case.survives and sum(self._sure(case)) < case.asked
                   for case in self.cases)


def _loss(
    servers: lost_servers.Servers, there: counted_hosts.Counted,
    failed: Sequence[hosts.Host],
) -> losses.Loss:
    names = {host.name for host in failed}
    away = names.union(_closed_spares(there.there, failed))
    return losses.Loss(
        [sum(group.numbers.get(name, 0) for name in names)
         for group in servers.groups],
        frozenset(place for place, host in enumerate(there.there)
                  if host.name in away))


def _closed_spares(
    there: Sequence[hosts.Host], failed: Sequence[hosts.Host],
) -> Collection[str]:
    """Return the spares that stay closed when hosts fail together.

    Each host that fails has one spare stand in, as far as there are spares of
    its host flavor and zone; none stands in for a spare.

    :param there: the hosts that take servers, and the spares

    Rule: reference-spares-rehearsal
    """
    names = {host.name for host in failed}
    left = {host.name: spares.Candidate(
        host.name, host.host_flavor, host.compute.zone,
        host.drain is not None, bool(host.instances))
        for host in there if _is_spare(host) and host.name not in names}
    for host in failed:
        chosen = None if _is_spare(host) else spares.choose(
            left.values(), host.host_flavor, host.compute.zone)
        if chosen is not None:
            del left[chosen.name]
    return left.keys()


def _lost(made: _Made, place: int) -> Lost:
    failure = made.failures[place]
    names = [host.name for host in failure.failed]
    refused, strange = _outside(made.servers, failure.failed)
    everybody = [*failure.failed, *failure.beside]
    least = refused + (
        0 if made.there.silent else made.cases[place].left[0])
    careful = made.careful[place]
    most = (None if any(host.instances is None for host in everybody) else
            careful.asked - made.placed(careful) +
            sum(_outside(made.servers, everybody)))
    return Lost(
        failure.name, names,
        None if any(host.instances is None for host in failure.failed) else
        made.cases[place].asked + refused + strange, least, most)


def _outside(
    servers: lost_servers.Servers, failed: Sequence[hosts.Host],
) -> tuple[int, int]:
    """Return how many servers are refused, and how many are strange."""
    return (sum(len(servers.refused.get(host.name, ())) for host in failed),
            sum(servers.strange.get(host.name, 0) for host in failed))


def _unknown_servers(made: _Made) -> list[coded.Reason]:
    """Return what may keep single servers away."""
    number = sum(made.servers.strange.values())
    return [
        *([coded.Reason('servers_unknown', servers=number)]
          if number else []),
        *dict.fromkeys(doubt for doubts in made.doubts for doubt in doubts)]


def _more(
    context: nova_context.RequestContext, pcloud: pclouds.Pcloud,
    servers: lost_servers.Servers, there: counted_hosts.Counted, made: _Made,
) -> tuple[Sequence[new_hosts.Option], list[coded.Reason]]:
    """Return which hosts to add, and what is not proven about that."""
    lacking = sorted(
        (case for case in made.cases if case.survives is not True),
        key=lambda case: (case.left, case.asked), reverse=True)
    if not lacking or there.silent or servers.refused:
        return (), []
    more, doubts = new_hosts.options(
        context, pcloud, servers.bundle, lacking,
        solvers.Solver(solvers.TELLING).within(solvers.EACH))
    if more and any(group.zone for group in servers.groups):
        doubts.append(coded.Reason('zones_of_new_hosts'))
    if more and any(failure.beside for failure in made.failures):
        doubts.append(coded.Reason('racks_of_failing_hosts'))
    return more, doubts
