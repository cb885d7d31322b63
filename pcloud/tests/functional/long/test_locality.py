# SPDX-License-Identifier: Apache-2.0

"""Servers near to and far from each other, through the scheduler."""

from unittest import mock

import fixtures
from nova import exception as nova_exception

from pcloud.backend.cells import expected_places
from pcloud.backend.cells import servers
from pcloud.tests.functional.quick import test_locality
from pcloud.tests.support import base

UNKNOWN = test_locality.UNKNOWN


class LocalityTest(test_locality.LocalityTestCase):

    def test_near(self):
        for named in (self.first, 'tag:web'):
            self.assertEqual({'node-1'}, self._hosts(near=named))
        self.disable_service('node-1')
        # Not on the host, but in its rack.
        self.assertEqual({'node-2'}, self._hosts(near='tag:web'))
        self.assertEqual({'node-2'}, self._hosts(near='tag:web',
                                                 locality='strict'))
        self.disable_service('node-2')
        self.assertLessEqual(self._hosts(near='tag:web'),
                             {'node-3', 'node-4'})
        self.assertIn('Strict locality cannot be kept: no host', self._fault(
            near='tag:web', locality='strict'))

    def test_far(self):
        self.assertLessEqual(self._hosts(far='tag:web'),
                             {'node-3', 'node-4'})
        self.disable_service('node-3')
        self.disable_service('node-4')
        # Another rack is only preferred, another host is not.
        self.assertEqual({'node-2'}, self._hosts(far=self.first))
        self.assertEqual({'node-2'}, self._hosts(
            far=self.first, locality='strict'))
        self.disable_service('node-2')
        self.assertEqual({'node-1'}, self._hosts(far=self.first))
        self.assertIn('Strict locality cannot be kept: no host', self._fault(
            far=self.first, locality='strict'))

    def test_several(self):
        other = self._on('node-4', base.ALICE, 'db')
        self.assertLessEqual(self._hosts(near=[self.first, other]),
                             {'node-1', 'node-4'})
        self.assertEqual({'node-2'}, self._hosts(
            near='tag:web', far=['tag:db', self.first]))
        # Where they conflict far wins.
        self.assertNotIn('node-4', self._hosts(near=other, far=other))

    def test_strict_near_of_servers_in_two_racks(self):
        other = self._on('node-4', base.ALICE, 'db')
        both = {'near': [self.first, 'tag:db'], 'locality': 'strict'}
        self.assertIn('near and far want it', self._fault(**both))
        # One of the servers is in a rack that nobody knows.
        self._leave_rack('node-4')
        self.assertIn('near and far want it', self._fault(**both))
        # All are in one rack now, on two hosts.
        self.admin.call_json('PUT', '/os-pcloud-attributes/rack', {
            'attribute': {'value': 'left', 'hosts': ['node-4']}})
        self.assertLessEqual(self._hosts(4, **both),
                             {'node-1', 'node-2', 'node-4'})
        self.assertEqual('node-4', self.host_of(self.admin.get_server(other)))

    def test_strict_near_of_servers_on_one_host(self):
        """The host of all, be another server of a tag elsewhere or not."""
        beside = self._on('node-1', base.ALICE, 'db')
        both = {'near': [self.first, beside], 'locality': 'strict'}
        self.assertEqual({'node-1'}, self._hosts(**both))
        # All are all servers with a tag, too.
        self._on('node-2', base.ALICE, 'db')
        both['near'] = [self.first, 'tag:db']
        self.assertLessEqual(self._hosts(4, **both), {'node-1', 'node-2'})
        self._on('node-3', base.ALICE, 'db')
        self.assertIn('near and far want it', self._fault(**both))

    def _leave_rack(self, *hosts):
        for host in hosts:
            self.admin.call_json(
                'DELETE', f'/os-pcloud-attributes/rack?host={host}')

    def test_servers_of_others_are_unknown(self):
        theirs = self._on('node-4', base.BOB, 'web', 'theirs')
        for named in (theirs, UNKNOWN, 'tag:theirs', self.first.upper()):
            self.assertEqual({'node-1'}, self._hosts(
                times=1, near=[named, 'tag:web']))
            self.assertIn(
                'Strict locality cannot be kept: no server of the project '
                f'that is on a host is known as {named}.',
                self._fault(near=[named, 'tag:web'], locality='strict'))
        self.assertEqual({'node-1'}, self._hosts(near='tag:web'))

    def test_the_first_of_a_group(self):
        """To be far from servers that are not there yet is easy."""
        hints = {'far': 'tag:new', 'locality': 'strict'}
        server = self.boot(self.alice, hints, tags=['new'])
        again = self.boot(self.alice, hints, tags=['new'])
        self.assertNotEqual(self.host_of(server), self.host_of(again))

    def test_hints_that_name_nothing(self):
        for hints, expected in (
                ({'near': 'web-1'}, 'openstack server show -f value -c id'),
                ({'far': ['tag:web', 'tag:']}, "far: 'tag:' is not right"),
                ({'near': 7}, "near: '7' is not right"),
                ({'far': None}, "far: 'None' is not right"),
                ({'far': 'tag:web', 'locality': 'hard'},
                 "locality: 'hard' is not right; it has to be 'strict'"),
                ({'locality': ['strict', 'Strict']}, "locality: 'Strict'")):
            self.assertIn(expected, self._refusal(hints))
        self.assertEqual([], self.alice.call_json(
            'GET', '/servers?name=new')['servers'])

    def test_what_an_older_nova_api_accepted(self):
        """A server without a host, and with the reason."""
        self.useFixture(fixtures.MonkeyPatch(
            'pcloud.rules.placing.locality.check', lambda hints: None))
        self.assertEqual({'node-1'}, self._hosts(
            times=1, near=['what?', 'tag:web']))
        self.assertIn("locality: 'hard' is not right; it has to be 'strict'",
                      self._fault(far='tag:web', locality='hard'))

    def _refusal(self, hints):
        response = self.alice.call('POST', '/servers', {
            'server': self._build_server(
                name='new', flavor_id='1', networks='none'),
            'os:scheduler_hints': hints})
        self.assertEqual(400, response.status_code, response.text)
        return response.json()['badRequest']['message']

    def test_a_host_that_is_not_a_candidate(self):
        """Its rack counts all the same."""
        self.make_pool('gpu', 'node-2')
        pcloud = self.make_pcloud(self.alice)
        self.add_host(self.alice, pcloud, 'mine', 'gpu')
        inside = self.boot(self.alice, {'pcloud': pcloud})
        self.assertEqual({'node-1'}, self._hosts(near=inside['id']))
        self.assertLessEqual(self._hosts(far=inside['id']),
                             {'node-3', 'node-4'})
        self.assertEqual({'node-2'}, self._hosts(
            pcloud=pcloud, near='tag:web'))

    def test_a_move_does_not_mind_who_is_gone(self):
        server = self.boot(self.alice, {
            'near': self.first, 'locality': 'strict'}, tags=['web'])
        self.assertEqual('node-1', self.host_of(server))
        self._delete_server(self.alice.get_server(self.first))
        self.act(server, {'migrate': None})
        moved = self.wait_for(server, status='VERIFY_RESIZE')
        self.assertNotEqual('node-1', moved['OS-EXT-SRV-ATTR:host'])

    def test_unshelving_does_not_mind_who_is_gone(self):
        server = self.boot(self.alice, {
            'near': self.first, 'locality': 'strict'})
        self.act(server, {'shelve': None})
        self.wait_for(server, status='SHELVED_OFFLOADED')
        self._delete_server(self.alice.get_server(self.first))
        self.act(server, {'unshelve': None})
        self.wait_for(server, status='ACTIVE')

    def test_it_is_not_far_from_itself(self):
        server = self.boot(self.alice, {'far': 'tag:web', 'locality':
                                        'strict'}, tags=['web'])
        self._delete_server(self.alice.get_server(self.first))
        for host in self.hosts:
            if host != self.host_of(server):
                self.disable_service(host)
        self.act(server, {'shelve': None})
        self.wait_for(server, status='SHELVED_OFFLOADED')
        self.act(server, {'unshelve': None})
        self.wait_for(server, status='ACTIVE')

    def _several_hosts(self, count, tags=(), **hints):
        """Return the host of each of some servers of 2048 MiB."""
        self.boot(self.alice, hints, min_count=count, flavorRef='2',
                  tags=list(tags))

        def hosts():
            found = [self.host_of(each) for each in self.alice.get_servers()
                     if each['id'] != self.first]
            self.assertNotIn(None, found)
            return found

        return self.wait_until(hosts)

    def test_several_at_once(self):
        self.assertLessEqual(
            set(self._several_hosts(3, far='tag:web')), {'node-3', 'node-4'})

    def test_several_at_once_far_from_each_other(self):
        found = self._several_hosts(3, ['db'], far='tag:db')
        self.assertEqual(3, len(set(found)))
        self.assertIn('could take the server', self.fault(self.boot(
            self.alice, {'far': 'tag:web', 'locality': 'strict'}, 'ERROR',
            min_count=4, tags=['web'])))

    def test_as_many_at_once_as_hosts_far_from_each_other(self):
        """No host is left for Nova to name as an alternate."""
        self.assertEqual(4, len(set(self._several_hosts(
            4, ['db'], far='tag:db', locality='strict'))))

    def test_several_at_once_near_to_each_other(self):
        self.assertEqual(1, len(set(
            self._several_hosts(3, ['db'], near='tag:db'))))

    def test_more_than_fit_where_they_would_like_to_be(self):
        # 7680 MiB for servers, of which the first has 512.
        found = self._several_hosts(5, near=self.first)
        self.assertEqual(['node-1'] * 3 + ['node-2'] * 2, sorted(found))

    def test_several_at_once_with_placement_keys(self):
        # Each by itself would keep away from the one before.
        self.assertEqual(['node-1', 'node-1'], self._several_hosts(
            2, near='tag:web', placement_key='Repel1=1:-100'))

    def test_a_cell_that_does_not_answer(self):
        with (mock.patch.object(servers, '_instances',
                                side_effect=nova_exception.CellTimeout),
              mock.patch.object(expected_places, '_in_cell',
                                side_effect=nova_exception.CellTimeout)):
            self._hosts(times=1, near=self.first)
            self.assertIn('does not report where servers are', self._fault(
                near=self.first, locality='strict'))

    def test_looked_up_once(self):
        with mock.patch.object(servers, 'find', wraps=servers.find) as read:
            self.boot(self.alice, min_count=3)
            self.assertEqual(0, read.call_count)
            self.boot(self.alice, {'far': ['tag:web', 'tag:db', self.first]},
                      min_count=3)
        self.assertEqual(1, read.call_count)
