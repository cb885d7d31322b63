# SPDX-License-Identifier: Apache-2.0

"""``pcloud-manage work``."""

import argparse
import os
import signal
import threading
from unittest import mock

import testtools

from pcloud.cmd import work
from pcloud.worker import loop
from pcloud.worker import passes


class WorkTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.parser = argparse.ArgumentParser()
        work.add_parser(self.parser.add_subparsers())

    def _run(self, *options):
        command = self.parser.parse_args(['work', *options])
        return command.run(command)

    def test_once(self):
        for done, status in ((True, 0), (False, 1)):
            with mock.patch.object(passes, 'once', return_value=done) as once:
                self.assertEqual(status, self._run('--once'))
            once.assert_called_once()

    def test_ends_after_the_pass_in_which_a_signal_comes(self):
        for number in (signal.SIGTERM, signal.SIGINT):
            seen = []

            def look(context, submit, number=number, seen=seen):
                seen.append(context)
                if len(seen) == 2:
                    os.kill(os.getpid(), number)
                return True

            self.addCleanup(signal.signal, number, signal.getsignal(number))
            with mock.patch.object(passes, 'hosts', look), mock.patch.object(
                    passes, 'services') as services:
                self.assertEqual(0, self._run('--interval', '0.01'))
            self.assertEqual(2, len(seen))
            services.assert_called()

    def test_no_interval(self):
        self.assertRaises(SystemExit, self._run, '--interval', '0')

    def test_a_worker_that_is_asked_to_end_before(self):
        end = threading.Event()
        end.set()
        with mock.patch.object(passes, 'hosts') as hosts, mock.patch.object(
                passes, 'services') as services:
            loop.run(1, end)
        hosts.assert_not_called()
        services.assert_not_called()

    def test_looks_that_are_slow(self):
        """Hosts are looked at while a pass over services goes on."""
        end, seen, is_slow = threading.Event(), [], threading.Event()

        def look(context, submit):
            seen.append(context)
            if len(seen) == 3:
                is_slow.set()
                end.set()
            return True

        with mock.patch.object(passes, 'hosts', look), mock.patch.object(
                passes, 'services',
                lambda context, memory: is_slow.wait()):
            loop.run(0.01, end)
        self.assertEqual(3, len(seen))

    def test_a_pass_that_fails_as_nobody_expects(self):
        """The worker ends as a whole, and whoever watches starts another."""
        end = threading.Event()
        with mock.patch.object(passes, 'hosts'), mock.patch.object(
                passes, 'services', side_effect=KeyError), mock.patch.object(
                    threading, 'excepthook'):
            loop.run(0.01, end)
        self.assertTrue(end.is_set())
