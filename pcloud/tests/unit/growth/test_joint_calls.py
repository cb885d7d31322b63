# SPDX-License-Identifier: Apache-2.0

"""Calls that are made once for all who ask at the same moment."""

from concurrent import futures
import threading

import fixtures
from oslo_concurrency import lockutils
import testtools

from pcloud.growth import joint_calls


class OnceTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.begun, self.go_on = threading.Event(), threading.Event()
        self.threads = futures.ThreadPoolExecutor(8)
        self.addCleanup(self.threads.shutdown)
        self.addCleanup(self.go_on.set)
        self.calls = []

    def held(self):
        """Be under way until the test goes on."""
        self.begun.set()
        self.go_on.wait()
        return 'first'

    def ask(self, kind, call):
        return self.threads.submit(joint_calls.once, kind, call)

    def ask_while_a_call_is_under_way(self, call, count=3):
        """Ask, and then several times more for the same."""
        first = self.ask('kind', self.held)
        self.begun.wait()
        self.assertEqual({}, joint_calls._NEXT)
        others = [self.ask('kind', call)]
        # The next call is there; whoever comes now waits for this call.
        while 'kind' not in joint_calls._NEXT:
            self.assertFalse(others[0].done())
        with joint_calls._LOCK:
            waited_for = joint_calls._NEXT['kind']
        asked = threading.Semaphore(0)
        result = waited_for.result

        def waiting():
            asked.release()
            return result()

        waited_for.result = waiting
        others += [self.ask('kind', call) for _ in range(count - 1)]
        for _ in range(count - 1):
            asked.acquire()
        self.go_on.set()
        return first, others

    def test_alone(self):
        self.assertEqual(7, joint_calls.once('kind', lambda: 7))
        self.assertEqual({}, joint_calls._NEXT)

    def test_one_call_for_all_who_come_meanwhile(self):
        def call():
            self.calls.append(None)
            return len(self.calls)

        first, others = self.ask_while_a_call_is_under_way(call)
        self.assertEqual('first', first.result())
        self.assertEqual([1, 1, 1], [each.result() for each in others])
        self.assertEqual(2, joint_calls.once('kind', call))
        self.assertEqual({}, joint_calls._NEXT)

    def test_an_error_is_the_error_of_all(self):
        def call():
            self.calls.append(None)
            raise LookupError('nothing')

        first, others = self.ask_while_a_call_is_under_way(call)
        self.assertEqual('first', first.result())
        for each in others:
            self.assertRaises(LookupError, each.result)
        self.assertEqual(1, len(self.calls))
        self.assertEqual({}, joint_calls._NEXT)

    def test_a_wait_that_is_interrupted(self):
        """Whoever comes later does not wait for ever."""
        self.useFixture(fixtures.MockPatchObject(
            lockutils, 'lock', side_effect=KeyboardInterrupt))
        self.assertRaises(
            KeyboardInterrupt, joint_calls.once, 'kind', self.held)
        self.assertEqual({}, joint_calls._NEXT)

    def test_another_kind_waits_for_nobody(self):
        first = self.ask('kind', self.held)
        self.begun.wait()
        self.assertEqual(7, joint_calls.once('another', lambda: 7))
        self.assertFalse(first.done())
