# SPDX-License-Identifier: Apache-2.0
"""Launches at the same moment for which a Pcloud grows with one change."""

from concurrent import futures
import contextlib
import threading
from unittest import mock

import fixtures

from pcloud import exception
from pcloud.growth import crowds
from pcloud.growth import free_capacity
from pcloud.growth import growth_turns
from pcloud.growth import joining
from pcloud.growth import joint_calls
from pcloud.growth import rights
from pcloud.objects import pclouds
from pcloud.tests.functional.quick import test_growing_pcloud


class CrowdTest(test_growing_pcloud.GrowTestCase):
    """Three servers of flavor 'big' fill a host."""

    @contextlib.contextmanager
    def gathered(self, count, servers=1, **launch):
        """Launch several times while another process has the turn.

        The turn ends with the context, once all launches are one crowd.
        """
        with futures.ThreadPoolExecutor(count) as threads:
            with self.turn_of_another():
                asked = list(threads.map(lambda _: self.launch(
                    min_count=servers, **launch), range(count)))
                self.assertEqual({202}, {each.status_code for each in asked})
                self.wait_until(lambda: self.assertEqual(
                    [count * servers], self.gathering()))
                yield

    def turn_of_another(self):
        """Have the turn as another process would."""
        return growth_turns.held(
            self.context, pclouds.head(self.context, self.pcloud))

    def gathering(self):
        """Return how many servers each crowd asks for that waits."""
        return sorted(crowd.servers for crowd in [*crowds._GATHERING.values()])

    def settled(self):
        """Return the states of all servers, once none is being built."""
        def ended():
            states = sorted(server['status'] for server in self.alice.get_json(
                '/servers/detail')['servers'])
            self.assertNotIn('BUILD', states)
            return states
        return self.wait_until(ended)

    @contextlib.contextmanager
    def changes(self):
        """Collect how many hosts join with each change."""
        found, add = [], joining.add

        def adding(context, turn, growth, chosen):
            found.append(len(chosen))
            return add(context, turn, growth, chosen)

        with mock.patch.object(joining, 'add', adding):
            yield found

    def test_one_change_for_all(self):
        self.grow(most=3)
        with self.changes() as found:
            with self.gathered(4):
                pass
            self.assertEqual(['ACTIVE'] * 4, self.settled())
        self.assertEqual([2], found)
        self.assertEqual({}, crowds._GATHERING)
        self.assert_nothing_is_left()

    def test_room_for_some(self):
        """Each launch is judged alone where there is no capacity for all."""
        self.grow(most=1)
        with self.changes() as found:
            with self.gathered(5):
                pass
            self.assertEqual(['ACTIVE'] * 3 + ['ERROR'] * 2, self.settled())
        self.assertEqual([1], found)
        self.assertEqual({}, crowds._GATHERING)
        self.assert_nothing_is_left()

    def test_all_of_a_request_or_none(self):
        self.grow(most=1)
        with self.gathered(2, servers=2):
            pass
        self.assertEqual(['ACTIVE'] * 2 + ['ERROR'] * 2, self.settled())

    def test_right_that_ends_meanwhile(self):
        self.grow(most=3)
        refused = exception.GrowthForbidden(reason='somebody said so')
        with mock.patch.object(rights, 'growth', side_effect=refused):
            with self.gathered(3):
                pass
            self.assertEqual(['ERROR'] * 3, self.settled())
        self.assertEqual({}, self.members())
        self.assert_nothing_is_left()

    def test_first_launch_that_fails(self):
        """The others are told, and wait for nobody."""
        self.grow(most=3)
        with self.gathered(3):
            away = self.useFixture(fixtures.MockPatchObject(
                free_capacity, 'read', side_effect=exception.Unavailable()))
        self.assertEqual(['ERROR'] * 3, self.settled())
        # One looked, and all were refused.
        self.assertEqual(1, away.mock.call_count)
        self.assert_nothing_is_left()

    def test_different_requests_are_no_crowd(self):
        self.make_flavor('other', memory_mb=2048)
        self.grow(most=3)
        with self.turn_of_another():
            for request in ({}, {'flavorRef': 'other'}, {'min_count': 2}):
                self.launch(**request)
            self.wait_until(lambda: self.assertEqual(
                [1, 1, 2], self.gathering()))
        self.assertEqual(['ACTIVE'] * 4, self.settled())
        self.assertEqual({}, crowds._GATHERING)
        self.assert_nothing_is_left()

    def test_capacity_that_another_launch_takes(self):
        """A launch without a turn takes what a crowd has counted."""
        self.grow(most=2)
        full = [self.launch().json()['server'] for _ in range(3)]
        self.settled()
        decide, late = crowds.Crowd.decide, []

        def take(crowd, decision):
            if not late:
                self.assertEqual(crowds.Decision.HAD_ROOM, decision)
                late.append(self.launch().json()['server'])
                self.wait_until_active(late[0])
            decide(crowd, decision)

        with mock.patch.object(crowds.Crowd, 'decide', take):
            with self.gathered(1):
                self._delete_server(full[0])
            self.assertEqual(['ACTIVE'] * 4, self.settled())
        self.assertEqual(2, len(self.members()))
        self.assert_nothing_is_left()

    def looked_at_together(self, servers, most):
        """Launch once, and four times more while nova-api looks.

        :returns: the different status codes, and how often nova-api looked
        """
        self.grow(most=most)
        once, asked_for = joint_calls.once, []
        read, looks = free_capacity.read, []
        looking, go_on = threading.Event(), threading.Event()

        def held(*given):
            looks.append(given)
            if len(looks) == 1:
                looking.set()
                go_on.wait()
            return read(*given)

        def counted(kind, call):
            asked_for.append(kind)
            return once(kind, call)

        self.useFixture(fixtures.MockPatchObject(free_capacity, 'read', held))
        self.useFixture(fixtures.MockPatchObject(
            joint_calls, 'once', counted))
        self.addCleanup(go_on.set)
        with futures.ThreadPoolExecutor(5) as threads:
            asked = [threads.submit(self.launch, min_count=servers)]
            looking.wait()
            asked += [threads.submit(self.launch, min_count=servers)
                      for _ in range(4)]
            self.wait_until(lambda: self.assertEqual(5, len(asked_for)))
            # No scheduler looks meanwhile.
            with self.turn_of_another():
                go_on.set()
                return {each.result().status_code for each in asked}, len(
                    looks)

    def test_one_look_for_all(self):
        self.assertEqual(({202}, 2), self.looked_at_together(2, most=4))
        self.assertEqual(['ACTIVE'] * 10, self.settled())
        self.assertEqual({}, crowds._GATHERING)
        self.assert_nothing_is_left()

    def test_one_look_that_refuses_all(self):
        self.assertEqual(({409}, 2), self.looked_at_together(4, most=1))
        self.assertEqual({}, crowds._GATHERING)
        self.assert_nothing_is_left()
