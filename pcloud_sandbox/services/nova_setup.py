# SPDX-License-Identifier: Apache-2.0

"""Make Nova's databases and cells.

Run as a program: ``python -m pcloud_sandbox.services.nova_setup DIR``. The
program does in one process what ``nova-manage api_db sync``, ``db sync``,
``cell_v2 map_cell0`` and ``cell_v2 create_cell`` do.
"""

from nova import monkey_patch; monkey_patch.patch(backend='threading')  # noqa

import sys

import nova.conf
from nova import config
from nova import context
from nova.db import migration
from nova import objects

from pcloud_sandbox.configuration import databases
from pcloud_sandbox.configuration import layout
from pcloud_sandbox.configuration import messaging
from pcloud_sandbox.configuration import settings
from pcloud_sandbox.configuration import sqlite

CONF = nova.conf.CONF

_UUID = '5ab1ab1e-0000-4000-8000-0000000ce{:03d}'


def create_cells(where: layout.Layout, chosen: settings.Settings) -> None:
    """Map cell0, which keeps the servers that got no host, and the cells."""
    admin = context.get_admin_context()
    cell0 = objects.CellMapping(
        admin, uuid=objects.CellMapping.CELL0_UUID, name='cell0',
        transport_url='none:///', disabled=False,
        database_connection=databases.url(where, chosen, 'nova_cell0'))
    cell0.create()
    with context.target_cell(admin, cell0) as in_cell0:
        migration.db_sync(database='main', context=in_cell0)
    cell1 = objects.CellMapping(
        admin, uuid=_UUID.format(111), name='cell1',
        transport_url=CONF.transport_url, disabled=False,
        database_connection=CONF.database.connection)
    cell1.create()
    for number in chosen.cell_numbers()[1:]:
        cell = objects.CellMapping(
            admin, uuid=_UUID.format(110 + number), name=f'cell{number}',
            transport_url=messaging.url(chosen, number), disabled=False,
            database_connection=databases.url(
                where, chosen, databases.cell_name(number)))
        cell.create()
        with context.target_cell(admin, cell) as in_cell:
            migration.db_sync(database='main', context=in_cell)


def main() -> None:
    """Set Nova up for the sandbox in the folder sys.argv[1]."""
    where = layout.Layout(sys.argv[1])
    chosen = settings.read(where).settings
    sqlite.install()
    config.parse_args(
        ['nova-manage', '--config-file', str(where.etc / 'nova.conf')])
    objects.register_all()
    migration.db_sync(database='api')
    migration.db_sync(database='main')
    create_cells(where, chosen)


if __name__ == '__main__':
    main()
