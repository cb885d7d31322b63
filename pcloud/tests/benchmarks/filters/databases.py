# SPDX-License-Identifier: Apache-2.0

"""Nova's databases on MariaDB, filled in bulk."""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Mapping
import contextlib
import itertools
import pathlib
import tempfile

from nova import config
from nova import context as nova_context
from nova.db.api import api as api_db
from nova.db.api import models as api_models
from nova.db.main import api as main_db
from nova import objects
from oslo_utils import uuidutils
import sqlalchemy as sa

from pcloud import conf
from pcloud.tests.benchmarks import clouds
from pcloud.tests.concurrency import mariadb

_NOVA_CONF = """
[DEFAULT]
transport_url = fake://
state_path = {folder}
[api_database]
connection = {nova_api}
[database]
connection = {nova_cell1}
[oslo_concurrency]
lock_path = {folder}
"""
_ROWS = 5000


@contextlib.contextmanager
def running() -> Iterator[objects.CellMapping]:
    """Create databases for this process; yield the only cell mapping."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / 'nova.conf'
        path.write_text(_NOVA_CONF.format(folder=folder, **{
            name: mariadb.url(name) for name in mariadb.NAMES}))
        mariadb.create()
        try:
            config.parse_args(['benchmark', '--config-file', str(path)])
            conf.register_opts(config.CONF)
            objects.register_all()
            clouds.make_tables()
            yield _cell()
        finally:
            mariadb.drop()


def _cell() -> objects.CellMapping:
    cell = objects.CellMapping(
        nova_context.get_admin_context(), uuid=uuidutils.generate_uuid(),
        name='cell1', transport_url='fake://',
        database_connection=mariadb.url('nova_cell1'))
    cell.create()
    return cell


def fill(
    model: type, rows: Iterable[Mapping], cell: objects.CellMapping,
) -> None:
    """Empty a table, write rows, and renew the table's statistics."""
    with _session(model, cell) as session:
        session.execute(sa.text('SET foreign_key_checks = 0'))
        session.execute(sa.text(f'TRUNCATE TABLE {model.__tablename__}'))
        for batch in _batches(rows):
            session.execute(sa.insert(model), batch)
        session.execute(sa.text('SET foreign_key_checks = 1'))
    with _session(model, cell) as session:
        session.execute(sa.text(f'ANALYZE TABLE {model.__tablename__}'))


@contextlib.contextmanager
def _session(model: type, cell: objects.CellMapping):
    context = nova_context.get_admin_context()
    if model.metadata is api_models.BASE.metadata:
        with api_db.context_manager.writer.using(context) as session:
            yield session
        return
    with (nova_context.target_cell(context, cell) as its_context,
          main_db.get_context_manager(its_context).writer.using(
              its_context) as session):
        yield session


def _batches(rows: Iterable[Mapping]) -> Iterator[list[Mapping]]:
    left = iter(rows)
    while batch := list(itertools.islice(left, _ROWS)):
        yield batch
