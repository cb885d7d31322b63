# SPDX-License-Identifier: Apache-2.0

"""A cloud for benchmarks: databases whose tables are made in one step."""

from __future__ import annotations

from pcloud.tests import concurrency  # noqa: F401

from nova.db.api import models as api_models
from nova.db.main import models as main_models
from nova.objects import cell_mapping
from oslo_utils import uuidutils
import sqlalchemy as sa

from pcloud.tests.concurrency import cloud
from pcloud.tests.concurrency import mariadb
from pcloud.tests.support import bulk


class Cloud(cloud.Cloud):
    """Placement, databases and API processes."""

    def _sync(self) -> None:
        make_tables()
        with sa.create_engine(mariadb.url('nova_api')).begin() as connection:
            for uuid, name in (
                    (cell_mapping.CellMapping.CELL0_UUID, 'cell0'),
                    (uuidutils.generate_uuid(), 'cell1')):
                connection.execute(sa.insert(api_models.CellMapping).values(
                    uuid=uuid, name=name, transport_url='fake://',
                    database_connection=mariadb.url(f'nova_{name}')))

    def rows(self) -> bulk.Rows:
        """Return what writes rows into the databases of this cloud."""
        return bulk.Rows(sa.create_engine(mariadb.url('placement')))


def make_tables() -> None:
    """Make the tables of Nova in the databases of this process.

    Nova's own migrations take a minute on a busy machine.
    """
    for index in main_models.Migration.__table__.indexes:
        # As in Nova's migrations: MariaDB has a longest key.
        index.dialect_options['mysql']['length'] = {
            column.name: 100 for column in index.columns
            if getattr(column.type, 'length', None) == 255}
    for name, models in (('nova_api', api_models),
                         ('nova_cell0', main_models),
                         ('nova_cell1', main_models)):
        models.BASE.metadata.create_all(sa.create_engine(mariadb.url(name)))


def analyze() -> None:
    """Renew the statistics of the tables, after many rows were written."""
    for name in ('nova_api', 'nova_cell1', 'placement'):
        with sa.create_engine(mariadb.url(name)).connect() as connection:
            tables = ', '.join(sa.inspect(connection).get_table_names())
            connection.execute(sa.text(f'ANALYZE TABLE {tables}'))
