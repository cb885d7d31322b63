# SPDX-License-Identifier: Apache-2.0

"""Co-location where Placement tells of fewer hosts than there are."""

from pcloud.tests.functional.quick import test_colocation


class ColocationTest(test_colocation.ColocationTestCase):

    def test_a_large_cloud(self):
        """Placement's limit does not hide the parent's host."""
        self.flags(max_placement_results=1, group='scheduler')
        parents = [self.unit(service='web') for _ in range(4)]
        for parent in parents:
            for hints in ({'in_': parent['id']}, {'beside': parent['id']}):
                self.assertEqual(self.host_of(parent), self.host_of(
                    self.unit(flag='allow', **hints)))

    def test_a_move_in_a_large_cloud(self):
        """A server that was started before its parent follows the parent."""
        self.flags(max_placement_results=1, group='scheduler')
        started = self.boot(
            self.admin, {'service': 'y', 'with': 'x'}, host='node-1',
            flavorRef=self.flavors['allow'])
        for host in ('node-2', 'node-3', 'node-4'):
            parent = self.boot(self.admin, {'service': 'x'}, host=host)
            self._migrate(started)
            self.assertEqual(host, self.host_of(started))
            self._delete_server(parent)

    def test_room_in_a_large_cloud(self):
        """Placement's limit does not hide the host that has the capacity."""
        self.flags(max_placement_results=1, group='scheduler')
        large = self._flavor('never', 7168)
        for host in ('node-1', 'node-2', 'node-3'):
            self.boot(self.admin, host=host)
        self.assertEqual('node-4', self.host_of(self.unit(
            flag='allow', with_='x', room_for=large)))
