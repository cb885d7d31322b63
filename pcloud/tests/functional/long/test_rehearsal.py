# SPDX-License-Identifier: Apache-2.0

"""Which hosts and racks may fail, told by and tried on real Nova."""

from pcloud.tests.functional.quick import test_rehearsal


class EvacuationTest(test_rehearsal.RehearsalTestCase):
    """What is said to fit does, and what is not, does not."""

    own_cloud = True

    def test_servers_that_find_room(self):
        web = self.add('web')
        servers = [self.start_on('web', flavor) for flavor in ('m', 's')]
        self.add('db')
        self.add('log')
        found = self.ask()
        self.assertEqual((3, None), (found['survives'], found['worst']))
        self.set_down(web)
        for server in servers:
            self.act(server, {'evacuate': {}})
            self._wait_for_migration_status(server, ['done'])
            self.assertNotEqual(web, self.host_of(server))

    def test_servers_that_find_no_room(self):
        web = self.add('web')
        server = self.start_on('web', 'xl')
        self.add('db')
        self.start_on('db', 's', others=['web'])
        told = [('db', 1, False, (1, 1)), ('web', 1, False, (1, 1))]
        self.assertEqual(('web', 1, False, (1, 1)), self.told(self.ask())[1])
        self.set_down(web)
        # A host that is down already is a host that was lost.
        self.assertEqual(told, self.told(self.ask()))
        self.act(server, {'evacuate': {}})
        self._wait_for_migration_status(server, ['error'])
        self.assertEqual(web, self.host_of(server))
