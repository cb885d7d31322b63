# SPDX-License-Identifier: Apache-2.0
"""What a request has seen is not what is there when its change is written."""

from unittest import mock

from nova.compute import api as compute_api

from pcloud.audit import all_checks
from pcloud.backend.aggregates import isolation
from pcloud.backend.changes import change
from pcloud.objects import allocation_ratios
from pcloud.objects import reconcile
from pcloud.tests.support import shared_cloud

HOST, NODE = 'node-1', 'node-1.hv.example.org'
POLICY = {'policy': {'constraints': 'ram=4G'}}


class RaceTestCase(shared_cloud.SharedCloudTestCase):
    """One host in a pool, and a Pcloud that has no host yet."""

    hosts = {HOST: 'az1'}

    def furnish(self):
        super().furnish()
        self.make_pool('gpu', HOST)
        self.pcloud = self.make_pcloud(self.alice)
        self.path = f'/os-pclouds/{self.pcloud}'
        self.provider = self._get_provider_uuid_by_name(NODE)

    def before(self, holder, name, meanwhile):
        """Have something done before a function is called first."""
        original, waiting = getattr(holder, name), [meanwhile]

        def wrapped(*args, **kwargs):
            if waiting:
                waiting.pop()()
            return original(*args, **kwargs)

        return mock.patch.object(holder, name, wrapped)

    def add(self, name):
        """Add the host, disabled, under a name."""
        self.add_host(self.alice, self.pcloud, name, 'gpu', enable=False)

    def status(self, method, path, body=None, user=None):
        """Return the status of a call about the Pcloud."""
        return (user or self.alice).call(
            method, f'{self.path}{path}', body).status_code

    def state(self, name, state):
        """Return the status of a change of the state of a host."""
        return self.status('PUT', f'/hosts/{name}', {'host': {'state': state}})

    def find(self):
        """Return the kinds of what an audit finds."""
        return [each.kind for each in all_checks.find(self.context, settle=0)]

    def cpu_ratio(self):
        """Return the ratio of the host's cpus in Placement."""
        return self._get_provider_inventory(
            self.provider)['VCPU']['allocation_ratio']


class HostRaceTest(RaceTestCase):

    def _exchange(self):
        """Have the same host under another name."""
        self.assertEqual(204, self.status('DELETE', '/hosts/a'))
        self.add('b')

    def test_late_removal_takes_no_other_host_away(self):
        self.add('a')
        with self.before(change, 'run', self._exchange):
            self.assertEqual(404, self.status('DELETE', '/hosts/a'))
        self.assertEqual(200, self.status('GET', '/hosts/b'))
        self.assertEqual([], self.find())

    def test_late_state_is_of_no_other_host(self):
        self.add('a')
        with self.before(change, 'run', self._exchange):
            self.assertEqual(404, self.state('a', 'enabled'))
        self.assertEqual('disabled', self.alice.get_json(
            f'{self.path}/hosts/b')['host']['state'])

    def test_host_that_was_used_meanwhile_does_not_leave(self):
        def use():
            self.assertEqual(200, self.state('a', 'enabled'))
            self.boot(self.alice, {'pcloud': self.pcloud})
            self.assertEqual(200, self.state('a', 'disabled'))

        self.add('a')
        with self.before(change, 'run', use):
            self.assertEqual(409, self.status('DELETE', '/hosts/a'))
        self.assertEqual(200, self.status('GET', '/hosts/a'))
        self.assertEqual([], self.find())

    def test_name_that_was_left_behind_can_be_had(self):
        """Whichever host is drawn for it."""
        aggregate = self.aggregate(f'Pcloud:{self.pcloud}')
        for node in (NODE, 'gone.example.org'):
            aggregate.update_metadata({'pcloud:host:a': node})
            self.add('a')
            self.assertEqual(204, self.status('DELETE', '/hosts/a'))

    def test_settings_do_not_outlive_their_pcloud(self):
        path = f'/os-pcloud-policies/pcloud/{self.pcloud}'
        with self.before(change, 'run', lambda: self.assertEqual(
                204, self.status('DELETE', ''))):
            self.assertEqual(404, self.admin.call(
                'PUT', path, POLICY).status_code)
        self.assertNotIn('Pcloud:policy', str(self.dump()['aggregates']))

    def test_units_that_rise_meanwhile_count(self):
        self.flags(quota_units=3, group='pcloud')
        with self.before(change, 'run', lambda: self.admin.call_json(
                'PUT', '/os-host-flavors/gpu', {'host_flavor': {
                    'units': 5}})):
            self.assertEqual(403, self.status('POST', '/hosts', {
                'host': {'name': 'a', 'host_flavor': 'gpu'}}))


class ReconcileRaceTest(RaceTestCase):

    def test_service_of_a_host_that_has_left_again(self):
        """A late request does not open a host that is in no pool."""
        self.admin.call_json('DELETE', f'/os-host-flavors/gpu/hosts/{HOST}')
        with self.before(
                compute_api.HostAPI, 'service_update_by_host_and_binary',
                lambda: self.admin.call_json(
                    'DELETE', f'/os-host-flavors/gpu/hosts/{HOST}')):
            self.admin.call_json('POST', '/os-host-flavors/gpu/hosts', {
                'host': {'host': HOST}})
        self.assertEqual('disabled', self.dump()['services'][HOST][0])

    def test_ratio_that_was_set_since(self):
        """A late request does not give back what was given back before."""
        def finish():
            self.assertTrue(reconcile.host(self.context, HOST))
            url = f'/resource_providers/{self.provider}/inventories'
            found = self.placement.get(url).body
            found['inventories']['VCPU']['allocation_ratio'] = 2.0
            self.placement.put(url, found)

        self.add('a')
        self.assertEqual(200, self.status('PUT', '', {
            'pcloud': {'cpu_allocation_ratio': 7}}))
        with self.before(allocation_ratios, 'settle', finish):
            self.assertEqual(204, self.status('DELETE', '/hosts/a'))
        self.assertEqual(2.0, self.cpu_ratio())


class AuditRaceTest(RaceTestCase):

    def _leave_behind(self, **metadata):
        self.write_metadata(self.pcloud, **metadata)
        return all_checks.find(self.context, settle=0)

    def test_repair_of_a_state_that_a_host_has_by_now(self):
        found = self._leave_behind(
            **{f'pcloud:host_state:{NODE}': 'disabled'})
        self.assertEqual(1, len(found))
        self.add('a')
        found[0].repair(self.context)
        self.assertEqual(200, self.status('GET', '/hosts/a'))
        self.assertEqual([], self.find())

    def test_repair_of_a_ratio_that_a_host_has_by_now(self):
        own = self.cpu_ratio()
        self.assertEqual(200, self.status('PUT', '', {
            'pcloud': {'cpu_allocation_ratio': 7}}))
        found = self._leave_behind(
            **{f'pcloud:own_ratios:{HOST}': f'cpu={own:g}'})
        self.assertEqual(1, len(found))
        self.add('a')
        found[0].repair(self.context)
        self.assertEqual(204, self.status('DELETE', '/hosts/a'))
        self.assertEqual(own, self.cpu_ratio())

    def test_audit_beside_a_removal(self):
        self.add('a')
        read = isolation.closed_aggregates
        leaving = [lambda: self.status('DELETE', '/hosts/a')]

        def closed(context):
            found = read(context)
            if leaving:
                self.assertEqual(204, leaving.pop()())
            return found

        with mock.patch.object(isolation, 'closed_aggregates', closed):
            self.assertEqual([], self.find())
