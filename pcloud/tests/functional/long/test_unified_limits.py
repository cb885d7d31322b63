# SPDX-License-Identifier: Apache-2.0

"""Keystone keeps the limits of units."""

import datetime
from unittest import mock

from keystoneauth1 import exceptions as ks_exc
from oslo_upgradecheck import upgradecheck
from oslo_utils import timeutils

from pcloud.backend.changes import change
from pcloud.backend import unified_limits
from pcloud.cmd import status
from pcloud.objects.changing_hands import matching
from pcloud.tests.functional.quick import test_api
from pcloud.tests.functional.quick import test_growing_pcloud
from pcloud.tests.functional.quick import test_simulate
from pcloud.tests.functional.quick import test_waiting
from pcloud.tests.support import base
from pcloud.tests.support import limiting_keystone

DOMAIN = 'd' * 32


class UnifiedTestCase(test_api.ApiTestCase):
    """The host flavor gold has two hosts, of two units each."""

    def furnish(self):
        super().furnish()
        self.make_pool('gold', 'node-1', 'node-2', units=2)
        self.mine = self.make_pcloud(self.alice)
        self.his = self.make_pcloud(self.bob)

    def setUp(self):
        super().setUp()
        self.keystone = self.useFixture(limiting_keystone.LimitingKeystone(
            registered=4))

    def two_levels(self, limit):
        """Have Alice and Bob in a domain with a limit."""
        self.keystone.model = 'strict_two_level'
        self.keystone.members = {
            base.ALICE: DOMAIN, base.BOB: DOMAIN, 'e' * 32: DOMAIN,
            base.CAROL: 'default'}
        self.keystone.domains = {DOMAIN: limit}

    def later(self):
        """Return a moment until which a Pcloud may wait."""
        return (timeutils.utcnow() + datetime.timedelta(days=1)).isoformat()

    def add(self, code, user, pcloud, name='a', **more):
        return self.check(
            code, user, 'POST', f'/os-pclouds/{pcloud}/hosts',
            {'host': {'name': name, 'host_flavor': 'gold', **more}})

    def quota(self, user, project):
        shown = self.check(200, user, 'GET', f'/os-pcloud-quotas/{project}')
        return shown['quota']['units']['limit'], (
            shown['quota']['units']['in_use'])


class CallTest(UnifiedTestCase):

    def test_registered_and_own_limits(self):
        self.assertEqual((4, 0), self.quota(self.alice, base.ALICE))
        self.keystone.projects[base.ALICE] = 3
        self.assertEqual((3, 0), self.quota(self.alice, base.ALICE))
        self.add(201, self.alice, self.mine)
        self.assertEqual((3, 2), self.quota(self.alice, base.ALICE))
        self.assertIn('requested 2, but already used 2 of 3', self.add(
            403, self.alice, self.mine, 'b'))
        self.keystone.projects[base.ALICE] = -1
        self.assertEqual((-1, 2), self.quota(self.alice, base.ALICE))
        self.add(201, self.alice, self.mine, 'b')
        self.assertEqual((4, 0), self.quota(self.bob, base.BOB))

    def test_several_at_once(self):
        self.keystone.projects[base.ALICE] = 3
        before = self.dump()
        self.add(403, self.alice, self.mine, count=2)
        self.assertEqual(before, self.dump())
        self.keystone.projects[base.ALICE] = 4
        self.add(201, self.alice, self.mine, count=2)

    def test_no_limit_is_registered(self):
        """As with oslo.limit, nobody has any units then."""
        self.keystone.registered = None
        self.assertEqual((0, 0), self.quota(self.alice, base.ALICE))
        self.add(403, self.alice, self.mine)
        self.keystone.projects[base.ALICE] = 2
        self.add(201, self.alice, self.mine)

    def test_calls_set_nothing(self):
        """As with Nova's unified limits."""
        path = f'/os-pcloud-quotas/{base.ALICE}'
        before = self.dump()
        self.assertEqual(4, self.check(200, self.admin, 'PUT', path, {
            'quota': {'units': {'limit': 50}}})['quota']['units']['limit'])
        self.check(204, self.admin, 'DELETE', path)
        self.check(403, self.alice, 'PUT', path, {
            'quota': {'units': {'limit': 50}}})
        self.assertEqual(before, self.dump())

    def test_rows_do_not_count(self):
        """What was set before Keystone had the limits."""
        self.flags(quota_driver='rows', group='pcloud')
        self.admin.call_json('PUT', f'/os-pcloud-quotas/{base.ALICE}', {
            'quota': {'units': {'limit': 0}}})
        self.add(403, self.alice, self.mine)
        self.flags(quota_driver='unified', group='pcloud')
        self.assertEqual((4, 0), self.quota(self.alice, base.ALICE))
        self.add(201, self.alice, self.mine)

    def test_about(self):
        self.keystone.registered = 7
        self.assertEqual(7, self.check(200, self.alice, 'GET', '/os-pcloud')[
            'pcloud_api']['limits']['quota_units'])

    def test_keystone_is_away(self):
        self.add(201, self.alice, self.mine)
        before = self.dump()
        self.keystone.away = True
        for name, answer in (('away', None), ('odd', 'odd')):
            with self.subTest(name):
                if answer:
                    self.keystone.away, self.keystone.model = False, answer
                self.assertIn('Keystone does not tell', self.add(
                    503, self.alice, self.mine, 'b'))
                self.add(503, self.alice, self.mine, 'b',
                         wait_until=self.later())
                self.check(503, self.alice, 'GET',
                           f'/os-pcloud-quotas/{base.ALICE}')
                self.assertEqual(before, self.dump())
        # What takes no units asks nobody for limits.
        self.check(204, self.alice, 'DELETE',
                   f'/os-pclouds/{self.mine}/hosts/a')

    def test_the_service_is_not_found(self):
        unified_limits.forget()
        self.flags(auth_type=None, group='oslo_limit')
        self.add(503, self.alice, self.mine)
        self.flags(auth_type='none', group='oslo_limit')
        with mock.patch.object(self.keystone, 'get', side_effect=(
                ks_exc.EndpointNotFound())):
            self.add(503, self.alice, self.mine)
        self.add(201, self.alice, self.mine)

    def test_keystone_is_not_asked_within_a_change(self):
        asked = []

        def run(*arguments):
            before = len(self.keystone.asked)
            found = original(*arguments)
            asked.append(len(self.keystone.asked) - before)
            return found

        original = change.run
        self.two_levels(100)
        with mock.patch.object(change, 'run', run):
            self.add(201, self.alice, self.mine)
            self.add(201, self.bob, self.his)
            self.add(202, self.alice, self.mine, 'b',
                     wait_until=self.later())
        self.assertEqual({0}, set(asked))

    def test_calls_of_keystone(self):
        self.quota(self.alice, base.ALICE)
        self.keystone.asked.clear()
        self.quota(self.alice, base.ALICE)
        self.assertEqual(
            ['/limits/model', '/registered_limits', '/limits'],
            [url.partition('?')[0] for url in self.keystone.asked][:3])
        self.assertIn(f'project_id={base.ALICE}', self.keystone.asked[2])


class TwoLevelsTest(UnifiedTestCase):

    def test_the_domain_has_a_limit(self):
        self.two_levels(3)
        self.assertEqual((3, 0), self.quota(self.bob, base.BOB))
        self.add(201, self.alice, self.mine)
        # The domain leaves one unit, and Bob has none.
        self.assertEqual((1, 0), self.quota(self.bob, base.BOB))
        self.assertEqual((3, 2), self.quota(self.alice, base.ALICE))
        self.add(403, self.bob, self.his)
        self.add(403, self.alice, self.mine, 'b')
        self.keystone.domains[DOMAIN] = 4
        self.add(201, self.bob, self.his)
        self.assertEqual((2, 2), self.quota(self.alice, base.ALICE))

    def test_limits_of_projects_hold_too(self):
        self.two_levels(100)
        self.keystone.projects[base.BOB] = 1
        self.add(403, self.bob, self.his)
        self.keystone.domains[DOMAIN] = -1
        self.add(403, self.bob, self.his)
        self.keystone.projects[base.BOB] = -1
        self.add(201, self.bob, self.his)

    def test_the_domain_has_the_registered_limit(self):
        self.two_levels(None)
        self.keystone.registered = 3
        self.keystone.projects[base.BOB] = -1
        self.add(201, self.alice, self.mine)
        self.add(403, self.bob, self.his)

    def test_other_domains_do_not_matter(self):
        self.two_levels(2)
        self.keystone.members[base.BOB] = 'default'
        self.keystone.domains['default'] = 2
        self.add(201, self.alice, self.mine)
        self.add(201, self.bob, self.his)

    def test_another_project_of_the_domain_is_first(self):
        """Whatever happens between Keystone's answer and the change."""
        self.two_levels(2)
        original, before = change.run, self.dump()['aggregates']

        def run(*arguments):
            if waiting:
                waiting.pop()()
            return original(*arguments)

        waiting = [lambda: self.add(201, self.bob, self.his)]
        with mock.patch.object(change, 'run', run):
            self.assertIn('used 0 of 0', self.add(
                403, self.alice, self.mine))
        self.assertEqual((0, 0), self.quota(self.alice, base.ALICE))
        self.assertEqual((2, 2), self.quota(self.bob, base.BOB))
        self.assertNotEqual(before, self.dump()['aggregates'])

    def test_a_project_of_the_domain_that_keystone_has_just_made(self):
        self.two_levels(2)
        original = change.run

        def appear():
            self.keystone.members[base.BOB] = DOMAIN
            self.add(201, self.bob, self.his)

        def run(*arguments):
            if waiting:
                waiting.pop()()
            return original(*arguments)

        del self.keystone.members[base.BOB]
        waiting = [appear]
        with mock.patch.object(change, 'run', run):
            self.add(403, self.alice, self.mine)
        self.assertEqual((0, 0), self.quota(self.alice, base.ALICE))

    def test_both_changes_have_one_anchor(self):
        self.two_levels(100)
        anchors = []
        original = change.run

        def run(context, its, work):
            anchors.append(set(its))
            return original(context, its, work)

        with mock.patch.object(change, 'run', run):
            self.add(201, self.alice, self.mine)
            self.add(201, self.bob, self.his)
        self.assertEqual({f'domain:{DOMAIN}'}, set.intersection(*(
            its for its in anchors if f'owner:{base.ALICE}' in its or
            f'owner:{base.BOB}' in its)))


class WaitingTest(UnifiedTestCase):
    """Alice has both hosts, and Bob waits before Carol."""

    match = test_waiting.WaitingTestCase.match

    def furnish(self):
        super().furnish()
        self.hers = self.make_pcloud(self.admin)
        for name in 'a', 'b':
            self.add_host(self.alice, self.mine, name, 'gold', enable=False)

    def setUp(self):
        super().setUp()
        for user, pcloud in (self.bob, self.his), (self.admin, self.hers):
            self.add(202, user, pcloud, wait_until=self.later())

    def free(self, name='a'):
        self.check(204, self.alice, 'DELETE',
                   f'/os-pclouds/{self.mine}/hosts/{name}')

    def count(self, user, pcloud):
        return len(user.get_json(f'/os-pclouds/{pcloud}/hosts')['hosts'])

    def counts(self):
        return (self.count(self.bob, self.his),
                self.count(self.admin, self.hers))

    def test_who_may_not_have_a_host_is_passed_over(self):
        first, second = sorted(
            [(base.BOB, 0), (base.CAROL, 1)], key=lambda each: self.position(
                each[0]))
        self.keystone.projects[first[0]] = 1
        self.free()
        self.match()
        self.assertEqual(1, self.counts()[second[1]])
        self.assertEqual(0, self.counts()[first[1]])
        self.keystone.projects[first[0]] = 2
        self.free('b')
        self.match()
        self.assertEqual((1, 1), self.counts())

    def position(self, project):
        return next(each['position'] for each in self.admin.get_json(
            '/os-host-flavors/gold/waiting')['waiting']
            if each['owner'] == project)

    def test_who_may_not_have_a_host_holds_up_nobody(self):
        self.keystone.projects.update({base.BOB: 0, base.CAROL: 0})
        self.free()
        self.match()
        self.assertEqual((0, 0), self.counts())
        self.add(201, self.alice, self.mine, 'c')

    def test_a_plain_call_overtakes_nobody(self):
        self.free()
        self.assertIn('2 are waiting before you', self.add(
            409, self.alice, self.mine, 'c'))

    def test_keystone_is_away(self):
        self.free()
        before = self.dump()
        self.keystone.away = True
        self.match_or_not()
        self.add(503, self.alice, self.mine, 'c')
        self.assertEqual(2, len(self.admin.get_json(
            '/os-host-flavors/gold/waiting')['waiting']))
        self.assertEqual(before, self.dump())
        self.keystone.away = False
        self.match()
        self.assertEqual(1, sum(self.counts()))

    def match_or_not(self):
        """Match as the worker does."""
        try:
            self.match()
        except Exception as error:
            self.assertIn('Keystone does not tell', str(error))

    def test_a_project_that_begins_to_wait_is_not_overtaken(self):
        """Between Keystone's answer and the change."""
        fresh = self.make_pcloud(self.alice)
        self.free()
        self.free('b')
        original = matching.waiting_lists.with_limits

        def with_limits(context):
            found = original(context)
            if waiting:
                waiting.pop()()
            return found

        waiting = [lambda: self.add(
            202, self.alice, fresh, wait_until=self.later())]
        with mock.patch.object(
                matching.waiting_lists, 'with_limits', with_limits):
            self.match()
            self.assertEqual((0, 0), self.counts())
        self.match()
        self.assertEqual(2, sum(self.counts()) + self.count(
            self.alice, fresh))


class GrowthTest(test_growing_pcloud.GrowTestCase):

    def test_limits_hold(self):
        self.grow()
        keystone = self.useFixture(limiting_keystone.LimitingKeystone(
            registered=1, other=self.keystone))
        response = self.launch()
        self.assertEqual(403, response.status_code)
        self.assertIn('requested 2, but already used 0 of 1', response.text)
        keystone.away = True
        response = self.launch()
        self.assertEqual(503, response.status_code)
        self.assertEqual({}, self.members())
        keystone.away, keystone.registered = False, 2
        self.started()
        self.assertEqual(1, len(self.members()))


class PlanningTest(test_simulate.SimulateTestCase):

    def test_what_is_missing(self):
        keystone = self.useFixture(
            limiting_keystone.LimitingKeystone(registered=1))
        self.assertEqual(1, self.ask(('s', 1))['more'][0]['quota_short_by'])
        self.assertIn('1 unit larger', str(self.explained()))
        keystone.registered = 2
        self.assertEqual(0, self.ask(('s', 1))['more'][0]['quota_short_by'])
        self.assertNotIn('larger', str(self.explained()))

    def explained(self):
        return self.alice.get_json(
            f'{self.path}/explain?flavor=s')


class CheckTest(UnifiedTestCase):

    def code(self):
        return status.Checks().check_limits().code

    def test_codes(self):
        self.assertEqual(upgradecheck.Code.SUCCESS, self.code())
        self.keystone.registered = None
        self.assertEqual(upgradecheck.Code.WARNING, self.code())
        self.keystone.away = True
        self.assertEqual(upgradecheck.Code.FAILURE, self.code())
        self.flags(quota_driver='rows', group='pcloud')
        self.assertEqual(upgradecheck.Code.SUCCESS, self.code())
