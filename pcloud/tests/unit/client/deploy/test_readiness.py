# SPDX-License-Identifier: Apache-2.0

"""A deployment waits until guests tell that the guests are ready."""

import ddt

from pcloud.tests.unit.client.deploy import fake_nova
from pcloud.tests.unit.client.deploy import test_deployments

ONE = test_deployments.ONE
DISK = 'disk=part:small,ready=metadata:state=up'


@ddt.ddt
class ReadyTest(test_deployments.DeployTestCase):
    """The storage is ready before the server that uses the storage starts."""

    def setUp(self):
        super().setUp()
        # What the guest of a server tells: name -> (seconds, metadata).
        self.guests = {}
        self.clock.at_nap = self._tell

    def _tell(self):
        for name, (naps, metadata) in self.guests.items():
            server = self.servers.get(fake_nova.server_id(name))
            if server and server['status'] == 'ACTIVE':
                if len(self.clock.naps) >= naps:
                    server['metadata'].update(metadata)
                    self.done.append(('tell', name))

    def test_the_next_one_waits(self):
        self.guests['disk'] = 3, {'state': 'up'}
        result = self.deploy(*ONE, '--with', DISK)

        self.assertEqual(0, result.status, result.err)
        self.assertEqual([
            'disk: building', 'disk: active', 'disk: waiting for state=up',
            'disk: ready', 'web: building', 'web: active'],
            result.err.splitlines())
        self.assertLess(self.done.index(('tell', 'disk')),
                        self.done.index(('create', 'web')))
        metadata = self.servers[fake_nova.server_id('disk')]['metadata']
        self.assertEqual('state=up', metadata['pcloud_ready'])

    def test_the_main_service(self):
        self.guests['web'] = 2, {'a:b': 'c=d'}
        result = self.deploy(*ONE, '--ready', 'metadata:a:b=c=d')
        self.assertEqual(0, result.status, result.err)
        self.assertIn('web: waiting for a:b=c=d\nweb: ready\n', result.err)

    def test_an_empty_value(self):
        self.guests['web'] = 2, {'done': ''}
        self.assertEqual(
            0, self.deploy(*ONE, '--ready', 'metadata:done=').status)

    @ddt.data(({}, 'no state'), ({'state': 'down'}, 'state=down'))
    @ddt.unpack
    def test_a_guest_that_is_never_ready(self, metadata, told):
        self.guests['disk'] = 0, metadata
        result = self.deploy(*ONE, '--with', DISK, '--ready-timeout', '30')
        self.assert_failed(
            'disk failed: it was not ready after 30 seconds: its metadata has '
            f'{told} instead of state=up. All that was created (1) is '
            'removed.', result)
        self.assertEqual([], self.names())
        self.assertNotIn(('create', 'web'), self.done)

    def test_as_long_as_for_the_server(self):
        result = self.deploy(*ONE, '--with', DISK, '--timeout', '40')
        self.assert_failed('not ready after 40 seconds', result)

    def test_a_guest_that_fails(self):
        def fail():
            for server in self.servers.values():
                if server['status'] == 'ACTIVE':
                    server.update(status='ERROR')
        self.clock.at_nap = fail
        self.assert_failed('disk failed: its status is ERROR',
                           self.deploy(*ONE, '--with', DISK))
        self.assertEqual([], self.names())

    def test_a_server_that_is_deleted_meanwhile(self):
        def delete():
            for key, server in list(self.servers.items()):
                if server['status'] == 'ACTIVE':
                    del self.servers[key]
        self.clock.at_nap = delete
        self.assert_failed('disk failed: it was deleted before it was ready',
                           self.deploy(*ONE, '--with', DISK))

    def test_a_guest_that_restarts(self):
        def restart():
            for server in self.servers.values():
                if server['status'] == 'SHUTOFF':
                    server.update(status='ACTIVE', metadata={
                        **server['metadata'], 'state': 'up'})
                elif server['status'] == 'ACTIVE':
                    server['status'] = 'SHUTOFF'
        self.clock.at_nap = restart
        self.assertEqual(0, self.deploy(*ONE, '--with', DISK).status)

    @ddt.data('state=up', 'metadata:state', 'metadata:=up', '')
    def test_another_form(self, text):
        result = self.deploy(*ONE, '--ready', text)
        self.assertEqual(2, result.status)
        self.assertIn(f"'{text}' is not metadata:<key>=<value>", result.err)

    @ddt.data(
        (('--property', 'a=c', '--ready', 'metadata:a=b'),
         "web: the property 'a' is for the guest to set, as --ready says"),
        (('--ready', 'metadata:pcloud_a=b'), "'pcloud_a' begins with pcloud_"),
        (('--ready', f'metadata:a={"b" * 254}'), 'more than 255 characters'))
    @ddt.unpack
    def test_what_cannot_be(self, options, told):
        self.assert_refused(told, self.deploy(*ONE, *options))

    def test_the_longest(self):
        self.guests['web'] = 0, {'a': 'b' * 253}
        self.assertEqual(0, self.deploy(
            *ONE, '--ready', f'metadata:a={"b" * 253}').status)
