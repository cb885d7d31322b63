# SPDX-License-Identifier: Apache-2.0

"""The hosts of all aggregates, of cells or of services, kept in memory.

Names are read again only where hosts have come or gone. To look where that is
takes MariaDB a quarter of the time of joining all names. Isolation does not
depend on what is kept: `isolation` reads the rows of each request.

Rule: reference-host-flavors-kept
"""

from collections.abc import Collection
from collections.abc import Hashable
from collections.abc import Iterable
from collections.abc import Mapping
from collections.abc import Sequence
import dataclasses
import functools
import time
import typing
import weakref

from nova.db.api import models as api_models
from nova.db.main import models as main_models
import sqlalchemy as sa
from sqlalchemy import orm

from pcloud.backend import bulk

# Seconds. Nova never gives a row of these tables to another host; whoever does
# so by hand in the database changes no stamp.
_MOST_AGE = 60

# The number of rows, and the sum of the rows' ids.
_Stamp = tuple[str, ...]


@dataclasses.dataclass(frozen=True, eq=False)
class Source:
    """A table with a row for each host of a group.

    :ivar row: the model of the table
    :ivar group: the column that tells the group
    :ivar criteria: which rows count
    """

    row: typing.Any
    group: sa.ColumnElement
    criteria: tuple[sa.ColumnElement[bool], ...] = ()


AGGREGATES = Source(
    api_models.AggregateHost, api_models.AggregateHost.aggregate_id)
CELLS = Source(api_models.HostMapping, api_models.HostMapping.cell_id)
SERVICES = Source(main_models.Service, main_models.Service.binary, (
    main_models.Service.deleted == 0,
    main_models.Service.binary == 'nova-compute'))


@dataclasses.dataclass(frozen=True)
class _Kept:
    """The last answer of a database, and when all names were read.

    :ivar memo: of the statement that reads the stamps
    :ivar rows: what the stamps were made of
    """

    memo: bulk.TableMemo
    rows: Sequence[tuple[str, ...]]
    stamps: Mapping[Hashable, _Stamp]
    hosts: Mapping[Hashable, frozenset[str]]
    since: float


_KEPT: weakref.WeakKeyDictionary[sa.Engine, dict[Source, _Kept]] = (
    weakref.WeakKeyDictionary())


def read(
    session: orm.Session, source: Source,
) -> Mapping[typing.Any, frozenset[str]]:
    """Return the hosts of all groups with hosts.

    One query, or two where hosts have come or gone, as `bulk.table`.

    :returns: ``group -> service hosts``
    """
    engine = session.connection().engine
    # SQLite gives the id of a row that is gone again.
    if engine.dialect.name not in ('mysql', 'mariadb'):
        return _hosts(session, source)
    of_engine = _KEPT.setdefault(engine, {})
    kept = of_engine.get(source)
    now = time.monotonic()
    if kept is None or now - kept.since > _MOST_AGE:
        # The sets are for `_same` alone: without a stamp all are read again.
        kept = _Kept(bulk.TableMemo(), (), {}, kept.hosts if kept else {}, now)
    rows = bulk.table(session, _select_stamps(source), kept.memo)
    if rows is kept.rows:
        return kept.hosts
    stamps = _stamps(source, rows)
    hosts = {group: there for group, there in kept.hosts.items()
             if group in stamps and kept.stamps.get(group) == stamps[group]}
    changed = [group for group in stamps if group not in hosts]
    if changed:
        hosts |= {group: _same(kept.hosts.get(group), there) for group, there
                  in _hosts(session, source, changed).items()}
    of_engine[source] = _Kept(
        kept.memo, rows, stamps, hosts, kept.since)
    return hosts


def _same(
    earlier: frozenset[str] | None, there: frozenset[str],
) -> frozenset[str]:
    """Return the earlier of two equal sets of hosts, else the later.

    What is remembered of a set of thousands of hosts is found at once by the
    same set, and by comparing all names with an equal set.
    """
    return there if earlier != there else earlier


def _stamps(
    source: Source, rows: Iterable[tuple[str, ...]],
) -> dict[Hashable, _Stamp]:
    """Return what tells that the hosts of a group are as before.

    MariaDB gives an id once, and larger ids later, except to changes at the
    same moment. So where as many rows have come as have gone, the sum has
    grown. The largest id alone would not tell that another row has gone.
    """
    group_of = _type_of(source.group)
    return {group_of(group): tuple(stamp) for group, *stamp in rows}


@functools.cache
def _select_stamps(source: Source) -> sa.Select:
    # MariaDB adds floating-point numbers up in half the time.
    total = sa.func.sum(source.row.id * sa.literal_column('1e0'))
    stamps = sa.select(
        source.group.label('part'), sa.func.count().label('count'),
        total.label('total'),
    ).where(*source.criteria).group_by(source.group).subquery()
    return sa.select(*stamps.c)


def _hosts(
    session: orm.Session, source: Source, groups: Collection[typing.Any] = (),
) -> dict[Hashable, frozenset[str]]:
    """Return the hosts of some groups, or without groups of all groups."""
    statement = sa.select(source.group, source.row.host).where(
        *source.criteria)
    if groups:
        statement = statement.where(bulk.among(source.group, groups))
    group_of = _type_of(source.group)
    return bulk.by_key((group_of(group), host) for group, host
                       in bulk.table(session, statement))


def _type_of(column: sa.ColumnElement) -> type:
    return int if isinstance(column.type, sa.Integer) else str
