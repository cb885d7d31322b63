# SPDX-License-Identifier: Apache-2.0

"""Those who wait for a host get one, in order."""

import datetime
from unittest import mock

from nova import context as nova_context
from oslo_utils import fixture as utils_fixture
from oslo_utils import timeutils

from pcloud.api import enforcer
from pcloud.api.policies import hosts as host_policies
from pcloud.audit import all_checks
from pcloud.moving import leaving
from pcloud.objects.changing_hands import allocation
from pcloud.objects.changing_hands import matching
from pcloud.objects.changing_hands import waiting_entries
from pcloud.objects import host_states
from pcloud.objects import pclouds
from pcloud.rules.placing import choice
from pcloud.tests.functional.quick import test_api
from pcloud.tests.functional.quick import test_growing_pcloud
from pcloud.tests.functional.quick import test_maintenance_policy
from pcloud.tests.support import base
from pcloud.tests.support import counting


class WaitingTestCase(test_api.ApiTestCase):
    """The hosts node-1 and node-2 are gold; Alice's Pcloud has both."""

    def furnish(self):
        super().furnish()
        self.flags(settle_limit=1, group='pcloud')
        self.make_pool('gold', 'node-1', 'node-2')
        self.mine = self.make_pcloud(self.alice)
        self.his = self.make_pcloud(self.bob)
        self.set_quota(base.ALICE, -1)
        self.set_quota(base.BOB, -1)
        for name in 'a', 'b':
            self.add_host(self.alice, self.mine, name, 'gold', enable=False)

    def set_quota(self, project, units):
        self.admin.call_json('PUT', f'/os-pcloud-quotas/{project}', {
            'quota': {'units': {'limit': units}}})

    def wait(self, user, pcloud, name='new', days=1, expected=202, **more):
        """Ask for a host, or wait; return the entry, host or message."""
        until = timeutils.utcnow() + datetime.timedelta(days=days)
        found = self.check(
            expected, user, 'POST', f'/os-pclouds/{pcloud}/hosts', {
                'host': {'name': name, 'host_flavor': 'gold',
                         'wait_until': until.isoformat(), **more}})
        return found if expected >= 400 else next(iter(found.values()))

    def ask(self, user, pcloud, name='plain', expected=409):
        """Ask for a host without waiting."""
        return self.check(
            expected, user, 'POST', f'/os-pclouds/{pcloud}/hosts', {
                'host': {'name': name, 'host_flavor': 'gold'}})

    def free(self, *names):
        """Have hosts leave Alice's Pcloud."""
        for name in names:
            self.check(204, self.alice, 'DELETE',
                       f'/os-pclouds/{self.mine}/hosts/{name}')

    def match(self):
        matching.step(nova_context.get_admin_context())

    def at(self, **later):
        """Set the clock to some time later."""
        self.useFixture(utils_fixture.TimeFixture(
            timeutils.utcnow() + datetime.timedelta(**later)))

    def kinds(self):
        return [each.kind for each in all_checks.find(self.context, settle=0)]

    def events(self):
        """Return the new notifications about who waits."""
        found = [(each['event_type'].rpartition('.')[2],
                  each['payload']['nova_object.data']['name'])
                 for each in self.notifier.versioned_notifications
                 if each['event_type'].startswith('pcloud.host.waiting.')]
        self.notifier.reset()
        return found

    def waiting(self, user, pcloud):
        return user.get_json(f'/os-pclouds/{pcloud}/waiting')['waiting']

    def names(self, user, pcloud):
        return [host['name'] for host in user.get_json(
            f'/os-pclouds/{pcloud}/hosts')['hosts']]

    def rows(self):
        return {key: value for key, value
                in self.aggregate('pcloud-journal').metadata.items()
                if key.startswith('pcloud:waiting:')}


class CallTest(WaitingTestCase):

    def test_life(self):
        entry = self.wait(self.alice, self.mine)
        self.assertEqual(
            ('new', 'gold', None, 1),
            (entry['name'], entry['host_flavor'],
             entry['availability_zone'], entry['position']))
        self.assertEqual([entry], self.waiting(self.alice, self.mine))
        self.assertEqual([{**entry, 'pcloud': self.mine,
                           'owner': base.ALICE}], self.admin.get_json(
            '/os-host-flavors/gold/waiting')['waiting'])
        path = f'/os-pclouds/{self.mine}/waiting/{entry["id"]}'
        self.check(204, self.alice, 'DELETE', path)
        self.check(404, self.alice, 'DELETE', path)
        self.assertEqual([], self.waiting(self.alice, self.mine))
        self.assertEqual({}, self.rows())

    def test_a_host_is_free(self):
        self.free('a')
        self.assertEqual('disabled', self.wait(
            self.bob, self.his, expected=201)['state'])
        self.assertEqual({}, self.rows())

    def test_what_is_refused(self):
        before = self.dump()
        for days in -1, 31:
            self.assertIn('wait_until', self.wait(
                self.alice, self.mine, days=days, expected=400))
        for until in 'soon', '', 'x' * 300, '2026-13-01':
            self.check(400, self.alice, 'POST',
                       f'/os-pclouds/{self.mine}/hosts', {'host': {
                           'name': 'n', 'host_flavor': 'gold',
                           'wait_until': until}})
        self.wait(self.alice, self.mine, count=2, expected=400)
        self.check(400, self.alice, 'POST', f'/os-pclouds/{self.mine}/hosts', {
            'host': {'name': 'n', 'constraints': 'cpus=1',
                     'wait_until': '2027-01-01'}})
        self.wait(self.alice, self.mine, name='A', expected=409)
        self.wait(self.alice, self.mine, availability_zone='az9',
                  expected=404)
        self.wait(self.bob, self.mine, expected=404)
        self.set_quota(base.ALICE, 2)
        kept = self.dump()
        self.assertIn('Quota exceeded', self.wait(
            self.alice, self.mine, expected=403))
        self.assertEqual(kept, self.dump())
        self.set_quota(base.ALICE, -1)
        self.assertEqual({}, self.rows())
        self.assertEqual(before.keys(), self.dump().keys())

    def test_names_of_entries_differ(self):
        self.wait(self.alice, self.mine)
        self.wait(self.alice, self.mine, name='NEW', expected=409)
        self.wait(self.bob, self.his)

    def test_most_entries(self):
        self.flags(wait_entries=2, group='pcloud')
        self.wait(self.alice, self.mine, 'x')
        self.wait(self.alice, self.make_pcloud(self.alice), 'y')
        self.assertIn('has 2 entries in waiting lists, and may have 2',
                      self.wait(self.alice, self.mine, 'z', expected=403))
        self.wait(self.bob, self.his)
        self.assertEqual(3, len(self.rows()))

    def test_others_learn_nothing(self):
        entry = self.wait(self.alice, self.mine)
        path = f'/os-pclouds/{self.mine}/waiting'
        self.check(404, self.bob, 'GET', path)
        self.check(404, self.bob, 'DELETE', f'{path}/{entry["id"]}')
        self.check(404, self.bob, 'DELETE',
                   f'/os-pclouds/{self.his}/waiting/{entry["id"]}')
        self.check(403, self.alice, 'GET', '/os-host-flavors/gold/waiting')
        self.check(404, self.admin, 'GET', '/os-host-flavors/none/waiting')
        self.alice.call_json(
            'PUT', f'/os-pclouds/{self.mine}/tenants/{base.BOB}')
        self.check(403, self.bob, 'GET', path)
        self.check(403, self.bob, 'DELETE', f'{path}/{entry["id"]}')
        self.assertEqual([entry], self.waiting(self.alice, self.mine))

    def test_shares(self):
        path = f'/os-pcloud-policies/project/{base.ALICE}'
        for share in 2, 0.5:
            self.assertEqual(share, self.check(
                200, self.admin, 'PUT', path,
                {'policy': {'share': share}})['policy']['share'])
        self.assertEqual(0.5, self.check(
            200, self.admin, 'GET', path)['policy']['share'])
        self.check(404, self.alice, 'GET', path)
        for share in 0, -1, 1001, '2', True:
            self.check(400, self.admin, 'PUT', path,
                       {'policy': {'share': share}})
        self.check(403, self.alice, 'PUT', path, {'policy': {'share': 3}})
        self.check(400, self.admin, 'PUT', '/os-pcloud-policies/cloud/default',
                   {'policy': {'share': 3}})
        self.assertIsNone(self.check(
            200, self.admin, 'PUT', path,
            {'policy': {'share': None}})['policy']['share'])
        self.check(404, self.admin, 'GET', path)


class OrderTest(WaitingTestCase):

    def test_the_least_units_come_first(self):
        self.wait(self.alice, self.mine)
        entry = self.wait(self.bob, self.his)
        self.assertEqual(1, entry['position'])
        self.assertEqual(
            2, self.waiting(self.alice, self.mine)[0]['position'])
        self.free('a')
        self.match()
        self.assertEqual(['new'], self.names(self.bob, self.his))
        self.assertEqual([], self.waiting(self.bob, self.his))
        self.assertEqual(1, len(self.rows()))
        self.free('b')
        self.match()
        self.assertEqual(['new'], self.names(self.alice, self.mine))
        self.assertEqual({}, self.rows())
        self.assertEqual([], self.kinds())

    def test_shares_count(self):
        self.wait(self.bob, self.his, 'x')
        self.free('a')
        self.match()
        self.wait(self.bob, self.his, 'y')
        # One unit each: the older entry is Bob's.
        self.at(seconds=5)
        self.wait(self.alice, self.mine)
        self.admin.call_json(
            'PUT', f'/os-pcloud-policies/project/{base.ALICE}',
            {'policy': {'share': 2}})
        self.assertEqual(
            1, self.waiting(self.alice, self.mine)[0]['position'])

    def test_nobody_is_overtaken(self):
        self.wait(self.bob, self.his)
        self.free('a')
        self.assertIn('1 are waiting before you', self.ask(
            self.alice, self.mine))
        self.assertIn('1 are waiting before you', self.check(
            409, self.alice, 'POST', f'/os-pclouds/{self.mine}/hosts', {
                'host': {'name': 'n', 'constraints': 'cpu=1'}}))
        self.assertEqual(2, self.wait(self.alice, self.mine)['position'])
        self.match()
        self.assertEqual(['new'], self.names(self.bob, self.his))

    def test_zones(self):
        zones = {each['name']: each['availability_zone'] for each
                 in self.alice.get_json(
                     f'/os-pclouds/{self.mine}/hosts')['hosts']}
        self.wait(self.bob, self.his, 'x', availability_zone=zones['a'])
        self.at(seconds=5)
        self.wait(self.bob, self.his, 'y')
        self.free('b')
        self.match()
        self.assertEqual(['y'], self.names(self.bob, self.his))
        self.free('a')
        self.match()
        self.assertEqual(['x', 'y'], self.names(self.bob, self.his))

    def test_others_wait_for_another_zone(self):
        """Nobody who could take a host is overtaken, and nobody else."""
        zones = {each['name']: each['availability_zone'] for each
                 in self.alice.get_json(
                     f'/os-pclouds/{self.mine}/hosts')['hosts']}
        self.assertNotEqual(zones['a'], zones['b'])
        self.wait(self.bob, self.his, availability_zone=zones['a'])
        other = self.make_pcloud(self.alice)
        # Only what Bob waits for is free.
        self.free('a')
        self.assertIn('1 are waiting before you', self.ask(
            self.alice, other))
        self.assertEqual(2, self.wait(
            self.alice, other, name='w')['position'])
        self.cancel(self.alice, other)
        self.free('b')
        host = self.ask(self.alice, other, expected=201)['host']
        self.assertEqual(zones['b'], host['availability_zone'])
        # With constraints, and by several at once, it is the same.
        self.check(409, self.alice, 'POST', f'/os-pclouds/{other}/hosts', {
            'host': {'name': 'n', 'constraints': 'cpu=1'}})
        self.check(204, self.alice, 'DELETE',
                   f'/os-pclouds/{other}/hosts/plain')
        self.check(409, self.alice, 'POST', f'/os-pclouds/{other}/hosts', {
            'host': {'name': 'n', 'host_flavor': 'gold', 'count': 2}})
        self.check(201, self.alice, 'POST', f'/os-pclouds/{other}/hosts', {
            'host': {'name': 'n', 'constraints': 'cpu=1'}})
        self.match()
        self.assertEqual(['new'], self.names(self.bob, self.his))

    def test_somebody_waits_for_any_zone(self):
        self.wait(self.bob, self.his, name='any')
        self.wait(self.bob, self.his, name='one', availability_zone='az1')
        self.free('a', 'b')
        other = self.make_pcloud(self.alice)
        self.assertIn('2 are waiting before you', self.ask(
            self.alice, other))

    def cancel(self, user, pcloud):
        for entry in self.waiting(user, pcloud):
            self.check(204, user, 'DELETE',
                       f'/os-pclouds/{pcloud}/waiting/{entry["id"]}')

    def test_who_may_not_have_it_holds_nobody_up(self):
        self.wait(self.bob, self.his)
        self.set_quota(base.BOB, 0)
        self.free('a')
        self.match()
        self.assertEqual([], self.names(self.bob, self.his))
        self.ask(self.alice, self.mine, expected=201)
        self.assertEqual(1, len(self.waiting(self.bob, self.his)))
        self.set_quota(base.BOB, 1)
        self.free('b')
        self.match()
        self.assertEqual(['new'], self.names(self.bob, self.his))


class GrowthTest(test_growing_pcloud.GrowTestCase):

    def test_a_growing_pcloud_overtakes_nobody(self):
        begin(self, self.bob, 'gpu', 'az1')
        self.grow(zone='az1')
        self.assertIn('1 are waiting before you', self.launch().text)
        # Nobody waits for a host of az2.
        self.grow()
        self.assertEqual('node-4', self.started())


class StandInTest(test_maintenance_policy.PolicyTestCase):

    def test_stand_ins_go_first(self):
        self.choose('replace')
        begin(self, self.bob, 'gpu', None)
        self.announce()
        self.assertIsNotNone(self.replacement())


def begin(test, user, flavor, zone):
    """Have a new Pcloud of a user wait for a host."""
    waiting_entries.begin(
        test.context, pclouds.head(test.context, test.make_pcloud(user)),
        'new', flavor, zone, int(timeutils.utcnow_ts()) + 3600)


class EndTest(WaitingTestCase):

    def test_expiry(self):
        self.wait(self.bob, self.his)
        self.free('a')
        self.events()
        self.at(days=2)
        self.assertEqual([], self.waiting(self.bob, self.his))
        self.ask(self.alice, self.mine, expected=201)
        self.match()
        self.assertEqual([('expired', 'new')], self.events())
        self.assertEqual({}, self.rows())
        self.match()
        self.assertEqual([], self.events())

    def test_told(self):
        self.events()
        self.wait(self.bob, self.his)
        self.assertEqual([('begun', 'new')], self.events())
        self.free('a')
        self.events()
        self.match()
        self.assertEqual([('matched', 'new')], self.events())

    def test_the_pcloud_is_deleted(self):
        self.wait(self.bob, self.his)
        self.check(204, self.bob, 'DELETE', f'/os-pclouds/{self.his}')
        self.free('a')
        self.ask(self.alice, self.mine, expected=201)
        self.assertIn('waiting-without-pcloud', self.kinds())
        self.match()
        self.assertEqual({}, self.rows())
        self.assertEqual([], self.kinds())

    def test_the_host_flavor_is_deleted(self):
        self.wait(self.bob, self.his)
        self.free('a', 'b')
        for host in 'node-1', 'node-2':
            self.check(204, self.admin, 'DELETE',
                       f'/os-host-flavors/gold/hosts/{host}')
        self.check(204, self.admin, 'DELETE', '/os-host-flavors/gold')
        self.events()
        self.match()
        self.assertEqual([('expired', 'new')], self.events())
        self.assertEqual({}, self.rows())

    def test_the_name_is_taken_meanwhile(self):
        self.wait(self.alice, self.mine)
        self.free('a')
        with mock.patch.object(allocation.waiting_lists, 'open_zones',
                               return_value=choice.Zones()):
            self.ask(self.alice, self.mine, 'NEW', expected=201)
        self.free('b')
        self.match()
        self.assertEqual(['NEW', 'new-2'], sorted(
            self.names(self.alice, self.mine)))

    def test_values_by_hand(self):
        entry = self.wait(self.bob, self.his)
        key, = self.rows()
        self.free('a')
        for value in ('', 'x', 'pcloud=1', f'{self.rows()[key]} more=1'):
            aggregate = self.aggregate('pcloud-journal')
            aggregate.update_metadata({key: value})
            self.assertEqual([], self.waiting(self.bob, self.his))
            self.assertEqual(['value-not-valid'], self.kinds())
            self.match()
            self.check(404, self.bob, 'DELETE',
                       f'/os-pclouds/{self.his}/waiting/{entry["id"]}')
        self.ask(self.alice, self.mine, expected=201)


class WorkerTest(WaitingTestCase):

    def test_one_query_while_nobody_waits(self):
        self.assertEqual(counting.Count(1), counting.count(self.match))

    def test_no_free_host_costs_the_same_for_any_number(self):
        self.flags(wait_entries=100, group='pcloud')
        costs = []
        for number in range(1, 13):
            self.wait(self.bob, self.his, f'n{number}')
            if number in (2, 12):
                costs.append(counting.count(self.match))
        self.assertEqual(*costs)

    def meanwhile(self, does):
        """Have a worker match, and something happen before its change."""
        run, left = allocation.run, [does]

        def late(*arguments):
            while left:
                left.pop()()
            return run(*arguments)

        with mock.patch.object(allocation, 'run', late):
            self.match()

    def test_cancelled_meanwhile(self):
        entry = self.wait(self.bob, self.his)
        self.free('a')
        self.meanwhile(lambda: self.check(
            204, self.bob, 'DELETE',
            f'/os-pclouds/{self.his}/waiting/{entry["id"]}'))
        self.assertEqual([], self.names(self.bob, self.his))
        self.assertEqual([], self.kinds())
        self.ask(self.alice, self.mine, expected=201)

    def test_two_workers(self):
        self.wait(self.bob, self.his)
        self.free('a', 'b')
        self.meanwhile(self.match)
        self.assertEqual(['new'], self.names(self.bob, self.his))
        self.assertEqual({}, self.rows())
        self.ask(self.alice, self.mine, expected=201)

    def test_another_comes_first_meanwhile(self):
        self.wait(self.bob, self.his)
        self.wait(self.alice, self.mine)
        self.free('a')
        self.meanwhile(lambda: self.admin.call_json(
            'PUT', f'/os-pcloud-policies/project/{base.ALICE}',
            {'policy': {'share': 1000}}) and self.free('b') or
            self.set_quota(base.BOB, 0))
        self.assertEqual([], self.names(self.bob, self.his))
        self.match()
        self.assertEqual(['new'], self.names(self.alice, self.mine))

    def test_the_pcloud_is_deleted_meanwhile(self):
        self.wait(self.bob, self.his)
        self.free('a')
        self.meanwhile(lambda: self.check(
            204, self.bob, 'DELETE', f'/os-pclouds/{self.his}'))
        self.match()
        self.assertEqual({}, self.rows())
        self.assertEqual([], self.kinds())

    def test_a_worker_matches_in_its_pass(self):
        self.wait(self.bob, self.his)
        self.free('a')
        self.assertTrue(self.work())
        self.assertEqual(['new'], self.names(self.bob, self.his))


class DateTest(WaitingTestCase):

    def setUp(self):
        super().setUp()
        self.free('a')

    def add(self, expected=201, days=3, **more):
        until = (timeutils.utcnow() + datetime.timedelta(days=days)).replace(
            microsecond=0)
        return self.check(
            expected, self.bob, 'POST', f'/os-pclouds/{self.his}/hosts', {
                'host': {'name': 'new', 'host_flavor': 'gold',
                         'until': until.isoformat(), **more}})

    def shown(self):
        return self.bob.get_json(f'/os-pclouds/{self.his}/hosts/new')['host']

    def told(self):
        found = [each['payload']['nova_object.data']['name']
                 for each in self.notifier.versioned_notifications
                 if each['event_type'] == 'pcloud.host.until']
        self.notifier.reset()
        return found

    def test_it_is_told_and_leaves(self):
        made = self.add(move='live')['host']
        self.assertEqual('live', made['move'])
        shown = self.shown()
        self.assertEqual(made['until'], shown['until'])
        self.assertEqual([shown['until']], [
            each['until'] for each in self.bob.get_json(
                f'/os-pclouds/{self.his}/hosts')['hosts']])
        self.check(200, self.bob, 'PUT', f'/os-pclouds/{self.his}/hosts/new', {
            'host': {'state': 'enabled'}})
        self.assertEqual(shown['until'], self.shown()['until'])
        self.work()
        self.assertEqual([], self.told())
        self.at(days=2, seconds=5)
        self.work()
        self.assertEqual(['new'], self.told())
        self.work()
        self.assertEqual([], self.told())
        self.assertEqual('enabled', self.shown()['state'])
        self.at(days=1)
        leaving.step(nova_context.get_admin_context())
        shown = self.shown()
        self.assertEqual('draining', shown['state'])
        self.assertEqual(
            ('live', True), (shown['drain']['move'],
                             shown['drain']['release']))
        self.assertNotIn('until', shown)
        self.work()
        self.assertEqual([], self.names(self.bob, self.his))
        self.assertEqual([], self.kinds())

    def test_the_owner_keeps_it(self):
        self.add()
        self.at(days=4)
        leaving.step(nova_context.get_admin_context())
        self.assertEqual('none', self.shown()['drain']['move'])
        self.check(200, self.bob, 'PUT', f'/os-pclouds/{self.his}/hosts/new', {
            'host': {'state': 'enabled'}})
        self.work()
        self.assertEqual('enabled', self.shown()['state'])

    def put(self, expected=200, **host):
        found = self.check(
            expected, self.bob, 'PUT', f'/os-pclouds/{self.his}/hosts/new',
            {'host': host})
        return found['host'] if expected == 200 else found

    def test_the_owner_changes_it(self):
        self.add()
        self.at(days=2, seconds=5)
        self.work()
        self.assertEqual(['new'], self.told())
        for until, move in (('2100-01-01T00:00:00Z', 'any'),
                            ('2100-01-02T00:00:00Z', 'none')):
            changed = self.put(until=until, move=move)
            shown = self.shown()
            for each in changed, shown:
                self.assertEqual(
                    (until, move), (each['until'], each['move']))
            self.assertEqual('disabled', shown['state'])
        self.at(days=2)
        self.work()
        self.assertEqual(['new'], self.names(self.bob, self.his))
        for _ in range(2):
            self.assertNotIn('until', self.put(until=None))
            self.assertNotIn('until', self.shown())
        self.assertEqual([], [
            key for key in self.aggregate('pcloud-journal').metadata
            if key.startswith('pcloud:until:')])
        tomorrow = timeutils.utcnow() + datetime.timedelta(hours=20)
        self.put(until=tomorrow.isoformat())
        self.told()
        self.work()
        self.assertEqual(['new'], self.told())
        self.assertEqual([], self.kinds())

    def test_the_letter_case_of_the_name_does_not_count(self):
        self.add()
        shown = self.check(
            200, self.bob, 'PUT', f'/os-pclouds/{self.his}/hosts/NEW',
            {'host': {'until': '2100-01-01T00:00:00Z'}})['host']
        self.assertEqual(('new', '2100-01-01T00:00:00Z'),
                         (shown['name'], self.shown()['until']))

    def test_what_is_no_change_of_a_date(self):
        self.add()
        before = self.dump()
        for body in ({}, {'until': None, 'state': 'enabled'},
                     {'until': None, 'move': 'live'}, {'move': 'live'},
                     {'state': 'enabled', 'move': 'live'},
                     {'until': '2001-01-01T00:00:00Z'}, {'until': 7},
                     {'until': '2100-01-01T00:00:00Z', 'move': 'all'},
                     {'until': None, 'drain': {}}):
            self.put(400, **body)
        self.check(404, self.bob, 'PUT', f'/os-pclouds/{self.his}/hosts/no',
                   {'host': {'until': None}})
        self.check(404, self.alice, 'PUT',
                   f'/os-pclouds/{self.his}/hosts/new',
                   {'host': {'until': None}})
        allow = enforcer.Enforcer.allow
        with mock.patch.object(
                enforcer.Enforcer, 'allow',
                lambda self, context, asked, project_id:
                asked != host_policies.REMOVE and allow(
                    self, context, asked, project_id)):
            self.put(403, until='2100-01-01T00:00:00Z')
        self.assertEqual(before, self.dump())

    def test_a_date_that_is_changed_while_a_worker_acts_on_it(self):
        self.add()
        self.at(days=4)
        for until in '2100-01-01T00:00:00Z', None:
            with self.subTest(until):
                self.put(until=(timeutils.utcnow() + datetime.timedelta(
                    seconds=1)).isoformat())
                self.at(days=1)
                drained = host_states.drained
                with mock.patch.object(
                        host_states, 'drained',
                        lambda *its: (self.put(until=until),
                                      drained(*its))[1]):
                    leaving.step(nova_context.get_admin_context())
                shown = self.shown()
                self.assertEqual(
                    ('disabled', until),
                    (shown['state'], shown.get('until')))

    def test_one_query_while_nothing_is_due(self):
        self.add()
        self.assertEqual(counting.Count(1), counting.count(
            lambda: leaving.step(nova_context.get_admin_context())))

    def test_who_has_waited(self):
        self.ask(self.alice, self.mine, expected=201)
        until = timeutils.utcnow() + datetime.timedelta(days=2)
        self.wait(self.bob, self.his, until=until.isoformat(), move='any')
        self.free('plain')
        self.match()
        self.assertEqual('any', self.shown()['move'])
        self.assertIn(str(until.date()), self.shown()['until'])

    def test_refused(self):
        before = self.dump()
        self.add(400, days=-1)
        self.add(400, move='all')
        self.check(400, self.bob, 'POST', f'/os-pclouds/{self.his}/hosts', {
            'host': {'name': 'n', 'host_flavor': 'gold', 'move': 'live'}})
        self.add(400, wait_until=(timeutils.utcnow() + datetime.timedelta(
            days=4)).isoformat())
        allow = enforcer.Enforcer.allow
        for rule, move in ((host_policies.REMOVE, 'none'),
                           (host_policies.MOVE, 'live')):
            with mock.patch.object(
                    enforcer.Enforcer, 'allow',
                    lambda self, context, asked, project_id, rule=rule:
                    asked != rule and allow(
                        self, context, asked, project_id)):
                self.add(403, move=move)
        self.assertEqual(before, self.dump())

    def test_removal_ends_it(self):
        self.add()
        self.check(204, self.bob, 'DELETE',
                   f'/os-pclouds/{self.his}/hosts/new')
        self.assertEqual([], self.kinds())
        self.ask(self.bob, self.his, 'new', expected=201)
        self.assertNotIn('until', self.shown())
