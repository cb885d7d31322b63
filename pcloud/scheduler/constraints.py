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

"""Machine constraints of a request, against hosts as the scheduler has them.

Source: CONTRACT section 5; machine-constraints.
"""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Sequence

from nova import context as nova_context
from nova import objects
from nova.scheduler import host_manager

from pcloud.aggregates import constraints
from pcloud import exception
from pcloud.rules import constraints as rules
from pcloud.rules import hints
from pcloud.rules import reasons
from pcloud.scheduler import host_attributes
from pcloud.scheduler import request

# Where a request keeps what was read for it.
_KEPT = '_pcloud_constraints'
_MIB = 1024
_UNITS = {rules.CPU: '', rules.RAM: 'M', rules.STORAGE: 'M'}


def settings(spec: objects.RequestSpec) -> dict[str, rules.Setting]:
    """Return the constraints of a request that count.

    One query, and one more where a role is named; none when it was asked
    for before.

    :raises: `exception.InvalidConstraint`, `exception.RepeatedConstraints`,
        `exception.RoleUnknown`
    """
    found = getattr(spec, _KEPT, None)
    if found is None:
        own = rules.parse(hints.constraints(request.scheduler_hints(spec)))
        found = constraints.of_policies(
            nova_context.get_admin_context(), own, request.policies(spec))
        setattr(spec, _KEPT, found)
    return found


def kept(
    host_states: Sequence[host_manager.HostState], spec: objects.RequestSpec,
) -> list[host_manager.HostState]:
    """Return the hosts that satisfy the constraints of a request.

    :param host_states: one host or more
    :raises: `exception.ConstraintsUnmet` when there is none, and as
        `settings`
    """
    counting = settings(spec)
    unmet = _unmet(host_states, counting)
    found = [host_state for host_state, keys
             in zip(host_states, unmet, strict=True) if not keys]
    if not found:
        # What no host meets, or else what none meets together.
        keys = (frozenset.intersection(*unmet) or frozenset.union(*unmet))
        raise exception.ConstraintsUnmet(constraints=', '.join(
            constraints.shown(counting[key], constraints.TENANT_SEES)
            for key in sorted(keys)))
    return found


def why(
    host_states: Sequence[host_manager.HostState], spec: objects.RequestSpec,
) -> list[reasons.Reason | None]:
    """Return why each host is not one of `kept`, None where it is.

    :raises: as `settings`
    """
    counting = settings(spec)
    return [_reason([counting[key] for key in sorted(keys)], host_state)
            if keys else None for host_state, keys in
            zip(host_states, _unmet(host_states, counting), strict=True)]


def _reason(
    unmet: Sequence[rules.Setting], host_state: host_manager.HostState,
) -> reasons.Reason:
    own = sizes(host_state)
    told = 'it does not meet the machine constraints '
    return reasons.Reason(
        told + ', '.join(f'{each} ({each.source})' for each in unmet),
        # A host is its Pcloud's, whose owner is told.
        told + ', '.join(constraints.shown(each, constraints.OWNER_SEES)
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
        rules.Machine(sizes(each),
                      {name: held[name][number] for name in held},
                      (each.host, each.nodename))
        for number, each in enumerate(host_states)]


def sizes(host_state: host_manager.HostState) -> dict[str, int]:
    """Return the size of a host, whatever runs there, in cpus and MiB."""
    return {rules.CPU: host_state.vcpus_total or 0,
            rules.RAM: host_state.total_usable_ram_mb or 0,
            rules.STORAGE: (host_state.total_usable_disk_gb or 0) * _MIB}
