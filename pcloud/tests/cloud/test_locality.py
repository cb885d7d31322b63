# SPDX-License-Identifier: Apache-2.0

"""Servers near to and far from each other, on two hosts in two racks."""

import uuid

from pcloud.tests.cloud import base
from pcloud.tests.cloud import needs


@needs.filter_enabled('LocalityFilter')
class LocalityTest(base.CloudTest):

    def setUp(self):
        super().setUp()
        for number, each in enumerate(self.stage.computes):
            self.stage.admin.pclouds.set_attribute(
                'rack', f'{self.stage.name}-{number}', [each.host])
        self.pcloud = self.new_pcloud(hosts=2)
        self.first = self._on('h1', members={'tags': ['web']})

    def _set_state(self, name, state):
        self.stage.users['owner'].pclouds.set_host_state(
            self.pcloud.id, name, state)

    def _on(self, name, user='owner', **options):
        """Start a server on a host."""
        others = [each.name for each in self.stage.users[
            'owner'].pclouds.list_hosts(self.pcloud.id) if each.name != name]
        for other in others:
            self._set_state(other, 'disabled')
        server = self.started(user, pcloud=self.pcloud.id, **options)
        for other in others:
            self._set_state(other, 'enabled')
        self.assertEqual(self.real(self.pcloud, name), self.host_of(server))
        return server

    def _name_of(self, **hints):
        """Start a server, and return the name of the host."""
        server = self.started('owner', pcloud=self.pcloud.id, **hints)
        return 'h1' if self.host_of(server) == self.host_of(
            self.first) else 'h2'

    def test_near_and_far(self):
        for named in (self.first.id, 'tag:web'):
            self.assertEqual('h1', self._name_of(near=named))
            self.assertEqual('h2', self._name_of(far=named))
        # Where both are wanted far wins.
        self.assertEqual('h2', self._name_of(
            near=self.first.id, far=self.first.id))

    def test_preferences(self):
        self._set_state('h2', 'disabled')
        self.assertEqual('h1', self._name_of(far='tag:web'))
        self.not_started('owner', pcloud=self.pcloud.id, far='tag:web',
                         locality='strict')
        self._set_state('h2', 'enabled')
        self._set_state('h1', 'disabled')
        self.assertEqual('h2', self._name_of(near='tag:web'))
        self.not_started('owner', pcloud=self.pcloud.id, near='tag:web',
                         locality='strict')

    def test_servers_of_others_are_unknown(self):
        owner, tenant = (self.stage.users[name]
                         for name in ('owner', 'tenant'))
        owner.pclouds.add_tenant(self.pcloud.id, tenant.project_id)
        theirs = self._on('h2', 'tenant')
        for unknown in (theirs.id, str(uuid.uuid4())):
            self.assertEqual('h1', self._name_of(
                near=[unknown, self.first.id]))
            self.not_started('owner', pcloud=self.pcloud.id, near=unknown,
                             locality='strict')
