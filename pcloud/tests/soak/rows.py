# SPDX-License-Identifier: Apache-2.0

"""Rows of the databases, read by SQL alone, past proxies and Pcloud."""

import collections
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Mapping
import contextlib
import dataclasses
import json
import threading
import time

import pymysql

from pcloud.tests.concurrency import mariadb

PCLOUD = 'Pcloud:'
POOL = 'Pcloud:host_flavor:'
ATTRIBUTE = 'Pcloud:attribute:'
POLICY = 'Pcloud:policy:'

# Pclouds and pools, without attributes and policies.
CLOSED = ("a.name LIKE 'Pcloud:%%' AND a.name NOT LIKE 'Pcloud:policy:%%' "
          "AND a.name NOT LIKE 'Pcloud:attribute:%%'")
JOURNAL = 'pcloud-journal'
DRAIN = 'pcloud:drain:'
_DUE = 'pcloud:due:'
_LONGEST_TRANSACTION = 300
# MariaDB renews the list of transactions only after a tenth of a second
# without a reader.
_LIST_LASTS = 0.15
# The databases of the cells in which servers run.
_CELLS = ('nova_cell1', mariadb.SECOND)


@dataclasses.dataclass(frozen=True)
class Aggregate:
    """An aggregate of Nova, from the rows."""

    uuid: str
    name: str
    hosts: frozenset[str]
    metadata: Mapping[str, str]


@dataclasses.dataclass(frozen=True)
class Server:
    """A server that runs on a host.

    :ivar hint: the id of the Pcloud in the server's hint, or None
    """

    uuid: str
    host: str
    project: str
    hint: str | None


@dataclasses.dataclass(frozen=True)
class Place:
    """Where a server is.

    :ivar cell: the name of the cell's database
    :ivar state: as of `Reader.left_of`
    """

    cell: str
    host: str | None
    state: str


def due_hosts(aggregates: Iterable[Aggregate]) -> set[str]:
    """Return the hosts with a due row in the journal among aggregates."""
    return {key.removeprefix(_DUE) for each in aggregates
            if each.name == JOURNAL for key in each.metadata}


class Reader:
    """A connection to the databases, for a single thread."""

    def __init__(self) -> None:
        self._connection = pymysql.connect(
            host=mariadb.HOST, port=mariadb.PORT, user=mariadb.USER,
            autocommit=True, database=mariadb.own('nova_api'))

    def query(self, statement: str, values: object = None) -> list[tuple]:
        """Return the rows of a statement."""
        with self._connection.cursor() as cursor:
            cursor.execute(statement, values)
            return list(cursor.fetchall())

    @contextlib.contextmanager
    def moment(self) -> Iterator[None]:
        """Read all rows within the context as of a single moment."""
        self.query('START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY')
        try:
            yield
        finally:
            self.query('COMMIT')

    def aggregates(self, where: str, values: object = None,
                   ) -> list[Aggregate]:
        """Return aggregates as of a single moment.

        :param where: a condition on the table ``a``
        """
        with self.moment():
            return self.aggregates_now(where, values)

    def aggregates_now(self, where: str, values: object = None,
                       ) -> list[Aggregate]:
        """Return aggregates with the drains of hosts, within a `moment`.

        :param where: a condition on the table ``a``
        """
        # Percent signs are doubled in `where`, with or without values.
        values = values or {}
        joined = f'JOIN aggregates a ON a.id = x.aggregate_id WHERE {where}'
        found = self.query(
            f'SELECT a.id, a.uuid, a.name FROM aggregates a WHERE {where}',
            values)
        hosts = collections.defaultdict(set)
        for number, host in self.query(
                'SELECT x.aggregate_id, x.host FROM aggregate_hosts x '
                + joined, values):
            hosts[number].add(host)
        metadata = collections.defaultdict(dict)
        for number, key, value in self.query(
                'SELECT x.aggregate_id, x.key, x.value '
                f'FROM aggregate_metadata x {joined}', values):
            metadata[number][key] = value
        drains = dict(self.query(
            'SELECT x.key, x.value FROM aggregate_metadata x JOIN aggregates '
            'a ON a.id = x.aggregate_id WHERE a.name = %(journal)s '
            'AND x.key LIKE %(drains)s',
            {'journal': JOURNAL, 'drains': f'{DRAIN}%'}))
        for number, its in hosts.items():
            metadata[number] |= {DRAIN + host: drains[DRAIN + host]
                                 for host in its if DRAIN + host in drains}
        return [Aggregate(uuid, name, frozenset(hosts[number]),
                          metadata[number]) for number, uuid, name in found]

    def servers_now(self) -> list[Server]:
        """Return the servers that are active, within a `moment`."""
        return [Server(uuid, host, project, hint_of(spec))
                for uuid, host, project, spec in self._in_cells(
                    'SELECT i.uuid, i.host, i.project_id, s.spec '
                    'FROM {cell}.instances i '
                    'LEFT JOIN request_specs s ON s.instance_uuid = i.uuid '
                    'WHERE i.deleted = 0 AND i.host IS NOT NULL '
                    "AND i.vm_state IN ('active', 'resized')")]

    def migrations(self) -> list[tuple[str, str, int]]:
        """Return how many migrations of each type and status cells had."""
        return self._in_cells(
            'SELECT migration_type, status, COUNT(*) FROM {cell}.migrations '
            'GROUP BY migration_type, status')

    def _in_cells(self, statement: str, values: object = None,
                  ) -> list[tuple]:
        """Return the rows of a statement in each cell.

        :param statement: has ``{cell}`` for the database of the cell
        """
        return [row for cell in _CELLS for row in self.query(
            statement.format(cell=mariadb.own(cell)), values)]

    def left_of(self, name: str) -> dict[str, str | None]:
        """Return uuid -> state of the servers whose names have a prefix.

        The state of a server that is only a build request is None.

        :param name: the prefix of the names
        """
        asked_for = dict.fromkeys(uuid for uuid, in self.query(
            'SELECT b.instance_uuid FROM build_requests b '
            'WHERE b.instance LIKE %s', (f'%"display_name": "{name}-%',)))
        return asked_for | {uuid: place.state for uuid, place
                            in self.places_of(name).items()}

    def known(self, uuids: Iterable[str]) -> set[str]:
        """Return which of some servers have a cell, or are build requests."""
        wanted = tuple(uuids)
        if not wanted:
            return set()
        return {uuid for uuid, in self.query(
            'SELECT instance_uuid FROM instance_mappings '
            'WHERE cell_id IS NOT NULL AND instance_uuid IN %s UNION '
            'SELECT instance_uuid FROM build_requests '
            'WHERE instance_uuid IN %s', (wanted, wanted))}

    def places_of(self, name: str) -> dict[str, Place]:
        """Return uuid -> place of the servers whose names have a prefix.

        :param name: the prefix of the names
        """
        return {
            uuid: Place(cell, host, f'{state} {task}')
            for cell in ('nova_cell0', *_CELLS)
            for uuid, host, state, task in self.query(
                'SELECT uuid, host, vm_state, task_state '
                f'FROM {mariadb.own(cell)}.instances '
                'WHERE deleted = 0 AND display_name LIKE %s',
                (f'{name}-%',))}

    def left_behind(self, host: str) -> int:
        """Return of how many evacuated servers a host has not let go."""
        return len(self._in_cells(
            'SELECT id FROM {cell}.migrations WHERE source_compute = %s AND '
            "migration_type = 'evacuation' AND "
            "status IN ('accepted', 'pre-migrating', 'done')", (host,)))

    def wait_until_settled(self) -> None:
        """Wait until each transaction that is open now has ended.

        :raises: `TimeoutError` when a transaction does not end
        """
        before = _transactions.read(self)
        deadline = time.monotonic() + _LONGEST_TRANSACTION
        while before & _transactions.read(self):
            if time.monotonic() > deadline:
                raise TimeoutError('A transaction does not end')

    def oldest_change(self) -> float:
        """Return when the oldest of the open transactions has begun, or now.

        No change that is not in the rows yet has read the clock before.
        """
        now = time.time()
        return min([now, *(float(begun) for *_, begun
                           in _transactions.read(self))])

    def placement(self) -> list[tuple[str, str | None]]:
        """Return hypervisor hostname and aggregate of each membership."""
        database = mariadb.own('placement')
        return self.query(
            f'SELECT p.name, a.uuid FROM {database}.resource_providers p '
            f'JOIN {database}.resource_provider_aggregates m '
            'ON m.resource_provider_id = p.id '
            f'JOIN {database}.placement_aggregates a '
            'ON a.id = m.aggregate_id')

    def services(self) -> list[tuple[str, int]]:
        """Return each host, and whether its compute service is disabled."""
        return self._in_cells('SELECT host, disabled FROM {cell}.services')

    def ratios(self) -> list[tuple[str, str, float]]:
        """Return node, resource class and ratio of each inventory."""
        database = mariadb.own('placement')
        return self.query(
            'SELECT p.name, c.name, i.allocation_ratio '
            f'FROM {database}.inventories i '
            f'JOIN {database}.resource_classes c '
            'ON c.id = i.resource_class_id '
            f'JOIN {database}.resource_providers p '
            'ON p.id = i.resource_provider_id')


def hint_of(spec: str | None) -> str | None:
    """Return the Pcloud in the hint of a request spec, as kept, or None."""
    hints = (json.loads(spec)['nova_object.data']['scheduler_hints'] or {}
             if spec else {})
    return next(iter(hints.get('pcloud', [])), None)


class _Transactions:
    """The open transactions, read once for all threads that wait."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._read_at = 0.0
        self._found: set[tuple] = set()

    def read(self, reader: Reader) -> set[tuple]:
        """Return the open transactions at a moment after the call."""
        called_at = time.monotonic()
        with self._lock:
            if self._read_at < called_at:
                time.sleep(_LIST_LASTS)
                self._read_at = time.monotonic()
                # Other programs may use the same MariaDB.
                self._found = set(reader.query(
                    'SELECT t.trx_id, p.id, UNIX_TIMESTAMP(t.trx_started) '
                    'FROM information_schema.innodb_trx t '
                    'JOIN information_schema.processlist p '
                    'ON p.id = t.trx_mysql_thread_id '
                    'WHERE p.id != CONNECTION_ID() AND p.db LIKE %s',
                    (mariadb.own('%'),)))
            return self._found


_transactions = _Transactions()
