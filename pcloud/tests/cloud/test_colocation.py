# SPDX-License-Identifier: Apache-2.0

"""Services whose units share the host of a unit of another service."""

from pcloud.tests.cloud import base
from pcloud.tests.cloud import needs


@needs.filter_enabled('ColocationFilter')
class ColocationTest(base.CloudTest):

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.flavors = {flag: cls.stage.new_flavor(pcloud__co_located=flag)
                       for flag in ('allow', 'always', 'never')}

    def setUp(self):
        super().setUp()
        self.pcloud = self.new_pcloud(hosts=2).id

    def _unit(self, flag='never', user='owner', **hints):
        return self.started(user, flavor=self.flavors[flag],
                            pcloud=self.pcloud, **hints)

    def _refused(self, flag, **hints):
        return self.not_started('owner', flavor=self.flavors[flag],
                                pcloud=self.pcloud, **hints)

    def test_in_a_service(self):
        parent = self.host_of(self._unit(service='web'))
        for flag in ('allow', 'always'):
            self.assertEqual(parent, self.host_of(
                self._unit(flag, service='log', in_='web')))

    def test_in_a_server(self):
        parent = self._unit()
        for _ in range(2):
            self.assertEqual(self.host_of(parent), self.host_of(
                self._unit('allow', in_=parent.id)))

    def test_flags(self):
        self._unit(service='web')
        self._refused('never', in_='web')
        self._refused('always')
        self._refused('always', service='log')
        self._refused('allow', in_='nothing')

    def test_of_the_same_project_only(self):
        owner, tenant = (self.stage.users[name]
                         for name in ('owner', 'tenant'))
        owner.pclouds.add_tenant(self.pcloud, tenant.project_id)
        theirs = self._unit(user='tenant', service='web')
        for parent in ('web', theirs.id):
            self._refused('allow', in_=parent)
