# SPDX-License-Identifier: Apache-2.0

"""The filter of machine constraints."""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Mapping
from collections.abc import Sequence

from nova import objects
from nova.scheduler import host_manager

from pcloud import exception
from pcloud.objects.placing import machine_constraints
from pcloud.rules import coded
from pcloud.rules.placing import constraints
from pcloud.rules.placing import machines
from pcloud.rules.placing import reasons
from pcloud.scheduler.filters import base
from pcloud.scheduler import host_attributes
from pcloud.scheduler import host_capacity
from pcloud.scheduler import host_holdings
from pcloud.scheduler import host_kinds
from pcloud.scheduler import memo
from pcloud.scheduler import request
from pcloud.scheduler import siblings

_UNITS = {constraints.CPU: '', constraints.RAM: 'M', constraints.STORAGE: 'M'}


class ConstraintsFilter(base.ListFilter):
    """Drop hosts which do not satisfy the machine constraints of a request.

    ===========================  ========================================
    constraint                   a host passes
    ===========================  ========================================
    ``cpu``, ``ram``,            when the host is as large, whatever runs
    ``storage``                  on the host, or reports no such size
    ``max`` as the value of a    when no host which meets all other
    size                         constraints is larger; of a multi-create
                                 also when such hosts are full
    ``host=NAME``                when the host has the name
    ``NAME=a,^b``                when the host has a and has not b
    ``NAME>=a``                  when the host has a value that is not below
    ``resource:CLASS=N``         when the host has as much, used or not
    ``trait:NAME=required``,     when a resource provider of the host has the
    ``trait:NAME=forbidden``     trait, or when none has
    a key of another provider    always
    ===========================  ========================================

    A request for which nobody has set a constraint passes everywhere.
    Constraints which no host meets, or which cannot be parsed, end the
    request, so the server's fault states the reason. So does a Placement that
    does not answer, where a constraint needs the answer.

    Rule: reference-constraints-filter
    """

    # Hosts do not change their size.
    is_same_for_siblings = True
    refusals = (exception.Invalid, exception.HostsRefused,
                exception.PlacementSilent)

    def passing_hosts(
        self, host_states: Sequence[host_manager.HostState],
        spec: objects.RequestSpec,
    ) -> Sequence[host_manager.HostState]:
        """Return the hosts that satisfy the constraints of a request."""
        settings = request.constraint_settings(spec)
        hosts = _satisfying(host_states, spec, machines.wanted(settings))
        if not hosts:
            raise _unmet_by_all(host_states, spec, settings)
        if siblings.are_several(spec) and any(
                setting.value == constraints.MAX
                for setting in settings.values()):
            return _turns(host_states, spec, settings)
        return hosts

    def why(
        self, host_states: Sequence[host_manager.HostState],
        spec: objects.RequestSpec,
    ) -> list[reasons.Reason | None]:
        """Return why each host is dropped, None for a host that is kept.

        :raises: `exception.Invalid` and `exception.PlacementSilent` when the
            reason is the same for all hosts
        """
        settings = request.constraint_settings(spec)
        there, numbers = _machines(
            host_states, spec, machines.wanted(settings))
        key_sets = machines.unmet(machines.wanted(settings), there)
        return [_reason([settings[key] for key in sorted(key_sets[number])],
                        there[number]) if key_sets[number] else None
                for number in numbers]


def _satisfying(
    host_states: Sequence[host_manager.HostState], spec: objects.RequestSpec,
    what: machines.Wanted,
) -> Sequence[host_manager.HostState]:
    """Return the hosts that satisfy all constraints: without any `_unmet`.

    Thousands of hosts have few lists of aggregates with an attribute that is
    asked for, but may all be of different sizes.
    """
    if what.host is not None:
        host_states = [host_state for host_state in host_states
                       if what.host in _names(host_state)]
    if what.all_attributes:
        numbers, kinds = host_attributes.grouped_lists(
            host_states, what.all_attributes)
        host_states = _of_kinds(host_states, numbers, machines.unmet(
            machines.Wanted({}, what.attributes, None, what.least),
            [machines.Machine({}, values, ()) for values in kinds]))
    if host_states and (what.resources or what.traits):
        numbers, held = host_holdings.grouped(host_states, spec, what)
        host_states = _of_kinds(host_states, numbers, machines.unmet(
            machines.Wanted({}, {}, None, {}, what.resources, what.traits),
            [machines.Machine({}, {}, (), *each) for each in held]))
    if None not in what.minimums.values() and (
            host_capacity.are_all_as_large(host_states, what.minimums)):
        return host_states
    found = machines.large_enough(what, host_capacity.columns(host_states))
    if len(found) == len(host_states):
        return host_states
    return [host_states[number] for number in found]


def _of_kinds(
    host_states: Sequence[host_manager.HostState], numbers: Sequence[int],
    unmet: Sequence[frozenset[str]],
) -> list[host_manager.HostState]:
    """Return the hosts of the kinds without any unmet constraint.

    :param numbers: the kind of each host
    """
    return [host_state for host_state, number
            in zip(host_states, numbers, strict=True) if not unmet[number]]


def _unmet_by_all(
    host_states: Sequence[host_manager.HostState], spec: objects.RequestSpec,
    settings: Mapping[str, constraints.Setting],
) -> exception.HostsRefused:
    """Return the refusal of a request that no host satisfies."""
    what = machines.wanted(settings)
    unmet = machines.unmet(what, _machines(host_states, spec, what)[0])
    ruling_out = [
        machine_constraints.in_words(
            settings, keys, machine_constraints.TENANT_SEES)
        for keys in machines.unmeetable(unmet)]
    any_of = 'any of ' if len(ruling_out) > 1 else ''
    return exception.HostsRefused(
        f'No host that could take the server meets {any_of}the machine '
        f'constraints {", ".join(ruling_out)}.')


def _turns(
    host_states: Sequence[host_manager.HostState], spec: objects.RequestSpec,
    settings: Mapping[str, constraints.Setting],
) -> list[host_manager.HostState]:
    """Return the hosts that satisfy the constraints once others are full.

    Nova uses the hosts kept for the first server of a multi-create for all its
    servers. Weighers apply the order of the hosts.
    """
    what = machines.wanted(settings)
    there, numbers = _machines(host_states, spec, what)
    level_of = machines.levels(what, there)
    levels = {host_state.host: level for host_state, number in zip(
        host_states, numbers, strict=True)
        if (level := level_of[number]) is not None}
    memo.of_request(spec).levels['ConstraintsFilter'] = levels
    return [host_state for host_state in host_states
            if host_state.host in levels]


def _reason(
    unmet: Sequence[constraints.Setting], machine: machines.Machine,
) -> reasons.Reason:
    return reasons.Reason(
        _unmet(f'{setting} ({setting.source})' for setting in unmet),
        # The owner of the host's Pcloud reads this text.
        _unmet(
            machine_constraints.shown(setting, machine_constraints.OWNER_SEES)
            for setting in unmet),
        ', '.join(filter(None, (
            _has(setting.key, machine) for setting in unmet))))


def _unmet(shown: Iterable[str]) -> coded.Reason:
    return coded.Reason('constraints_unmet', constraints=', '.join(shown))


def _has(key: str, machine: machines.Machine) -> str:
    """Return, in words, what a machine has in place of what is wanted."""
    if key in machine.sizes:
        return f'its {key} is {machine.sizes[key]}{_UNITS[key]}'
    if key.startswith(constraints.RESOURCE):
        name = key.removeprefix(constraints.RESOURCE)
        if machine.traits is None and not machine.resources[name]:
            return f'it has no {name}, or none left'
        return f'its {name} is {machine.resources[name]}'
    if key.startswith(constraints.TRAIT) and machine.traits is None:
        return 'Placement reports no traits of it'
    return ''


def _machines(
    host_states: Sequence[host_manager.HostState], spec: objects.RequestSpec,
    what: machines.Wanted,
) -> tuple[list[machines.Machine], list[int]]:
    """Return the different machines of hosts.

    Thousands of hosts are a few kinds of machine, unless a host is wanted by
    name.

    :returns: the machines, and for each host the number of its machine
    """
    sized, sizes = host_capacity.grouped(host_states)
    stated, values = host_attributes.grouped_lists(
        host_states, what.all_attributes)
    holding, held = host_holdings.grouped(host_states, spec, what)
    named = [() if what.host is None else _names(host_state)
             for host_state in host_states]
    numbers, different = host_kinds.numbered(
        zip(sized, stated, holding, named, strict=True))
    return [machines.Machine(sizes[size], values[value], names, *held[having])
            for size, value, having, names in different], numbers


def _names(host_state: host_manager.HostState) -> tuple[str, str]:
    return host_state.host, host_state.nodename
