# SPDX-License-Identifier: Apache-2.0

"""Servers that name no Pcloud, and the default Pcloud of their project."""

import collections
from concurrent import futures
import math

from pcloud.client import exceptions
from pcloud.tests.cloud import base
from pcloud.tests.cloud import waiting

# How many launches are begun at the same moment.
LAUNCHES = 20
# How many of their servers a host has capacity for.
ON_A_HOST = 8


class DefaultsTest(base.CloudTest):

    hosts = 3

    def set_default(self, pcloud, mode='strict', **growth):
        owner = self.stage.users['owner']
        self.addCleanup(
            self.stage.admin.call, 'DELETE',
            f'/os-pcloud-policies/project/{owner.project_id}')
        return owner.pclouds.set_default_pcloud(pcloud.id, mode, **growth)

    def test_strict(self):
        pcloud = self.new_pcloud(1)
        self.set_default(pcloud)
        server = self.started('owner')
        self.assertEqual(self.real(pcloud, 'h1'), self.host_of(server))
        outside = self.started('owner', pcloud='none')
        self.assertNotIn(self.host_of(outside), self.pool())
        self.stage.users['owner'].pclouds.set_host_state(
            pcloud.id, 'h1', 'disabled')
        self.assertIn('no enabled host', self.not_started('owner'))

    def test_prefer(self):
        pcloud = self.new_pcloud(1)
        self.set_default(pcloud, 'prefer')
        server = self.started('owner')
        self.assertEqual(self.real(pcloud, 'h1'), self.host_of(server))
        self.stage.users['owner'].pclouds.set_host_state(
            pcloud.id, 'h1', 'disabled')
        self.assertNotIn(self.host_of(self.started('owner')), self.pool())

    def test_grow(self):
        pcloud = self.new_pcloud()
        self.set_default(pcloud, 'grow', max_hosts=1,
                         host_flavor=self.stage.flavor_id)
        waiting.until_accepted(
            lambda: self.launch(self.large()), 'the Pcloud grows')
        host, = self.stage.users['owner'].pclouds.list_hosts(pcloud.id)
        self.assertEqual('enabled', host.state)
        self.assertTrue(host.name.startswith('grown-'))
        refusal = self.launched(self.large(), ON_A_HOST)
        self.assertEqual(409, refusal.status_code)
        self.assertIn('max_hosts', refusal.text)
        self.assert_hidden(refusal.text)

    def large(self):
        """Return a flavor of which a host takes `ON_A_HOST` servers."""
        memory = {each.name: each.memory_size for each in
                  self.stage.admin.cloud.compute.hypervisors(details=True)}
        smallest = min(memory[each.node] for each in self.stage.computes)
        return self.stage.new_flavor_of(smallest * 9 // 10 // ON_A_HOST)

    def launched(self, flavor, count=1):
        choice, owner = self.stage.choice, self.stage.users['owner']
        return owner.call('POST', '/servers', {'server': {
            'name': self.stage.name, 'flavorRef': flavor.id,
            'imageRef': choice.image.id, 'networks': choice.networks,
            'min_count': count}})

    def launch(self, flavor):
        answer = self.launched(flavor)
        if answer.status_code == 409:
            # Hosts of the test before may still settle.
            raise exceptions.Conflict(answer.text)
        self.assertEqual(202, answer.status_code, answer.text)
        owner = self.stage.users['owner']
        server = owner.settled(owner.cloud.compute.get_server(
            answer.json()['server']['id']))
        self.assertEqual('ACTIVE', server.status, server.fault)
        return server

    def test_launches_at_the_same_moment_share_what_they_add(self):
        pcloud, flavor = self.new_pcloud(), self.large()
        self.set_default(pcloud, 'grow', max_hosts=self.hosts,
                         host_flavor=self.stage.flavor_id)
        with futures.ThreadPoolExecutor(LAUNCHES) as threads:
            servers = list(threads.map(
                lambda _: self.launch(flavor), range(LAUNCHES)))
        hosts = self.stage.users['owner'].pclouds.list_hosts(pcloud.id)
        self.assertEqual(math.ceil(LAUNCHES / ON_A_HOST), len(hosts))
        there = collections.Counter(map(self.host_of, servers))
        self.assertEqual(LAUNCHES, sum(there.values()))
        self.assertLessEqual(there.keys(), self.pool())
