# SPDX-License-Identifier: Apache-2.0

"""Machine constraints, for servers and for the hosts of a Pcloud."""

from pcloud.tests.cloud import base
from pcloud.tests.cloud import needs


class ConstraintsTest(base.CloudTest):
    """The first of two hosts has an attribute with the name of the run."""

    def setUp(self):
        super().setUp()
        self.special = self.stage.computes[0].host
        self.wish = f'{self.stage.name}=yes'
        self.stage.admin.pclouds.set_attribute(
            self.stage.name, 'yes', [self.special])

    def test_hosts(self):
        pcloud = self.new_pcloud()
        path = f'/os-pclouds/{pcloud.id}/hosts'
        for wrong in ('ram', 'ram=x', f'{self.wish} {self.wish}', 'cpu=-1'):
            self.call(400, 'owner', 'POST', path, {
                'host': {'name': 'h1', 'constraints': wrong}})
        self.call(403, 'owner', 'POST', path, {
            'host': {'name': 'h1', 'constraints': f'host={self.stage.name}'}})
        self.call(409, 'owner', 'POST', path, {
            'host': {'name': 'h1', 'constraints': f'{self.wish} ram=999P'}})
        shown = self.call(201, 'owner', 'POST', path, {
            'host': {'name': 'h1', 'constraints': self.wish}})['host']
        self.assertEqual(self.stage.flavor_id, shown['host_flavor'])
        self.assertEqual(self.special, self.real(pcloud, 'h1'))
        self.call(409, 'owner', 'POST', path, {
            'host': {'name': 'h2', 'constraints': self.wish}})

    @needs.filter_enabled('ConstraintsFilter')
    def test_servers(self):
        pcloud = self.new_pcloud(hosts=2).id
        for written in (self.wish, f'{self.wish} cpu=1 ram=1M'):
            server = self.started('owner', pcloud=pcloud, constraints=written)
            self.assertEqual(self.special, self.host_of(server))
        for written in (f'{self.stage.name}=no', 'ram=999P', 'cpu=999999',
                        'ram=x', f'host={self.stage.name}'):
            self.not_started('owner', pcloud=pcloud, constraints=written)

    @needs.filter_enabled('ConstraintsFilter')
    def test_levels(self):
        """A Pcloud's constraints hold for servers that wish nothing else."""
        owner = self.stage.users['owner'].pclouds
        pcloud = self.new_pcloud(hosts=2).id
        owner.update_policy('pcloud', pcloud, constraints=self.wish)
        for _ in range(2):
            server = self.started('owner', pcloud=pcloud)
            self.assertEqual(self.special, self.host_of(server))
        owner.update_policy('pcloud', pcloud, constraints='ram=999P')
        self.not_started('owner', pcloud=pcloud)
        self.started('owner', pcloud=pcloud, constraints='ram=0')
