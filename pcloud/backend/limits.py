# SPDX-License-Identifier: Apache-2.0

"""How many units projects may use: the limits of all that counts units.

Rule: reference-quota-units, reference-quota-unified
"""

from collections.abc import Callable
from collections.abc import Collection
from collections.abc import Mapping
import dataclasses

from nova import context as nova_context
from oslo_config import cfg

from pcloud.backend.aggregates import pcloud_rows
from pcloud.backend.aggregates import readings
from pcloud.backend.changes import journal
from pcloud.backend import unified_limits
from pcloud import exception
from pcloud.rules import units as unit_rules

CONF = cfg.CONF

_UNIFIED = 'unified'


@dataclasses.dataclass(frozen=True)
class Limits:
    """The limits of some projects, as far as rows do not have the limits.

    A change reads no more than rows. So what Keystone knows is read before
    the change, and held within the change against rows.

    :ivar known: ``project id -> limit`` of Keystone; None where rows have the
        limits of all projects
    :ivar seen: the projects that used units before Keystone was asked which
        projects are in a domain
    """

    known: Mapping[str, unified_limits.Limit] | None = None
    seen: frozenset[str] = frozenset()

    @property
    def anchors(self) -> list[str]:
        """The anchors of a change that is to hold the limits of domains."""
        return sorted({
            journal.domain_anchor(domain.id)
            for limit in (self.known or {}).values()
            if (domain := limit.domain) and _is_bound(domain)})

    def of(
        self, project_id: str, policy: Mapping[str, str],
        in_use: Callable[[], Mapping[str, int]],
    ) -> int:
        """Return the most units that a project may use now; -1 for any.

        =======  ==============  ===============  ===========  =====
        project  domain's limit  others of the    project has  most
        's       (two levels)    domain use
        limit
        =======  ==============  ===============  ===========  =====
        10       none, or -1     any              any          10
        10       12              0                any          10
        10       12              8                1            4
        -1       12              8                1            4
        10       12              15               1            0
        =======  ==============  ===============  ===========  =====

        :param policy: the rows of the project's policy
        :param in_use: returns ``project id -> units`` of all projects; called
            for the limit of a domain alone
        :raises: `exception.LimitsOutdated` when the limits do not tell
        """
        if self.known is None:
            own = readings.limit(policy)
            return CONF.pcloud.quota_units if own is None else own
        limit = self.known.get(project_id)
        if limit is None:
            raise exception.LimitsOutdated()
        if limit.domain is None or not _is_bound(limit.domain):
            return limit.units
        most = self._left(limit.domain, project_id, in_use())
        if limit.units == unit_rules.UNLIMITED:
            return most
        return min(limit.units, most)

    def _left(
        self, domain: unified_limits.Domain, project_id: str,
        in_use: Mapping[str, int],
    ) -> int:
        """Return what a domain leaves for a project.

        :raises: `exception.LimitsOutdated` for a project that has its first
            units, and that Keystone was not asked about
        """
        if in_use.keys() - self.seen - domain.projects:
            raise exception.LimitsOutdated()
        others = sum(in_use.get(each, 0) for each
                     in domain.projects if each != project_id)
        return max(domain.limit - others, 0)


def _is_bound(domain: unified_limits.Domain) -> bool:
    return domain.limit != unit_rules.UNLIMITED


ROWS = Limits()


def read(
    context: nova_context.RequestContext, projects: Collection[str],
) -> Limits:
    """Return the limits of projects, before a change or without one.

    No query where rows have the limits; else one, and the calls of
    `unified_limits.read`.

    :raises: `exception.LimitsSilent`
    """
    if is_kept():
        return ROWS
    # Before Keystone is asked: a project that begins later is noticed.
    seen = frozenset(pcloud_rows.units_by_owner(context))
    return Limits(unified_limits.read(projects), seen)


def is_kept() -> bool:
    """Whether rows have the limits, and calls of Pcloud set them."""
    return CONF.pcloud.quota_driver != _UNIFIED


def default() -> int:
    """Return the limit of a project without a limit of its own.

    :raises: `exception.LimitsSilent`
    """
    return CONF.pcloud.quota_units if is_kept() else (
        unified_limits.registered() or 0)
