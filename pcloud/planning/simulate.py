# SPDX-License-Identifier: Apache-2.0

"""Whether a bundle of servers fits a Pcloud, and what would make it fit.

The reader is the owner of the Pcloud: hosts have the owner's names, and no
fact about other hosts of the cloud is shown.

Rule: reference-planning-simulate
"""

# Nova's objects are registered when its services start, perhaps after us.
from __future__ import annotations

from collections.abc import Collection
from collections.abc import Sequence
import dataclasses

from nova import context as nova_context

from pcloud import exception
from pcloud.objects import hosts
from pcloud.objects import pclouds
from pcloud.planning import bundles
from pcloud.planning import counted_hosts
from pcloud.planning import new_hosts
from pcloud.planning import obstacles
from pcloud.planning.programs import fitting
from pcloud.planning.programs import integer_programs
from pcloud.planning.programs import losses
from pcloud.planning.programs import packing
from pcloud.planning.programs import shortages
from pcloud.planning.programs import solvers
from pcloud.rules import coded
from pcloud.rules.placing import access

HOSTS = 'hosts'

# How many hosts to enable are tried to be left out.
_MOST_LEFT_OUT = 10


@dataclasses.dataclass(frozen=True)
class BundleQuestion:
    """A bundle, and the hosts that count.

    :ivar include_disabled: whether hosts count that the owner has disabled
    :ivar without: the owner's names of hosts that do not count
    """

    bundle: bundles.Bundle
    include_disabled: bool = False
    without: Collection[str] = ()


@dataclasses.dataclass(frozen=True)
class Placed:
    """Servers on a host.

    :ivar host: the owner's name of the host
    :ivar flavor: the id of the flavor
    """

    host: str
    flavor: str
    count: int


@dataclasses.dataclass(frozen=True)
class Binding:
    """A resource class of which more alone would be enough.

    :ivar resource: the class, or `HOSTS`
    """

    resource: str
    short_by: int


@dataclasses.dataclass(frozen=True)
class Simulation:
    """Whether a bundle fits.

    :ivar fits: whether all servers fit; true is proven
    :ivar exact: whether it is proven that the servers fit, or do not
    :ivar placed: a placement of `least` servers, or of more
    :ivar enable: the owner's names of hosts to enable, which are empty
    :ivar more: the host flavors of which hosts are missing beside `enable`
    :ivar least: so many servers fit
    :ivar most: more servers do not fit
    :ivar not_explained: what may be otherwise
    :ivar refused: why no host at all is right, None when some host may be
    """

    fits: bool
    exact: bool
    placed: Sequence[Placed]
    binding: Sequence[Binding]
    enable: Sequence[str]
    more: Sequence[new_hosts.Option]
    least: int
    most: int
    not_explained: Sequence[coded.Reason]
    refused: coded.Reason | None = None


def refused(reason: coded.Reason) -> Simulation:
    """Return that no host at all is right for the servers of the owner.

    :param reason: as of `exception.PcloudUnusable`
    """
    return Simulation(False, True, (), (), (), (), 0, 0, (), reason)


def simulate(
    context: nova_context.RequestContext, pcloud: pclouds.Pcloud,
    question: BundleQuestion,
) -> Simulation:
    """Return whether a bundle fits a Pcloud, and what would make it fit.

    Placement is called at most five times. The number of queries does not
    depend on the number of hosts or servers, but for those of filters for each
    flavor.

    :raises: `exception.HostNotFound` for an unknown name in `without`,
        `exception.FlavorUnusable`, `exception.PcloudNotFound`,
        `exception.Unavailable`
    """
    able, idle = _able(context, pcloud, question)
    there = counted_hosts.read(context, able, question.bundle)
    kinds = question.bundle.kinds
    made = packing.plan(kinds, there.packed, solvers.Solver(solvers.DECIDING))
    if made.least == fitting.asked(kinds) or there.silent:
        return _shown(question, there, made, _Advice((), (), (), ()))
    solver = solvers.Solver(solvers.TELLING)
    advice = _advice(
        context, pcloud, question.bundle,
        losses.Case(kinds, there.packed, made),
        counted_hosts.read(context, idle, question.bundle),
        solver.within(solvers.EACH))
    return _shown(question, there, packing.fuller(
        kinds, there.packed, made, solver), advice)


def _shown(
    question: BundleQuestion, there: counted_hosts.Counted,
    made: packing.Packing,
    advice: _Advice,
) -> Simulation:
    number = fitting.asked(question.bundle.kinds)
    unknown = [
        *bundles.unknown_beside_parts(question.bundle, there.states),
        *(coded.Reason(
            'flavor_unplanned', doubt=doubt,
            flavor=question.bundle.entries[place].flavor.flavorid)
          for place, doubt in there.unknown.items()), *there.doubts]
    most = number if there.silent else made.most
    fits = made.least == number and not unknown
    return Simulation(
        fits, fits or most < number, _placed(question, there, made),
        advice.binding, advice.enable, advice.more,
        0 if unknown else made.least, most,
        [*unknown, *(
            coded.Reason('cell_silent', host=name)
            for name in there.silent), *advice.unproven, *(
            [coded.Reason('more_than_least')]
            if made.least < made.most and not there.silent else [])])


@dataclasses.dataclass(frozen=True)
class _Advice:
    """What would make a bundle fit.

    :ivar unproven: what may be less than stated
    """

    binding: Sequence[Binding]
    enable: Sequence[str]
    more: Sequence[new_hosts.Option]
    unproven: Sequence[coded.Reason]


def _advice(
    context: nova_context.RequestContext, pcloud: pclouds.Pcloud,
    bundle: bundles.Bundle, case: losses.Case,
    idle: counted_hosts.Counted, solve: integer_programs.Solver,
) -> _Advice:
    """Return what would make a bundle fit; what costs nothing comes first.

    :param idle: the hosts that only have to be enabled
    """
    binding, unproven = _binding(case.kinds, case.hosts, solve)
    chosen, opened = _opened(case, idle.packed, solve)
    more, doubts = ((), ()) if opened.survives else new_hosts.options(
        context, pcloud, bundle, [opened], solve)
    return _Advice(
        binding, [idle.there[place].name for place in chosen], more,
        [*unproven, *doubts, *(idle.doubts if chosen else ())])


def _opened(
    case: losses.Case, idle: Sequence[fitting.TargetHost],
    solve: integer_programs.Solver,
) -> tuple[list[int], losses.Case]:
    """Choose hosts to enable, and return the case with these hosts.

    A host is chosen on which a plan with all hosts places servers, and without
    which fewer servers fit.
    """
    def with_idle(places: Sequence[int]) -> losses.Case:
        together = [*case.hosts, *(idle[place] for place in places)]
        return losses.Case(
            case.kinds, together, packing.plan(case.kinds, together, solve))

    best = with_idle(range(len(idle)))
    if best.made.least <= case.made.least:
        return [], case
    chosen = [place for place, numbers in enumerate(
        best.made.counts[len(case.hosts):]) if any(numbers)]
    opened = with_idle(chosen)
    for place in chosen[:_MOST_LEFT_OUT]:
        fewer = with_idle([each for each in chosen if each != place])
        if fewer.made.least >= opened.made.least:
            chosen.remove(place)
            opened = fewer
    return chosen, opened


def _able(
    context: nova_context.RequestContext, pcloud: pclouds.Pcloud,
    question: BundleQuestion,
) -> tuple[list[hosts.Host], list[hosts.Host]]:
    """Return the hosts that count, and those that only have to be enabled.

    The owner decides which hosts count. A host that is disabled, empty, and
    neither drained nor in a maintenance only has to be enabled.

    :raises: `exception.HostNotFound`
    """
    access_ = obstacles.access_of(context, pcloud)
    there = hosts.index(context, pcloud)
    known = {host.name.casefold() for host in there}
    without = {name.casefold(): name for name in question.without}
    for folded, name in without.items():
        if folded not in known:
            raise exception.HostNotFound(name=name, pcloud=pcloud.id)
    left = [host for host in there if host.name.casefold() not in without]
    able = [host for host in left
            if _is_open(access_, host, question.include_disabled)]
    return able, [
        host for host in left if host not in able and
        _is_open(access_, host, include_disabled=True) and
        host.instances == () and host.maintenance is None and
        host.compute.answered]


def _is_open(
    pcloud: access.Pcloud, host: hosts.Host, include_disabled: bool,
) -> bool:
    verdict = access.host_verdict(
        pcloud, host.compute.host, host.node.hypervisor_hostname)
    return bool(verdict) or (
        include_disabled and verdict == access.IS_DISABLED and
        host.drain is None)


def _binding(
    kinds: Sequence[fitting.ServerKind], packed: Sequence[fitting.TargetHost],
    solve: integer_programs.Solver,
) -> tuple[list[Binding], list[coded.Reason]]:
    """Return what binds, and what is not proven about that."""
    binding, unproven = [], []
    lacking = max((kind.count - sum(
        place not in host.refused for host in packed)
        for place, kind in enumerate(kinds) if kind.apart), default=0)
    if lacking > 0:
        binding.append(Binding(HOSTS, lacking))
    for name in fitting.classes(kinds):
        enough = shortages.of_class(kinds, packed, name, solve)
        if enough.number is not None:
            binding.append(Binding(name, enough.number))
        if not enough.proven:
            unproven.append(coded.Reason(
                'more_of_resource' if enough.number is None else
                'less_of_resource', resource=name))
    return binding, unproven


def _placed(
    question: BundleQuestion, there: counted_hosts.Counted,
    made: packing.Packing,
) -> list[Placed]:
    """Return a placement, host after host, in the order to start it."""
    placed: dict[tuple[str, str], int] = {}
    for host, packed, numbers in zip(
            there.there, there.packed, made.counts):
        for place in (range(len(numbers)) if packed.patterns is None
                      else packed.patterns.order(numbers)):
            if numbers[place]:
                pair = (host.name,
                        question.bundle.entries[place].flavor.flavorid)
                placed[pair] = placed.get(pair, 0) + numbers[place]
    return [Placed(*pair, number) for pair, number in placed.items()]
