# SPDX-License-Identifier: Apache-2.0

"""The rows with the copies of sticky keys that servers keep.

A row is in the table of Nova's request specs, beside the request spec of the
server: whatever a server survives, the table survives. Nova reads and writes
request specs by the uuid of a server, so a row has a name that is no uuid.
Nova's conductor writes a whole request spec back after a move, so a value that
a scheduler writes into a server's request spec gets lost.

Rule: reference-placement-keys-sticky
"""

from collections.abc import Collection
from collections.abc import Iterator

from nova import context as nova_context
from nova.db.api import api as api_db
from nova.db.api import models
from oslo_db import api as oslo_db_api
from oslo_db import exception as db_exc
import sqlalchemy as sa

from pcloud.backend import request_specs

_ROW = models.RequestSpec
PREFIX = 'pcs-'

_repeated = oslo_db_api.wrap_db_retry(
    max_retries=5, retry_interval=0.05, inc_retry_interval=True,
    max_retry_interval=1, retry_on_deadlock=True, retry_on_disconnect=True,
    # Another scheduler has written the first row of the server.
    exception_checker=lambda error: isinstance(error, db_exc.DBDuplicateEntry))


def read(
    context: nova_context.RequestContext, server: str,
) -> str | None:
    """Return the text of a server's row, None without a row.

    One query.
    """
    with api_db.context_manager.reader.using(context) as session:
        return session.scalar(sa.select(_ROW.spec).where(
            _ROW.instance_uuid == _name(server)))


def read_all(
    context: nova_context.RequestContext, servers: Collection[str],
) -> Iterator[tuple[str, str]]:
    """Yield server uuid and text of the servers that have a row.

    One query for five hundred servers.
    """
    for batch in request_specs.batches(sorted(servers)):
        wanted = list(map(_name, batch))
        with api_db.context_manager.reader.using(context) as session:
            for name, text in session.execute(sa.select(
                    _ROW.instance_uuid, _ROW.spec).where(
                        _ROW.instance_uuid.in_(wanted))):
                yield _server(name), text


@_repeated
def write(
    context: nova_context.RequestContext, server: str, text: str,
) -> bool:
    """Write a server's row, whatever the row was before.

    One transaction of one query, or two transactions for the first row of a
    server: on MariaDB an update of no row locks the gap where the row would
    be, and two schedulers that insert into a gap which both have locked end in
    a deadlock.

    :returns: whether this is the first row of the server
    """
    name = _name(server)
    with api_db.context_manager.writer.using(context) as session:
        if session.execute(sa.update(_ROW).where(
                _ROW.instance_uuid == name).values(spec=text)).rowcount:
            return False
    with api_db.context_manager.writer.using(context) as session:
        session.execute(sa.insert(_ROW).values(instance_uuid=name, spec=text))
    return True


@_repeated
def delete_orphans(
    context: nova_context.RequestContext, digits: str,
) -> int:
    """Delete rows of servers without a request spec, and return how many.

    Nova deletes the request specs of servers that are archived. Two or three
    queries.

    :param digits: the first hexadecimal digits of the servers' uuids
    """
    first = f'{PREFIX}{digits}'
    with api_db.context_manager.writer.using(context) as session:
        servers = {_server(name): name
                   for name in session.scalars(
                       sa.select(_ROW.instance_uuid).where(
                           _ROW.instance_uuid >= first,
                           _ROW.instance_uuid < f'{first}g'))}
        if not servers:
            return 0
        there = session.scalars(sa.select(_ROW.instance_uuid).where(
            _ROW.instance_uuid.in_(servers))).all()
        orphans = [name for server, name in servers.items()
                   if server not in there]
        if not orphans:
            return 0
        return session.execute(sa.delete(_ROW).where(
            _ROW.instance_uuid.in_(orphans))).rowcount


def count(context: nova_context.RequestContext) -> int:
    """Return the number of rows (one query)."""
    with api_db.context_manager.reader.using(context) as session:
        return session.scalar(
            sa.select(sa.func.count()).select_from(_ROW).where(
                _ROW.instance_uuid.startswith(PREFIX, autoescape=True))) or 0


def _name(server: str) -> str:
    return f'{PREFIX}{server.replace("-", "")}'


def _server(name: str) -> str:
    digits = name.removeprefix(PREFIX)
    return '-'.join((digits[:8], digits[8:12], digits[12:16], digits[16:20],
                     digits[20:]))
