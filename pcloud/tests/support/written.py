# SPDX-License-Identifier: Apache-2.0

"""The rows that changes write: read from the databases, and put back."""

from __future__ import annotations

from collections.abc import Collection
from collections.abc import Iterator
from collections.abc import Mapping
import dataclasses
import re

from nova.db.api import models as api_models
from nova.db.main import models as main_models
from placement.db.sqlalchemy import models as placement_models
import sqlalchemy as sa

from pcloud import names

JOURNAL = 'pcloud-journal'
DUE = 'pcloud:due:'
DRAIN, SPARE = 'pcloud:drain:', 'pcloud:spare:'
# What the journal keeps of hosts, besides what is due.
_KEPT = (*names.KEPT_OF_HOSTS, names.MAINTENANCE_PREFIX,
         names.REBALANCE_PREFIX, names.SPAN_PREFIX, names.WAITING_PREFIX)

_PCLOUD = re.compile(r'Pcloud:([0-9a-f-]{36})')
_TIME = re.compile(r'\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[0-9.]*(Z|\+00:00)?')
# The ids of the entries of waiting lists, which chance decides.
_ENTRY = re.compile(f'({names.WAITING_PREFIX}.*:).*')
# When a drain, a span or an entry began, and when a host has become a spare.
_SINCE = re.compile(r'\bsince=[0-9TZ]+')

# The names in `State.flat` of values that may differ for a host that is due.
_BEHIND = (r'(due|service) {host}|Placement {host}\.hv\..*|'
           r'.* pcloud:own_ratios:{host}')

_API_TABLES = [each.__table__ for each in (
    api_models.Aggregate, api_models.AggregateHost,
    api_models.AggregateMetadata)]
_PLACEMENT_TABLES = [each.__table__ for each in (
    placement_models.PlacementAggregate,
    placement_models.ResourceProviderAggregate, placement_models.Inventory,
    placement_models.ResourceProviderTrait)]
_SERVICE = main_models.Service.__table__
_PROVIDER = placement_models.ResourceProvider.__table__


@dataclasses.dataclass(frozen=True)
class State:
    """The state that a change writes, and the hosts that are due.

    :ivar aggregates: name -> (hosts, metadata); of the journal with what is
        kept of hosts alone; the ids of new Pclouds are replaced by numbers,
        and times by a word
    :ivar services: host of a compute service -> whether the service is
        disabled
    :ivar providers: node -> (names of the resource provider's aggregates in
        Placement, resource class id -> allocation ratio)
    :ivar due: the hosts for which an update is due in the journal
    """

    aggregates: Mapping[str, tuple[list[str], dict[str, str]]]
    services: Mapping[str, bool]
    providers: Mapping[str, tuple[list[str], dict[int, float]]]
    due: frozenset[str]

    def flat(self) -> dict[str, object]:
        """Return name -> value of every part that can differ."""
        found: dict[str, object] = {f'due {host}': True for host in self.due}
        for name, (hosts, metadata) in self.aggregates.items():
            # The first change makes the journal, which has no hosts.
            if name != JOURNAL:
                found[f'{name} hosts'] = hosts
            found |= {f'{name} {key}': value
                      for key, value in metadata.items()}
        for host, disabled in self.services.items():
            found[f'service {host}'] = 'disabled' if disabled else 'enabled'
        for node, (aggregates, ratios) in self.providers.items():
            found[f'Placement {node} aggregates'] = aggregates
            found[f'Placement {node} ratios'] = ratios
        return found


def differences(
    wanted: State, found: State, behind: Collection[str] = (),
) -> Iterator[str]:
    """Return the differences between two states, a line each.

    :param behind: hosts for which an update is due: the compute service, the
        resource provider and the saved ratios of such a host may differ
    """
    before, after = wanted.flat(), found.flat()
    ignored = re.compile('|'.join(
        _BEHIND.format(host=re.escape(host)) for host in behind) or '(?!)')
    for name in sorted(before.keys() | after.keys()):
        if (before.get(name) != after.get(name) and
                not ignored.fullmatch(name)):
            yield (f'{name} is {after.get(name, "missing")}, not '
                   f'{before.get(name, "there")}')


class Databases:
    """The databases in which changes show.

    :param api: Nova's API database
    :param cell: the database of the cell with all computes
    :param placement: the database of Placement
    """

    def __init__(
        self, api: sa.Engine, cell: sa.Engine, placement: sa.Engine,
    ) -> None:
        self._api, self._cell, self._placement = api, cell, placement
        self._names: dict[str, str] = {}
        self._pclouds: set[str] = set()

    def know_pclouds(self) -> None:
        """Count all present Pclouds as known, not as new."""
        with self._api.connect() as connection:
            found = connection.scalars(sa.select(api_models.Aggregate.name))
            self._pclouds = {
                match[1] for match in map(_PCLOUD.fullmatch, found) if match}

    def read(self) -> State:
        """Return the present state."""
        aggregates, due = self._read_aggregates()
        with self._cell.connect() as connection:
            services = dict(connection.execute(sa.select(
                _SERVICE.c.host, _SERVICE.c.disabled).where(
                    _SERVICE.c.binary == 'nova-compute',
                    _SERVICE.c.deleted == 0)).all())
        return State(aggregates, services, self._read_providers(), due)

    def _read_aggregates(self):
        members, metadata, name_of = {}, {}, {}
        with self._api.connect() as connection:
            for row in connection.execute(sa.select(_API_TABLES[0])):
                name_of[row.id] = row.name
                members[row.id], metadata[row.id] = [], {}
                self._names[row.uuid] = row.name
            for row in connection.execute(sa.select(_API_TABLES[1])):
                members[row.aggregate_id].append(row.host)
            for row in connection.execute(sa.select(_API_TABLES[2])):
                metadata[row.aggregate_id][
                    _ENTRY.sub(r'\1entry', row.key)] = (
                    _SINCE.sub('since=time', row.value)
                    if row.key.startswith((DRAIN, SPARE, names.SPAN_PREFIX,
                                           names.WAITING_PREFIX))
                    else row.value)
        new = [match[1] for match in map(_PCLOUD.fullmatch, name_of.values())
               if match and match[1] not in self._pclouds]
        found, due = {}, frozenset()
        for id_, name in name_of.items():
            if name == JOURNAL:
                due = frozenset(key.removeprefix(DUE) for key in metadata[id_]
                                if key.startswith(DUE))
                metadata[id_] = {key: value for key, value
                                 in metadata[id_].items()
                                 if key.startswith(_KEPT)}
            found[_plain(name, new)] = sorted(members[id_]), {
                _plain(key, new): _plain(value, new)
                for key, value in metadata[id_].items()}
        return found, due

    def _read_providers(self):
        aggregate, member, inventory, _ = _PLACEMENT_TABLES
        found = {}
        with self._placement.connect() as connection:
            for row in connection.execute(sa.select(_PROVIDER)):
                found[row.id] = row.name, [], {}
            for id_, uuid in connection.execute(sa.select(
                    member.c.resource_provider_id, aggregate.c.uuid).join(
                        aggregate, aggregate.c.id == member.c.aggregate_id)):
                found[id_][1].append(self._names.get(uuid, uuid))
            for row in connection.execute(sa.select(inventory)):
                found[row.resource_provider_id][2][
                    row.resource_class_id] = row.allocation_ratio
        return {name: (sorted(aggregates), ratios)
                for name, aggregates, ratios in found.values()}

    def drop_journal(self) -> None:
        """Delete the journal of a cloud without hosts in Pclouds.

        That is as if no change had ever been recorded.
        """
        aggregate, _, metadata = _API_TABLES
        journal = sa.select(aggregate.c.id).where(aggregate.c.name == JOURNAL)
        with self._api.begin() as connection:
            connection.execute(sa.delete(metadata).where(
                metadata.c.aggregate_id.in_(journal)))
            connection.execute(sa.delete(aggregate).where(
                aggregate.c.name == JOURNAL))

    def keep(self) -> dict:
        """Return the rows that `put_back` restores."""
        kept = {}
        for engine, tables in ((self._api, _API_TABLES),
                               (self._placement, _PLACEMENT_TABLES)):
            with engine.connect() as connection:
                for table in tables:
                    kept[table] = _rows(connection, table)
        with self._cell.connect() as connection:
            kept[_SERVICE] = _rows(connection, _SERVICE)
        return kept

    def put_back(self, kept: dict) -> None:
        """Restore the kept rows.

        Generations of resource providers stay, because compute services
        remember generations.
        """
        for engine, tables in ((self._api, _API_TABLES),
                               (self._placement, _PLACEMENT_TABLES)):
            with engine.begin() as connection:
                changed = [table for table in tables
                           if _rows(connection, table) != kept[table]]
                for table in reversed(changed):
                    connection.execute(sa.delete(table))
                for table in changed:
                    if kept[table]:
                        connection.execute(sa.insert(table), kept[table])
        with self._cell.begin() as connection:
            for row in kept[_SERVICE]:
                connection.execute(sa.update(_SERVICE).where(
                    _SERVICE.c.id == row['id'],
                    _SERVICE.c.disabled != row['disabled']).values(
                        disabled=row['disabled'],
                        disabled_reason=row['disabled_reason']))


def _rows(connection: sa.Connection, table: sa.Table) -> list[dict]:
    return [dict(row._mapping) for row in connection.execute(
        sa.select(table).order_by(*table.primary_key))]


def _plain(text: str, new: list[str]) -> str:
    for number, pcloud_id in enumerate(new, 1):
        text = text.replace(pcloud_id, f'new-{number}')
    return _TIME.sub('time', text)
