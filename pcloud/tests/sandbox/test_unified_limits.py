# SPDX-License-Identifier: Apache-2.0

"""Limits of units that a real Keystone keeps."""

import json
import threading

from pcloud.tests.sandbox import base
from pcloud_sandbox.configuration import layout

_SERVICE = '--service nova --region RegionOne'


class UnifiedLimitsTest(base.SharedSandboxTest):
    """Four hosts of two units each; Pclouds of Alice's and Bob's."""

    up_options = ('--hosts', '4')

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.shell('admin', 'openstack host flavor create --units 2 big; ' + (
            '; '.join(f'openstack compute service set --disable node-{number} '
                      'nova-compute; openstack host flavor host add big '
                      f'node-{number}' for number in range(1, 5))))
        for user in 'alice', 'bob':
            cls.shell(user, f'openstack pcloud create {user}s')
        cls.set_option('quota_driver', 'unified')

    @classmethod
    def set_option(cls, option, value):
        """Set an option of [pcloud] in the running sandbox."""
        status, _, told = base.call(
            cls.folder, 'set', 'pcloud', option, value)
        assert status == 0, told

    def tearDown(self):
        """Remove all hosts and limits, and have the flat model."""
        for user in 'alice', 'bob':
            for name in self.names(user):
                self.shell(
                    user, f'openstack pcloud host remove {user}s {name}')
        for kind in 'limit', 'registered limit':
            for each in json.loads(self.shell(
                    'admin', f'openstack {kind} list -f json')):
                self.shell(
                    'admin', f'openstack {kind} delete {each["ID"]}')
        super().tearDown()

    def names(self, user):
        return [each['Name'] for each in json.loads(self.shell(
            user, f'openstack pcloud host list {user}s -f json'))]

    def add(self, user, name):
        """Add a host; return what is told, '' where all is well."""
        return self.shell(
            user, f'openstack pcloud host add {user}s {name} '
            '--host-flavor big 2>&1 >/dev/null || :')

    def register(self, units):
        self.shell('admin', f'openstack registered limit create {_SERVICE} '
                   f'--default-limit {units} pcloud_units')

    def limit_project(self, project, units):
        self.shell('admin', f'openstack limit create {_SERVICE} --project '
                   f'{project} --resource-limit {units} pcloud_units')

    def limit_domain(self, units):
        """Give the default domain a limit; ``openstack`` cannot."""
        body = json.dumps({'limits': [{
            'service_id': self.shell(
                'admin', 'openstack service show nova -f value -c id'
            ).strip(), 'region_id': 'RegionOne', 'domain_id': 'default',
            'resource_name': 'pcloud_units', 'resource_limit': units}]})
        self.shell('admin', 'curl -sSf $OS_AUTH_URL/limits -H "X-Auth-Token: '
                   '$(openstack token issue -f value -c id)" -H '
                   f"'Content-Type: application/json' -d '{body}'")

    def shown(self, user):
        its = json.loads(self.shell(
            user, 'openstack pcloud quota show -f json'))
        return its['units_limit'], its['units_in_use']

    def check(self):
        """Return what ``pcloud-status`` tells of the limits."""
        path = layout.Layout(str(self.folder)).etc / 'nova.conf'
        told = self.shell(
            'admin', f'pcloud-status --config-file {path} upgrade check '
            '--json || :')
        return next(each for each in json.loads(told)['checks']
                    if each['check'] == 'Unified limits')

    def test_flat(self):
        self.assertEqual(1, self.check()['result'])
        self.assertIn('0 of 0 units', self.add('alice', 'a'))
        self.register(2)
        self.assertEqual(0, self.check()['result'])
        self.assertEqual((2, 0), self.shown('alice'))
        self.assertEqual('', self.add('alice', 'a'))
        self.assertIn('already used 2 of 2 units', self.add('alice', 'b'))
        self.limit_project('alice', 4)
        self.assertEqual((4, 2), self.shown('alice'))
        self.assertEqual((2, 0), self.shown('bob'))
        self.assertEqual('', self.add('alice', 'b'))
        self.assertIn('already used 4 of 4 units', self.add('alice', 'c'))

    def test_two_levels(self):
        self.register(8)
        conf = layout.Layout(str(self.folder)).etc / 'keystone.conf'
        before = conf.read_text()
        conf.write_text(
            before + '[unified_limit]\nenforcement_model = strict_two_level\n')
        self.addCleanup(conf.write_text, before)
        self.restart_keystone()
        self.limit_domain(6)
        self.assertEqual((6, 0), self.shown('bob'))
        self.assertEqual('', self.add('alice', 'a'))
        self.assertEqual((4, 0), self.shown('bob'))
        # Both may have one more host, or one of them two.
        threads = [threading.Thread(target=self.add, args=each) for each in (
            ('alice', 'b'), ('bob', 'b'), ('alice', 'c'), ('bob', 'c'))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(3, len(self.names('alice') + self.names('bob')))
        self.assertIn('Quota exceeded', self.add('bob', 'd'))

    def restart_keystone(self):
        for verb in 'stop', 'start':
            status, _, told = base.call(self.folder, verb, 'keystone')
            self.assertEqual(0, status, told)
