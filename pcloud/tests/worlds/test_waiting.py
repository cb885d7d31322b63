# SPDX-License-Identifier: Apache-2.0

"""A host for which projects wait, and which others want at once.

In every order nobody is overtaken who waited before another asked, and one
has the host.
"""

from unittest import mock

from nova import context as nova_context

from pcloud.backend.aggregates import kept_rows
from pcloud import names
from pcloud.objects.changing_hands import matching
from pcloud.objects.changing_hands import waiting_lists
from pcloud.rules.placing import choice
from pcloud.rules import waiting as rules
from pcloud.tests.support import base
from pcloud.tests.worlds import copies
from pcloud.tests.worlds import turns
from pcloud.tests.worlds import world

UNTIL = '2030-01-02T00:00:00Z'


class WaitingTestCase(world.WorldTestCase):
    """A single host in the pool, and three projects with a Pcloud each."""

    questions = ((kept_rows, 'of_prefix'),)

    def setUp(self):
        super().setUp()
        self.make_pool('gpu', 'node-1')
        self.carol = self.client_of('carol', base.CAROL)
        self.pclouds = {each.project_id: self.make_pcloud(each)
                        for each in (self.alice, self.bob, self.carol)}

    def wish(self, user, **more):
        """Return the call that asks for a host."""
        return user.project_id, world.MEMBER, (
            'POST', f'/os-pclouds/{self.pclouds[user.project_id]}/hosts', {
                'host': {'name': 'b', 'host_flavor': 'gpu', **more}})

    def asking(self, user, **more):
        """Return the actor that asks for a host."""
        return self.actor(user.auth_user, self.wish(user, **more))

    def waiting(self, user):
        """Return the actor that asks for a host, and waits for it."""
        return self.asking(user, wait_until=UNTIL)

    def have_wait(self, *users):
        """Have users wait for the host, one after the other."""
        alices = self.pclouds[base.ALICE]
        self.add_host(self.alice, alices, 'a', 'gpu', enable=False)
        for user in users:
            *_, call = self.wish(user, wait_until=UNTIL)
            self.assertEqual(202, user.call(*call).status_code)
            # Of two at the same moment chance decides.
            self.places.pass_time()
        self.removal = base.ALICE, world.MEMBER, (
            'DELETE', f'/os-pclouds/{alices}/hosts/a')

    def have_wait_for_a_free_host(self, *users):
        """Have users wait, and let nobody have the host."""
        self.have_wait(*users)
        self.alice.call_json(*self.removal[2])

    def worker(self, name):
        """Return the actor that gives free hosts to those who wait."""
        def work():
            context = nova_context.RequestContext(name, is_admin=True)
            with self.places.one_call():
                matching.step(context)
        return turns.Actor(name, work)

    def entries(self):
        """Return the Pclouds that wait."""
        return sorted(
            rules.Entry.known(value).pcloud for _, key, value
            in self.rows.metadata() if key.startswith(names.WAITING_PREFIX))

    def outcome(self):
        """Return what users are told in the end, have, and wait for."""
        return [super().outcome(), self.entries()]

    def has(self, user):
        """Whether a user has the host."""
        return (f'Pcloud:{self.pclouds[user.project_id]}',
                'node-1') in self.rows.members()


class WaitingTest(WaitingTestCase):

    def test_one_waits_and_one_asks(self):
        self.explore_as_serial(self.waiting(self.bob),
                               self.asking(self.carol))

    def test_two_wait(self):
        self.explore_as_serial(self.waiting(self.bob),
                               self.waiting(self.carol))


class GivingTestCase(WaitingTestCase):
    """Bob waits before anybody else asks."""

    def _check(self):
        super()._check()
        self.assertFalse(self.has(self.carol))


class GivingTest(GivingTestCase):

    def test_a_removal_and_one_asks(self):
        self.have_wait(self.bob)
        self.explore_as_serial(self.actor('alice', self.removal),
                               self.asking(self.carol))

    def test_a_worker_and_one_asks(self):
        self.have_wait_for_a_free_host(self.bob)
        self.explore_as_serial(self.worker('worker'), self.asking(self.carol))

    def test_two_workers(self):
        self.have_wait_for_a_free_host(self.bob, self.carol)
        self.explore_as_serial(*map(self.worker, ('one', 'two')))

    def test_a_worker_and_a_cancellation(self):
        self.have_wait_for_a_free_host(self.bob)
        path = f'/os-pclouds/{self.pclouds[base.BOB]}/waiting'
        entry, = self.bob.get_json(path)['waiting']
        self.explore_as_serial(self.worker('worker'), self.actor('bob', (
            base.BOB, world.MEMBER, ('DELETE', f'{path}/{entry["id"]}'))))


class PlantedTest(GivingTestCase):

    def test_nobody_looks_who_waits(self):
        self.have_wait_for_a_free_host(self.bob)
        with (mock.patch.object(
                waiting_lists, 'open_zones', lambda *args: choice.Zones(None)),
              self.assertRaisesRegex(copies.CopyFailed, 'True is not false')):
            self.explore(self.worker('worker'), self.asking(self.carol))
