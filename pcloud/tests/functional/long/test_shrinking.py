# SPDX-License-Identifier: Apache-2.0

"""Hosts that leave a Pcloud because nobody has used them for long."""

from unittest import mock

import ddt
from nova import objects
from oslo_utils import timeutils

from pcloud.api.policies import hosts as policies
from pcloud.backend.cells import computes
from pcloud.backend.changes import change
from pcloud import exception
from pcloud.growth import growth_turns
from pcloud.moving import due_pclouds
from pcloud.moving import shrinking as steps
from pcloud.objects.changing_hands import host_removal
from pcloud.objects import pclouds
from pcloud.rules.moving import shrinking
from pcloud.tests.functional.quick import test_growing_pcloud
from pcloud.tests.functional.quick import test_moving
from pcloud.tests.support import counting
from pcloud.tests.support import kills
from pcloud.tests.support import outages

WISH = {'after_hours': 2, 'min_hosts': 0, 'keep_spare': 0}
HOUR = 3600


class ShrinkingTestCase(test_moving.MovingTestCase):
    """A Pcloud with the enabled hosts a, b and c."""

    def furnish(self):
        super().furnish()
        self.only('a', 'b', 'c')

    def ask(self, wish, expected=200, user=None):
        """Say when empty hosts leave; return the Pcloud."""
        answer = (user or self.alice).call(
            'PUT', f'/os-pclouds/{self.pcloud}', {'pcloud': {'shrink': wish}})
        self.assertEqual(expected, answer.status_code, answer.text)
        return answer.json().get('pcloud')

    def shrink(self, **wish):
        """Say when empty hosts leave, and have a worker look."""
        self.ask(WISH | wish)
        self.work()

    def noted(self):
        """Return ``name -> since when`` of the hosts noted as empty."""
        found = self.metadata()
        return {name: shrinking.Idle.read(found[key]).since
                for name, host in self.real.items()
                if (key := f'pcloud:idle:{host}') in found}

    def age(self, *hosts, hours=3):
        """Have hosts be noted since some hours, the first the longest."""
        now = int(timeutils.utcnow_ts())
        self.set_metadata(**{
            f'pcloud:idle:{self.real[name]}': shrinking.Idle(
                now - hours * HOUR - 60 + number).text()
            for number, name in enumerate(hosts)})

    def is_due(self):
        return self.pcloud in due_pclouds.find(self.context)


@ddt.ddt
class WishTest(ShrinkingTestCase):

    def shown(self):
        return self.alice.get_json(f'/os-pclouds/{self.pcloud}')['pcloud']

    def test_shown(self):
        self.assertNotIn('shrink', self.shown())
        changed = self.ask(WISH)
        self.assertEqual(WISH, changed['shrink'])
        self.assertEqual(changed, self.shown())
        self.assertEqual([changed], self.alice.get_json(
            '/os-pclouds')['pclouds'])
        self.assertEqual('after_hours=2 min_hosts=0 keep_spare=0',
                         self.metadata()['pcloud:shrink'])
        self.work()
        self.assertEqual({'a', 'b', 'c'}, self.noted().keys())
        self.assertEqual([], self.kinds())
        self.assertNotIn('shrink', self.ask(None))
        self.assertEqual({}, self.noted())
        self.assertNotIn('pcloud:shrink', self.metadata())

    @ddt.data({'after_hours': 0}, {'min_hosts': -1}, {'keep_spare': 'x'},
              {'keep_spare': True}, {'after_hours': 1.5}, {'more': 1},
              {'after_hours': 87601})
    def test_bodies(self, wrong):
        before = self.dump()
        self.ask(WISH | wrong, 400)
        self.ask({name: WISH[name] for name in list(WISH)[1:]}, 400)
        self.assertEqual(before, self.dump())

    def test_who_may_not_do_the_same_by_hand(self):
        for rule in policies.UPDATE, policies.REMOVE:
            with self.forbid(rule):
                before = self.dump()
                for user in self.alice, self.admin:
                    self.ask(WISH, 403, user)
                self.assertEqual(before, self.dump())
        self.ask(WISH, 404, self.bob)
        self.ask(WISH)
        with self.forbid(policies.REMOVE):
            self.ask(None)

    def test_value_that_is_not_right(self):
        self.set_metadata(**{'pcloud:shrink': 'after_hours=0'})
        self.assertNotIn('shrink', self.shown())
        self.work()
        self.assertEqual({}, self.noted())
        self.assertEqual(['value-not-valid'], self.kinds())


class ShrinkTest(ShrinkingTestCase):

    def test_after_the_hours(self):
        self.start()
        self.shrink()
        noted = self.noted()
        self.assertEqual(2, len(noted))
        self.later(minutes=119)
        self.assertFalse(self.is_due())
        self.work()
        self.assertEqual(noted, self.noted())
        self.later(minutes=2)
        self.assertTrue(self.is_due())
        self.work()
        self.assertEqual({'a', 'b', 'c'} - noted.keys(), set(self.names()))
        self.assertFalse(self.is_due())
        self.assertEqual({'pcloud:shrink'}, {
            key for key in self.metadata() if 'idle' in key or 'drain' in key
            or 'shrink' in key})
        self.assertEqual([], self.kinds())

    def test_min_hosts(self):
        self.shrink(min_hosts=2)
        self.age('b', 'c', 'a')
        self.work()
        self.assertEqual({'a', 'c'}, set(self.names()))
        self.assertFalse(self.is_due())

    def test_keep_spare(self):
        self.shrink(keep_spare=2)
        self.age('b', 'c', 'a')
        self.work()
        self.assertEqual({'a', 'c'}, set(self.names()))
        # A server takes one of the two: nothing is left over.
        self.start()
        self.work()
        self.assertEqual({'a', 'c'}, set(self.names()))
        self.assertFalse(self.is_due())

    def test_hosts_that_do_not_count(self):
        self.put('a', 'spare')
        self.put('b', 'disabled')
        self.shrink(min_hosts=1, keep_spare=1)
        self.assertEqual({'c'}, self.noted().keys())
        self.age('c')
        self.work()
        self.assertEqual({'a': 'spare', 'b': 'disabled', 'c': 'enabled'},
                         self.names())
        self.ask(WISH | {'min_hosts': 3})
        self.work()
        self.assertEqual(3, len(self.names()))
        # A host that is to leave anyway is none that stays.
        self.ask(WISH | {'min_hosts': 2})
        server = self.start()
        self.put('c', 'draining', release=True)
        self.put('b', 'enabled')
        self.work()
        self.age('b')
        self.work()
        self.assertEqual({'a', 'b', 'c'}, set(self.names()))
        self.assertEqual('c', self.name_of(server))

    def test_server_that_comes(self):
        self.shrink()
        server = self.start()
        self.assertTrue(self.is_due())
        self.work()
        self.assertEqual(2, len(self.noted()))
        self.assertNotIn(self.name_of(server), self.noted())
        self.assertFalse(self.is_due())

    def test_server_that_lands_meanwhile(self):
        self.only('a')
        server = self.start()
        self.shrink()
        self.assertEqual({}, self.noted())
        # Nobody has seen the server yet.
        with mock.patch.object(computes, 'known_in_use', return_value=(
                frozenset(), frozenset())):
            with mock.patch.object(host_removal, 'release'):
                self.work()
                self.age('a')
                self.work()
            drain = self.get()['drain']
            self.assertEqual(('none', True), (drain['move'], drain['release']))
            # What is found then keeps the host.
            self.work()
        self.assertEqual('draining', self.names()['a'])
        self.assertTrue(self.is_due())
        self.work()
        self.assertEqual('enabled', self.names()['a'])
        self.assertEqual('a', self.name_of(server))
        self.assertEqual({}, self.noted())
        self.assertEqual([], self.kinds())

    def drained(self, name='a'):
        """Have a host be drained that is not released yet."""
        self.age(name)
        with mock.patch.object(host_removal, 'release'):
            self.work()
        self.assertEqual('draining', self.names()[name])

    def test_owner_who_enables_it(self):
        self.shrink()
        self.drained()
        self.put('a', 'enabled')
        self.work()
        self.assertEqual('enabled', self.names()['a'])
        # The hours begin anew.
        self.assertLess(timeutils.utcnow_ts() - 120, self.noted()['a'])

    def test_drain_of_the_owner(self):
        self.shrink()
        self.drained()
        self.put('a', 'draining', move='none')
        self.ask(None)
        self.work()
        self.assertFalse(self.get()['drain']['release'])

    def test_wish_that_is_taken_back_meanwhile(self):
        self.shrink()
        self.age('a')
        look = steps._look

        def slow(*arguments):
            found = look(*arguments)
            self.ask(None)
            return found

        with mock.patch.object(steps, '_look', slow):
            self.work()
        self.assertEqual({'a', 'b', 'c'}, set(self.names()))
        self.assertEqual({}, self.noted())

    def test_host_that_the_owner_takes_meanwhile(self):
        self.shrink(min_hosts=2)
        self.age('a')
        look = steps._look

        def slow(*arguments):
            found = look(*arguments)
            self.put('b', 'disabled')
            self.alice.call_json('DELETE', f'{self.path}/b')
            return found

        with mock.patch.object(steps, '_look', slow):
            self.work()
        self.assertEqual({'a', 'c'}, set(self.names()))
        self.work()
        self.assertEqual({'a', 'c'}, set(self.names()))

    def test_servers_while_no_worker_looked(self):
        self.only('a')
        self.shrink()
        self.age('a')
        server = self.start()
        self.delete(server)
        self.work()
        self.assertEqual('enabled', self.names()['a'])
        self.assertLess(timeutils.utcnow_ts() - 120, self.noted()['a'])
        self.assertFalse(self.is_due())

    def delete(self, server):
        self.admin.delete_server(server['id'])
        self._wait_until_deleted(server)

    def test_state_that_the_owner_gives(self):
        self.shrink(min_hosts=3)
        self.age('a', 'b', 'c')
        self.put('a', 'enabled')
        self.put('b', 'disabled')
        self.assertEqual({'c'}, self.noted().keys())

    def test_rebalance_that_is_under_way(self):
        self.shrink()
        self.age('a')
        uuid = '7f3c8a52-4a0e-4c35-9d6e-5b1f2c7e8a90'
        self.set_metadata(**{f'pcloud:rebalance:{self.pcloud}:{uuid}': (
            'plan=0123abcd step=1 since=20261127T180543Z move=live '
            f'source={uuid} target={uuid}')})
        steps.step(self.context, pclouds.head(self.context, self.pcloud))
        self.assertEqual('enabled', self.names()['a'])

    def test_home_of_a_shelved_server(self):
        server = self.start({'pcloud': self.pcloud, 'pcloud_host': 'A'})
        self.act(server, {'shelve': None})
        self.wait_for(server, status='SHELVED_OFFLOADED')
        self.shrink()
        self.age('a', 'b', 'c')
        self.work()
        self.assertEqual({'a': 'enabled'}, self.names())

    def test_cell_that_is_silent(self):
        self.shrink()
        self.age('a')
        noted = self.noted()
        every = frozenset(self.hosts)
        with mock.patch.object(computes, 'known_in_use', return_value=(
                frozenset(), every)):
            self.assertFalse(self.is_due())
            self.work()
        self.assertEqual(noted, self.noted())
        with outages.SilentPlacement(self.placement.fixture._client):
            self.work()
        self.assertEqual('draining', self.names()['a'])
        self.work()
        self.assertEqual({'b', 'c'}, set(self.names()))

    def test_what_it_costs(self):
        without = counting.least(self.work)
        self.shrink()
        few = counting.least(self.work)
        for number in range(3):
            other = self.make_pcloud(self.alice, f'more-{number}')
            self.alice.call_json('PUT', f'/os-pclouds/{other}', {
                'pcloud': {'shrink': WISH}})
        before = self.dump()
        self.assertEqual(few, counting.least(self.work))
        self.assertEqual(before, self.dump())
        self.assertLess(few.sql, without.sql + 6)

    def test_killed_at_any_statement(self):
        self.shrink(min_hosts=1)
        self.age('a', 'b')
        number = 1
        engine, *_ = self.engines()
        while kills.is_killed(engine, number, self.work):
            number += 1
            # Whoever has died has a turn, which lapses.
            self.later(seconds=122)
        self.assertGreater(number, 10)
        for _ in range(5):
            self.work()
        self.assertEqual({'c': 'enabled'}, self.names())
        self.assertEqual([], self.kinds())

    def test_one_transaction(self):
        self.shrink()
        self.age('a', 'b')
        before = self.metadata()
        with mock.patch.object(steps, '_write_drains',
                               side_effect=exception.Unavailable()):
            self.work()
        self.assertEqual(before, self.metadata())

    def test_compute_service_that_is_deleted(self):
        self.shrink()
        objects.Aggregate.get_by_uuid(self.context, self.aggregate(
            f'Pcloud:{self.pcloud}').uuid).delete_host(self.real['a'])
        self.assertIn('idle-without-host', self.kinds())


class GrowTest(test_growing_pcloud.GrowTestCase):
    """A Pcloud that grows, and shrinks."""

    def setUp(self):
        super().setUp()
        self.grow(most=2)
        self.alice.call_json('PUT', f'/os-pclouds/{self.pcloud}', {
            'pcloud': {'shrink': WISH}})

    def age(self):
        """Have all hosts that are noted be so since some hours."""
        since = int(timeutils.utcnow_ts()) - 3 * HOUR
        self.write_metadata(self.pcloud, **{
            key: shrinking.Idle(since).text()
            for key in self.pcloud_metadata(self.pcloud)
            if key.startswith('pcloud:idle:')})

    def test_what_has_grown_shrinks_and_grows_again(self):
        host = self.started()
        self.assertEqual(['enabled'], list(self.members().values()))
        self.work()
        server, = self.alice.get_json('/servers')['servers']
        self.work()
        self.admin.delete_server(server['id'])
        self._wait_until_deleted(server)
        # Just seen empty: nothing leaves.
        self.work()
        self.assertEqual(['enabled'], list(self.members().values()))
        self.age()
        with mock.patch('pcloud.backend.cells.past_moves.departures',
                        return_value={}):
            self.work()
        self.assertEqual({}, self.members())
        self.assertIn(host, self.hosts)
        self.started()
        self.assertEqual(['enabled'], list(self.members().values()))
        self.work()
        self.assertEqual(['enabled'], list(self.members().values()))

    def test_launch_that_has_the_turn(self):
        self.add_host(self.alice, self.pcloud, 'a', 'gpu')
        self.work()
        self.age()
        head = pclouds.head(self.context, self.pcloud)
        with growth_turns.held(self.context, head):
            self.work()
            self.assertEqual({'a': 'enabled'}, self.members())
        self.work()
        self.assertEqual({}, self.members())

    def test_launch_that_comes_first(self):
        """A change of the Pcloud in between has the hosts looked at again."""
        self.add_host(self.alice, self.pcloud, 'a', 'gpu')
        self.work()
        self.age()
        run = change.run

        def late(context, anchors, work):
            with mock.patch.object(change, 'run', run):
                self.alice.call_json('PUT', f'/os-pclouds/{self.pcloud}', {
                    'pcloud': {'name': 'other'}})
            return run(context, anchors, work)

        with mock.patch('pcloud.moving.shrinking.change.run', late):
            steps.step(self.context, pclouds.head(self.context, self.pcloud))
        self.assertEqual({'a': 'enabled'}, self.members())
