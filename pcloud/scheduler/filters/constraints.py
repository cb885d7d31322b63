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
from pcloud.scheduler import request

_UNITS = {rules.CPU: '', rules.RAM: 'M', rules.STORAGE: 'M'}


class ConstraintsFilter(base.ListFilter):
    """Drop hosts that are not what is asked for.

    =========================  ========================================
    constraint                 a host passes
    =========================  ========================================
    ``cpu ram storage``        when it is as large, whatever runs there
    ``max`` of one of these    when none that meets all else is larger
    ``host=NAME``              when it is that host
    ``NAME=a,^b``              when it has a and has not b
    of other providers         always
    =========================  ========================================

    Constraints that no host meets, or that cannot be understood, end the
    request, so that the server's fault says why.

    Source: CONTRACT section 5; machine-constraints.
    """

    # Hosts do not change their size; and those that are kept for the first
    # server of a request are the greatest for the others too.
    run_filter_once_per_request = True
    refusals = (exception.Invalid, exception.ConstraintsUnmet)

    def kept(
        self, host_states: Sequence[host_manager.HostState],
        spec: objects.RequestSpec,
    ) -> Sequence[host_manager.HostState]:
        """Return the hosts that satisfy the constraints of a request."""
        settings = request.constraint_settings(spec)
        unmet = _unmet(host_states, settings)
        found = [host_state for host_state, keys
                 in zip(host_states, unmet, strict=True) if not keys]
        if not found:
            # What no host meets, or else what none meets together.
            keys = (frozenset.intersection(*unmet) or frozenset.union(*unmet))
            raise exception.ConstraintsUnmet(constraints=', '.join(
                machine_constraints.shown(
                    settings[key], machine_constraints.TENANT_SEES)
                for key in sorted(keys)))
        return found

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


def _reason(
    unmet: Sequence[rules.Setting], host_state: host_manager.HostState,
) -> reasons.Reason:
    own = host_capacity.sizes(host_state)
    told = 'it does not meet the machine constraints '
    return reasons.Reason(
        told + ', '.join(f'{each} ({each.source})' for each in unmet),
        # A host is its Pcloud's, whose owner is told.
        told + ', '.join(
            machine_constraints.shown(each, machine_constraints.OWNER_SEES)
            for each in unmet),
        ', '.join(f'its {each.key} is {own[each.key]}{_UNITS[each.key]}'
                  for each in unmet if each.key in own))


def _unmet(
    host_states: Sequence[host_manager.HostState],
    settings: Mapping[str, rules.Setting],
) -> list[frozenset[str]]:
    """Return the keys that each host does not meet."""
    what = rules.wanted(settings)
    return rules.unmet(what, _machines(host_states, what))


def _machines(
    host_states: Sequence[host_manager.HostState], what: rules.Wanted,
) -> list[rules.Machine]:
    held = {name: host_attributes.held(host_states, name)
            for name in what.attributes}
    return [
        rules.Machine(host_capacity.sizes(each),
                      {name: held[name][number] for name in held},
                      (each.host, each.nodename))
        for number, each in enumerate(host_states)]
