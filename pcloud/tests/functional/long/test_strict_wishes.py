# SPDX-License-Identifier: Apache-2.0

"""Strict wishes that are asked for at the same moment."""

import os
import threading
from unittest import mock

from nova.compute import task_states
from nova import context as nova_context
from nova import objects
from nova.scheduler import utils as scheduler_utils
from nova.tests import fixtures as nova_fixtures

from pcloud.backend.calls import placement
from pcloud.backend.cells import expected_places
from pcloud import exception
from pcloud import names
from pcloud.rules import turns
from pcloud.scheduler import strict_turns
from pcloud.tests.support import base
from pcloud.tests.support import counting
from pcloud.tests.support import shared_cloud

# How many pairs of servers are started at once.
PAIRS = int(os.environ.get('PCLOUD_TEST_PAIRS', 5))
_KEY = names.strict_key(base.ALICE)


class StrictTestCase(shared_cloud.SharedCloudTestCase):
    """Three hosts and two schedulers."""

    hosts = {'node-1': 'az1', 'node-2': 'az1', 'node-3': 'az1'}

    def _configure(self):
        super()._configure()
        self.flags(enabled_filters=['ComputeFilter', 'PcloudFilter',
                                    'LocalityFilter', 'ColocationFilter',
                                    'ServerGroupAntiAffinityFilter'],
                   group='filter_scheduler')

    def start_service(self, name, *args, **kwargs):
        if name == 'scheduler':
            # Nova's own method starts a single one.
            self.useFixture(nova_fixtures.ServiceFixture(name, 'another'))
        return super().start_service(name, *args, **kwargs)

    def turn(self):
        """Return the turn of Alice's strict wishes, as written."""
        return self.aggregate(names.JOURNAL).metadata.get(_KEY)

    def at_once(self, *bodies):
        """Start servers at the same moment, and return them when built."""
        barrier = threading.Barrier(len(bodies))
        made = [None] * len(bodies)

        def start(number, hints, more):
            user = self.client_of('alice', base.ALICE)
            server = {**self._build_server(flavor_id='1', networks='none'),
                      **more}
            barrier.wait()
            made[number] = user.post_server({
                'server': server, 'os:scheduler_hints': hints})

        threads = [threading.Thread(target=start, args=(number, *body))
                   for number, body in enumerate(bodies)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return [self.wait_until(lambda: self._built(each)) for each in made]

    def hosts_of(self, servers):
        """Return the host of each server; all servers are active."""
        self.assertEqual(
            ['ACTIVE'] * len(servers), [each['status'] for each in servers],
            [each.get('fault') for each in servers])
        return [each['OS-EXT-SRV-ATTR:host'] for each in servers]


class TurnsTest(StrictTestCase):
    """Turns that are not ended, or lost."""

    def setUp(self):
        super().setUp()
        self.hints = {'far': 'tag:db', 'locality': 'strict'}

    def _write_turn(self, text):
        aggregate = self.aggregate(names.JOURNAL)
        aggregate.update_metadata({_KEY: text})

    def _turn(self, seconds):
        now = int(strict_turns.time.time())
        return turns.Turn('0' * 8, now + seconds).text()

    def test_turn_of_a_scheduler_that_has_died(self):
        self.boot(self.alice, self.hints, tags=['db'])
        self._write_turn(self._turn(1))
        self.boot(self.alice, self.hints, tags=['db'])
        self.assertIsNone(self.turn())

    def test_turn_that_does_not_come(self):
        self.flags(strict_timeout=1, group='pcloud')
        self.boot(self.alice, self.hints, tags=['db'])
        self._write_turn(self._turn(60))
        server = self.boot(self.alice, self.hints, 'ERROR')
        self.assertIn('were not after 3 s', self.fault(server))
        # Neither other wishes nor other projects wait.
        self.boot(self.alice, {'far': 'tag:db'})
        self.boot(self.bob, self.hints)

    def _lost(self, mishap):
        """Start a server whose turn is lost when its host is claimed."""
        claim = scheduler_utils.claim_resources

        def late(*args, **kwargs):
            claimed = claim(*args, **kwargs)
            patch.stop()
            mishap()
            return claimed

        patch = mock.patch.object(scheduler_utils, 'claim_resources', late)
        patch.start()

    def test_turn_that_is_lost_in_a_choice(self):
        self.boot(self.alice, self.hints, tags=['db'])
        others = []

        def another_one_takes_the_turn():
            self._write_turn(self._turn(-1))
            others.append(self.boot(self.alice, self.hints, tags=['db']))

        self._lost(another_one_takes_the_turn)
        server = self.boot(self.alice, self.hints, 'ERROR', tags=['db'])
        self.assertIn('taken so long', self.fault(server))
        self.assertEqual({}, self._get_allocations_by_server_uuid(
            server['id']))
        self.assertIsNotNone(self.host_of(*others))
        self.assertIsNone(self.turn())

    def test_evacuation_whose_turn_is_lost_keeps_the_old_host(self):
        server = self.boot(self.alice, self.hints, tags=['db'])
        source = self.host_of(server)
        before = self._get_allocations_by_server_uuid(server['id']).keys()
        self.admin.put_service_force_down(self.service_id(source), True)
        self._lost(lambda: self._write_turn(self._turn(60)))
        self.act(server, {'evacuate': {}})
        self.wait_for(server, status='ERROR')
        self.assertEqual(before, self._get_allocations_by_server_uuid(
            server['id']).keys())
        self.assertEqual(source, self.host_of(server))


class ExpectedTest(StrictTestCase):
    """Servers under way count where they may be in the end."""

    def furnish(self):
        super().furnish()
        self.server = self.boot(self.alice, tags=['db'])
        self.host = self.host_of(self.server)
        self.node_of = {
            node.host: node.uuid for node in objects.ComputeNodeList.get_all(
                self._cell())}

    def _cell(self):
        context = nova_context.get_admin_context()
        nova_context.set_target_cell(context, self.cell_mappings['cell1'])
        return context

    def _find(self, servers=(), tags=('db',)):
        return expected_places.find(
            self.context, base.ALICE, servers, tags, but=base.BOB)

    def _instance(self):
        return objects.Instance.get_by_uuid(self._cell(), self.server['id'])

    def test_at_rest(self):
        with mock.patch.object(placement, 'providers') as asked:
            found = self._find([self.server['id']])
        asked.assert_not_called()
        self.assertEqual({self.server['id']: self.host}, found.servers)
        self.assertEqual({self.server['id']}, found.placed)
        self.assertEqual({'db': [self.host]}, found.tagged)
        self.assertEqual({self.server['id']: []}, found.expected)
        self.assertEqual({'db': []}, found.expected_tagged)

    def test_without_a_host_yet(self):
        instance = self._instance()
        instance.task_state = task_states.SCHEDULING
        instance.host = None
        instance.save()
        for provider in (self.node_of[self.host], base.BOB):
            with (mock.patch.object(placement, 'providers',
                                    return_value=[provider]),
                  mock.patch.object(
                      placement, 'root',
                      return_value=self.node_of[self.host]) as root):
                found = self._find()
            self.assertEqual({'db': []}, found.tagged)
            self.assertEqual({'db': [self.host]}, found.expected_tagged)
            self.assertEqual(provider == base.BOB, root.called)
        with mock.patch.object(placement, 'providers',
                               side_effect=exception.PlacementSilent):
            self.assertRaises(exception.Unavailable, self._find)
            server = self.boot(self.alice, {
                'far': 'tag:db', 'locality': 'strict'}, 'ERROR')
            self.assertIn('does not report where servers are',
                          self.fault(server))

    def test_resized_and_not_confirmed(self):
        self.act(self.server, {'migrate': None})
        moved = self.wait_for(self.server, status='VERIFY_RESIZE')
        new = moved['OS-EXT-SRV-ATTR:host']
        found = self._find()
        self.assertEqual({'db': [new]}, found.tagged)
        self.assertEqual({'db': [self.host]}, found.expected_tagged)
        far = self.boot(self.alice, {'far': 'tag:db', 'locality': 'strict'})
        self.assertNotIn(self.host_of(far), (new, self.host))
        near = {'near': 'tag:db', 'locality': 'strict'}
        self.assertIn('near and far want it', self.fault(
            self.boot(self.alice, near, 'ERROR')))
        self.act(self.server, {'confirmResize': None})
        self.wait_for(self.server, status='ACTIVE')
        self.assertEqual(new, self.host_of(self.boot(self.alice, near)))

    def test_statements(self):
        """The number does not depend on the number of servers at rest."""
        before = counting.least(self._find)
        for _ in range(2):
            self.boot(self.alice, tags=['db'])
        self.assertEqual(before, counting.least(self._find))
        self.assertEqual(0, before.http)

    def test_wishes_that_are_not_strict(self):
        """A choice without a strict wish makes no statement more."""
        with (mock.patch.object(strict_turns.turns, 'is_free') as asked,
              mock.patch.object(expected_places, 'find') as find):
            for hints in ({}, {'far': 'tag:db'}, {'near': 'tag:db'},
                          {'locality': 'strict'}, {'service': 'web'}):
                self.boot(self.alice, hints)
        asked.assert_not_called()
        find.assert_not_called()


class PairsTest(StrictTestCase):

    def test_far(self):
        """Never on one host, and both start where there is capacity."""
        self.disable_service('node-3')
        body = {'far': 'tag:db', 'locality': 'strict'}, {'tags': ['db']}
        self._are_apart(body)

    def _are_apart(self, body):
        """Start pairs for which there are two hosts."""
        for _ in range(PAIRS):
            servers = self.at_once(body, body)
            self.assertEqual(['node-1', 'node-2'],
                             sorted(self.hosts_of(servers)))
            for each in servers:
                self._delete_server(each)
        self.assertIsNone(self.turn())

    def test_far_and_no_room(self):
        body = {'far': 'tag:db', 'locality': 'strict'}, {'tags': ['db']}
        servers = self.at_once(*[body] * 4)
        self.assertEqual(['ACTIVE'] * 3 + ['ERROR'],
                         sorted(each['status'] for each in servers))
        self.assertEqual(set(self.hosts), set(self.hosts_of(
            [each for each in servers if each['status'] == 'ACTIVE'])))

    def test_near(self):
        """Each is near to a tag that the other one gets."""
        for tag, host in (('web', 'node-1'), ('db', 'node-2')):
            boss = self.client_of('boss', base.ALICE,
                                  ['reader', 'member', 'admin'])
            self.boot(boss, zone=f'az1:{host}', tags=[tag])
        for _ in range(PAIRS):
            servers = self.at_once(*(
                ({'near': f'tag:{near}', 'locality': 'strict'},
                 {'tags': [tag]}) for near, tag
                in (('web', 'db'), ('db', 'web'))))
            self.assertEqual(['ACTIVE', 'ERROR'],
                             sorted(each['status'] for each in servers))
            for each in servers:
                self._delete_server(each)

    def test_a_group_that_is_kept_apart(self):
        """Nova's own second look leads to no alternate in a Pcloud."""
        self.make_pool('any', 'node-1', 'node-2')
        pcloud = self.make_pcloud(self.alice)
        for name in ('a', 'b'):
            self.add_host(self.alice, pcloud, name, 'any')
        group = self.alice.call_json('POST', '/os-server-groups', {
            'server_group': {'name': 'g', 'policy': 'anti-affinity'}})
        body = {'pcloud': pcloud, 'group': group['server_group']['id']}, {}
        self._are_apart(body)

    def test_several_of_a_request(self):
        body = {'far': 'tag:db', 'locality': 'strict'}, {
            'tags': ['db'], 'min_count': 2}
        one = {'far': 'tag:db', 'locality': 'strict'}, {'tags': ['db']}
        self.at_once(body, one)

        def hosts():
            servers = self.alice.get_servers()
            self.assertEqual({'ACTIVE'}, {each['status'] for each in servers})
            return sorted(map(self.host_of, servers))

        self.assertEqual(sorted(self.hosts), self.wait_until(hosts))

    def test_moves(self):
        """Two that are moved at once are never on one host."""
        hints = {'far': 'tag:db', 'locality': 'strict'}
        servers = [self.boot(self.alice, hints, tags=['db'])
                   for _ in range(2)]
        threads = [threading.Thread(target=self.act, args=(
            each, {'os-migrateLive': {'host': None,
                                      'block_migration': 'auto'}}))
                   for each in servers]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        found = [self.wait_for(each, status='ACTIVE') for each in servers]
        self.assertEqual(2, len(set(self.hosts_of(found))))
