# SPDX-License-Identifier: Apache-2.0
"""Several hosts join a Pcloud with one call: all of them, or none."""

from unittest import mock

import ddt

from pcloud.audit import all_checks
from pcloud import names
from pcloud.objects.changing_hands import allocation
from pcloud.tests.support import base
from pcloud.tests.support import counting
from pcloud.tests.support import shared_cloud


@ddt.ddt
class SeveralHostsTest(shared_cloud.SharedCloudTestCase):

    hosts = {'node-1': 'az1', 'node-2': 'az1', 'node-3': 'az2',
             'node-4': 'az2'}

    def furnish(self):
        super().furnish()
        self.make_pool('gpu', 'node-1', 'node-2', 'node-3')
        self.make_pool('dear', 'node-4', units=5)
        self.pcloud = self.make_pcloud(self.alice)

    def ask(self, count, name='web', **more):
        """Return the answer to a request for several hosts."""
        wanted = {'host_flavor': 'gpu', **more}
        return self.alice.call('POST', f'/os-pclouds/{self.pcloud}/hosts', {
            'host': {'name': name, 'count': count,
                     **{member: value for member, value in wanted.items()
                        if value is not None}}})

    def names(self):
        """Return the names of the hosts of the Pcloud."""
        return [host['name'] for host in self.alice.get_json(
            f'/os-pclouds/{self.pcloud}/hosts')['hosts']]

    def refused(self, status, answer):
        """Return the words of a refusal that has changed nothing."""
        self.assertEqual(status, answer.status_code, answer.text)
        self.assertEqual([], self.names())
        self.assertEqual([], all_checks.find(self.context, settle=0))
        return answer.text

    def test_all(self):
        answer = self.ask(3)
        self.assertEqual(201, answer.status_code, answer.text)
        self.assertEqual(['web-1', 'web-2', 'web-3'], [
            host['name'] for host in answer.json()['hosts']])
        self.assertEqual({'disabled'}, {
            host['state'] for host in answer.json()['hosts']})
        self.assertEqual(['web-1', 'web-2', 'web-3'], self.names())
        self.assertEqual([], all_checks.find(self.context, settle=0))
        self.assertEqual({'node-1', 'node-2', 'node-3'}, set(
            self.aggregate(names.pcloud(self.pcloud)).hosts))

    def test_whole_numbers_with_a_point(self):
        """To JSON Schema 2.0 is an integer, in every body."""
        path = f'/os-pclouds/{self.pcloud}'
        answer = self.ask(2.0, first=3.0)
        self.assertEqual(201, answer.status_code, answer.text)
        self.assertEqual(['web-3', 'web-4'], self.names())
        shrink = {'after_hours': 24.0, 'min_hosts': 1.0, 'keep_spare': 0.0}
        self.alice.call_json('PUT', path, {'pcloud': {'shrink': shrink}})
        self.alice.call_json('PUT', f'{path}/tenants/{base.BOB}', {
            'tenant': {'max_servers': 2.0}})
        default = {'pcloud': self.pcloud, 'mode': 'grow',
                   'host_flavor': 'gpu', 'max_hosts': 3.0}
        shown = self.alice.call_json(
            'PUT', f'/os-pcloud-policies/project/{base.ALICE}',
            {'policy': {'default_pcloud': default}})['policy']
        self.assertEqual('3', str(shown['default_pcloud']['max_hosts']))
        pcloud = self.alice.get_json(path)['pcloud']
        self.assertEqual("[24, 1, 0]", str([*pcloud['shrink'].values()]))
        tenants = self.alice.get_json(f'{path}/tenants')['tenants']
        self.assertEqual('2', *(str(each['max_servers']) for each in tenants
                                if each['id'] == base.BOB))
        self.assertEqual([], all_checks.find(self.context, settle=0))

    def test_one(self):
        answer = self.ask(1, first=7)
        self.assertEqual(['web-7'], [
            host['name'] for host in answer.json()['hosts']])

    def test_too_few_are_free(self):
        self.flags(quota_units=-1, group='pcloud')
        self.assertIn('only 3 free hosts', self.refused(409, self.ask(50)))
        self.assertIn('only 2 free hosts', self.refused(409, self.ask(
            3, availability_zone='az1')))
        self.assertEqual(201, self.ask(
            2, availability_zone='az1').status_code)

    def test_quota_for_all_together(self):
        self.flags(quota_units=2, group='pcloud')
        self.assertIn('requested 3', self.refused(403, self.ask(3)))
        self.assertEqual(201, self.ask(2).status_code)

    def test_name_that_is_taken(self):
        self.add_host(self.alice, self.pcloud, 'WEB-2', 'gpu', enable=False)
        answer = self.ask(2)
        self.assertEqual(409, answer.status_code)
        self.assertIn("'web-2'", answer.text)
        self.assertEqual(['WEB-2'], self.names())
        self.assertEqual(201, self.ask(2, first=3).status_code)

    def test_constraints(self):
        """All are of one host flavor, the best that has enough."""
        self.set_attribute('node-4', 'node-2', 'node-3')
        answer = self.ask(2, host_flavor=None, constraints='kind=a')
        self.assertEqual(['gpu'] * 2, [
            host['host_flavor'] for host in answer.json()['hosts']])
        self.assertEqual({'node-2', 'node-3'}, set(
            self.aggregate(names.pcloud(self.pcloud)).hosts))

    def test_too_few_fit(self):
        self.set_attribute('node-4', 'node-2', 'node-3')
        self.assertIn('the most are 2', self.refused(409, self.ask(
            3, host_flavor=None, constraints='kind=a')))

    def set_attribute(self, *hosts):
        """Give hosts an attribute that others do not have."""
        self.admin.call_json('PUT', '/os-pcloud-attributes/kind', {
            'attribute': {'value': 'a', 'hosts': list(hosts)}})

    def test_one_of_them_is_lost(self):
        """Another host is taken in the place of a host that another gets."""
        self.flags(allocation_backoff=0, group='pcloud')
        lost = []
        check = allocation._check_alone

        def lose(context, pcloud, host, flavor_id):
            if not lost:
                lost.append(host)
                raise allocation.Lost('another has it', host)
            check(context, pcloud, host, flavor_id)

        with mock.patch.object(allocation, '_check_alone', lose):
            self.assertEqual(201, self.ask(2).status_code)
        self.assertNotIn(lost[0], self.aggregate(
            names.pcloud(self.pcloud)).hosts)
        self.assertEqual([], all_checks.find(self.context, settle=0))

    def test_used_hosts_are_left_out(self):
        self.flags(allocation_backoff=0, group='pcloud')
        empty = allocation.emptiness.occupants

        def occupants(context, compute):
            return ['x'] if compute.host == 'node-2' else empty(
                context, compute)

        with mock.patch.object(
                allocation.emptiness, 'occupants', occupants), (
                mock.patch.object(allocation.emptiness, 'text', str)):
            self.assertEqual(201, self.ask(2).status_code)
        self.assertEqual({'node-1', 'node-3'}, set(
            self.aggregate(names.pcloud(self.pcloud)).hosts))

    @ddt.data(
        {'count': 0}, {'count': 51}, {'count': '2'}, {'first': 2},
        {'count': 2, 'first': 0}, {'count': 2, 'name': 'x' * 62},
        {'count': 2, 'name': 'web##'})
    def test_wrong_bodies(self, more):
        self.refused(400, self.alice.call(
            'POST', f'/os-pclouds/{self.pcloud}/hosts', {
                'host': {'name': 'web', 'host_flavor': 'gpu', **more}}))

    def test_statements_grow_with_the_hosts_alone(self):
        """As many more for the third host as for the second."""
        one, two, three = (
            min(self._cost(count) for _ in range(4)) for count in (1, 2, 3))
        self.assertEqual((two.sql - one.sql, two.http - one.http),
                         (three.sql - two.sql, three.http - two.http))

    def _cost(self, count):
        cost = counting.count(
            lambda: self.assertEqual(201, self.ask(count).status_code))
        for name in self.names():
            self.alice.call_json(
                'DELETE', f'/os-pclouds/{self.pcloud}/hosts/{name}')
        return cost
