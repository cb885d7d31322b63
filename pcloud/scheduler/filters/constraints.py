# Licensed under the Apache License, Version 2.0 (the "License"); you may
# not use this file except in compliance with the License. You may obtain
# a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the
# License for the specific language governing permissions and limitations
# under the License.

"""The filter of machine constraints."""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Sequence

from nova import objects
from nova.scheduler import host_manager

from pcloud import exception
from pcloud.objects import machine_constraints
from pcloud.rules import constraints as rules
from pcloud.rules import reasons
from pcloud.scheduler.filters import base
from pcloud.scheduler import host_attributes
from pcloud.scheduler import host_capacity
from pcloud.scheduler import host_kinds
from pcloud.scheduler import memo
from pcloud.scheduler import request
from pcloud.scheduler import siblings

_UNITS = {rules.CPU: '', rules.RAM: 'M', rules.STORAGE: 'M'}


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
    a key of another provider    always
    ===========================  ========================================

    A request for which nobody has set a constraint passes everywhere.
    Constraints which no host meets, or which cannot be parsed, end the
    request, so the server's fault states the reason.

    Rule: reference-constraints-filter
    """

    # Hosts do not change their size.
    is_same_for_siblings = True
    refusals = (exception.Invalid, exception.ConstraintsUnmet)

    def passing_hosts(
        self, host_states: Sequence[host_manager.HostState],
        spec: objects.RequestSpec,
    ) -> Sequence[host_manager.HostState]:
        """Return the hosts that satisfy the constraints of a request."""
        settings = request.constraint_settings(spec)
        hosts = _satisfying(host_states, rules.wanted(settings))
        if not hosts:
            raise _unmet_by_all(host_states, settings)
        if siblings.are_several(spec) and any(
                setting.value == rules.MAX for setting in settings.values()):
            return _turns(host_states, spec, settings)
        return hosts

    def why(
        self, host_states: Sequence[host_manager.HostState],
        spec: objects.RequestSpec,
    ) -> list[reasons.Reason | None]:
        """Return why each host is dropped, None for a host that is kept.

        :raises: `exception.Invalid` when the reason is the same for all
            hosts
        """
        settings = request.constraint_settings(spec)
        return [_reason([settings[key] for key in sorted(keys)], host_state)
                if keys else None for host_state, keys in
                zip(host_states, _unmet(host_states, settings), strict=True)]


def _satisfying(
    host_states: Sequence[host_manager.HostState], what: rules.Wanted,
) -> Sequence[host_manager.HostState]:
    """Return the hosts that satisfy all constraints: without any `_unmet`.

    Thousands of hosts have few lists of aggregates with an attribute that is
    asked for, but may all be of different sizes.
    """
    if what.host is not None:
        host_states = [host_state for host_state in host_states
                       if what.host in _names(host_state)]
    if what.attributes:
        numbers, kinds = host_attributes.grouped_lists(
            host_states, what.attributes)
        unmet = rules.unmet(
            rules.Wanted({}, what.attributes, None),
            [rules.Machine({}, values, ()) for values in kinds])
        host_states = [host_state for host_state, number
                       in zip(host_states, numbers, strict=True)
                       if not unmet[number]]
    if None not in what.minimums.values() and (
            host_capacity.are_all_as_large(host_states, what.minimums)):
        return host_states
    found = rules.large_enough(what, host_capacity.columns(host_states))
    if len(found) == len(host_states):
        return host_states
    return [host_states[number] for number in found]


def _unmet_by_all(
    host_states: Sequence[host_manager.HostState],
    settings: Mapping[str, rules.Setting],
) -> exception.ConstraintsUnmet:
    """Return the refusal of a request that no host satisfies."""
    unmet = _unmet(host_states, settings)
    # The constraints that no host meets, else all that some host does not
    # meet.
    keys = frozenset.intersection(*unmet) or frozenset.union(*unmet)
    return exception.ConstraintsUnmet(constraints=', '.join(
        machine_constraints.shown(
            settings[key], machine_constraints.TENANT_SEES)
        for key in sorted(keys)))


def _turns(
    host_states: Sequence[host_manager.HostState], spec: objects.RequestSpec,
    settings: Mapping[str, rules.Setting],
) -> list[host_manager.HostState]:
    """Return the hosts that satisfy the constraints once others are full.

    Nova uses the hosts kept for the first server of a multi-create for all its
    servers. Weighers apply the order of the hosts.
    """
    what = rules.wanted(settings)
    machines, numbers = _machines(host_states, what)
    level_of = rules.levels(what, machines)
    levels = {host_state.host: level for host_state, number in zip(
        host_states, numbers, strict=True)
        if (level := level_of[number]) is not None}
    memo.of_request(spec).levels['ConstraintsFilter'] = levels
    return [host_state for host_state in host_states
            if host_state.host in levels]


def _reason(
    unmet: Sequence[rules.Setting], host_state: host_manager.HostState,
) -> reasons.Reason:
    own = host_capacity.sizes(host_state)
    text = 'it does not meet the machine constraints '
    return reasons.Reason(
        text + ', '.join(f'{setting} ({setting.source})' for setting in unmet),
        # The owner of the host's Pcloud reads this text.
        text + ', '.join(
            machine_constraints.shown(setting, machine_constraints.OWNER_SEES)
            for setting in unmet),
        ', '.join(
            f'its {setting.key} is {own[setting.key]}{_UNITS[setting.key]}'
            for setting in unmet if setting.key in own))


def _unmet(
    host_states: Sequence[host_manager.HostState],
    settings: Mapping[str, rules.Setting],
) -> list[frozenset[str]]:
    """Return the keys that each host does not meet."""
    what = rules.wanted(settings)
    machines, numbers = _machines(host_states, what)
    key_sets = rules.unmet(what, machines)
    return [key_sets[number] for number in numbers]


def _machines(
    host_states: Sequence[host_manager.HostState], what: rules.Wanted,
) -> tuple[list[rules.Machine], list[int]]:
    """Return the different machines of hosts.

    Thousands of hosts are a few kinds of machine, unless a host is wanted by
    name.

    :returns: the machines, and for each host the number of its machine
    """
    sized, sizes = host_capacity.grouped(host_states)
    stated, values = host_attributes.grouped_lists(
        host_states, what.attributes)
    named = [() if what.host is None else _names(host_state)
             for host_state in host_states]
    numbers, different = host_kinds.numbered(
        zip(sized, stated, named, strict=True))
    return [rules.Machine(sizes[size], values[value], names)
            for size, value, names in different], numbers


def _names(host_state: host_manager.HostState) -> tuple[str, str]:
    return host_state.host, host_state.nodename
