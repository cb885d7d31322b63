# SPDX-License-Identifier: Apache-2.0

"""The databases of a cloud in this process: files, or schemas of a server.

Without ``PCLOUD_TEST_DATABASE`` each database is an SQLite in a file, as
Nova's fixtures make it. With the URL of a MariaDB, such as
``mysql+pymysql://root:@127.0.0.1``, each database is a schema of this server.
A schema is made once, by the migrations for the first and as a copy for
others, and serves one test after the other: a test finds the rows that the
migrations have written, and no others.
"""

from __future__ import annotations

import atexit
import collections
from collections.abc import Iterator
import contextlib
import os
import re
import sqlite3
import sys
import typing

import fixtures
from nova.db import migration
from nova.tests import fixtures as nova_fixtures
from nova.tests.functional import fixtures as func_fixtures
from oslo_db.sqlalchemy import enginefacade
from oslo_db.sqlalchemy import test_fixtures
from placement.db.sqlalchemy import migration as placement_migration
from placement import deploy
from placement.tests import fixtures as placement_fixtures
import pymysql
import sqlalchemy as sa

_VARIABLE = 'PCLOUD_TEST_DATABASE'
_PREFIX = 'pcloud_test_'
_API, _MAIN, _PLACEMENT = 'api', 'main', 'placement'


class Rows(typing.NamedTuple):
    """The rows of a table.

    :ivar columns: the names of the columns
    :ivar rows: a tuple for each row
    """

    columns: list[str]
    rows: list[tuple]


class Connection:
    """A connection to a database, in the same words for SQLite and MariaDB.

    :param connection: the connection of the driver
    """

    def __init__(
        self, connection: sqlite3.Connection | pymysql.connections.Connection,
    ) -> None:
        self._connection = connection
        self._on_server = not isinstance(connection, sqlite3.Connection)

    def execute(self, statement: str, *parameters: object) -> list[tuple]:
        """Execute a statement with a `?` for each parameter."""
        return self.rows(statement, *parameters).rows

    def rows(self, statement: str, *parameters: object) -> Rows:
        """Execute a statement, and return the names of the columns too."""
        cursor = self._connection.cursor()
        with contextlib.closing(cursor):
            cursor.execute(self._in_dialect(statement), parameters)
            return Rows([each[0] for each in cursor.description or ()],
                        list(cursor.fetchall()))

    def insert(self, table: str, found: Rows) -> None:
        """Write rows into a table."""
        cursor = self._connection.cursor()
        with contextlib.closing(cursor):
            cursor.executemany(self._in_dialect(
                f'INSERT INTO "{table}" VALUES '
                f'({", ".join("?" * len(found.columns))})'), found.rows)

    def tables(self) -> list[str]:
        """Return the names of the tables."""
        statement = "SELECT name FROM sqlite_master WHERE type = 'table'"
        if self._on_server:
            statement = 'SHOW TABLES'
        return [name for name, in self.execute(statement)]

    @contextlib.contextmanager
    def writing(self) -> Iterator[None]:
        """Begin a transaction that writes, and commit the transaction."""
        self.execute('BEGIN' if self._on_server else 'BEGIN IMMEDIATE')
        yield
        self.execute('COMMIT')

    def _in_dialect(self, statement: str) -> str:
        return statement.replace('?', '%s') if self._on_server else statement

    def close(self) -> None:
        """Close the connection, and roll back what was not committed."""
        self._connection.close()


def is_mariadb(url: sa.URL) -> bool:
    """Return whether a URL is the URL of a MariaDB or a MySQL."""
    return url.get_backend_name() in ('mysql', 'mariadb')


def to(url: sa.URL) -> Connection:
    """Connect to an SQLite in a file or to a server, apart from engines."""
    if not is_mariadb(url):
        made = Connection(sqlite3.connect(
            url.database, timeout=60, isolation_level=None,
            check_same_thread=False))
        made.execute('PRAGMA synchronous = OFF')
        return made
    made = Connection(pymysql.connect(
        host=url.host, port=url.port or 3306, user=url.username,
        password=url.password or '', database=url.database,
        charset='utf8', autocommit=True))
    # Tables are emptied and filled in the order of their names.
    made.execute("SET sql_mode = 'ANSI_QUOTES,NO_AUTO_VALUE_ON_ZERO', "
                 'foreign_key_checks = 0')
    return made


def connect(engine: sa.Engine) -> contextlib.closing[Connection]:
    """Return a connection to the database of an engine, for a block."""
    return contextlib.closing(to(engine.url))


def read(connection: Connection) -> dict[str, Rows]:
    """Return table -> rows, as they are at one moment."""
    tables = connection.tables()
    connection.execute('BEGIN')
    found = {table: connection.rows(f'SELECT * FROM "{table}"')
             for table in tables}
    connection.execute('COMMIT')
    return found


def replace(connection: Connection, wanted: dict[str, Rows]) -> None:
    """Replace all rows of some tables, in one transaction."""
    with connection.writing():
        for table, rows in wanted.items():
            connection.execute(f'DELETE FROM "{table}"')
            if rows.rows:
                connection.insert(table, rows)


class OnServer(fixtures.Fixture):
    """Have Nova's fixtures use schemas of the server of the variable.

    The schemas go to the next test when the test has ended.
    """

    def _setUp(self):
        for module in (sys.modules[nova_fixtures.Database.__module__],
                       func_fixtures):
            self._replace(
                module, '_use_file_backed_sqlite_with_wal', self._take)
        self._replace(
            nova_fixtures.Database, '_apply_schema',
            lambda fixture: _SERVER.furnish(
                fixture.database, fixture.get_engine()))
        self._replace(
            nova_fixtures.CellDatabases, '_cache_schema',
            lambda fixture, connection_str: _SERVER.furnish(
                _MAIN, fixture._ctxt_mgrs[
                    connection_str].writer.get_engine()))
        # A server lets many write at once.
        self._replace(nova_fixtures.DatabaseWriteLock, '_setUp',
                      lambda fixture: None)
        self._replace(placement_fixtures.Database, '_setUp', _placement)

    def _replace(self, holder, name, value):
        self.useFixture(fixtures.MockPatchObject(holder, name, value))

    def _take(self, name: str) -> tuple[str, str]:
        """Return the URL and the name of a schema for a database."""
        kind = name if name in (_API, _PLACEMENT) else _MAIN
        schema = _SERVER.take(kind)
        self.addCleanup(_SERVER.give_back, kind, schema)
        return _SERVER.url(schema).render_as_string(
            hide_password=False), schema


def _placement(fixture: placement_fixtures.Database) -> None:
    """Set up Placement's fixture, for which oslo.db wants a server's user."""
    manager = enginefacade.transaction_context()
    manager.configure(connection=fixture.url)
    fixture.useFixture(test_fixtures.ReplaceEngineFacadeFixture(
        fixture.get_enginefacade(), manager))
    engine = manager.writer.get_engine()
    fixture.addCleanup(engine.dispose)
    _SERVER.furnish(_PLACEMENT, engine)
    fixture.cleanup()
    fixture.addCleanup(fixture.cleanup)
    deploy.update_database(fixture.conf_fixture.conf)


class _Server:
    """The schemas of this process on a server."""

    def __init__(self, url: str) -> None:
        self._url = sa.make_url(url)
        self._count = 0
        self._free: dict[str, list[str]] = collections.defaultdict(list)
        # Schema -> the rows after the migrations.
        self._rows: dict[str, dict[str, Rows]] = {}
        # Kind -> the statements that make the tables.
        self._tables: dict[str, list[str]] = {}

    def url(self, schema: str) -> sa.URL:
        """Return the URL of a schema."""
        return self._url.set(
            database=schema, query={'charset': 'utf8'})

    def take(self, kind: str) -> str:
        """Return a schema without tables, or one that served another test."""
        if self._free[kind]:
            return self._free[kind].pop()
        with contextlib.closing(to(self._url)) as connection:
            if not self._count:
                _drop_stale(connection)
                atexit.register(self._drop)
            self._count += 1
            schema = f'{_PREFIX}{os.getpid()}_{kind}_{self._count}'
            connection.execute(
                f'CREATE DATABASE {schema} CHARACTER SET utf8mb3')
        return schema

    def give_back(self, kind: str, schema: str) -> None:
        """End what is left of a test in a schema, and keep the schema."""
        with contextlib.closing(to(self._url)) as connection:
            for number, in connection.execute(
                    'SELECT id FROM information_schema.processlist '
                    'WHERE db = ?', schema):
                with contextlib.suppress(pymysql.err.Error):
                    connection.execute(f'KILL {number}')
        self._free[kind].append(schema)

    def furnish(self, kind: str, engine: sa.Engine) -> None:
        """Have a schema hold the tables and rows of the migrations."""
        schema = engine.url.database
        with connect(engine) as connection:
            if schema in self._rows:
                wanted = self._rows[schema]
                found = read(connection)
                for table in found.keys() - wanted.keys():
                    connection.execute(f'DROP TABLE "{table}"')
                replace(connection, {
                    table: rows for table, rows in wanted.items()
                    if found[table] != rows})
                return
            if kind not in self._tables:
                _migrate(kind, engine)
                self._tables[kind] = [
                    connection.execute(f'SHOW CREATE TABLE "{table}"')[0][1]
                    for table in connection.tables()]
                self._rows[kind] = read(connection)
            else:
                for statement in self._tables[kind]:
                    connection.execute(statement)
                replace(connection, self._rows[kind])
            self._rows[schema] = self._rows[kind]

    def _drop(self) -> None:
        own = f'{_PREFIX}{os.getpid()}_'
        with contextlib.closing(to(self._url)) as connection:
            for schema, in connection.execute('SHOW DATABASES'):
                if schema.startswith(own):
                    connection.execute(f'DROP DATABASE IF EXISTS {schema}')


def _migrate(kind: str, engine: sa.Engine) -> None:
    if kind == _PLACEMENT:
        placement_migration.create_schema(engine)
    else:
        migration.db_sync(database=kind)


def _drop_stale(connection: Connection) -> None:
    """Drop the schemas of processes that were killed."""
    for schema, in connection.execute('SHOW DATABASES'):
        found = re.fullmatch(rf'{_PREFIX}(\d+)_\w+', schema)
        if found and not os.path.exists(f'/proc/{found.group(1)}'):
            connection.execute(f'DROP DATABASE IF EXISTS {schema}')


ON_SERVER = bool(os.environ.get(_VARIABLE))
_SERVER = _Server(os.environ[_VARIABLE]) if ON_SERVER else None
