# SPDX-License-Identifier: Apache-2.0

"""Each call of a command gets lost, or is interrupted by the user.

A call is lost before or after the call has taken effect.
"""

import itertools

import ddt
import fixtures
from keystoneauth1 import adapter as ksa_adapter
from keystoneauth1 import exceptions as ksa_exceptions

from pcloud.client.deploy import deployments
from pcloud.client.deploy import plans
from pcloud.client.deploy import server_ends
from pcloud.client.deploy import waits
from pcloud.client import exceptions
from pcloud.client import servers
from pcloud.client import v1
from pcloud.tests.unit.client.deploy import fake_nova

PACE = waits.Pace(30, lambda progress: None)
BEFORE, AFTER = 'before', 'after'
AGENT = plans.Part('agent', 'part', 'small')
GROUP = plans.Order(
    plans.Part('web', 'plain', 'large'),
    (plans.Part('disk', 'part', 'small'), plans.Part('log', 'part', 'small')))
# In the messages of commands.
UNKNOWN = 'It is not known whether '


def find_image(name):
    """Find an image by name, without a call."""
    found = next(each for each in fake_nova.IMAGES
                 if name in (each['id'], each['name']))
    return servers.Image(found['id'], found['name'], properties={
        key: value for key, value in found.items() if key.startswith('pc')})


def is_in_restart(call, number):
    """Whether a call is one of four calls in a row."""
    return number <= call < number + 4


class Lossy:
    """Loses calls.

    :ivar calls: the number of calls so far
    :ivar is_lost: gets the number of a call; whether the call is lost
    """

    def __init__(self, is_lost, when, error):
        self.calls = 0
        self._send = ksa_adapter.Adapter.request
        self._is_lost, self._when, self._error = is_lost, when, error

    def request(self, adapter, *args, **options):
        """Send a request, or lose the request or the answer."""
        self.calls += 1
        is_lost = self._is_lost(self.calls)
        if is_lost and self._when == BEFORE:
            raise self._error('lost')
        answer = self._send(adapter, *args, **options)
        if is_lost:
            raise self._error('lost')
        return answer


class LostCallsTestCase(fake_nova.ServersTestCase):
    """Helps with running a function once for each of its calls."""

    def setUp(self):
        super().setUp()
        self.client = v1.Client(self.session())
        # Keystone and the versions of Nova are asked once.
        self.client.servers.limits()

    def prepare(self):
        """Make the servers that are there before each run."""

    def each(self, run, when, error, is_lost=int.__eq__):
        """Run a function once for each call, with this call lost.

        :param is_lost: gets the number of a call and the number of the run
        :returns: pairs of the run's number and the error or the result
        """
        for number in itertools.count(1):
            self.servers.clear()
            self._coming.clear()
            self.done.clear()
            self.prepare()
            lossy = Lossy(lambda call: is_lost(call, number), when, error)
            with fixtures.MonkeyPatch(
                    'keystoneauth1.adapter.Adapter.request',
                    lambda adapter, *args, **options: lossy.request(
                        adapter, *args, **options)):
                try:
                    outcome = run()
                except (Exception, KeyboardInterrupt) as failure:
                    outcome = failure
            if lossy.calls < number:
                self.assertGreater(number, 3)
                return
            yield number, outcome

    def deploy(self, order=GROUP):
        """Deploy an order."""
        return deployments.deploy(self.client, find_image, order, PACE)

    def assert_told(self, names, outcome, number):
        """Assert that a message names servers."""
        for name in names:
            self.assertTrue(
                f'{name} ({fake_nova.server_id(name)}' in str(outcome) or
                f'{UNKNOWN}{name} is' in str(outcome) or
                f', {name}.' in str(outcome) or
                f': {name}.' in str(outcome),
                f'{number}: {name} is there, but not in: {outcome}')


@ddt.ddt
class DeployTest(LostCallsTestCase):
    """All servers are started, or none; servers that are left are named."""

    @ddt.data(BEFORE, AFTER)
    def test_a_lost_call(self, when):
        for number, outcome in self.each(
                self.deploy, when, ksa_exceptions.ConnectFailure):
            self._assert_all_or_none(number, outcome)

    @ddt.data(BEFORE, AFTER)
    def test_a_restart_of_the_api(self, when):
        for number, outcome in self.each(
                self.deploy, when, ksa_exceptions.ConnectFailure,
                is_in_restart):
            self._assert_all_or_none(number, outcome)

    def _assert_all_or_none(self, number, outcome):
        if isinstance(outcome, list):
            self.assertEqual(['disk', 'log', 'web'], self.names())
        else:
            self.assertEqual([], self.names(), f'{number}: {outcome}')
            self.assertIsInstance(outcome, (
                exceptions.ClientError, ksa_exceptions.ConnectFailure))

    @ddt.data(BEFORE, AFTER)
    def test_nova_goes_away(self, when):
        for number, outcome in self.each(
                self.deploy, when, ksa_exceptions.ConnectFailure, int.__ge__):
            self.assert_told(self.names(), outcome, number)

    @ddt.data(BEFORE, AFTER)
    def test_an_interruption(self, when):
        for number, outcome in self.each(
                self.deploy, when, KeyboardInterrupt):
            self.assertIsInstance(outcome, exceptions.Interrupted, number)
            self.assertEqual([], self.names(), f'{number}: {outcome}')
            self.assertRegex(
                str(outcome), f'Nothing was created|is removed|{UNKNOWN}')

    @ddt.data(BEFORE, AFTER)
    def test_interruptions_without_end(self, when):
        for number, outcome in self.each(
                self.deploy, when, KeyboardInterrupt, int.__ge__):
            self.assertIsInstance(outcome, exceptions.Interrupted, number)
            self.assert_told(self.names(), outcome, number)


@ddt.ddt
class ScaleTest(LostCallsTestCase):
    """A scaled service is on all hosts, or on none."""

    def prepare(self):
        """Make the service to scale with."""
        self.have('db-1', 'db', host='h1')
        self.have('db-2', 'db', host='h2')

    def _scale(self):
        return self.deploy(plans.Order(AGENT, scale_with='db'))

    @ddt.data(BEFORE, AFTER)
    def test_a_lost_call(self, when):
        for number, outcome in self.each(
                self._scale, when, ksa_exceptions.ConnectFailure):
            self.assertEqual(
                ['agent-1', 'agent-2', 'db-1', 'db-2'] if isinstance(
                    outcome, list) else ['db-1', 'db-2'], self.names(),
                f'{number}: {outcome}')

    @ddt.data(BEFORE, AFTER)
    def test_nova_goes_away(self, when):
        for number, outcome in self.each(
                self._scale, when, ksa_exceptions.ConnectFailure, int.__ge__):
            if not isinstance(outcome, list):
                self.assert_told(set(self.names()) - {'db-1', 'db-2'},
                                 outcome, number)

    @ddt.data(BEFORE, AFTER)
    def test_an_interruption(self, when):
        for number, outcome in self.each(
                self._scale, when, KeyboardInterrupt):
            self.assertIsInstance(outcome, exceptions.Interrupted, number)
            self.assertEqual(['db-1', 'db-2'], self.names(),
                             f'{number}: {outcome}')

    @ddt.data(BEFORE, AFTER)
    def test_interruptions_without_end(self, when):
        for number, outcome in self.each(
                self._scale, when, KeyboardInterrupt, int.__ge__):
            self.assertIsInstance(outcome, exceptions.Interrupted, number)
            self.assert_told(set(self.names()) - {'db-1', 'db-2'}, outcome,
                             number)


@ddt.ddt
class UndeployTest(LostCallsTestCase):
    """Servers that are left are named."""

    def prepare(self):
        """Make a service with servers below the servers."""
        self.have('web-1', 'web', host='h1')
        self.have('web-2', 'web', host='h2', status='REBOOT')
        self._coming[fake_nova.server_id('web-2')] = ['ACTIVE']
        self.have('disk-1', 'disk', host='h1', with_='web')
        self.have('log-1', 'log', host='h1', in_='disk')

    def _undeploy(self):
        deployments.undeploy(self.client, 'web', PACE)

    def _force(self):
        deployments.undeploy_by_force(self.client, 'web', PACE)

    @ddt.data(BEFORE, AFTER)
    def test_a_lost_call(self, when):
        for run, is_lost in itertools.product(
                (self._undeploy, self._force), (int.__eq__, is_in_restart)):
            for number, outcome in self.each(
                    run, when, ksa_exceptions.ConnectFailure, is_lost):
                if outcome is None or number > 1:
                    self.assertIsNone(outcome, number)
                    self.assertEqual([], self.names())

    @ddt.data(BEFORE, AFTER)
    def test_nova_goes_away(self, when):
        for run in (self._undeploy, self._force):
            for number, outcome in self.each(
                    run, when, ksa_exceptions.ConnectFailure, int.__ge__):
                if number == 1:
                    continue
                self.assertIsInstance(outcome, server_ends.NotStopped, number)
                if ('nothing was deleted' in str(outcome) and
                        run == self._undeploy):
                    self.assertEqual(4, len(self.names()))
                else:
                    self.assert_told(self.names(), outcome, number)

    @ddt.data(BEFORE, AFTER)
    def test_an_interruption(self, when):
        for run, is_lost in itertools.product(
                (self._undeploy, self._force), (int.__eq__, int.__ge__)):
            for number, outcome in self.each(
                    run, when, KeyboardInterrupt, is_lost):
                self.assertIsInstance(
                    outcome, exceptions.Interrupted, number)
                if 'Nothing was ' in str(outcome):
                    self.assertEqual(4, len(self.names()))
                    stopped = [name for verb, name in self.done
                               if verb == 'stop']
                    self.assert_told(stopped, outcome, number)
                else:
                    self.assert_told(self.names(), outcome, number)


@ddt.ddt
class CommandsTest(LostCallsTestCase):
    """An interrupted command ends with 130 and one line on what is left."""

    def prepare(self):
        """Make a service with a scaled service, which misses a unit."""
        for host in ('h1', 'h2'):
            self.have(f'db-{host}', 'db', host=host)
        self.have('agent-h1', 'agent', host='h1',
                  metadata={'pcloud_scale_with': 'db'},
                  in_=fake_nova.server_id('db-h1'))

    @ddt.data(
        (['deploy', 'web', '--image', 'plain', '--flavor', 'large'],
         'Nothing was created|is removed'),
        (['undeploy', 'db'], 'Nothing was (stopped|deleted)|Still there, or '
         'perhaps so: .*-h'),
        (['sync', '--timeout', '7'], 'A worker goes on all the same'),
    )
    @ddt.unpack
    def test_status(self, command, told):
        for number, result in self.each(
                lambda: self.openstack('pcloud', 'service', *command), AFTER,
                KeyboardInterrupt):
            self.assertEqual((130, ''), result[:2], f'{number}: {result.err}')
            self.assertRegex(result.err.splitlines()[-1], told, number)
            self.assertNotIn('Traceback', result.err)
