# SPDX-License-Identifier: Apache-2.0

"""Servers near to and far from each other, through the scheduler."""

from pcloud.tests.support import base
from pcloud.tests.support import shared_cloud

UNKNOWN = '3f1c2ab4-5d6e-4f70-8a9b-0c1d2e3f4a5b'


class LocalityTestCase(shared_cloud.SharedCloudTestCase):
    """Two racks of two hosts each, and a server of Alice on the first."""

    def _configure(self):
        super()._configure()
        self.flags(enabled_filters=['ComputeFilter', 'PcloudFilter',
                                    'LocalityFilter'],
                   group='filter_scheduler')

    def furnish(self):
        super().furnish()
        for rack, hosts in (('left', ['node-1', 'node-2']),
                            ('right', ['node-3', 'node-4'])):
            self.admin.call_json('PUT', '/os-pcloud-attributes/rack', {
                'attribute': {'value': rack, 'hosts': hosts}})
        self.first = self._on('node-1', base.ALICE, 'web')

    def _on(self, host, project, *tags):
        """Boot a server of a project on a host, and return its id."""
        boss = self.client_of('boss', project, ['reader', 'member', 'admin'])
        server = self.boot(
            boss, zone=f'{self.hosts[host]}:{host}', tags=list(tags))
        self.assertEqual(host, self.host_of(server))
        return server['id']

    def _hosts(self, times=2, **hints):
        """Return the hosts that some servers with these hints get."""
        found = set()
        for _ in range(times):
            server = self.boot(self.alice, hints)
            found.add(self.host_of(server))
            self._delete_server(server)
        return found

    def _fault(self, **hints):
        return self.fault(self.boot(self.alice, hints, 'ERROR'))


class CellsTest(LocalityTestCase):
    """The server is in another cell than the hosts that are candidates."""

    NUMBER_OF_CELLS = 2

    def _start_compute(self, host, cell_name=None):
        return super()._start_compute(
            host, 'cell2' if host == 'node-1' else 'cell1')

    def test_all_cells_are_asked(self):
        self.disable_service('node-1')
        for named in (self.first, 'tag:web'):
            self.assertEqual({'node-2'}, self._hosts(near=named))
