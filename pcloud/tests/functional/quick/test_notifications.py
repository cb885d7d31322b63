# SPDX-License-Identifier: Apache-2.0

"""What billing and audit are told."""

import json

from pcloud.tests.support import base
from pcloud.tests.support import outages
from pcloud.tests.support import shared_cloud


class NotificationTest(shared_cloud.SharedCloudTestCase):

    hosts = {'node-1': 'az1'}

    def _next(self, event_type):
        """Return the data of the one new notification of a type."""
        sent = [each for each in self.notifier.versioned_notifications
                if each['event_type'].startswith('pcloud.')]
        self.assertEqual([event_type], [each['event_type'] for each in sent])
        self.notifier.reset()
        payload = sent[0]['payload']
        self.assertEqual('pcloud', payload['nova_object.namespace'])
        self.assertEqual(
            '1.1' if event_type.startswith('pcloud.host') else '1.0',
            payload['nova_object.version'])
        self.assertNotIn('node-1', json.dumps(payload))
        return payload['nova_object.data']

    def test_life(self):
        self.make_pool('gpu', 'node-1', units=3)
        self.notifier.reset()
        pcloud = self.make_pcloud(self.alice, 'shop')
        about = {'pcloud_id': pcloud, 'owner': base.ALICE}
        data = {**about, 'name': 'shop', 'cpu_allocation_ratio': None,
                'ram_allocation_ratio': None}
        self.assertEqual(data, self._next('pcloud.create'))
        path = f'/os-pclouds/{pcloud}'
        self.alice.call_json('PUT', path, {'pcloud': {
            'name': 'new', 'cpu_allocation_ratio': 2}})
        data.update(name='new', cpu_allocation_ratio=2.0)
        self.assertEqual(data, self._next('pcloud.update'))

        host = {**about, 'name': 'web', 'host_flavor': 'gpu', 'units': 3,
                'availability_zone': 'az1', 'state': 'disabled',
                'reason': None}
        self.alice.call_json('POST', f'{path}/hosts', {
            'host': {'name': 'web', 'host_flavor': 'gpu'}})
        self.assertEqual(host, self._next('pcloud.host.add'))
        for state in ('enabled', 'disabled'):
            self.alice.call_json('PUT', f'{path}/hosts/web',
                                 {'host': {'state': state}})
            self.assertEqual({**host, 'state': state},
                             self._next('pcloud.host.update'))
        self.alice.call_json('DELETE', f'{path}/hosts/web')
        self.assertEqual(host, self._next('pcloud.host.remove'))

        for method, event in (('PUT', 'add'), ('DELETE', 'remove')):
            self.alice.call_json(method, f'{path}/tenants/{base.BOB}')
            self.assertEqual({**about, 'tenant': base.BOB},
                             self._next(f'pcloud.tenant.{event}'))
        self.alice.call_json('DELETE', path)
        self.assertEqual(data, self._next('pcloud.delete'))

    def test_a_pcloud_that_grows(self):
        self.useFixture(outages.GrantingKeystone())
        self.make_pool('gpu', 'node-1', units=3)
        pcloud = self.make_pcloud(self.alice)
        path = f'/os-pcloud-policies/project/{base.ALICE}'
        self.alice.call_json('PUT', path, {'policy': {'default_pcloud': {
            'pcloud': pcloud, 'mode': 'grow', 'host_flavor': 'gpu',
            'max_hosts': 1}}})
        self.notifier.reset()
        self.boot(self.alice)
        told = self._next('pcloud.host.add')
        self.assertTrue(told.pop('name').startswith('grown-'))
        self.assertEqual(
            {'pcloud_id': pcloud, 'owner': base.ALICE, 'host_flavor': 'gpu',
             'units': 3, 'availability_zone': 'az1', 'state': 'enabled',
             'reason': 'growth'}, told)

    def test_refused_calls_tell_nothing(self):
        pcloud = self.make_pcloud(self.alice)
        self.notifier.reset()
        for method, path, body in (
                ('POST', f'/os-pclouds/{pcloud}/hosts',
                 {'host': {'name': 'a', 'host_flavor': 'gpu'}}),
                ('DELETE', f'/os-pclouds/{pcloud}/hosts/a', None),
                ('DELETE', f'/os-pclouds/{pcloud}/tenants/{base.BOB}', None)):
            self.assertEqual(
                404, self.alice.call(method, path, body).status_code)
        # An idempotent call that changes nothing is no event either.
        self.alice.call_json(
            'PUT', f'/os-pclouds/{pcloud}/tenants/{base.ALICE}')
        self.assertEqual([], self.notifier.versioned_notifications)
