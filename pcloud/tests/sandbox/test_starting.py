# SPDX-License-Identifier: Apache-2.0

"""Starts that come to nothing leave nothing."""

import signal
import socket
import time

from pcloud.tests.sandbox import base
from pcloud_sandbox.configuration import layout
from pcloud_sandbox.configuration import ports

# Seconds for killed processes to end on the slowest of machines: gunicorn's
# workers look for the parent once a second.
GONE = 600


class StartingTest(base.SandboxTest):

    def start_until(self, folder, line, *arguments):
        """Start a sandbox and wait until it has told a line."""
        process = base.start(folder, *arguments)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        self.addCleanup(process.stderr.close)
        self.addCleanup(process.stdout.close)
        told = ''
        while line not in told:
            read = process.stderr.readline()
            self.assertTrue(read, f'ended before {line!r}: {told}')
            told += read
        return process

    def wait_until_gone(self, folder):
        """Give the kernel and the workers time to notice."""
        deadline = time.monotonic() + GONE
        while base.processes_of(folder) and time.monotonic() < deadline:
            time.sleep(0.2)
        self.assert_no_process(folder)

    def test_interrupted(self):
        folder = self.new_folder()
        process = self.start_until(folder, 'Keystone answers', 'up')
        self.assertGreater(len(base.processes_of(folder)), 3)
        process.send_signal(signal.SIGINT)
        self.assertEqual(130, process.wait(base.TIMEOUT))
        self.assert_no_process(folder)
        self.assertFalse(folder.exists())

    def test_interrupted_again_and_again(self):
        folder = self.new_folder()
        process = self.start_until(folder, 'Keystone answers', 'up')
        self.assertEqual(130, base.interrupt_until_the_end(process))
        self.assert_no_process(folder)
        self.assertFalse(folder.exists())

    def test_killed(self):
        folder = self.new_folder()
        process = self.start_until(folder, 'users, projects', 'up')
        process.kill()
        process.wait()
        self.wait_until_gone(folder)

    def test_down_while_it_starts(self):
        folder = self.new_folder()
        process = self.start_until(folder, 'users, projects', 'up')
        self.assertEqual(0, base.call(folder, 'down')[0])
        self.assertEqual(1, process.wait(base.TIMEOUT))
        self.assert_no_process(folder)

    def test_the_time_is_over(self):
        folder = self.new_folder()
        status, _, told = base.call(folder, 'up', '--timeout', '1')
        self.assertEqual(1, status)
        self.assertIn('has not started 1 seconds after', told)
        self.assert_no_process(folder)

    def test_second_one_while_it_starts(self):
        folder = self.new_folder()
        self.start_until(folder, 'users, projects', 'up')
        status, _, told = base.call(folder, 'up')
        self.assertEqual(1, status)
        self.assertIn('at work there', told)

    def test_taken_port(self):
        folder = self.new_folder()
        base_port = ports.choose(None)['keystone']
        with socket.socket() as taken:
            taken.bind((ports.HOST, base_port + 4))
            taken.listen()
            status, _, told = base.call(
                folder, 'up', '--port-base', str(base_port))
        self.assertEqual(1, status)
        self.assertIn(f'port {base_port + 4}, wanted for nova', told)
        self.assert_no_process(folder)

    def test_service_that_cannot_start(self):
        folder = self.new_folder()
        port = ports.choose(None)['keystone']
        # Neutron's port is taken after it was found to be free.
        process = self.start_until(
            folder, 'are there', 'up', '--port-base', str(port))
        with socket.socket() as taken:
            taken.bind((ports.HOST, port + 3))
            taken.listen()
            _, told = process.communicate(timeout=base.TIMEOUT)
        self.assertEqual(1, process.returncode)
        log = layout.Layout(folder).log('neutron')
        self.assertIn(f'The end of {log}:', told)
        self.assertIn('Address already in use', told)
        self.assertIn('neutron ended with status', told)
        self.assert_no_process(folder)
        self.assertTrue(log.exists())
