# SPDX-License-Identifier: Apache-2.0

"""Make SQLite bear the many threads of a cloud.

oslo.db begins each transaction with a plain BEGIN, which only takes the
write lock at the first write. When two transactions have read and then
both want to write, SQLite refuses the second at once, whatever the
timeout, and the request fails with "database is locked".

Here a transaction begins with the first write, and waits for the write
lock (BEGIN IMMEDIATE honours the timeout in the connection's URL). Reads
before the first write see committed rows, as in PostgreSQL.
"""

import pathlib
import sqlite3
import typing

# Statements that take no write lock. A SAVEPOINT outside a transaction
# would begin a plain transaction, so a SAVEPOINT counts as a write.
READS = ('SELECT', 'PRAGMA', 'ROLLBACK', 'COMMIT', 'RELEASE', 'EXPLAIN')


def create(path: pathlib.Path) -> None:
    """Make an empty database in which reading does not block writing."""
    connection = sqlite3.connect(path)
    try:
        connection.execute('PRAGMA journal_mode = WAL')
    finally:
        connection.close()


def begin_late(
    conn: typing.Any, cursor: typing.Any, statement: str,
    parameters: typing.Any, context: typing.Any, executemany: bool,
) -> tuple[str, typing.Any]:
    """Replace BEGIN by SELECT; begin a transaction before the first write.

    The function handles SQLAlchemy's event before_cursor_execute.
    """
    if conn.dialect.name != 'sqlite':
        return statement, parameters
    if statement == 'BEGIN':
        return 'SELECT 1', parameters
    connection = cursor.connection
    if not (connection.in_transaction
            or statement.lstrip().upper().startswith(READS)):
        connection.execute('BEGIN IMMEDIATE')
    return statement, parameters


def install() -> None:
    """Change how every SQLite engine of this process begins to write."""
    from sqlalchemy import engine
    from sqlalchemy import event

    event.listen(engine.Engine, 'before_cursor_execute', begin_late,
                 retval=True)
