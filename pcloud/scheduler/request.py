# SPDX-License-Identifier: Apache-2.0

"""The Pcloud, policies and constraints for a request."""

# Nova's objects are registered when its services start, perhaps after us.
from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Sequence

from nova import objects
from nova.scheduler import utils

from pcloud import exception
from pcloud.objects.placing import machine_constraints
from pcloud.objects.placing import scoped_policies
from pcloud.rules.placing import constraints
from pcloud.rules.placing import hints
from pcloud.scheduler import memo


# Hints for which an alternate may be wrong by the time of its use.
_FLEETING = frozenset([
    hints.PCLOUD, hints.PREFER, hints.LOCALITY, hints.IN, hints.WITH,
    hints.BESIDE, hints.ROOM_FOR])
_ANTI_AFFINITY = 'anti-affinity'


def scheduler_hints(
    spec: objects.RequestSpec,
) -> Mapping[str, Sequence[str]]:
    """Return the hints of a request, each a list of values."""
    return (spec.scheduler_hints if 'scheduler_hints' in spec else None) or {}


def is_final(spec: objects.RequestSpec) -> bool:
    """Whether a request gets no alternates: the first choice is the last.

    Rule: reference-isolation-alternates
    """
    return not _FLEETING.isdisjoint(scheduler_hints(spec))


def is_apart(spec: objects.RequestSpec) -> bool:
    """Whether a final request is for a server of a group to be kept apart.

    Nova looks at the group again on the compute, and goes on to an alternate
    where two servers of the group have met; a final request would end there.
    """
    group = spec.instance_group if 'instance_group' in spec else None
    return (group is not None and group.policy == _ANTI_AFFINITY and
            is_final(spec))


def is_move(spec: objects.RequestSpec) -> bool:
    """Whether a request is for a server that Nova has placed before.

    Nova's conductor names the cell of a server that is to be moved, or permits
    another cell.
    """
    destination = (spec.requested_destination
                   if 'requested_destination' in spec else None)
    return destination is not None and (
        'cell' in destination and destination.cell is not None or
        'allow_cross_cell_move' in destination and
        destination.allow_cross_cell_move)


def is_rebuild(spec: objects.RequestSpec) -> bool:
    """Whether a request is for the rebuild of a server on the server's host.

    Nova says so with a hint, which users could give with some versions of
    Nova, and which the request specs of their servers keep. Nova itself makes
    such a request with one host, and of a request spec without an id.
    """
    return utils.request_is_rebuild(spec) and 'id' not in spec and bool(
        'force_hosts' in spec and spec.force_hosts)


def servers(spec: objects.RequestSpec) -> int:
    """Return the number of servers that a request places.

    The request for the move of a server has the number of servers that were
    created together with the server.
    """
    return (spec.num_instances
            if 'num_instances' in spec and not is_move(spec) else 1)


def pcloud_id(spec: objects.RequestSpec) -> str | None:
    """Return the id of the Pcloud that a request is for, None if none.

    Where a request goes that prefers a Pcloud is decided once, by the request
    filter.

    :raises: `exception.InvalidHint` when the hint cannot be understood, and
        before the request filter has decided
    """
    request_hints = scheduler_hints(spec)
    if hints.preferred_id(request_hints) is None:
        return hints.pcloud_id(request_hints)
    place = memo.of_request(spec).place
    if place is None:
        raise exception.InvalidHint(
            'It is not decided whether the server goes to the Pcloud that it '
            'prefers: the request filter of Pcloud has to come before the '
            'filters.')
    return place or None


def policies(
    spec: objects.RequestSpec,
) -> list[scoped_policies.Policy]:
    """Return the policies of Pcloud, project, domain and cloud, in this order.

    The first call for a request makes a query, and later calls make none. A
    scope without settings has an empty policy.
    """
    request_memo = memo.of_request(spec)
    if request_memo.policies is None:
        scopes = _scopes(spec)
        there = scoped_policies.by_scopes(scopes)
        request_memo.policies = [
            there.get(scope, scoped_policies.Policy(*scope))
            for scope in scopes]
    return request_memo.policies


def _scopes(spec: objects.RequestSpec) -> list[tuple[str, str]]:
    request_hints = scheduler_hints(spec)
    try:
        pcloud = pcloud_id(spec) or ''
    except exception.InvalidHint:
        # PcloudFilter refuses such a request.
        pcloud = ''
    domain = hints.domain(request_hints)
    if not scoped_policies.is_id(domain):
        # nova-api records a valid id; no policy has any other text.
        domain = ''
    return [(scoped_policies.PCLOUD, pcloud),
            (scoped_policies.PROJECT, spec.project_id),
            (scoped_policies.DOMAIN, domain),
            (scoped_policies.CLOUD, scoped_policies.DEFAULT)]


def constraint_settings(
    spec: objects.RequestSpec,
) -> dict[str, constraints.Setting]:
    """Return the effective machine constraints of a request, by key.

    The first call for a request makes a query, and another query where a
    role is named; later calls make none.

    :raises: `exception.InvalidValue` for constraints in the request or the
        image that cannot be read; `exception.Invalid` for constraints given
        twice, and for an unknown role
    """
    request_memo = memo.of_request(spec)
    if request_memo.settings is None:
        request_hints = scheduler_hints(spec)
        request_memo.settings = machine_constraints.of_policies(
            constraints.parse(hints.constraints(request_hints)),
            policies(spec),
            constraints.parse(hints.image_constraints(request_hints)))
    return request_memo.settings
