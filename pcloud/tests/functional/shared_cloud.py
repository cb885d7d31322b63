# Licensed under the Apache License, Version 2.0 (the "License"); you may
# not use this file except in compliance with the License. You may obtain
# a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the
# License for the specific language governing permissions and limitations
# under the License.

"""A cloud that all tests of a class share."""

from __future__ import annotations

import typing
from unittest import mock

import fixtures
from nova import test
from nova.tests import fixtures as nova_fixtures
from nova import utils
from oslo_log.fixture import logging_error
from oslotest import base as oslotest

from pcloud.tests.functional import base
from pcloud.tests.functional import cloud_state

_COPIED = list, dict, set


class SharedCloudTestCase(base.PcloudTestCase):
    """The tests of a class share one cloud.

    The first test of the class starts the cloud and has the class furnish
    the cloud. After each test the cloud is put back into the state after
    `furnish`, and is compared with this state: the test that leaves a
    difference fails, and the next test gets a new cloud. A test has copies of
    the lists, sets and dictionaries that `furnish` has made, and everything
    else that `furnish` has made itself.

    A test that stops or starts services, or changes what services read when
    they start, is in a class with `own_cloud`.

    Under eventlet each test has a cloud of its own, because work that is
    under way cannot be seen there.

    :cvar own_cloud: whether each test of the class starts a cloud
    """

    own_cloud = False

    _cloud: typing.ClassVar[SharedCloudTestCase | None] = None

    def setUp(self):
        if self.own_cloud or not shares():
            self.addCleanup(mock.patch.stopall)
            super().setUp()
            self.furnish()
            return
        # What the test replaces is replaced after, and given back before,
        # what the cloud replaces.
        cloud = self._running()
        self.addCleanup(self._put_back, cloud)
        # Nova's own setUp, which the cloud has run, is left out.
        with fixtures.EnvironmentVariable('OS_LOG_CAPTURE', '0'):
            super(test.TestCase, self).setUp()
        self.useFixture(logging_error.get_logging_handle_error_fixture())
        self.stdlog = self.useFixture(nova_fixtures.StandardLogging())
        self._have_what(cloud)
        self.make_clients()

    def addCleanup(self, function, /, *arguments, **options):
        # The class of oslotest would end all patches of mock after a test,
        # and so the patches of the cloud. `cloud_state.Patches` ends the
        # patches of the test.
        super(oslotest.BaseTestCase, self).addCleanup(
            function, *arguments, **options)

    def furnish(self) -> None:
        """Make what each test of the class finds in the cloud."""

    @classmethod
    def tearDownClass(cls):
        SharedCloudTestCase._stop()
        super().tearDownClass()

    def _running(self) -> SharedCloudTestCase:
        running = SharedCloudTestCase._cloud
        if type(running) is not type(self):
            SharedCloudTestCase._stop()
            running = type(self)(self._testMethodName)
            SharedCloudTestCase._cloud = running
            running._start()
        return running

    def _start(self):
        # The limits and the captured output of a test end with the test.
        with (fixtures.EnvironmentVariable('OS_TEST_TIMEOUT'),
              fixtures.EnvironmentVariable('OS_STDOUT_CAPTURE'),
              fixtures.EnvironmentVariable('OS_STDERR_CAPTURE')):
            try:
                base.PcloudTestCase.setUp(self)
                self.furnish()
                self._wait_for_the_end()
                self._kept = cloud_state.State.of(cloud_state.parts(self))
            except BaseException:
                SharedCloudTestCase._stop()
                raise

    @staticmethod
    def _stop():
        running = SharedCloudTestCase._cloud
        if running is None:
            return
        SharedCloudTestCase._cloud = None
        errors = []
        while running._cleanups:
            function, arguments, options = running._cleanups.pop()
            try:
                function(*arguments, **options)
            except Exception as error:
                errors.append(error)
        if errors:
            raise ExceptionGroup('The cloud did not stop.', errors)

    def _have_what(self, cloud):
        own = vars(self)
        for name, value in vars(cloud).items():
            if not name.startswith('_') and name not in own:
                setattr(self, name, type(value)(value)
                        if type(value) in _COPIED else value)

    def _put_back(self, cloud):
        if cloud is not SharedCloudTestCase._cloud:
            return
        try:
            cloud._wait_for_the_end()
            cloud._kept.put_back()
            self.assertEqual([], cloud._kept.differences())
        except BaseException:
            SharedCloudTestCase._stop()
            raise

    def _wait_for_the_end(self):
        """Wait until no service has anything to do.

        Between a queue and a thread a message is seen in neither, so the
        services have to be idle twice with nothing done in between.
        """
        services = [self.conductor, self.scheduler, *self.computes.values()]

        def idle():
            before = cloud_state.done(services)
            self.assertEqual([], cloud_state.under_way(services))
            self.assertEqual([], cloud_state.under_way(services))
            self.assertEqual(before, cloud_state.done(services))

        self.wait_until(idle)


def shares() -> bool:
    """Return whether tests of a class share a cloud, with this Nova."""
    threading = getattr(utils, 'concurrency_mode_threading', None)
    return threading is not None and threading()
