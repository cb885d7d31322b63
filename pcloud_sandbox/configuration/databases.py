# SPDX-License-Identifier: Apache-2.0

"""The databases of a sandbox's services: files, or a MariaDB server."""

import pathlib

import sqlalchemy
from sqlalchemy import exc

from pcloud_sandbox.configuration import layout
from pcloud_sandbox.configuration import settings
from pcloud_sandbox.configuration import sqlite
from pcloud_sandbox import errors

NAMES = ('keystone', 'placement', 'glance', 'neutron',
         'nova_api', 'nova_cell0', 'nova_cell1')
HEAT = 'heat'


def names(chosen: settings.Settings) -> list[str]:
    """Return the names of all databases of a sandbox."""
    numbers = chosen.cell_numbers()[1:]
    return [*NAMES, *map(cell_name, numbers), *(
        [HEAT] if chosen.heat else [])]


def cell_name(cell: int) -> str:
    """Return the name of the database of a cell."""
    return f'nova_cell{cell}'


def url(where: layout.Layout, chosen: settings.Settings, name: str) -> str:
    """Return the URL of a database, with the password."""
    if chosen.database is None:
        return f'sqlite:///{_file(where, name)}?timeout=60'
    return _server(chosen).set(
        database=_own(chosen, name), query={'charset': 'utf8mb4'}
    ).render_as_string(hide_password=False)


def check(chosen: settings.Settings) -> None:
    """Make sure that the server can be used.

    :raises: `SandboxError` when the server refuses, or does not answer
    """
    if chosen.database is not None:
        _execute(chosen, ['SELECT 1'])


def create(where: layout.Layout, chosen: settings.Settings) -> None:
    """Create all databases, empty.

    :raises: `SandboxError` when the server refuses
    """
    if chosen.database is None:
        for name in names(chosen):
            sqlite.create(_file(where, name))
        return
    _execute(chosen, [f'CREATE DATABASE {_own(chosen, name)} '
                      'CHARACTER SET utf8mb3' for name in names(chosen)])


def drop(chosen: settings.Settings) -> None:
    """Drop the databases on the server; leave databases in files alone.

    :raises: `SandboxError` when the server refuses, or does not answer
    """
    if chosen.database is None:
        return
    try:
        _execute(chosen, [f'DROP DATABASE IF EXISTS {_own(chosen, name)}'
                          for name in names(chosen)])
    except errors.SandboxError as error:
        raise errors.SandboxError(
            f'{error}; the databases {_own(chosen, "*")} may be left there. '
            'Repeat "pcloud-sandbox down" when it answers; if it never '
            'will, remove the folder of the sandbox yourself') from error


def _file(where: layout.Layout, name: str) -> pathlib.Path:
    return where.data / f'{name}.sqlite'


def _own(chosen: settings.Settings, name: str) -> str:
    prefix = _server(chosen).database or 'pcloud_sandbox'
    return f'{prefix}_{chosen.key}_{name}'


def _server(chosen: settings.Settings) -> sqlalchemy.URL:
    try:
        server = sqlalchemy.make_url(chosen.database)
    except exc.ArgumentError as error:
        raise errors.SandboxError(
            f'--database {chosen.database}: is not a URL such as '
            'mysql+pymysql://user:password@127.0.0.1') from error
    if server.drivername != 'mysql+pymysql':
        raise errors.SandboxError(
            f'--database {server.drivername}://...: must begin with '
            'mysql+pymysql://')
    return server


def _execute(chosen: settings.Settings, statements: list[str]) -> None:
    server = _server(chosen)
    engine = sqlalchemy.create_engine(server.set(database=''))
    try:
        with engine.connect() as connection:
            for statement in statements:
                connection.exec_driver_sql(statement)
    except exc.DBAPIError as error:
        raise errors.SandboxError(
            f'{server.render_as_string()}: {error.orig}') from error
    finally:
        engine.dispose()
