# SPDX-License-Identifier: Apache-2.0

"""Workers recover a host that has failed, and the host comes back."""

from unittest import mock

import ddt
from nova import context as nova_context

from pcloud.backend.cells import fenced_services
from pcloud.moving import recoveries
from pcloud.moving import recovery_subjects
from pcloud import names
from pcloud.objects import pclouds
from pcloud.rules.moving import recovery
from pcloud.tests.support import base
from pcloud.tests.worlds import copies
from pcloud.tests.worlds import turns
from pcloud.tests.worlds import world

# The passes after which nothing is due any more.
_PASSES = 4


class RecoveringTestCase(world.WorldTestCase):
    """Alice's host has failed, and another host is free."""

    questions = ((fenced_services, 'of_hosts'),)
    switches = world.WorldTestCase.switches or 2

    def setUp(self):
        super().setUp()
        self.flags(recovery_after=0, group='pcloud')
        self.make_pool('gpu', *self.hosts)
        self.mine = self.make_pcloud(self.alice)
        self.failed = self.add_host(self.alice, self.mine, 'a', 'gpu')
        self.path = f'/os-host-flavors/gpu/hosts/{self.failed}'
        self.fence(True)

    def fence(self, is_fenced):
        """Write whether the host is fenced."""
        self.admin.call_json('PUT', self.path, {
            'host': {'fenced': is_fenced}})

    def wish(self, policy):
        """Write what Alice wishes for hosts that have failed."""
        self.alice.call_json('PUT', f'/os-pclouds/{self.mine}', {
            'pcloud': {'host_recovery': policy}})

    def coming_back(self):
        """Return the actor by which the host comes back."""
        return self.actor('admin', (base.CAROL, world.ADMIN, (
            'PUT', self.path, {'host': {'fenced': False}})))

    def worker(self, name, passes=1):
        """Return the actor that recovers the host."""
        def work():
            for _ in range(passes):
                with self.places.one_call():
                    self.recover(name)
        return turns.Actor(name, work)

    def recover(self, name):
        """Do what is due for the Pcloud, as a worker in its turn."""
        context = nova_context.RequestContext(name, is_admin=True)
        recoveries.step(context, pclouds.head(context, self.mine))

    def states(self):
        """Return the states of the Pcloud's hosts, by the hypervisors."""
        prefix = names.state_key('')
        return {key.removeprefix(prefix): value for _, key, value
                in self.rows.metadata() if key.startswith(prefix)}

    def rest(self):
        """Do all that is due."""
        for _ in range(_PASSES):
            self.recover('afterwards')

    def outcome(self):
        """Return what users have in the end, when nothing is due any more."""
        self.rest()
        disabled = sorted(
            each['host'] for each in self.admin.get_services(
                binary='nova-compute') if each['status'] == 'disabled')
        return [super().outcome(), sorted(self.states().items()), disabled]

    def _check(self):
        super()._check()
        # The host, and at most one that stands in.
        self.assertIn(len(self.states()), (1, 2))

    def _check_end(self):
        self.assertEqual(['enabled'], list(self.states().values()))
        self.assertEqual([], [
            key for _, key, _ in self.rows.metadata()
            if key.startswith(names.RECOVERY_PREFIX)])
        super()._check_end()


@ddt.ddt
class ComingBackTest(RecoveringTestCase):

    @ddt.data(recovery.IN_PLACE, recovery.REPLACE)
    def test_a_worker(self, policy):
        self.wish(policy)
        self.explore_as_serial(self.worker('worker', 2), self.coming_back())


class WorkersTestCase(RecoveringTestCase):
    """Two hosts are free, and the Pcloud wants one for its failed host.

    The random numbers of the workers are those that draw different hosts
    first.
    """

    hosts = RecoveringTestCase.hosts | {'node-3': 'az1'}
    switches = world.WorldTestCase.switches or 1

    def explore_both(self):
        """Recover the host twice."""
        self.wish(recovery.REPLACE)
        return self.explore_as_serial(
            self.worker('one', 2), self.worker('three', 2))

    def _check_end(self):
        self.rest()
        self.assertEqual(2, len(self.states()))


class WorkersTest(WorkersTestCase):

    def test_two_workers(self):
        self.explore_both()


class PlantedWorkersTest(WorkersTestCase):

    def test_workers_that_do_not_read_again(self):
        keep = recovery_subjects.keep

        def overwrite(written, aggregate_id, subject, kept):
            # Else the database lets nobody write a second recovery.
            written.drop(aggregate_id, [names.recovery_key(subject.host)])
            keep(written, aggregate_id, subject, kept)

        with (mock.patch.object(recovery_subjects, 'is_wanted',
                                lambda *_: True),
              mock.patch.object(recovery_subjects, 'keep', overwrite),
              self.assertRaisesRegex(copies.CopyFailed, '3 not in')):
            self.explore_both()
