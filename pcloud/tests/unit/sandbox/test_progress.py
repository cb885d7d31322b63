# SPDX-License-Identifier: Apache-2.0

import pathlib
import subprocess
import sys
import tempfile
import time
import unittest
from unittest import mock

import psutil

from pcloud_sandbox import errors
from pcloud_sandbox.running import progress

_WORK = 'while True: pass'
_LOG = 'import time\nwhile True: print("line", flush=True); time.sleep(.1)'
_READY = 'print("ready", flush=True)\n'
_IDLE = 'import time; time.sleep(10**6)'


class ProgressTest(unittest.TestCase):

    def _start(self, program):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        log = pathlib.Path(folder.name) / 'log'
        with open(log, 'wb') as written:
            process = subprocess.Popen(
                [sys.executable, '-c', program], stdout=written)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process, log

    def _watch(self, program, works=True):
        process, log = self._start(program)
        return process, progress.Progress(
            'keystone', psutil.Process(process.pid), log, works)

    def _watch_ready(self, program, works):
        # The start of a process is work, and of no known length.
        process, log = self._start(_READY + program)
        while not log.stat().st_size:
            time.sleep(0.01)
        return progress.Progress(
            'keystone', psutil.Process(process.pid), log, works)

    def _falls(self, watched):
        """Wait until the silence is shorter than before."""
        before = watched.silence()
        while (now := watched.silence()) >= before:
            before = now
            time.sleep(0.01)

    def test_a_log_that_grows(self):
        for works in (True, False):
            with self.subTest(works=works):
                _, watched = self._watch(_LOG, works)
                self._falls(watched)

    def test_work(self):
        _, watched = self._watch(_WORK)
        self._falls(watched)

    def test_work_of_a_child(self):
        _, watched = self._watch(
            'import subprocess, sys\n'
            f'subprocess.run(["timeout", "60", sys.executable, "-c", '
            f'"{_WORK}"])')
        self._falls(watched)

    def test_silence(self):
        for program, works in ((_IDLE, True), (_WORK, False)):
            with self.subTest(program), mock.patch.object(
                    progress.time, 'monotonic', side_effect=[0, 7, 700]):
                watched = self._watch_ready(program, works)
                self.assertEqual([7, 700], [
                    watched.silence(), watched.silence()])

    def test_silence_that_is_too_long(self):
        with mock.patch.object(
                progress.time, 'monotonic', side_effect=[0, 600, 601]):
            _, watched = self._watch(_IDLE, works=False)
            watched.check()
            with self.assertRaisesRegex(
                    errors.StartFailed,
                    'keystone has made no progress for 601 seconds'):
                watched.check()

    def test_a_process_that_has_ended(self):
        process, watched = self._watch('')
        process.wait()
        self.assertGreaterEqual(watched.silence(), 0)
