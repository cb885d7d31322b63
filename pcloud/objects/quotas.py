# SPDX-License-Identifier: Apache-2.0

"""How many units the hosts in a project's Pclouds may cost together.

Where rows have the limits, a project's limit is one of the settings of scope
project, and `scoped_policies` is the only writer of the settings.

Rule: reference-quota
"""

import dataclasses
import functools

from nova import context as nova_context

from pcloud.backend.aggregates import pcloud_rows
from pcloud.backend.aggregates import rows
from pcloud.backend.changes import journal
from pcloud.backend import limits
from pcloud import exception
from pcloud import names
from pcloud.objects.placing import scoped_policies
from pcloud.rules import units as unit_rules

UNLIMITED = unit_rules.UNLIMITED


@dataclasses.dataclass(frozen=True)
class Quota:
    """The units that a project may use, and the units in use.

    :ivar limit: -1 is unlimited
    """

    limit: int
    in_use: int

    def allows(self, units: int) -> bool:
        """Whether a project may use some more units."""
        return self.limit == UNLIMITED or self.in_use + units <= self.limit

    def short_by(self, units: int) -> int:
        """Return by how many units the limit is too low for some more."""
        return 0 if self.allows(units) else self.in_use + units - self.limit


def show(
    context: nova_context.RequestContext, project_id: str,
) -> Quota:
    """Return the quota of a project, with or without Pclouds.

    Two queries, and those of `limits.read`.

    :raises: `exception.LimitsSilent`, `exception.LimitsOutdated`
    """
    return show_within(
        context, limits.read(context, [project_id]), project_id)


def show_within(
    context: nova_context.RequestContext, known: limits.Limits,
    project_id: str,
) -> Quota:
    """Return the quota of a project by limits that were read before.

    Two queries.

    :raises: `exception.LimitsOutdated`
    """
    name = names.project_policy(project_id)
    policy = rows.metadata_by_name(context, [name]).get(name, {})
    return Quota(
        known.of(project_id, policy, functools.partial(
            pcloud_rows.units_by_owner, context)),
        pcloud_rows.units_of_owner(context, project_id))


def check(
    context: nova_context.RequestContext, project_id: str, units: int,
) -> None:
    """Refuse more units than a project may use.

    :raises: `exception.QuotaExceeded`, and as `show`
    """
    check_more(show(context, project_id), units)


def check_added(
    context: nova_context.RequestContext, known: limits.Limits,
    project_id: str, units: int,
) -> None:
    """Refuse hosts that a change has added already.

    Hosts that the project has let go count as long as they settle: else a
    project could have more hosts closed than its limit allows. Three queries.
    Within a change with the owner's anchor, and those of the limits, the check
    is final, as no other change can use units of the project or the domain
    meanwhile.

    :param known: the limits, read before the change
    :param units: what the change has added to the units in use
    :raises: `exception.QuotaExceeded`, `exception.ReleasedHostsSettling`,
        `exception.LimitsOutdated`
    """
    now = show_within(context, known, project_id)
    before = dataclasses.replace(now, in_use=now.in_use - units)
    check_more(before, units)
    check_released(context, project_id, before, units)


def check_released(
    context: nova_context.RequestContext, project_id: str, before: Quota,
    units: int,
) -> None:
    """Refuse more units while hosts that a project has let go settle.

    One query, none for no units.

    :raises: `exception.ReleasedHostsSettling`
    """
    if not units:
        return
    settling = journal.released_by(context, project_id)
    closed = sum(settling.values())
    if not dataclasses.replace(
            before, in_use=before.in_use + closed).allows(units):
        raise exception.ReleasedHostsSettling(
            count=len(settling), units=closed, requested=units,
            in_use=before.in_use, limit=before.limit)


def check_more(before: Quota, units: int) -> None:
    """Refuse more units than a quota allows.

    :raises: `exception.QuotaExceeded`
    """
    if not before.allows(units):
        raise exception.QuotaExceeded(
            requested=units, in_use=before.in_use, limit=before.limit)


def set_limit(
    context: nova_context.RequestContext, project_id: str, limit: int,
) -> Quota:
    """Give a project a limit of its own, and return its quota.

    Limits that Keystone keeps are shown, and not set, as by Nova.

    :param limit: units; -1 is unlimited
    :raises: `exception.NameTooLong` when the project's id cannot be kept, and
        as `show`
    """
    if not limits.is_kept():
        return show(context, project_id)
    in_use = pcloud_rows.units_of_owner(context, project_id)
    scoped_policies.set_rows(
        context, scoped_policies.PROJECT, project_id,
        {names.QUOTA_UNITS: str(limit)})
    return Quota(limit, in_use)


def reset_limit(
    context: nova_context.RequestContext, project_id: str,
) -> None:
    """Take a project's limit back to the default; harmless when repeated.

    Limits that Keystone keeps stay as they are, as with Nova.
    """
    if not limits.is_kept():
        return
    scoped_policies.set_rows(
        context, scoped_policies.PROJECT, project_id,
        {names.QUOTA_UNITS: None})
