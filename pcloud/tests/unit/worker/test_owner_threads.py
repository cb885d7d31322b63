# SPDX-License-Identifier: Apache-2.0

"""Threads of a worker, one for each owner."""

import threading

from oslotest import base

from pcloud.worker import owner_threads


class OwnerThreadsTest(base.BaseTestCase):

    def setUp(self):
        super().setUp()
        self.threads = owner_threads.OwnerThreads()
        self.done = []

    def test_slow_owner(self):
        """The others go on, and the owner gets no second thread."""
        go_on, fast = threading.Event(), threading.Event()
        self.threads.submit('slow', go_on.wait)
        self.threads.submit('slow', lambda: self.done.append('twice'))
        self.threads.submit('fast', fast.set)
        fast.wait()
        go_on.set()
        self.threads.end()
        self.assertEqual([], self.done)

    def test_again(self):
        for number in range(3):
            before = threading.Event()
            self.threads.submit(f'owner-{number}', before.set)
            before.wait()
        self.threads.end()

    def test_fault_that_nobody_expects(self):
        """The worker ends as a whole, and whoever watches starts another."""
        def fail():
            raise KeyError('x')

        self.threads.submit('a', fail)
        self.assertRaises(KeyError, self.threads.end)
