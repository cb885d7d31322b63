# SPDX-License-Identifier: Apache-2.0

"""A server stays on the same side of the border for life."""


from nova.tests import fixtures as nova_fixtures

from pcloud.tests.support import base
from pcloud.tests.support import shared_cloud

COLD = {'migrate': None}
LIVE = {'os-migrateLive': {'host': None, 'block_migration': 'auto'}}
EVACUATE = {'evacuate': {}}
HOST = 'OS-EXT-SRV-ATTR:host'
IMAGES = (nova_fixtures.GlanceFixture.image1['id'],
          nova_fixtures.GlanceFixture.image2['id'])


class LifecycleTestCase(shared_cloud.SharedCloudTestCase):
    """Hosts of every kind, all equal and in the same zone.

    :ivar own: the two enabled hosts of Alice's Pcloud
    :ivar off: the disabled host of Alice's Pcloud
    :ivar foreign: the enabled host of Bob's Pcloud
    :ivar free: a host of the pool that is in no Pcloud
    :ivar ordinary: the two hosts that are open to everybody
    """

    hosts = {f'node-{number}': 'az1' for number in range(1, 8)}
    ordinary = {'node-6', 'node-7'}

    def furnish(self):
        super().furnish()
        pool = {'node-1', 'node-2', 'node-3', 'node-4', 'node-5'}
        self.make_pool('gpu', *sorted(pool))
        self.pcloud = self.make_pcloud(self.alice)
        self.hint = {'pcloud': self.pcloud}
        self.own = {self.add_host(self.alice, self.pcloud, name, 'gpu')
                    for name in ('a', 'b')}
        self.off = self.add_host(
            self.alice, self.pcloud, 'off', 'gpu', enable=False)
        self.foreign = self.add_host(
            self.bob, self.make_pcloud(self.bob), 'x', 'gpu')
        self.free, = pool - self.own - {self.off, self.foreign}
        self.half = self._create_flavor(vcpu=1, memory_mb=5000, disk=1)

    def sides(self, **more):
        """Boot a server of Alice's on each side of the border.

        :returns: (server, the hosts of the server's side, a host of each
            remaining kind), for a server in Alice's Pcloud and for a server
            outside Pclouds
        """
        inside = self.boot(self.alice, self.hint, **more)
        outside = self.boot(self.alice, **more)
        return [
            (inside, self.own,
             [self.off, self.foreign, self.free, 'node-6']),
            (outside, self.ordinary,
             [min(self.own), self.off, self.foreign, self.free])]

    def wait_for_event(self, server, result, name=''):
        """Wait until a step of the latest action has ended with a result."""
        latest = self.admin.get_instance_actions(server['id'])[0]

        def ended():
            events = self.admin.get_instance_action_details(
                server['id'], latest['request_id'])['events']
            found = [event for event in events if event['result'] == result
                     and name in event['event']]
            self.assertTrue(found, events)
            return found[0]

        return self.wait_until(ended)

    def other(self, server, side):
        """Return the host, of two hosts, that does not run a server."""
        host, = side - {self.host_of(server)}
        return host

    def move(self, server, body, target, status='ACTIVE'):
        """Request a move and wait until the server is on the target."""
        self.act(server, body)
        self.wait_for(server, status=status, **{HOST: target})

    def live_migrate(self, server, target, body=LIVE):
        """Migrate a server and wait for the end of the source's cleanup.

        Nova shows the server at rest while the source host still cleans up,
        and a further move would meet the leftovers.
        """
        self.move(server, body, target)

        def forgotten():
            found = self.admin.api_get(
                f'/os-migrations?instance_uuid={server["id"]}').body
            for each in found['migrations']:
                self.assertEqual(
                    {}, self._get_allocations_by_server_uuid(each['uuid']))

        self.wait_until(forgotten)

    def stays(self, server, body):
        """Show that there is no target host, and that no server moved."""
        before = self._place(server)
        self.act(server, body)
        event = self.wait_for_event(server, 'Error')
        self.assertIn('NoValidHost', event['traceback'])
        self.wait_for(server)
        self.assertEqual(before, self._place(server))

    def _place(self, server):
        return self.host_of(server), set(
            self._get_allocations_by_server_uuid(server['id']))

    def shelve(self, server):
        """Shelve a server and wait until the server has left the host."""
        self.act(server, {'shelve': None})
        self.wait_for(server, status='SHELVED_OFFLOADED', **{HOST: None})

    def unshelve(self, server, side, **more):
        """Unshelve a server and check the side of the server's host."""
        self.act(server, {'unshelve': more or None})
        found = self.wait_for(server, status='ACTIVE')
        self.assertIn(found[HOST], side)

    def evacuation_stays(self, server, body=EVACUATE):
        """Show that an evacuation finds no host."""
        host = self.host_of(server)
        self.set_down(host)
        self.stays(server, body)
        self.set_down(host, down=False)
        # Nova leaves a server that it could not evacuate in ERROR.
        self.act(server, {'os-resetState': {'state': 'active'}})
        self.wait_for(server, status='ACTIVE')

    def set_state(self, name, state):
        """Enable or disable a host of Alice's Pcloud."""
        self.alice.call_json(
            'PUT', f'/os-pclouds/{self.pcloud}/hosts/{name}',
            {'host': {'state': state}})


class RebuildTest(LifecycleTestCase):
    """A rebuild is no move: the server stays on the host."""

    def _rebuild(self, server, image):
        host = self.host_of(server)
        self.act(server, {'rebuild': {'imageRef': image}})
        self.wait_for_event(server, 'Success', 'compute_rebuild_instance')
        rebuilt = self.wait_for(server, status='ACTIVE')
        self.assertEqual((host, image),
                         (rebuilt[HOST], rebuilt['image']['id']))

    def test_same_and_new_image(self):
        for server, _, _ in self.sides(imageRef=IMAGES[0]):
            for image in (IMAGES[0], IMAGES[1], IMAGES[0]):
                self._rebuild(server, image)

    def test_of_whom_would_not_be_let_in_any_more(self):
        server = self.boot(self.alice, self.hint, imageRef=IMAGES[0])
        for name in ('a', 'b'):
            self.set_state(name, 'disabled')
        self._rebuild(server, IMAGES[1])
        self.alice.call_json(
            'DELETE', f'/os-pclouds/{self.pcloud}/tenants/{base.ALICE}')
        self._rebuild(server, IMAGES[0])
        self._rebuild(server, IMAGES[0])
