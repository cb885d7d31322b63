# SPDX-License-Identifier: Apache-2.0

"""What Nova says of servers, as values."""

from pcloud.client import servers
from pcloud.tests.unit.client import base


class TestServers(base.CloudTestCase):
    """What Nova may send of a server."""

    def test_little_of_a_cell_that_is_down(self):
        found = servers.Server.from_body(
            {'id': 'x', 'status': 'UNKNOWN', 'image': '', 'name': None,
             'scheduler_hints': None})

        self.assertEqual(servers.Server('x', status='UNKNOWN'), found)

    def test_a_hint_that_is_no_list(self):
        found = servers.Server.from_body(
            {'id': 'x', 'scheduler_hints': {'service': 'db', 'beside': []}})

        self.assertEqual('db', found.hint('service'))
        self.assertIsNone(found.hint('beside'))
