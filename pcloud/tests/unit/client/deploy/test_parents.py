# SPDX-License-Identifier: Apache-2.0

"""Units are told of their parents, when their images ask for it."""

import ddt
from oslotest import base as test_base
import requests

from pcloud.client.deploy import parents
from pcloud.client import servers
from pcloud.tests.unit.client.deploy import fake_nova
from pcloud.tests.unit.client.deploy import test_deployments

# The image of the agent consumes metrics and db.
AGENT = test_deployments.AGENT
DB = 'db', '--image', 'plain', '--flavor', 'large'
KEYS = parents.ID, parents.NAME, parents.ADDRESSES


@ddt.ddt
class ToldTest(test_base.BaseTestCase):

    @ddt.data(
        ((), ''), (('10.0.0.1',), '10.0.0.1'),
        (('10.0.0.1', 'fe80::1'), '10.0.0.1,fe80::1'),
        (('a' * 255,), 'a' * 255), (('a' * 254, 'b'), 'a' * 254),
        (('a' * 256,), ''))
    @ddt.unpack
    def test_addresses(self, addresses, expected):
        self.assertEqual(
            {parents.ID: 'id', parents.NAME: 'db-1',
             parents.ADDRESSES: expected},
            parents.told(servers.Server('id', 'db-1', addresses=addresses)))


class ParentsTest(test_deployments.DeployTestCase):

    def have(self, *args, address='10.0.0.1', **more):
        """Add a server with an address; return the server's id."""
        made = super().have(*args, **more)
        self.servers[made]['addresses'] = {
            'net': [{'addr': address, 'version': 4}]}
        return made

    def _told(self, metadata):
        return tuple(metadata.get(key) for key in KEYS)

    def _at_start(self, name):
        """Return what a server is told when the server is created."""
        return self._told(next(
            body['server']['metadata'] for body in self.created
            if body['server']['name'] == name))

    def _now(self, name):
        """Return what a server is told in the end."""
        return self._told(
            self.servers[fake_nova.server_id(name)]['metadata'])

    def test_of_the_only_unit(self):
        db = self.have('db-1', 'db')
        result = self.deploy(*AGENT, '--in-service', 'db')
        self.assertEqual(0, result.status, result.err)
        self.assertEqual((db, 'db-1', '10.0.0.1'), self._at_start('agent'))
        self.assertNotIn('told', result.err)

    def test_of_the_unit_that_the_scheduler_has_chosen(self):
        """The fake scheduler chooses the first."""
        first = self.have('db-1', 'db', host='h1')
        self.have('db-2', 'db', host='h2')
        result = self.deploy(*AGENT, '--in-service', 'db')
        self.assertEqual((None,) * 3, self._at_start('agent'))
        self.assertEqual((first, 'db-1', '10.0.0.1'), self._now('agent'))
        self.assertIn('agent: active\nagent: told of its parent db-1\n',
                      result.err)

    def test_of_a_unit_beside_what_was_started_before(self):
        first = self.have('db-1', 'db', host='h1')
        self.have('db-2', 'db', host='h2')
        self.deploy(*AGENT, '--in-service', 'db', '--with',
                    'disk=part:small')
        self.assertEqual(first, self._at_start('agent')[0])
        # The disk's parent is the agent, which the image does not consume.
        self.assertEqual((None,) * 3, self._now('disk'))

    def test_of_the_main_service(self):
        """It comes later, and before its own guest is awaited."""
        result = self.deploy(
            *DB, '--with', 'disk=part:small', '--with', 'log=plain:large',
            '--ready', 'metadata:a=b', '--ready-timeout', '2')
        self.assertEqual((None,) * 3, self._at_start('disk'))
        self.assertIn('db: active\ndisk: told of its parent db\n'
                      'db: waiting for a=b\n', result.err)
        self.assert_failed('db failed: it was not ready', result)
        result = self.deploy(*DB, '--with', 'disk=part:small')
        self.assertEqual((fake_nova.server_id('db'), 'db', ''),
                         self._now('disk'))

    def test_beside_each_unit(self):
        ids = [self.have(f'db-{number}', 'db', host=f'h{number}')
               for number in (1, 2)]
        self.deploy(*AGENT, '--scale-with', 'db')
        self.assertEqual(ids, [
            self._at_start(f'agent-{number}')[0] for number in (1, 2)])

    def test_an_image_that_consumes_another_service(self):
        self.have('web', 'web')
        self.deploy(*AGENT, '--in-service', 'web')
        self.assertEqual((None,) * 3, self._now('agent'))

    def test_what_cannot_be_told(self):
        self.surprises['mark', 'disk'] = 409, 'busy'
        self.assert_failed('disk failed: busy', self.deploy(
            *DB, '--with', 'disk=part:small'))
        self.assertEqual([], self.names())

    def test_while_nova_restarts(self):
        self.surprises['mark', 'disk'] = requests.exceptions.ConnectionError()
        self.deploy(*DB, '--with', 'disk=part:small')
        self.assertEqual(fake_nova.server_id('db'), self._now('disk')[0])
