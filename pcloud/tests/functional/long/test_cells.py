# SPDX-License-Identifier: Apache-2.0

"""Hosts that have moved between cells, and ratios while a cell is silent."""

from nova import context as nova_context
from nova.db.main import api as main_db
from nova.db.main import models
from oslo_utils import uuidutils
import sqlalchemy as sa

from pcloud.tests.functional.quick import test_cells


class StaleServiceTest(test_cells.CellsTestCase):
    """A host that was moved to another cell left its service behind."""

    def furnish(self):
        super().furnish()
        with nova_context.target_cell(
                self.context, self.cell_mappings[test_cells.DEAD]) as context:
            manager = main_db.get_context_manager(context)
            with manager.writer.using(context) as session:
                self._copy(session, models.Service, disabled=True)
                self._copy(session, models.ComputeNode,
                           hypervisor_hostname='gone')

    def _copy(self, session, model, **more):
        """Have one row more of what is known of a host of the dead cell."""
        table = model.__table__
        row = dict(session.execute(sa.select(table).where(
            table.c.host == 'node-3')).mappings().one())
        del row['id']
        session.execute(sa.insert(table), {
            **row, 'host': 'node-1', 'uuid': uuidutils.generate_uuid(),
            **more})

    def test_host_is_read_where_it_is(self):
        self._shown_as_it_is()
        self.outage()
        self._shown_as_it_is()
        # While Nova sees the leftover it takes the host for disabled.
        self.assertEqual('node-1', self.host_of(self.inside()))

    def _shown_as_it_is(self):
        host = self.alice.get_json(f'{self.path}/alive')['host']
        self.assertEqual(
            ('up', [self.servers['alive']['id']]),
            (host['status'], host['instances']))
        pool = self.admin.get_json('/os-host-flavors/first')['host_flavor']
        self.assertEqual(
            [('node-1.hv.example.org', 'enabled', 'up')],
            [(each['hypervisor_hostname'], each['status'], each['state'])
             for each in pool['hosts']])


class RatioTest(test_cells.CellsTestCase):
    """The host that sorts first is in the cell that dies."""

    cells = {'node-1': test_cells.DEAD, 'node-2': test_cells.ALIVE,
             'node-3': test_cells.ALIVE, 'node-4': test_cells.DEAD}

    def test_ratio_reaches_the_hosts_of_the_living_cell(self):
        self.outage()
        self.alice.call_json('PUT', f'/os-pclouds/{self.pcloud}', {
            'pcloud': {'cpu_allocation_ratio': 7}})
        self.assertEqual('node-3', self.host_of(self.inside(
            expected='ACTIVE')))
