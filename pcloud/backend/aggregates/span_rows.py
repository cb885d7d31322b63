# SPDX-License-Identifier: Apache-2.0

"""Read since when hosts are held, and what hosts have come to.

Rule: reference-usage-ledger
"""

import collections
from collections.abc import Collection
from collections.abc import Mapping
import dataclasses
import datetime
import functools

from nova import context as nova_context
from nova.db.api import api as api_db
from nova.db.api import models
import sqlalchemy as sa

from pcloud.backend.aggregates import kept_rows
from pcloud.backend.aggregates import readings
from pcloud.backend.aggregates import rows
from pcloud.backend.changes import spans
from pcloud import names
from pcloud.rules.usage import ledger

_ROW = models.AggregateMetadata


@dataclasses.dataclass(frozen=True)
class Rows:
    """What is kept of hosts that are or were held.

    :ivar spans: ``service host -> span`` of the hosts that are held
    :ivar sums: ``project id -> month or day -> host flavor id -> sum`` of what
        was held before
    :ivar rates: ``host flavor id -> rates``
    """

    spans: Mapping[str, ledger.Span]
    sums: Mapping[str, Mapping[str, Mapping[str, ledger.Sum]]]
    rates: Mapping[str, ledger.Rates]

    @functools.cached_property
    def spans_of(self) -> Mapping[
            str, list[tuple[ledger.Span, ledger.Rates]]]:
        """``project id -> spans`` with the rates of the host flavors."""
        found = collections.defaultdict(list)
        for span in self.spans.values():
            found[span.project].append(
                (span, self.rates.get(span.flavor, [])))
        return dict(found)


def read(
    context: nova_context.RequestContext, periods: Collection[str],
    project_id: str | None = None,
) -> Rows:
    """Return what is kept of hosts that are or were held.

    One query, whose answer is of one moment: a host is either still held, or
    in the sums. One more query where a host flavor has no rates, as one has
    that was made by other means.

    :param periods: the months and days of the sums
    :param project_id: of which project; None for all projects
    """
    sums = kept_rows.has_prefix(_ROW, names.SUM_PREFIX if project_id is None
                                else names.sums_prefix(project_id))
    held = kept_rows.has_prefix(_ROW, names.SPAN_PREFIX)
    if project_id is not None:
        held = sa.and_(held, _ROW.value.endswith(
            f' project={project_id}', autoescape=True))
    with api_db.context_manager.reader.using(context) as session:
        there = dict(session.execute(sa.select(_ROW.key, _ROW.value).where(
            sa.or_(held, kept_rows.has_prefix(_ROW, names.RATE_PREFIX),
                   sa.and_(sums, sa.or_(sa.false(), *(
                       _ROW.key.endswith(f':{each}') for each in periods))))))
            .tuples().all())
    found = _spans(there, project_id)
    return Rows(found, _sums(there, project_id), _rates(
        context, there, {span.flavor for span in found.values()}))


def every(context: nova_context.RequestContext) -> dict[str, str]:
    """Return ``service host -> span`` of all hosts, as written (one query)."""
    with api_db.context_manager.reader.using(context) as session:
        return names.stripped(dict(session.execute(
            sa.select(_ROW.key, _ROW.value).where(kept_rows.has_prefix(
                _ROW, names.SPAN_PREFIX))).tuples().all()), names.SPAN_PREFIX)


def of_members(
    context: nova_context.RequestContext, aggregate_id: int,
) -> dict[str, str]:
    """Return `every` of the hosts of an aggregate (one query).

    :param aggregate_id: the aggregate's id in the database
    """
    statement, = kept_rows.of_members([aggregate_id], [names.SPAN_PREFIX])
    with api_db.context_manager.reader.using(context) as session:
        return names.stripped({
            key: text for _, key, text in session.execute(statement)},
            names.SPAN_PREFIX)


def joined(
    context: nova_context.RequestContext, aggregate_id: int, host: str,
) -> int | None:
    """Return when a host has joined an aggregate, as Nova says (one query).

    :param aggregate_id: the aggregate's id in the database
    :returns: seconds since the epoch; None for a host that is not there
    """
    member = models.AggregateHost
    with api_db.context_manager.reader.using(context) as session:
        found = session.scalar(sa.select(member.created_at).where(
            member.aggregate_id == aggregate_id, member.host == host))
    return None if found is None else int(found.replace(
        tzinfo=datetime.UTC).timestamp())


def _spans(
    there: Mapping[str, str], project_id: str | None,
) -> dict[str, ledger.Span]:
    read_ = {host: ledger.Span.known(text) for host, text
             in names.stripped(there, names.SPAN_PREFIX).items()}
    # Databases that compare without case find other projects too.
    return {host: span for host, span in read_.items() if span is not None
            and project_id in (None, span.project)}


def _sums(
    there: Mapping[str, str], project_id: str | None,
) -> dict[str, dict[str, dict[str, ledger.Sum]]]:
    found: dict[str, dict[str, dict[str, ledger.Sum]]] = {}
    for key, text in names.stripped(there, names.SUM_PREFIX).items():
        project, flavor, period = key.rsplit(':', 2)
        sum_ = ledger.Sum.known(text)
        if sum_ is not None and project_id in (None, project):
            found.setdefault(project, {}).setdefault(
                period, {})[flavor] = sum_
    return found


def _rates(
    context: nova_context.RequestContext, there: Mapping[str, str],
    flavors: set[str],
) -> dict[str, ledger.Rates]:
    kept = collections.defaultdict(list)
    for key, text in there.items():
        if key.startswith(names.RATE_PREFIX):
            flavor, _, _ = key.removeprefix(
                names.RATE_PREFIX).rpartition(':')
            kept[flavor].append((key, text))
    without = flavors - kept.keys()
    pools = rows.metadata_by_name(
        context, list(map(names.pool, without))) if without else {}
    return {flavor: spans.rates(kept.get(flavor, ()), readings.units(
        pools.get(names.pool(flavor), {})) or 0) for flavor in flavors}
