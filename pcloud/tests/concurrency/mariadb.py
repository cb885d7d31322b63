# SPDX-License-Identifier: Apache-2.0

"""Databases of a test process on the MariaDB of this machine.

``PCLOUD_TEST_NODES`` has the ports of several nodes that share all databases,
with commas between (see `galera`).
"""

from collections.abc import Iterable
import os
import re
import socket
import unittest

import pymysql

VARIABLE = 'PCLOUD_TEST_NODES'
HOST, USER = '127.0.0.1', 'root'
PORTS = [int(port) for port in os.environ.get(VARIABLE, '3306').split(',')]
PORT = PORTS[0]
_PREFIX = 'pcloud_test_'
NAMES = ('nova_api', 'nova_cell0', 'nova_cell1', 'placement')
# Of a second cell, where there is one.
SECOND = 'nova_cell2'


def need() -> None:
    """Skip the tests on a machine without MariaDB; fail the tests in CI.

    :raises: `unittest.SkipTest`, or `pymysql.err.OperationalError` in CI
    """
    try:
        pymysql.connect(host=HOST, port=PORT, user=USER).close()
    except pymysql.err.OperationalError as error:
        if os.environ.get('CI'):
            raise
        raise unittest.SkipTest(
            f'there is no MariaDB at {HOST}:{PORT} that lets {USER} in: '
            f'{error}')


def url(name: str, port: int | str = PORT) -> str:
    """Return the URL of a database of this process.

    :param name: a name as for `create`
    :param port: MariaDB's port, a proxy's port, or a template for Nova's
        cell mappings
    """
    return f'mysql+pymysql://{USER}@{HOST}:{port}/{own(name)}?charset=utf8'


def create(databases: Iterable[str] = NAMES) -> None:
    """Create databases of this process; drop databases of dead processes.

    :param databases: `NAMES`, or names apart from a cloud of this process
    """
    with pymysql.connect(host=HOST, port=PORT, user=USER) as connection:
        with connection.cursor() as cursor:
            _drop_stale(cursor)
            for name in databases:
                cursor.execute(f'CREATE DATABASE {own(name)} '
                               'CHARACTER SET utf8mb3')


def drop(databases: Iterable[str] = NAMES) -> None:
    """Drop databases of this process; the names are as for `create`."""
    with pymysql.connect(host=HOST, port=PORT, user=USER) as connection:
        with connection.cursor() as cursor:
            for name in databases:
                cursor.execute(f'DROP DATABASE IF EXISTS {own(name)}')


def free_ports(count: int) -> list[int]:
    """Return ports on which no process listens."""
    sockets = [socket.create_server((HOST, 0)) for _ in range(count)]
    ports = [each.getsockname()[1] for each in sockets]
    for each in sockets:
        each.close()
    return ports


def own(name: str) -> str:
    """Return this process's own name for a database."""
    return f'{_PREFIX}{os.getpid()}_{name}'


def _drop_stale(cursor) -> None:
    cursor.execute('SHOW DATABASES')
    for (name,) in cursor.fetchall():
        found = re.fullmatch(rf'{_PREFIX}(\d+)_\w+', name)
        if found and not os.path.exists(f'/proc/{found.group(1)}'):
            # Another process may clean up at the same moment.
            cursor.execute(f'DROP DATABASE IF EXISTS {name}')
