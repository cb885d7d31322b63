# SPDX-License-Identifier: Apache-2.0

"""Servers that are moved so that hosts become empty, or others fit."""

import base64
import dataclasses
import json
import threading
from unittest import mock
import zlib

from nova.conductor import rpcapi as conductor_rpcapi
from nova import exception as nova_exception
import oslo_messaging as messaging

from pcloud.audit import all_checks
from pcloud.backend.calls import placement
from pcloud.backend.calls import server_calls
from pcloud.backend.cells import occupants
from pcloud import exception
from pcloud.moving import asking
from pcloud import names
from pcloud.rules.moving import assignments
from pcloud.tests.functional.quick import test_rebalance
from pcloud.tests.support import base
from pcloud.tests.support import kills
from pcloud.tests.support import outages

BUSY = test_rebalance.BUSY
FREE = test_rebalance.FREE
UNKNOWN = test_rebalance.UNKNOWN

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


class UnderWayTest(test_rebalance.RebalanceTestCase):
    """What the world does while servers are moved."""

    def setUp(self):
        super().setUp()
        # The first step is begun by a worker.
        with mock.patch.object(asking, 'refusal', return_value=BUSY):
            self.begun(self.plan())
        self.assertEqual([[], []], self.statuses(self.small, self.large))

    def first_arrives(self):
        """Let the first step be made, and not the second."""
        self.work()
        self.arrives(self.small, 'c')
        self.ends(self.small, 'completed')

    def rests(self, where, *words):
        """Check that nothing is moved any more, and why."""
        self.work()
        self.assertEqual({}, self.kept())
        for word in words:
            self.assertIn(word, self.stopped())
        self.assertNotIn('node-', self.stopped())
        self.work()
        self.assertEqual(where, self.where(self.large))
        self.assertEqual([[]], self.statuses(self.large))
        self.assertEqual([], self.kinds())

    def test_killed_at_any_statement(self):
        number = 1
        while self._is_killed(number):
            number += 1
            # Whoever has died has a turn, which lapses.
            self.later(seconds=122)
        self.assertGreater(number, 20)
        self.work_until_done()
        self.assertEqual(['c', 'b'], self.where(self.small, self.large))
        self.wait_until(lambda: self.assertEqual(
            [['completed']] * 2, self.statuses(self.small, self.large)))

    def _is_killed(self, number):
        """Kill a worker at one of its statements to the API database."""
        engine, *_ = self.engines()
        if kills.is_killed(engine, number, self.work):
            return True
        # A worker that waits for a server does less than one that goes on.
        return bool(self.kept())

    def test_two_workers(self):
        def look():
            for _ in range(3):
                self.work()

        threads = [threading.Thread(target=look) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.work_until_done()
        self.assertEqual(['c', 'b'], self.where(self.small, self.large))
        self.wait_until(lambda: self.assertEqual(
            [['completed']] * 2, self.statuses(self.small, self.large)))

    def test_server_that_is_deleted(self):
        self.first_arrives()
        self.alice.call('DELETE', f'/servers/{self.large["id"]}')
        self._wait_until_deleted(self.large)
        self.work()
        self.assertEqual({}, self.kept())
        self.assertIn('not in the Pcloud', self.stopped())

    def test_server_that_arrived_and_is_deleted(self):
        self.work()
        self.arrives(self.small, 'c')
        self.ends(self.small, 'completed')
        self.work()
        self.alice.call('DELETE', f'/servers/{self.small["id"]}')
        self._wait_until_deleted(self.small)
        self.work_until_done()
        self.assertEqual(['b'], self.where(self.large))

    def test_server_that_is_elsewhere(self):
        key = names.rebalance_key(self.pcloud, self.small['id'])
        row = assignments.Assignment.read(self.kept()[key])
        self.set_metadata(**{key: dataclasses.replace(
            row, target=row.plan + row.target[8:]).text()})
        self.act(self.small, {'os-migrateLive': {
            'host': self.real['c'], 'block_migration': 'auto'}})
        self.arrives(self.small, 'c')
        self.ends(self.small, 'completed')
        self.rests(['a'], 'another host')

    def test_server_that_nova_never_moves(self):
        with mock.patch.object(server_calls, 'move_live',
                               side_effect=nova_exception.Forbidden()):
            self.work()
        self.rests(['a'], 'refuses to move it')
        self.assertEqual([[]], self.statuses(self.small))

    def test_that_is_ended(self):
        self.first_arrives()
        for _ in range(2):
            self.assertEqual(204, self.alice.call(
                'DELETE', self.rebalance).status_code)
            self.assertEqual({}, self.kept())
        self.work()
        self.assertEqual(['c', 'a'], self.where(self.small, self.large))
        self.assertIn('ended on request', self.stopped())

    def test_that_is_ended_while_a_worker_moves(self):
        """The server sets off, and no other does."""
        ask = asking.refusal

        def ended(*args):
            self.alice.call_json('DELETE', self.rebalance)
            return ask(*args)

        with mock.patch.object(asking, 'refusal', ended):
            self.work()
        self.arrives(self.small, 'c')
        self.ends(self.small, 'completed')
        self.work()
        self.assertEqual({}, self.kept())
        self.assertEqual(['c', 'a'], self.where(self.small, self.large))
        self.assertIn('ended on request', self.stopped())

    def test_launch_that_takes_the_room(self):
        self.first_arrives()
        self.put_on('b', 'small')
        self.only('a', 'b', 'c')
        self.work()
        # What has left b may still be given back.
        self.assertEqual(1, len(self.kept()))
        self.later(seconds=61)
        self.rests(['a'], 'no capacity', 'host b')

    def test_room_that_is_given_back_late(self):
        self.first_arrives()
        other = self.put_on('b', 'small')
        self.only('a', 'b', 'c')
        self.work()
        self.alice.call('DELETE', f'/servers/{other["id"]}')
        self._wait_until_deleted(other)
        self.work_until_done()
        self.assertEqual(['b'], self.where(self.large))

    def test_host_that_is_disabled(self):
        self.first_arrives()
        self.put('b', 'disabled')
        self.rests(['a'], 'host b')

    def test_host_of_a_later_step_that_is_disabled(self):
        self.put('b', 'disabled')
        self.work()
        self.assertEqual([[]], self.statuses(self.small))
        self.rests(['a'], 'host b')

    def test_host_that_is_down(self):
        self.first_arrives()
        self.set_down(self.real['b'])
        self.rests(['a'], 'host b')

    def test_host_that_is_drained(self):
        self.put('c', 'enabled')
        self.put('a', move='live')
        self.rests(['a'], 'host a', 'drained')

    def test_server_that_is_locked(self):
        self.first_arrives()
        self.act(self.large, {'lock': None})
        self.rests(['a'], self.large['id'], 'locked')

    def test_server_that_is_stopped(self):
        self.first_arrives()
        self.act(self.large, {'os-stop': None})
        self.wait_for(self.large, status='SHUTOFF')
        self.rests(['a'], self.large['id'], 'stopped')

    def test_migration_that_fails(self):
        with mock.patch.object(
                self.computes[self.real['b']].driver, 'live_migration',
                # As a hypervisor does whose guest stays where it is.
                side_effect=lambda context, instance, dest, post, recover,
                block=False, data=None: recover(
                    context, instance, dest, data)):
            self.work()
            self.wait_until(lambda: self.assertIn(
                self.migrations(self.small), [['error'], ['failed']]))
        self.wait_for(self.small, status='ACTIVE')
        self.rests(['a'], self.small['id'], 'failed')

    def test_message_that_gets_lost(self):
        with mock.patch.object(
                conductor_rpcapi.ComputeTaskAPI, 'live_migrate_instance',
                side_effect=messaging.MessageDeliveryFailure()):
            self.work()
        self.assertEqual([[]], self.statuses(self.small))
        self.work()
        self.assertEqual(2, len(self.kept()))
        self.later(minutes=61)
        self.work_until_done()
        self.assertEqual(['c', 'b'], self.where(self.small, self.large))

    def test_part_that_is_away(self):
        with outages.SilentBroker():
            self.work()
        with outages.SilentPlacement(self.placement.fixture._client):
            self.work()
        self.assertEqual([[]], self.statuses(self.small))
        self.assertEqual(2, len(self.kept()))
        self.work_until_done()
        self.assertEqual(['c', 'b'], self.where(self.small, self.large))

    def test_values_that_nobody_can_read(self):
        self.set_metadata(**{names.rebalance_key(
            self.pcloud, self.large['id']): 'soon'})
        self.assertIn('value-not-valid', self.kinds())
        self.rests(['a'], 'cannot be read')

    def test_node_that_is_not_there(self):
        key = names.rebalance_key(self.pcloud, self.large['id'])
        row = assignments.Assignment.read(self.kept()[key])
        self.set_metadata(**{key: dataclasses.replace(
            row, target=row.plan + row.target[8:]).text()})
        self.assertEqual(['rebalance-without-host'], self.kinds())
        for finding in all_checks.find(self.context, settle=0):
            finding.repair(self.context)
        self.assertEqual(1, len(self.kept()))
        self.assertEqual([], self.kinds())

    def test_a_new_plan(self):
        before = self.kept()
        plan = self.plan()
        self.assertEqual(2, len(plan['under_way']))
        with mock.patch.object(asking, 'refusal', return_value=BUSY):
            self.begun(plan)
        self.assertEqual(before.keys(), self.kept().keys())
        self.assertNotEqual(before, self.kept())
        # An empty plan ends what is under way.
        plan = self.plan(f'{FREE}&max_moves=1')
        self.assertEqual([], plan['moves'])
        self.begun(plan, goal='free_hosts', max_moves=1)
        self.assertEqual({}, self.kept())
        self.work()
        self.assertEqual([[], []], self.statuses(self.small, self.large))

    def test_death_before_nova_is_asked(self):
        with mock.patch.object(server_calls, 'move_live',
                               side_effect=KeyboardInterrupt):
            self.assertRaises(KeyboardInterrupt, self.work)
        self.work_until_done()
        self.assertEqual(['c', 'b'], self.where(self.small, self.large))


class RefusedTest(test_rebalance.RebalanceTestCase):

    def test_input(self):
        valid = self.plan()['valid_for']
        before = self.dump()
        for query, status in (
                ('', 400), ('goal=', 400), ('goal=best', 400),
                ('goal=fit', 400), ('goal=free_hosts&flavor=tiny', 400),
                ('goal=free_hosts&count=1', 400),
                ('goal=fit&flavor=none', 404), ('goal=fit&flavor=', 400),
                ('goal=fit&flavor=tiny&count=0', 400),
                ('goal=fit&flavor=tiny&count=1001', 400),
                ('goal=fit&flavor=tiny&count=-1', 400),
                ('goal=fit&flavor=tiny&count=x', 400),
                ('goal=free_hosts&max_moves=0', 400),
                ('goal=free_hosts&max_moves=1001', 400),
                ('goal=free_hosts&move=none', 400),
                ('goal=free_hosts&more=1', 400)):
            answer = self.alice.call('GET', f'{self.rebalance}?{query}')
            self.assertEqual(status, answer.status_code, (query, answer.text))
        for body, status in (
                ({}, 400), ({'goal': 'free_hosts'}, 400),
                ({'valid_for': valid, 'max_moves': 3}, 400),
                ({'valid_for': valid, 'flavor': 'tiny'}, 400),
                ({'valid_for': 'abc'}, 409),
                ({'goal': 'free_hosts', 'valid_for': 1}, 400),
                ({'goal': 'free_hosts', 'valid_for': ''}, 400),
                ({'goal': 'free_hosts', 'valid_for': '%'}, 400),
                ({'goal': 'fit', 'valid_for': valid}, 400),
                ({'goal': 'fit', 'valid_for': valid, 'flavor': 'none'}, 404),
                ({'goal': 'fit', 'valid_for': valid, 'flavor': 'tiny',
                  'count': 1001}, 400),
                ({'goal': 'free_hosts', 'valid_for': valid,
                  'max_moves': 0}, 400),
                ({'goal': 'free_hosts', 'valid_for': valid, 'x': 1}, 400),
                # A plan for another question.
                ({'goal': 'fit', 'valid_for': valid, 'flavor': 'tiny'}, 409),
                ({'goal': 'free_hosts', 'valid_for': valid,
                  'max_moves': 2}, 409),
                ({'goal': 'free_hosts', 'valid_for': valid,
                  'move': 'any'}, 409)):
            answer = self.alice.call(
                'POST', self.rebalance, {'rebalance': body})
            self.assertEqual(status, answer.status_code, (body, answer.text))
        self.assertEqual(before, self.dump())

    def test_plans_that_users_write(self):
        valid = self.plan()['valid_for']
        before = self.dump()
        fingerprint = valid.partition('.')[0]
        for text in ('', fingerprint, f'{fingerprint}.', '.', f'x{valid}',
                     f'{fingerprint}.AAAA', f'{fingerprint}.=',
                     self.written(fingerprint, [[[0, 0, 9]]]),
                     self.written(fingerprint, [[[-1, 0, 1]]]),
                     self.written(fingerprint, [[]]),
                     self.written(fingerprint, [[[0, 0, 1]]]),
                     self.written(fingerprint, 5),
                     f'{fingerprint}.{self.encoded({"a": 1})}',
                     self.written(fingerprint, [[[0, 0, float('inf')]]]),
                     f'{fingerprint}.{self.encoded("[" * 9999)}'):
            answer = self.begin({'valid_for': text})
            self.assertIn(answer.status_code, (400, 409), text)
        self.assertEqual(before, self.dump())

    def test_goals_that_users_write(self):
        fingerprint = self.plan()['valid_for'].partition('.')[0]
        before = self.dump()
        for question, status in (
                (None, 409), ([], 409), ('free_hosts', 409), ({}, 409),
                ({'goal': 'best'}, 409), ({'goal': 'fit'}, 400),
                ({'goal': 'free_hosts', 'max_moves': '1'}, 409),
                ({'goal': 'free_hosts', 'max_moves': 10 ** 30}, 409),
                ({'goal': 'free_hosts', 'more': 1}, 409),
                ({'goal': 'fit', 'flavor': ['tiny']}, 409),
                ({'goal': 'fit', 'flavor': 'none'}, 404),
                ({'goal': 'fit', 'flavor': '\ud800'}, 409),
                # As a plan, but for another question than the fingerprint's.
                ({'goal': 'free_hosts', 'max_moves': 9}, 409)):
            answer = self.alice.call('POST', self.rebalance, {'rebalance': {
                'valid_for': self.written(fingerprint, [], question)}})
            self.assertEqual(
                status, answer.status_code, (question, answer.text))
        self.assertEqual(before, self.dump())

    def written(self, fingerprint, steps, question=None):
        """Return the text that a user may write in place of a plan's."""
        return f'{fingerprint}.{self.encoded([question, 1, 1, steps])}'

    def encoded(self, value):
        return base64.urlsafe_b64encode(zlib.compress(
            json.dumps(value).encode())).decode()

    def test_strangers(self):
        plan = self.plan()
        unknown = self.rebalance.replace(self.pcloud, UNKNOWN)
        before = self.dump()
        for method, query, body in (
                ('GET', f'?{FREE}', None),
                ('POST', '', {'rebalance': {
                    'valid_for': plan['valid_for'],
                    'goal': 'free_hosts'}}),
                ('DELETE', '', None)):
            foreign, nowhere = (
                self.bob.call(method, path + query, body)
                for path in (self.rebalance, unknown))
            self.assertEqual(404, foreign.status_code)
            self.assertEqual(
                nowhere.text.replace(UNKNOWN, self.pcloud),
                foreign.text)
        self.assertEqual(before, self.dump())
        self.alice.call_json(
            'PUT', f'/os-pclouds/{self.pcloud}/tenants/{base.BOB}')
        for answer in (self.bob.call('GET', f'{self.rebalance}?{FREE}'),
                       self.begin(plan, user=self.bob),
                       self.bob.call('DELETE', self.rebalance)):
            self.assertEqual(403, answer.status_code)
        self.alice.call_json(
            'DELETE', f'/os-pclouds/{self.pcloud}/tenants/{base.BOB}')
        self.assertEqual({}, self.kept())
        self.assertEqual(plan, self.admin.get_json(
            f'{self.rebalance}?{FREE}')['rebalance'])

    def test_placement_that_is_away(self):
        plan, before = self.plan(), self.dump()
        with mock.patch.object(
                placement, 'candidates',
                side_effect=exception.Unavailable()):
            answers = [self.alice.call('GET', f'{self.rebalance}?{FREE}'),
                       self.begin(plan)]
        self.assertEqual([503] * 2, [
            answer.status_code for answer in answers])
        self.assertEqual(before, self.dump())

    def test_no_host(self):
        empty = self.make_pcloud(self.alice, 'empty')
        path = f'/os-pclouds/{empty}/rebalance'
        found = self.alice.get_json(f'{path}?{FREE}')['rebalance']
        self.assertEqual(([], True), (found['moves'], found['exact']))
        found = self.alice.get_json(
            f'{path}?goal=fit&flavor=tiny')['rebalance']
        self.assertEqual(([], False, True), (
            found['moves'], found['fits'], found['exact']))

    def test_a_pcloud_that_has_changed(self):
        plan = self.plan()
        self.put('c', 'disabled')
        self.assertEqual(409, self.begin(plan).status_code)
        self.put('c', 'enabled')
        new = self.put_on('c', 'tiny')
        self.only('a', 'b', 'c')
        before = self.dump()
        self.assertEqual(409, self.begin(plan).status_code)
        self.assertEqual(before, self.dump())
        self.alice.call('DELETE', f'/servers/{new["id"]}')
        self._wait_until_deleted(new)
        self.assertEqual(202, self.begin(plan).status_code)
        self.assertEqual(409, self.begin(plan).status_code)

    def test_two_at_once(self):
        plan, answers = self.plan(), []

        def ask():
            answers.append(self.begin(plan).status_code)

        with mock.patch.object(asking, 'refusal', return_value=BUSY):
            threads = [threading.Thread(target=ask) for _ in range(2)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        self.assertEqual([202, 409], sorted(answers))
        self.assertEqual(2, len(self.kept()))
        self.assertEqual(1, len({
            value.split()[0] for value in self.kept().values()}))
