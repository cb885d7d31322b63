# SPDX-License-Identifier: Apache-2.0

"""Scaled services follow others by passes of a worker, in front of real Nova.

Keystone is not there, so a context takes the place of a token.
"""

import time
from unittest import mock

from nova.compute import rpcapi as compute_rpcapi
from nova import context as nova_context

from pcloud.backend import complaints
from pcloud.client.deploy import waits
from pcloud.client import servers
from pcloud.tests.functional.long import test_scaling
from pcloud.worker import credentials
from pcloud.worker import passes
from pcloud.worker import scaled_services


def context_of(project):
    """Return the context of the worker's user, as with a token."""
    return nova_context.RequestContext(
        user_id='worker', project_id=project, roles=['member', 'reader'],
        is_admin=False, auth_token='token', overwrite=False)


class FollowingTestCase(test_scaling.ScalingTestCase):
    """There is a unit of db on the first host, and one of agent with it."""

    def setUp(self):
        super().setUp()
        self.memory = scaled_services.PassMemory()
        patch = mock.patch.object(
            credentials, 'context', side_effect=context_of)
        self.log_in = patch.start()
        self.addCleanup(patch.stop)
        complaints.once.cache_clear()

    def once(self, memory=None):
        """Make a pass, and return whether all could be done."""
        return passes.services(
            nova_context.get_admin_context(),
            self.memory if memory is None else memory)

    def another(self):
        """Make a pass of another worker, which remembers nothing."""
        return self.once(scaled_services.PassMemory())

    def pass_until(self, expected):
        """Make passes until as many units as expected are on each host."""
        def passed():
            self.assertTrue(self.once())
            self.assertEqual(expected, self._hosts())

        self.wait_until(passed)

    def warnings(self):
        """Return the lines of the log about scaled services."""
        return [line for line in self.stdlog.logger.output.splitlines()
                if 'caled services' in line and 'WARNING' in line]

    def _unit_on(self, host):
        unit, = [unit for unit in self._units()
                 if self.host_of({'id': unit.id}) == host]
        return unit


class PcloudTest(FollowingTestCase):
    """The service is in a Pcloud."""

    def test_units_in_a_pcloud(self):
        self.make_pool('gpu', 'node-2', 'node-3')
        pcloud = self.make_pcloud(self.alice)
        self.add_host(self.alice, pcloud, 'a', 'gpu')
        self.boot(self.alice, {'service': 'db', 'pcloud': pcloud})
        self.assertTrue(self.once())
        self.assertEqual(2, len(self._hosts()))
        unit, = [unit for unit in self._units() if unit.hint('pcloud')]
        self.assertEqual(pcloud, unit.hint('pcloud'))
        self.assertTrue(self.once())
        self.assertEqual(1, self.log_in.call_count)


class SlowStopTest(FollowingTestCase):
    """A server takes its time to stop, as its image says."""

    def setUp(self):
        super().setUp()
        self.second = self._have_db(2)
        self.assertTrue(self.once())
        self._hosts()
        self.slow = self._unit_on('node-2')
        self._delete(self.second)
        self.stops = []
        self.send = compute_rpcapi.ComputeAPI.stop_instance
        patch = mock.patch.object(
            compute_rpcapi.ComputeAPI, 'stop_instance', self._hold())
        patch.start()
        self.addCleanup(patch.stop)
        patch = mock.patch.object(waits, 'time', wraps=time)
        self.sleep = patch.start().sleep
        self.addCleanup(patch.stop)

    def _hold(self):
        """Return a call that lets the host be asked later."""
        def stop_instance(*args, **kwargs):
            self.stops.append((args, kwargs))

        return stop_instance

    def stopping(self):
        """Return the servers whose hosts were to stop the servers."""
        return [args[2].uuid for args, _ in self.stops]

    def let_stop(self):
        """Let the servers stop."""
        for args, kwargs in self.stops:
            self.send(*args, **kwargs)

    def test_another_project(self):
        """One pass stops the server, and starts another project's unit."""
        theirs = self.client_of('dora', 'f' * 32)
        client, self.client = self.client, self.as_library(theirs)
        self.boot(theirs, {'service': 'db'}, zone='az1')
        self._deploy('agent')
        self.boot(theirs, {'service': 'db'}, zone='az3')
        self.sleep.reset_mock()
        self.assertTrue(self.once())
        self.sleep.assert_not_called()
        self.assertEqual([self.slow.id], self.stopping())
        self.assertEqual({'node-1': 1, 'node-3': 1}, self._hosts())
        self.client = client
        slow = self.client.servers.get(self.slow.id)
        self.assertEqual('powering-off', slow.task)
        # What is known to be under way costs no call, whoever looks.
        self.log_in.reset_mock()
        self.assertTrue(self.another())
        self.log_in.assert_not_called()
        self.let_stop()
        self.pass_until({'node-1': 1})
        self.sleep.assert_not_called()
        self.assertEqual([self.slow.id], self.stopping())

    def test_what_comes_back_meanwhile(self):
        """What has begun is brought to an end, and a new unit comes."""
        self.assertTrue(self.another())
        self._have_db(2)
        self.assertTrue(self.another())
        self.let_stop()

        def replaced():
            self.another()
            self.assertEqual({'node-1': 1, 'node-2': 1}, self._hosts())
            self.assertNotEqual(self.slow.id, self._unit_on('node-2').id)

        self.wait_until(replaced)
        self.assertEqual(servers.ACTIVE, self._unit_on('node-2').status)
        self.assertEqual([self.slow.id], self.stopping())
