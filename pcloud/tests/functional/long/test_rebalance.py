# SPDX-License-Identifier: Apache-2.0

"""Servers that are moved so that hosts become empty, or others fit."""

from unittest import mock

from pcloud.backend.cells import occupants
from pcloud.tests.functional.quick import test_rebalance


# The first microversion with groups that have one policy.
GROUPS = '2.64'


class PlanTest(test_rebalance.RebalanceTestCase):

    def test_calls_move_nothing(self):
        self.assertEqual(202, self.begin(self.plan()).status_code)
        self.plan()
        self.assertNotEqual({}, self.kept())
        for server in self.large, self.small:
            self.assertEqual([], self.migrations(server))

    def test_two_steps(self):
        before = self.dump()
        plan = self.plan()
        self.assertEqual(before, self.dump())
        self.assertEqual([
            {'server': self.small['id'], 'from': 'b', 'to': 'c'},
            {'server': self.large['id'], 'from': 'a', 'to': 'b'}],
            plan['moves'])
        self.assertEqual(
            ([[0], [1]], ['a'], 1, None, True, [], [], None),
            tuple(plan[name] for name in (
                'steps', 'frees', 'units_saved', 'fits', 'exact',
                'not_explained', 'under_way', 'stopped')))
        self.assertEqual(['locked'] * 2, [
            each['rule'] for each in plan['pinned']])
        self.assertEqual({'b', 'c'}, {
            each['host'] for each in plan['pinned']})
        self.assertNotIn('node-', str(plan))

    def test_it_is_done(self):
        plan = self.plan()
        shown = self.begun(plan)
        self.assertEqual(plan['moves'], shown['moves'])
        self.assertEqual([1, 2], [
            each['step'] for each in shown['under_way']])
        self.work_until_done()
        self.assertEqual(['c', 'b'], self.where(self.small, self.large))
        self.wait_until(lambda: self.assertEqual(
            [['completed']] * 2, self.statuses(self.small, self.large)))
        self.assertEqual([], self.get('a')['instances'])
        self.assertEqual('enabled', self.get('a')['state'])
        plan = self.plan()
        self.assertEqual(([], None, []), (
            plan['moves'], plan['stopped'], plan['under_way']))
        self.assertEqual([], self.kinds())

    def test_few_moves(self):
        plan = self.plan(f'{test_rebalance.FREE}&max_moves=1')
        self.assertEqual(([], [], True), (
            plan['moves'], plan['frees'], plan['exact']))

    def test_room_for_others(self):
        plan = self.plan('goal=fit&flavor=large')
        self.assertEqual([
            {'server': self.small['id'], 'from': 'b', 'to': 'c'}],
            plan['moves'])
        self.assertEqual((True, True, []), (
            plan['fits'], plan['exact'], plan['frees']))
        # The plan says what it is for.
        answer = self.alice.call('POST', self.rebalance, {
            'rebalance': {'valid_for': plan['valid_for']}})
        self.assertEqual((202, plan['moves']), (
            answer.status_code, answer.json()['rebalance']['moves']))
        self.work_until_done()
        self.only('a', 'b', 'c')
        new = self.boot(self.alice, {'pcloud': self.pcloud},
                        flavorRef='large')
        self.assertEqual(['b'], self.where(new))
        plan = self.plan('goal=fit&flavor=large&count=2')
        self.assertEqual(([], False, True), (
            plan['moves'], plan['fits'], plan['exact']))
        plan = self.plan('goal=fit&flavor=tiny&count=2')
        self.assertEqual(([], True, True), (
            plan['moves'], plan['fits'], plan['exact']))

    def test_hosts_that_take_nobody(self):
        for name in 'bc':
            self.put(name, 'disabled')
            self.assertEqual([], self.plan()['moves'], name)
            self.put(name, 'enabled')
            self.put(name, move='none')
            plan = self.plan()
            self.assertEqual([], plan['moves'], name)
            self.assertIn('drained', {
                each['rule'] for each in plan['pinned']})
            self.put(name, 'enabled')
            self.set_down(self.real[name])
            self.assertEqual([], self.plan()['moves'], name)
            self.set_down(self.real[name], False)
            self.admin.call_json(
                'PUT', f'/os-host-flavors/gpu/hosts/{self.real[name]}',
                {'host': {'maintenance': {
                    'from': '2099-01-01', 'reason': 'cables'}}})
            self.assertEqual([], self.plan()['moves'], name)
            self.admin.call_json(
                'PUT', f'/os-host-flavors/gpu/hosts/{self.real[name]}',
                {'host': {'maintenance': None}})
        self.assertEqual(2, len(self.plan()['moves']))
        # Servers may leave a disabled host.
        self.put('a', 'disabled')
        self.assertEqual(['a'], self.plan()['frees'])

    def test_servers_that_stay(self):
        self.act(self.large, {'os-stop': None})
        self.wait_for(self.large, status='SHUTOFF')
        self.assertEqual([], self.plan()['moves'])
        self.assertEqual('not_migratable', self.rule(self.large))
        plan = self.plan(f'{test_rebalance.FREE}&move=any')
        self.assertEqual(2, len(plan['moves']))
        self.begun(plan, goal='free_hosts', move='any')
        self.work_until_done()
        self.assertEqual(['c', 'b'], self.where(self.small, self.large))
        self.wait_for(self.large, status='SHUTOFF')
        self.ends(self.large, 'confirmed')

    def test_servers_that_are_tied(self):
        self.alice.microversion = GROUPS
        group = self.alice.post_server_groups(
            {'name': 'together', 'policy': 'affinity'})
        self.only('a')
        in_group = self.boot(
            self.alice, {'pcloud': self.pcloud, 'group': group['id']},
            flavorRef='tiny')
        keyed = self.make_flavor('keyed', memory_mb=512, extra_specs={
            'pcloud:co_located': 'never'})
        co_located = self.boot(
            self.alice, {'pcloud': self.pcloud}, flavorRef=keyed)
        self.only('a', 'b', 'c')
        self.assertEqual(['placement'] * 2, [
            self.rule(server) for server in (in_group, co_located)])
        self.assertEqual([], self.plan()['moves'])


class ReadAgainTest(test_rebalance.RebalanceTestCase):

    def test_occupants_that_are_not_known_by_now(self):
        """No host counts as empty whose cell was silent a moment later."""
        with mock.patch.object(
                occupants, 'of_hosts',
                return_value=({}, frozenset(self.real.values()))):
            answer = self.alice.call(
                'GET', f'{self.rebalance}?{test_rebalance.FREE}')
        self.assertEqual(503, answer.status_code)

    def test_server_that_prefers_the_pcloud(self):
        """The requirements of the Pcloud count for the server too."""
        self._delete_server(self.large)
        self.only('a')
        server = self.boot(self.alice, {'pcloud_prefer': self.pcloud},
                           flavorRef='tiny')
        self.only('a', 'b', 'c')
        self.assertEqual([(server['id'], 'a')], [
            (each['server'], each['from']) for each in self.plan()['moves']])
        self.flags(enabled_filters=['PcloudFilter', 'ConstraintsFilter'],
                   group='filter_scheduler')
        self.alice.call_json(
            'PUT', f'/os-pcloud-policies/pcloud/{self.pcloud}',
            {'policy': {'constraints': 'cpu=1000'}})
        self.assertEqual([], self.plan()['moves'])

    def test_server_that_was_started_for_a_zone(self):
        """Nova narrows such a request; the zone of each host decides."""
        self._delete_server(self.large)
        self.only('a')
        server = self.boot(self.alice, {'pcloud': self.pcloud}, zone='az1',
                           flavorRef='tiny')
        self.only('a', 'b', 'c')
        self.assertEqual([(server['id'], 'a')], [
            (each['server'], each['from']) for each in self.plan()['moves']])

    def test_host_that_has_given_too_much(self):
        """A host takes servers that need nothing of what it lacks."""
        self._delete_server(self.large)
        self.only('a')
        without_cpus = self.boot(
            self.alice, {'pcloud': self.pcloud}, flavorRef=self.make_flavor(
                'disk', memory_mb=512, extra_specs={'resources:VCPU': '0'}))
        self.only('a', 'b', 'c')
        self.put('c', 'disabled')
        self.alice.call_json('PUT', f'/os-pclouds/{self.pcloud}', {
            'pcloud': {'cpu_allocation_ratio': 0.1}})
        self.assertEqual([(without_cpus['id'], 'a')], [
            (each['server'], each['from']) for each in self.plan()['moves']])
        self._delete_server(without_cpus)
        self.put_on('a', 'tiny')
        self.only('a', 'b', 'c')
        self.assertEqual([], self.plan()['moves'])

    def test_strict_neighbours_with_a_tag(self):
        self.only('c')
        self.boot(self.alice, {'pcloud': self.pcloud, 'near': 'tag:db',
                               'locality': 'strict'}, flavorRef='tiny')
        self.only('a', 'b', 'c')
        plan = self.plan()
        self.assertEqual([], plan['moves'])
        self.assertEqual({'placement'}, {
            each['rule'] for each in plan['pinned']
            if each['server'] in (self.small['id'], self.large['id'])})
