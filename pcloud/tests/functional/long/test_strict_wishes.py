# SPDX-License-Identifier: Apache-2.0


"""Strict wishes that are asked for at the same moment."""

import threading

from pcloud.tests.functional.quick import test_strict_wishes
from pcloud.tests.support import base

PAIRS = test_strict_wishes.PAIRS


class PairsTest(test_strict_wishes.StrictTestCase):

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
