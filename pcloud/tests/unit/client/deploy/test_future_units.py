# SPDX-License-Identifier: Apache-2.0

"""Constraints are set for the units that a worker will start."""

import ddt
import requests

from pcloud.tests.unit.client.deploy import fake_nova
from pcloud.tests.unit.worker import test_follower

KEY = 'pcloud_constraints'


@ddt.ddt
class SetTest(test_follower.FollowerTestCase):
    """There is a unit of agent beside the first of db."""

    def _set(self, written, *args, service='agent'):
        return self.openstack('pcloud', 'service', 'set', '--constraints',
                              written, service, *args)

    def _agent(self, number=1):
        return self.servers[fake_nova.server_id(f'agent-{number}')]

    def _next(self):
        """Let a look start a unit; return the unit's constraints."""
        self._have_db(2)
        self.assertIn('agent-2 is started', self._told())
        return self.hints('agent-2').get('constraints')

    def test_units_to_come(self):
        result = self._set('cpu=8 rack=r1')
        self.assertEqual((0, '', 'agent-1: set\n'), result)
        self.assertEqual(['cpu=8 rack=r1'], self._next())
        self.assertEqual('cpu=8 rack=r1', self._agent(2)['metadata'][KEY])

    def test_instead_of_those_of_the_first_unit(self):
        self._agent()['scheduler_hints']['constraints'] = ['cpu=1']
        self.assertEqual(0, self._set('cpu=2').status)
        self.assertEqual(['cpu=2'], self._next())

    def test_none(self):
        self._agent()['scheduler_hints']['constraints'] = ['cpu=1']
        self.assertEqual(0, self._set('').status)
        self.assertIsNone(self._next())
        self.assertEqual('', self._agent(2)['metadata'][KEY])

    def test_all_units_that_may_be_copied(self):
        self._have_db(2)
        self._have_agent(2)
        self._have_db(3)
        self._have_agent(3, status='ERROR')
        self.have('own', 'agent', host='h4')
        result = self._set('cpu=2')
        self.assertEqual('agent-1: set\nagent-2: set\n', result.err)
        self.assertNotIn(KEY, self._agent(3)['metadata'])

    def test_a_unit_that_is_being_built(self):
        self.surprises['mark', 'agent-1'] = 409, 'being built'
        self.clock.at_nap = self.surprises.clear
        self.assertEqual(0, self._set('cpu=2').status)
        self.assertEqual('cpu=2', self._agent()['metadata'][KEY])

    def test_a_unit_that_cannot_be_told(self):
        self.surprises['mark', 'agent-1'] = 409, 'locked'
        self._have_db(2)
        self._have_agent(2)
        result = self._set('cpu=2', '--timeout', '4')
        self.assertEqual(1, result.status)
        self.assertIn(
            'Units to come may have other constraints, as these could not be '
            'told: agent-1 (locked', result.err)
        self.assertEqual('cpu=2', self._agent(2)['metadata'][KEY])

    def test_nova_restarts(self):
        self.surprises['mark', 'agent-1'] = requests.exceptions.Timeout()
        self.assertEqual(0, self._set('cpu=2').status)

    def test_an_interruption(self):
        self.surprises['mark', 'agent-1'] = KeyboardInterrupt()
        result = self._set('cpu=2')
        self.assertEqual(130, result.status)
        self.assertIn('Set already: nothing.', result.err)

    @ddt.data(
        ('cpu=x', 'agent', "agent: Constraint at character 1: 'cpu=x'"),
        ('cpu=2', 'db', "'db' was not deployed with --scale-with"),
        ('cpu=2', 'gone', "no units of a service 'gone'"),
        (f'rack={"r" * 251}', 'agent', 'at most 255 characters, and not 256'))
    @ddt.unpack
    def test_refusals(self, written, service, told):
        result = self._set(written, service=service)
        self.assert_one_line(told, result)
        self.assertNotIn(KEY, self._agent()['metadata'])
        self.assertEqual([], self.clock.naps)

    def test_a_cell_that_is_down(self):
        hidden = fake_nova.server_id('hidden')
        self.servers[hidden] = {'id': hidden, 'status': 'UNKNOWN'}
        self.assert_one_line('Nothing is changed while', self._set('cpu=2'))
