# SPDX-License-Identifier: Apache-2.0

"""Scaled services follow others by passes of a worker, in front of real Nova.

Keystone is not there, so a context takes the place of a token.
"""

from unittest import mock

from nova import context as nova_context

from pcloud.backend import complaints
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
