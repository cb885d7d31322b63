# SPDX-License-Identifier: Apache-2.0

"""Servers that name no Pcloud, and a default Pcloud that grows for them."""

import collections
from concurrent import futures
import contextlib
import functools
import threading
from unittest import mock

import ddt
import fixtures
from nova.conductor import manager as conductor
from nova.scheduler import manager
from nova.tests import fixtures as nova_fixtures

from pcloud.api import enforcer
from pcloud.api.nova_calls import servers
from pcloud.api.policies import hosts
from pcloud.audit import all_checks
from pcloud.growth import crowds
from pcloud.growth import growth_turns
from pcloud.growth import joining
from pcloud import names
from pcloud.objects.changing_hands import allocation
from pcloud.objects import turns
from pcloud.rules.placing import default_pcloud
from pcloud.scheduler.filters import pcloud as pcloud_filter
from pcloud.tests.functional.quick import test_growing_pcloud
from pcloud.tests.support import base
from pcloud.tests.support import counting
from pcloud.tests.support import outages

POLICIES = test_growing_pcloud.POLICIES


class TurnTest(test_growing_pcloud.GrowTestCase):
    """Launches at the same time, and launches that die."""

    def test_parallel_launches_add_what_they_need_together(self):
        self.grow(most=4)
        with futures.ThreadPoolExecutor(10) as threads:
            answers = list(threads.map(
                lambda count: self.launch(min_count=count), (1, 2) * 3))
        self.assertEqual({202}, {each.status_code for each in answers})
        self.wait_for_all(9)
        self.assertEqual(3, len(self.members()))
        self.assert_nothing_is_left()

    def test_parallel_launches_when_there_is_room_for_some(self):
        """All of a multi-create or nothing, and no host for nothing."""
        self.grow(most=2)
        with futures.ThreadPoolExecutor(4) as threads:
            list(threads.map(lambda _: self.launch(min_count=4), range(4)))

        def settled():
            statuses = [server['status'] for server in self.alice.get_json(
                '/servers/detail')['servers']]
            self.assertNotIn('BUILD', statuses)
            # Launches that try at the same moment may refuse each other.
            self.assertIn(statuses.count('ACTIVE'), (0, 4))

        self.wait_until(settled)
        self.assertEqual(2, len(self.members()))
        self.assert_nothing_is_left()

    def test_somebody_takes_the_room_meanwhile(self):
        """A launch without a turn; the capacity is counted once more."""
        self.grow()
        add = joining.add
        took = []

        def taken(*given):
            add(*given)
            if not took:
                took.append(self.started(hints={'pcloud': self.pcloud},
                                         min_count=3))

        with mock.patch.object(joining, 'add', taken):
            self.started()
        self.assertEqual(2, len(self.members()))
        self.assert_nothing_is_left()

    def test_another_reason_than_room(self):
        """Hosts join for what is lacking, once, and no more for the rest."""
        self.grow()
        with mock.patch.object(pcloud_filter.PcloudFilter, 'filter_all',
                               lambda *given: iter(())):
            for _ in range(2):
                self.refused()
                self.assertEqual(1, len(self.members()))
        self.started()
        self.assertEqual(1, len(self.members()))
        self.assert_nothing_is_left()

    def test_the_turn_of_a_dead_launch(self):
        self.grow()
        with mock.patch.object(joining, 'add',
                               side_effect=test_growing_pcloud.Died), \
                mock.patch.object(growth_turns, '_end'):
            self.refused()
        dead = self.turn()
        self.assertIsNotNone(dead)
        self.lapse()
        self.assertEqual([], all_checks.find(self.context, settle=0))
        self.aggregate(names.pcloud(self.pcloud)).update_metadata({
            names.GROWTH_TURN: dead})
        looks = self.count_looks()
        server = self.launch().json()['server']
        self.wait_until(lambda: self.assertGreater(len(looks), 2))
        self.lapse()
        self.wait_until_active(server)
        self.assertEqual(1, len(self.members()))
        self.assert_nothing_is_left()

    def test_a_turn_that_would_last_for_years(self):
        """The clock of the process that has died was wrong."""
        self.grow()
        self.aggregate(names.pcloud(self.pcloud)).update_metadata({
            names.GROWTH_TURN: 'token=0123abcd until=21000101T000000Z'})
        self.started()
        self.assert_nothing_is_left()

    def count_looks(self):
        """Return a list that has an item for each look at a turn."""
        looks, is_free = [], turns.is_free

        def counted(context, turn):
            looks.append(turn)
            return is_free(context, turn)

        self.useFixture(fixtures.MockPatchObject(turns, 'is_free', counted))
        return looks

    def test_more_wait_than_there_are_places(self):
        places, asked = threading.BoundedSemaphore(1), threading.Event()

        @contextlib.contextmanager
        def place():
            asked.set()
            with places:
                yield

        self.grow()
        with mock.patch.object(crowds, 'PLACES', place()):
            with places:
                server = self.launch().json()['server']
                self.wait_until(lambda: self.assertTrue(asked.is_set()))
                self.assertEqual({}, self.members())
            self.wait_until_active(server)

    def test_a_turn_that_is_lost(self):
        """Nobody adds a host after the turn has lapsed."""
        self.grow()
        choose, chosen = joining.choose, []

        def slow(context, pcloud, *arguments):
            chosen.append(choose(context, pcloud, *arguments))
            if self.turn() and len(chosen) == 2:
                self.lapse()
                with growth_turns.held(context, pcloud):
                    return chosen[-1]
            return chosen[-1]

        with mock.patch.object(joining, 'choose', slow):
            self.started()
        # In nova-api, then twice in nova-scheduler.
        self.assertEqual(3, len(chosen))
        self.assertEqual(1, len(self.members()))

    def test_another_change_takes_the_host(self):
        """Another host is taken, until none is left."""
        self.grow()
        write, lost = allocation.write, []

        def lose(context, written, pcloud, added, event):
            if not lost:
                lost.append(added)
                raise allocation.Lost('x')
            return write(context, written, pcloud, added, event)

        with mock.patch.object(allocation, 'write', lose):
            self.started()
        self.assertEqual(1, len(self.members()))
        with mock.patch.object(allocation, 'write',
                               side_effect=allocation.Lost('x')):
            self.refused(min_count=3)
        self.assertEqual(1, len(self.members()))
        self.assert_nothing_is_left()

    def test_what_is_reached_meanwhile(self):
        """The limits count when the hosts join, too."""
        self.grow(most=1)
        choose = joining.choose

        def late(*given):
            # Between the look at the capacity and the choice among free hosts,
            # so that the launch never chooses the host that is taken here.
            if self.turn():
                self.add_host(self.alice, self.pcloud, 'web', 'gpu')
            return choose(*given)

        with mock.patch.object(joining, 'choose', late):
            self.assertIn('max_hosts', self.refused())
        self.assertEqual({'web'}, self.members().keys())
        self.assert_nothing_is_left()


class CostTest(test_growing_pcloud.GrowTestCase):
    """What a launch costs for which there is capacity."""

    def cost(self, name):
        """Return the least statements and calls of the launches of servers.

        :param name: who counts: 'nova-api' or 'nova-scheduler'
        """
        found = []
        prepare, choose = servers.prepare, (
            conductor.ComputeTaskManager._schedule_instances)

        def counted(owner, who):
            @functools.wraps(owner)
            def call(*given, **options):
                if who != name or getattr(
                        given[0], 'action', 'create') != 'create':
                    return owner(*given, **options)
                made = []
                cost = counting.count(
                    lambda: made.append(owner(*given, **options)))
                found.append((cost.sql, cost.http))
                return made[0]
            return call

        with mock.patch.object(
                servers, 'prepare', counted(prepare, 'nova-api')), \
                mock.patch.object(
                    conductor.ComputeTaskManager, '_schedule_instances',
                    counted(choose, 'nova-scheduler')):
            for number in range(1, 6):
                server = self.launch().json()['server']
                # Who looks at the server meanwhile makes statements.
                self.wait_until(lambda number=number: self.assertEqual(
                    number, len(found)))
                self.wait_until_active(server)
        return min(found)

    def test_with_room_it_is_the_same_for_any_number_of_hosts(self):
        self.grow(most=4)
        for name in 'ab':
            self.add_host(self.alice, self.pcloud, name, 'gpu')
            self.enable(name)
        # Five launches, then five more.
        small = self.cost('nova-api')
        self.assertEqual(1, small[1])
        # So that a change for the worse is seen here first.
        self.assertLessEqual(small[0], 45)
        for name in 'cd':
            self.add_host(self.alice, self.pcloud, name, 'gpu')
            self.enable(name)
        self.assertEqual(small, self.cost('nova-api'))

    def test_with_room_the_scheduler_pays_nothing(self):
        for name in 'abcd':
            self.add_host(self.alice, self.pcloud, name, 'gpu')
            self.enable(name)
        self.alice.call_json(
            'PUT', f'{POLICIES}/project/{base.ALICE}',
            {'policy': {'default_pcloud': {
                'pcloud': self.pcloud, 'mode': 'strict'}}})
        strict = self.cost('nova-scheduler')
        self.grow(most=4)
        self.assertLessEqual(self.cost('nova-scheduler'), strict)

    def enable(self, name):
        self.alice.call_json(
            'PUT', f'/os-pclouds/{self.pcloud}/hosts/{name}',
            {'host': {'state': 'enabled'}})


class TwoSchedulersTest(test_growing_pcloud.GrowTestCase):
    """Two schedulers have no more in common than the databases."""

    own_cloud = True

    def test_parallel_launches(self):
        # Nova's own function starts one service of a kind.
        other = self.useFixture(nova_fixtures.ServiceFixture(
            'scheduler', 'scheduler-2')).service
        chosen = collections.Counter()
        choose = manager.SchedulerManager._select_destinations

        @functools.wraps(choose)
        def noting(scheduler, *given, **options):
            chosen[id(scheduler)] += 1
            return choose(scheduler, *given, **options)

        self.grow(most=4)
        with mock.patch.object(manager.SchedulerManager,
                               '_select_destinations', noting):
            with futures.ThreadPoolExecutor(12) as threads:
                answers = list(threads.map(
                    lambda _: self.launch(), range(12)))
            self.assertEqual({202}, {each.status_code for each in answers})
            self.wait_for_all(12)
        self.assertEqual(4, len(self.members()))
        self.assertEqual(2, len(chosen), chosen)
        self.assertIn(id(other.manager), chosen)
        self.assert_nothing_is_left()


@ddt.ddt
class RightsTest(test_growing_pcloud.GrowTestCase):
    """Whoever set the default may still add hosts when the Pcloud grows."""

    def setUp(self):
        super().setUp()
        self.grow(user=self.alice)

    def assert_does_not_grow(self, told, **given):
        self.assertIn(told, self.refused(**given))
        self.assertEqual({}, self.members())
        self.assert_nothing_is_left()

    def test_nothing_is_lost(self):
        self.started()
        self.assertEqual(
            ['/users/alice', f'/projects/{base.ALICE}', '/domains/default'],
            self.keystone.asked[:3])

    def test_keystone_is_not_asked_while_there_is_room(self):
        self.started()
        self.keystone.asked.clear()
        self.started()
        self.assertEqual([], self.keystone.asked)

    @ddt.data((), ('reader',), ('Member-not',))
    def test_roles_that_are_gone(self, roles):
        self.keystone.roles['alice', base.ALICE] = roles
        self.assert_does_not_grow('may not add hosts any more')

    def test_any_other_user_may_launch(self):
        """The right is that of whoever has set the default."""
        self.keystone.roles['dave', base.ALICE] = ()
        self.started(user=self.client_of('dave', base.ALICE))

    @ddt.data('/users/alice', f'/projects/{base.ALICE}', '/domains/default')
    def test_what_is_disabled(self, url):
        self.keystone.disabled.add(url)
        self.assert_does_not_grow('may not add hosts any more')

    def test_what_keystone_does_not_know(self):
        self.useFixture(outages.SmallKeystone())
        self.assert_does_not_grow('may not add hosts any more')

    def test_a_silent_keystone(self):
        self.useFixture(outages.SilentKeystone())
        self.assert_does_not_grow('Keystone does not tell')

    def test_a_keystone_that_tells_nothing(self):
        for status in (401, 403, 500):
            self.keystone.status = status
            self.assert_does_not_grow('Keystone does not tell')

    def test_no_credentials(self):
        self.flags(auth_type=None, group='service_user')
        self.assert_does_not_grow('Keystone does not tell')

    def test_a_policy_that_has_changed(self):
        allow = enforcer.Enforcer.allow
        with mock.patch.object(
                enforcer.Enforcer, 'allow',
                lambda self, context, rule, project: rule != hosts.ADD and
                allow(self, context, rule, project)):
            self.assert_does_not_grow('may not add hosts any more')

    def test_another_owner(self):
        self.alice.call_json(
            'PUT', f'/os-pclouds/{self.pcloud}/tenants/{base.BOB}')
        self.aggregate(names.pcloud(self.pcloud)).update_metadata(
            {names.OWNER: base.BOB})
        # How much others have is not told, nor who may do what.
        fault = self.refused()
        self.assertIn('it cannot grow now', fault)
        self.assertEqual([], self.aggregate(names.pcloud(self.pcloud)).hosts)

    def test_another_default_meanwhile(self):
        """The default that counts when the Pcloud would grow."""
        other = self.make_pcloud(self.alice, 'other')
        take = turns.take
        path = f'{POLICIES}/project/{base.ALICE}'
        for default in ({'pcloud': self.pcloud, 'mode': 'strict'}, None,
                        {'pcloud': other, 'mode': 'strict'}):
            self.grow(user=self.alice)

            def late(context, taken, default=default):
                self.alice.call_json(
                    'PUT', path, {'policy': {'default_pcloud': default}})
                return take(context, taken)

            with mock.patch.object(turns, 'take', late):
                self.assert_does_not_grow('its default does not let it grow')

    def test_nobody_knows_who_has_set_it(self):
        self.aggregate(names.project_policy(base.ALICE)).update_metadata({
            names.DEFAULT_PREFIX + default_pcloud.USER: None})
        self.assert_does_not_grow('not recorded')

    def test_an_administrator(self):
        """Who has set a default for others has to be one still."""
        self.alice.call_json(
            'PUT', f'/os-pclouds/{self.pcloud}/tenants/{base.BOB}')
        self.grow(scope='cloud', scope_id='default')
        self.started(user=self.bob)
        self.assertEqual(1, len(self.members()))
        self.keystone.roles['admin', base.CAROL] = 'reader', 'member'
        self.assertIn('it cannot grow now', self.refused(
            user=self.bob, min_count=3))
        self.assertEqual(1, len(self.members()))

    def test_who_has_set_it_is_shown_to_nobody(self):
        path = f'{POLICIES}/project/{base.ALICE}'
        for user in (self.alice, self.admin):
            self.assertEqual(
                {'pcloud', 'mode', 'host_flavor', 'max_hosts'},
                user.get_json(path)['policy']['default_pcloud'].keys())
        # As stored, where it cannot be read.
        self.aggregate(names.project_policy(base.ALICE)).update_metadata({
            names.DEFAULT_PREFIX + default_pcloud.MOST_HOSTS: 'x'})
        self.assertNotIn(default_pcloud.USER, self.alice.get_json(
            path)['policy']['default_pcloud'])
