# SPDX-License-Identifier: Apache-2.0

"""Drains at the same time as other calls, and what drains cost."""

import threading

from nova.objects import fields

from pcloud.rules.moving import moves
from pcloud.tests.functional.quick import test_moving
from pcloud.tests.support import counting


class AtOnceTest(test_moving.MovingTestCase):

    def test_drains_a_removal_and_a_launch(self):
        servers = [self.start() for _ in range(2)]
        self.only('a', 'b')
        answers = []
        body = {'server': self._build_server(flavor_id='1', networks='none'),
                'os:scheduler_hints': {'pcloud': self.pcloud}}
        threads = [threading.Thread(target=lambda call=call: answers.append(
            call().status_code)) for call in (
            lambda: self.put('a', move='live', release=True),
            lambda: self.put('b', move='live'),
            lambda: self.alice.call('DELETE', f'{self.path}/a'),
            lambda: self.put('c', 'enabled'),
            lambda: self.alice.call('POST', '/servers', body))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertLessEqual(set(answers), {200, 202, 204, 409})

        def given_back():
            # Who was first on its way to b may not be moved again for an hour.
            self.put('c', 'enabled')
            self.work()
            self.assertNotIn('a', self.names())

        self.wait_until(given_back)
        for server in servers:
            self.assertIn(self.name_of(self.wait_for(
                server, status='ACTIVE')), ('b', 'c'))
        for server in self.admin.get_servers(search_opts={'all_tenants': 1}):
            self.assertIn(server['OS-EXT-SRV-ATTR:host'],
                          (None, self.real['b'], self.real['c']))
        self.wait_until(lambda: self.assertEqual([], self.kinds()))


class CostTest(test_moving.MovingTestCase):

    def test_looking(self):
        """Looking costs the same for one server and for several."""
        def look():
            self.get()
            self.alice.get_json(self.path)

        self.start()
        self.drain(move='live')
        one = counting.least(look)
        self.only('a', 'b')
        for _ in range(3):
            self.start()
        self.only()
        self.drain('a', move='live')
        self.drain('b', move='live')
        self.assertEqual(one, counting.least(look))

    def test_history_is_bounded(self):
        self.assertEqual(86400, moves.HISTORY)
        self.assertIn('migration', fields.MigrationType.ALL)
