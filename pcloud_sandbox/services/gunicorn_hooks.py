# SPDX-License-Identifier: Apache-2.0

"""Hooks of a sandbox's gunicorn workers."""

from collections.abc import Callable
from sqlalchemy import orm
import typing

from pcloud_sandbox.configuration import sqlite
from pcloud_sandbox.running import processes
from pcloud_sandbox.services import tables


def post_fork(server: typing.Any, worker: typing.Any) -> None:
    """Have a new worker end with gunicorn's master; prepare SQLite."""
    processes.die_with_parent()
    sqlite.install()


def post_fork_with_tables(
    service: str, url: str,
) -> Callable[[typing.Any, typing.Any], None]:
    """Return a `post_fork` that also makes the tables of a service.

    gunicorn loads the service afterwards, in the same process.

    :param service: a service that `tables.make` knows
    :param url: the URL of the database
    """
    def post_fork_then_make_tables(
        server: typing.Any, worker: typing.Any,
    ) -> None:
        post_fork(server, worker)
        tables.make(service, url)

    return post_fork_then_make_tables


def post_worker_init(worker: typing.Any) -> None:
    """Connect the database models of the service that was loaded.

    Some attributes of Neutron's models (Port.port_forwardings) appear when
    SQLAlchemy connects the models, by default at the first query that needs
    the connection. A query that names such an attribute must not be the
    first query.
    """
    orm.configure_mappers()
