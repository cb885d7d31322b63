# SPDX-License-Identifier: Apache-2.0


"""Commands before a reader that goes away, as real processes."""

import os
import subprocess
import sys
import tempfile

import ddt
from oslotest import base

from pcloud.cmd import closed_pipe


@ddt.ddt
class ClosedPipeTest(base.BaseTestCase):

    def _run(self, *arguments, **variables):
        """Return (status, standard error) where nobody reads the output."""
        read, write = os.pipe()
        os.close(read)
        with tempfile.TemporaryFile('w+') as told:
            status = subprocess.run(
                [sys.executable, '-m', *arguments], stdout=write,
                stderr=told, env=os.environ | variables, check=False,
            ).returncode
            os.close(write)
            told.seek(0)
            return status, told.read()

    @ddt.data('', '1')
    def test_nothing_is_told(self, unbuffered):
        """Python writes at the end, or at each print."""
        self.assertEqual(
            (closed_pipe.STATUS, ''),
            self._run('pcloud_sandbox.cli', '--dir', '/no/such/sandbox',
                      'status', PYTHONUNBUFFERED=unbuffered))

    @ddt.data('pcloud_sandbox.cli', 'pcloud.cmd.manage')
    def test_help(self, command):
        self.assertEqual(
            (closed_pipe.STATUS, ''),
            self._run(command, '--help', PYTHONUNBUFFERED=''))

    def test_a_report(self):
        """Nova's tool for checks catches the error, and prints again."""
        status, told = self._run(
            'pcloud.cmd.status', '--config-file', os.devnull, 'upgrade',
            'check')
        self.assertEqual(closed_pipe.STATUS, status)
        self.assertNotIn('Traceback', told)

    def test_status_is_kept(self):
        self.assertEqual(3, closed_pipe.ends_quietly(lambda: 3)())
