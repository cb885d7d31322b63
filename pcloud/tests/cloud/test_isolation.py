# SPDX-License-Identifier: Apache-2.0

"""Who is placed where: an owner, a tenant, a stranger, and nobody's hint."""

import uuid

from pcloud.tests.cloud import base
from pcloud.tests.cloud import waiting


class IsolationTest(base.CloudTest):
    """Both hosts of the pool may be in the owner's Pcloud."""

    def test_three_projects(self):
        pcloud = self.new_pcloud(hosts=2)
        owner = self.stage.users['owner'].pclouds
        tenant = self.stage.users['tenant'].project_id
        self._assert_inside('owner', pcloud)
        for user in ('tenant', 'stranger', 'admin'):
            self.not_started(user, pcloud=pcloud.id)
        owner.add_tenant(pcloud.id, tenant)
        self._assert_inside('tenant', pcloud)
        self.not_started('stranger', pcloud=pcloud.id)
        owner.remove_tenant(pcloud.id, tenant)
        self.not_started('tenant', pcloud=pcloud.id)
        for user in ('owner', 'tenant', 'stranger'):
            self._assert_outside(user)

    def _assert_inside(self, user, pcloud):
        server = self.started(user, pcloud=pcloud.id)
        self.assertIn(self.host_of(server), self.pool())

    def _assert_outside(self, user):
        server = self.started(user)
        self.assertNotIn(self.host_of(server), self.pool())

    def test_free_hosts_of_a_pool(self):
        """A host of a pool that is in no Pcloud takes no servers."""
        self._assert_outside('stranger')
        pcloud = self.new_pcloud(hosts=1)
        for _ in range(2):
            self._assert_inside('owner', pcloud)
        self._assert_outside('owner')

    def test_wanted_host(self):
        """The administrator may name a host; the rules are the same."""
        self.new_pcloud(hosts=1)
        for compute in self.stage.computes:
            self.not_started('admin', members={'host': compute.host})

    def test_strange_hints(self):
        pcloud = self.new_pcloud(hosts=2)
        mine, other = pcloud.id, self.new_pcloud(name='empty').id
        for hint in (str(uuid.uuid4()), other, 'shop', mine.upper(),
                     f' {mine}', [mine, mine], [mine, other]):
            self.not_started('owner', pcloud=hint)

    def test_disabled_hosts(self):
        pcloud = self.new_pcloud(hosts=2)
        owner = self.stage.users['owner'].pclouds
        owner.set_host_state(pcloud.id, 'h1', 'disabled')
        enabled = self.real(pcloud, 'h2')
        for _ in range(2):
            server = self.started('owner', pcloud=pcloud.id)
            self.assertEqual(enabled, self.host_of(server))
        owner.set_host_state(pcloud.id, 'h2', 'disabled')
        self.not_started('owner', pcloud=pcloud.id)

    def test_two_pclouds(self):
        """A server is on the host of its own Pcloud."""
        pclouds = [self.new_pcloud(hosts=1, name=name) for name in 'ab']
        for pcloud in pclouds * 2:
            server = self.started('owner', pcloud=pcloud.id)
            self.assertEqual(self.real(pcloud, 'h1'), self.host_of(server))

    def test_host_that_changes_hands(self):
        """A host is nobody's when it has left, and then the next owner's."""
        first = self.new_pcloud(hosts=1, name='first')
        self._assert_inside('owner', first)
        self.stage.clear()
        pcloud = self.new_pcloud(hosts=2, name='second')
        self.not_started('owner', pcloud=first.id)
        self._assert_inside('owner', pcloud)
        self._assert_outside('owner')

    def test_unshelved(self):
        """The hint holds for all later placements of a server."""
        pcloud = self.new_pcloud(hosts=1)
        owner = self.stage.users['owner']
        server = self.started('owner', pcloud=pcloud.id)
        self._shelve(server)
        owner.pclouds.set_host_state(pcloud.id, 'h1', 'disabled')
        owner.cloud.compute.unshelve_server(server)
        self._wait_for(server, 'SHELVED_OFFLOADED')
        owner.pclouds.set_host_state(pcloud.id, 'h1', 'enabled')
        owner.cloud.compute.unshelve_server(server)
        self._wait_for(server, 'ACTIVE')
        self.assertEqual(self.real(pcloud, 'h1'), self.host_of(server))

    def _shelve(self, server):
        self.stage.users['owner'].cloud.compute.shelve_server(server)
        self._wait_for(server, 'SHELVED', 'SHELVED_OFFLOADED')
        admin = self.stage.admin.cloud.compute
        if admin.get_server(server.id).status == 'SHELVED':
            admin.shelve_offload_server(server)
        self._wait_for(server, 'SHELVED_OFFLOADED')

    def _wait_for(self, server, *statuses):
        compute = self.stage.admin.cloud.compute

        def look():
            found = compute.get_server(server.id)
            return found.status in statuses and found.task_state is None

        waiting.until(look, lambda: (
            f'{compute.get_server(server.id)} is to be {statuses}'))
