# SPDX-License-Identifier: Apache-2.0

"""Removals step by step: what can be done now, by the servers' states."""

import dataclasses

import ddt

from pcloud.client.deploy import removals
from pcloud.client.deploy import server_ends
from pcloud.client.deploy import services
from pcloud.client import exceptions
from pcloud.client import servers
from pcloud.tests.unit.client import base
from pcloud.tests.unit.client.deploy import fake_nova

UNIT, CHILD = map(fake_nova.server_id, ('unit', 'child'))


class Nova:
    """Notes what is asked for, and refuses some of it."""

    def __init__(self, **refusals):
        self.asked, self._refusals = [], refusals

    def get(self, server_id):
        """Answer with a server that is being stopped by another run."""
        return servers.Server(server_id, status='ACTIVE', task='powering-off')

    def stop(self, server_id):
        """Stop a server."""
        self._ask('stop', server_id)

    def delete(self, server_id):
        """Delete a server."""
        self._ask('delete', server_id)

    def set_metadata(self, server_id, metadata):
        """Mark a server."""
        self._ask(*metadata, server_id)

    def _ask(self, name, server_id):
        self.asked.append((name, server_id))
        if name in self._refusals:
            raise self._refusals[name]


@ddt.ddt
class StepTest(base.CloudTestCase):
    """A unit with a co-located server."""

    def _services(self, unit, child):
        statuses = [each.partition(' ') for each in (unit, child)]
        self.unit, child = (
            servers.Server(server_id, server_id, status, 'h1', task=task,
                           hints={'service': (name,), **hints})
            for (status, _, task), server_id, name, hints in zip(
                statuses, (UNIT, CHILD), ('agent', 'child'),
                ({}, {'in': (UNIT,)}), strict=True))
        return services.Services([self.unit, child])

    @ddt.data(
        # The unit, the server, and what is done now.
        ('ACTIVE', 'ACTIVE', [UNIT], []),
        ('ACTIVE powering-off', 'ACTIVE', [], []),
        ('REBOOT rebooting', 'ACTIVE', [], []),
        ('SHUTOFF', 'ACTIVE', [CHILD], []),
        ('PAUSED', 'ACTIVE', [CHILD], []),
        ('ERROR', 'ACTIVE', [CHILD], []),
        ('SHUTOFF', 'ACTIVE powering-off', [], []),
        ('SHUTOFF', 'RESIZE resize_prep', [], []),
        ('SHUTOFF', 'BUILD spawning', [], [CHILD, UNIT]),
        ('SHUTOFF', 'SHUTOFF', [], [CHILD, UNIT]),
        ('SHUTOFF', 'SHUTOFF deleting', [], [UNIT]),
        ('SHUTOFF deleting', 'SHUTOFF deleting', [], []))
    @ddt.unpack
    def test_next(self, unit, child, stop, delete):
        known = self._services(unit, child)
        step = removals.next_step(known, self.unit)
        self.assertEqual((stop, delete), (
            [server.id for server in step.stop],
            [server.id for server in step.delete]))

    def test_mark(self):
        """A unit is marked before the unit is stopped, and once."""
        nova = Nova()
        removals.take_step(nova, self._services('ACTIVE', 'ACTIVE'), self.unit)
        self.assertEqual(
            [('pcloud_removing', UNIT), ('stop', UNIT)], nova.asked)
        known = self._services('ACTIVE', 'ACTIVE')
        marked = dataclasses.replace(
            self.unit, metadata={'pcloud_removing': 'now'})
        nova = Nova()
        removals.take_step(nova, services.Services(
            [marked, *known.co_located(self.unit)]), marked)
        self.assertEqual([('stop', UNIT)], nova.asked)

    def test_two_at_the_same_time(self):
        """Whoever comes second is refused, and that is no failure."""
        refusal = exceptions.Conflict('powering-off')
        nova = Nova(stop=refusal, pcloud_removing=refusal)
        step = removals.take_step(
            nova, self._services('ACTIVE', 'ACTIVE'), self.unit)
        self.assertEqual((self.unit,), step.stop)

    def test_who_may_not(self):
        """Nothing is stopped that cannot be marked, or by a reader."""
        nova = Nova(pcloud_removing=exceptions.Forbidden('no'))
        self.assertRaises(
            exceptions.Forbidden, removals.take_step, nova,
            self._services('ACTIVE', 'ACTIVE'), self.unit)
        self.assertEqual([('pcloud_removing', UNIT)], nova.asked)

    def test_deletion_that_is_refused(self):
        nova = Nova(delete=exceptions.Conflict('no'))
        self.assertRaises(
            server_ends.NotStopped, removals.take_step, nova,
            self._services('SHUTOFF', 'SHUTOFF'), self.unit)
        self.assertEqual([('delete', CHILD)], nova.asked)

    def test_locked(self):
        """What is co-located with a unit that stays, stays."""
        nova = Nova()
        known = self._services('SHUTOFF', 'SHUTOFF')
        error = self.assertRaises(
            server_ends.NotStopped, removals.take_step, nova, known,
            dataclasses.replace(self.unit, locked=True))
        self.assertIn('is locked', str(error))
        self.assertEqual([], nova.asked)
