# SPDX-License-Identifier: Apache-2.0

"""What projects have held of hosts in a month.

Rule: reference-usage-ledger
"""

from collections.abc import Iterator
from collections.abc import Mapping
import dataclasses

from nova import context as nova_context

from pcloud.backend.aggregates import span_rows
from pcloud.backend.changes import spans
from pcloud.rules.usage import ledger


@dataclasses.dataclass(frozen=True)
class Usage:
    """What a project has held in a month.

    :ivar project: the id of the project
    :ivar month: such as "2026-11"
    :ivar is_complete: whether the month is over
    :ivar host_flavors: ``host flavor id -> sum``, in order of the ids; a host
        flavor of which nothing was held has no entry
    :ivar days: likewise of each day, in order; None where nobody asked
    """

    project: str
    month: str
    is_complete: bool
    host_flavors: Mapping[str, ledger.Sum]
    days: Mapping[str, Mapping[str, ledger.Sum]] | None = None


def of_project(
    context: nova_context.RequestContext, project_id: str,
    month: str | None,
) -> Usage:
    """Return what a project has held, by now.

    The queries of `span_rows.read`.

    :param month: None for the present month
    :raises: `exception.InvalidValue` for a month of which nothing is kept
    """
    now = spans.now()
    wanted = _wanted(month, now)
    there = span_rows.read(context, [wanted], project_id)
    return _usage(there, project_id, wanted, now)


def of_project_by_day(
    context: nova_context.RequestContext, project_id: str,
    month: str | None,
) -> Usage:
    """Return what a project has held, by now, with the days.

    The queries of `span_rows.read`.

    :param month: as `of_project`
    :raises: `exception.InvalidValue` for a month of which no days are kept
    """
    now = spans.now()
    wanted = _wanted(month, now)
    ledger.check_days(wanted, now)
    there = span_rows.read(
        context, [wanted, *ledger.days_of(wanted)], project_id)
    return dataclasses.replace(
        _usage(there, project_id, wanted, now), days=ledger.daily(
            there.sums.get(project_id, {}), there.spans_of.get(project_id, []),
            wanted, now))


def of_all(
    context: nova_context.RequestContext, month: str | None, after: str,
) -> Iterator[Usage]:
    """Yield what all projects have held, in order of the projects' ids.

    The queries of `span_rows.read`. A project that has held nothing is left
    out. What is not asked for is not added up.

    :param month: as `of_project`
    :param after: only projects with a greater id
    :raises: as `of_project`
    """
    now = spans.now()
    wanted = _wanted(month, now)
    there = span_rows.read(context, [wanted])
    for project in sorted(there.sums.keys() | there.spans_of.keys()):
        if project > after:
            usage = _usage(there, project, wanted, now)
            if usage.host_flavors:
                yield usage


def _wanted(month: str | None, now: int) -> str:
    if month is None:
        return ledger.month_of(now)
    ledger.check_month(month, now)
    return month


def _usage(
    there: span_rows.Rows, project_id: str, month: str, now: int,
) -> Usage:
    return Usage(
        project_id, month, ledger.bounds(month)[1] <= now, ledger.totals(
            there.sums.get(project_id, {}).get(month, {}),
            there.spans_of.get(project_id, []), month, now))
