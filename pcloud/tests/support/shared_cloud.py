# SPDX-License-Identifier: Apache-2.0

"""A cloud that all tests of a class share."""

from __future__ import annotations

from collections.abc import Iterator
import contextlib
import inspect
import typing
import unittest
from unittest import mock

import fixtures
from nova import test
from nova.tests import fixtures as nova_fixtures
from oslo_log.fixture import logging_error
from oslotest import base as oslotest

from pcloud.tests.support import base
from pcloud.tests.support import cloud_state
from pcloud.tests.support import economies

_COPIED = list, dict, set
# What a class replaces without another cloud.
_OF_TESTS = 'setUp', 'tearDownClass', '_class_cleanups', '_classSetupFailed'


class SharedCloudTestCase(base.PcloudTestCase):
    """The tests of a class share one cloud, and classes of a module may.

    The first test of the class has the class furnish a cloud: the cloud of the
    class before, if the class before is in the same module and starts its
    cloud in the same way, or else a new cloud. After each test the cloud is
    put back into the state after `furnish`, and is compared with this state:
    the test that leaves a difference fails, and the next test gets a new
    cloud. Before another class furnishes the cloud, the cloud is put back into
    the state before `furnish`. A test has copies of the lists, sets and
    dictionaries that `furnish` has made, and everything else that `furnish`
    has made itself.

    A test that stops or starts services, or changes what services read when
    they start, is in a class with `own_cloud`.

    Under eventlet each test has a cloud of its own, because work that is
    under way cannot be seen there.

    :cvar own_cloud: whether each test of the class starts a cloud
    """

    own_cloud = False

    # The test that has started the cloud, and the test that has furnished it.
    _started: typing.ClassVar[SharedCloudTestCase | None] = None
    _furnished: typing.ClassVar[SharedCloudTestCase | None] = None

    def setUp(self):
        if self.own_cloud or not shares():
            SharedCloudTestCase._stop()
            self.addCleanup(mock.patch.stopall)
            super().setUp()
            self.furnish()
            return
        # What the test replaces is replaced after, and given back before,
        # what the cloud replaces.
        cloud = self._furnished_cloud()
        self.addCleanup(self._put_back, cloud)
        # Nova's own setUp, which the cloud has run, is left out.
        with fixtures.EnvironmentVariable('OS_LOG_CAPTURE', '0'):
            super(test.TestCase, self).setUp()
        self.useFixture(logging_error.get_logging_handle_error_fixture())
        self.stdlog = self.useFixture(nova_fixtures.StandardLogging())
        economies.skip_debug_messages()
        self._have_what(cloud)
        self.useFixture(base.ForgetfulProcess())
        self.make_clients()

    def addCleanup(self, function, /, *arguments, **options):
        # The class of oslotest would end all patches of mock after a test,
        # and so the patches of the cloud. `cloud_state.Patches` ends the
        # patches of the test.
        super(oslotest.BaseTestCase, self).addCleanup(
            function, *arguments, **options)

    def furnish(self) -> None:
        """Make what each test of the class finds in the cloud."""

    def _furnished_cloud(self) -> SharedCloudTestCase:
        """Return the test by which the class of this test is furnished."""
        furnished = SharedCloudTestCase._furnished
        if furnished is None or type(furnished) is not type(self):
            started = SharedCloudTestCase._started
            if started is None or started._kind() != self._kind():
                SharedCloudTestCase._stop()
                self._new()._start()
            SharedCloudTestCase._unfurnish()
            furnished = self._new()
            furnished._furnish()
        return furnished

    def _new(self):
        return type(self)(self._testMethodName)

    @classmethod
    def _kind(cls) -> dict[str, typing.Any]:
        """Return what may decide which cloud a class starts.

        The methods of a class that `base.PcloudTestCase` does not have cannot
        decide, but the values can that other methods read.
        """
        found = {name: inspect.getattr_static(cls, name) for name in dir(cls)
                 if not name.startswith('__') and name not in _OF_TESTS}
        return {'module': cls.__module__} | {
            name: value for name, value in found.items()
            if hasattr(base.PcloudTestCase, name)
            or not hasattr(value, '__get__')}

    def _start(self):
        SharedCloudTestCase._started = self
        unittest.addModuleCleanup(SharedCloudTestCase._stop)
        with _unlimited(), _stopped_after_failures():
            base.PcloudTestCase.setUp(self)
            self._keep_state()

    def _furnish(self):
        SharedCloudTestCase._furnished = self
        with _unlimited(), _stopped_after_failures():
            self._have_what(SharedCloudTestCase._started)
            self.make_clients()
            self.furnish()
            self._keep_state()

    def _keep_state(self):
        self._wait_for_the_end()
        self._kept = cloud_state.State.of(cloud_state.parts(self))

    @staticmethod
    def _unfurnish():
        furnished = SharedCloudTestCase._furnished
        SharedCloudTestCase._furnished = None
        if furnished is not None:
            with _stopped_after_failures():
                furnished._undo()
                SharedCloudTestCase._started._take_back()

    @staticmethod
    def _stop():
        cases = SharedCloudTestCase._started, SharedCloudTestCase._furnished
        SharedCloudTestCase._started = SharedCloudTestCase._furnished = None
        with contextlib.ExitStack() as stack:
            for case in filter(None, cases):
                stack.callback(case._undo)

    def _undo(self):
        errors = []
        while self._cleanups:
            function, arguments, options = self._cleanups.pop()
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
        if cloud is SharedCloudTestCase._furnished:
            with _stopped_after_failures():
                cloud._take_back()

    def _take_back(self):
        self._wait_for_the_end()
        self._kept.put_back()
        self.assertEqual([], self._kept.differences())

    def _wait_for_the_end(self):
        """Wait until no service has anything to do.

        A task that ends may have sent a message after the queues were looked
        at, so the services have to be idle twice with nothing done in between.
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
    return cloud_state.sees_work()


@contextlib.contextmanager
def _unlimited() -> Iterator[None]:
    """Leave out the limits and the captured output, which end with a test."""
    with (fixtures.EnvironmentVariable('OS_TEST_TIMEOUT'),
          fixtures.EnvironmentVariable('OS_STDOUT_CAPTURE'),
          fixtures.EnvironmentVariable('OS_STDERR_CAPTURE')):
        yield


@contextlib.contextmanager
def _stopped_after_failures() -> Iterator[None]:
    """Stop the cloud when something fails, so that nobody gets the cloud."""
    try:
        yield
    except BaseException:
        SharedCloudTestCase._stop()
        raise
