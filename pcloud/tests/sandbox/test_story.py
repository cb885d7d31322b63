# SPDX-License-Identifier: Apache-2.0

"""The story of the demo, as a newcomer reads and interrupts the story."""

import os
import pathlib
import pty
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest

from pcloud.tests.sandbox import base
from pcloud_sandbox import command

_WIDTH = 80
# Longer than the story is, and not by much.
_LENGTH = 270
_PROMISES = 16
# How often `up` says what it waits for depends on the machine.
_WAITING = '        waiting for '


class StoryTest(unittest.TestCase):

    maxDiff = None

    def setUp(self):
        super().setUp()
        # The folder of all temporary files of the demo.
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix='story-test-'))
        self.addCleanup(shutil.rmtree, self.folder)

    def start(self, **options):
        """Start the demo; returns a Popen."""
        path = command.search_path(os.environ['PATH'])
        process = subprocess.Popen(
            [sys.executable, '-m', 'pcloud_sandbox.demo'],
            env=os.environ | {'TMPDIR': str(self.folder), 'PATH': path},
            **options)
        self.addCleanup(process.wait)
        self.addCleanup(process.terminate)
        return process

    def start_with_pipe(self):
        """Start the demo without a terminal; returns a Popen."""
        process = self.start(text=True, stdout=subprocess.PIPE,
                             stderr=subprocess.STDOUT)
        self.addCleanup(process.stdout.close)
        return process

    def read_until(self, process, text):
        """Read the story until a text has been told."""
        told = ''
        while text not in told:
            line = process.stdout.readline()
            self.assertTrue(line, f'ended before {text!r}: {told}')
            told += line

    def assert_nothing_left(self):
        """Assert that there is neither a process nor a file of the demo."""
        self.assertEqual([], base.processes_of(self.folder))
        self.assertEqual([], list(self.folder.iterdir()))

    def test_story(self):
        process = self.start_with_pipe()
        told, _ = process.communicate(timeout=base.TIMEOUT)
        self.assertEqual(0, process.returncode, told)
        lines = [line for line in told.splitlines()
                 if not line.startswith(_WAITING)]
        self.assertEqual([], [line for line in lines if len(line) > _WIDTH])
        self.assertLessEqual(len(lines), _LENGTH)
        kept, of = re.fullmatch(
            r'All as promised: (\d+) of (\d+)\.', lines[-1]).groups()
        self.assertEqual(kept, of)
        self.assertGreaterEqual(int(kept), _PROMISES)
        self.assertEqual(int(kept), told.count('\n  => '))
        self.assertRegex(
            told, r'(?m)^for everybody +pool of gpu: for nobody +Pcloud shop '
                  r'of alice\n(.*\n){1,9}.*\| node-[12] = web1 +\|\n'
                  r'.*\|   \[inside\] \[unnamed\] +\|$')
        self.assertRegex(told, r'\| node-[3-6] \[outside\] +\|')
        self.assertRegex(told, r'(?m)^  alice +2 of 10 units')
        self.assert_nothing_left()

    def test_ctrl_c_at_a_terminal(self):
        terminal, other_end = pty.openpty()
        self.addCleanup(os.close, terminal)
        process = self.start(stdin=other_end, stdout=other_end,
                             stderr=other_end, start_new_session=True,
                             preexec_fn=_take_terminal)
        os.close(other_end)
        told = b''
        while b'Keystone answers' not in told:
            told += os.read(terminal, 1000)
        os.write(terminal, b'\x03')
        self._drain(terminal)
        self.assertEqual(130, process.wait(base.TIMEOUT), told)
        self.assert_nothing_left()

    @staticmethod
    def _drain(terminal):
        """Read from a terminal until the last program has ended."""
        try:
            while os.read(terminal, 1000):
                pass
        except OSError:
            # Linux says so when nobody has the other end open.
            return

    def test_interrupted_in_the_middle_and_while_the_cloud_goes_down(self):
        process = self.start_with_pipe()
        self.read_until(process, 'admin$ openstack host flavor create')
        process.send_signal(signal.SIGINT)
        self.read_until(process, 'pcloud-sandbox down')
        self.assertEqual(130, base.interrupt_until_the_end(process))
        self.assert_nothing_left()


def _take_terminal():
    """Make standard input the terminal of this session."""
    os.close(os.open(os.ttyname(0), os.O_RDWR))
