# SPDX-License-Identifier: Apache-2.0

"""The guides are followed word for word, on one sandbox.

``REWRITE_GUIDES=1`` in the environment puts what was really printed into
them instead of comparing.
"""

import os
import pathlib
import subprocess
import sys

import ddt

from pcloud.tests.commands import guide
from pcloud.tests.sandbox import base
from pcloud_sandbox import command

GUIDES = pathlib.Path(__file__).parents[3] / 'doc' / 'source'


@ddt.ddt
class GuidesTest(base.SharedSandboxTest):

    maxDiff = None

    def _environment(self):
        environment = self.command_environment()
        environment['PATH'] = command.search_path(environment['PATH'])
        environment['PCLOUD_SANDBOX_DIR'] = str(self.folder)
        return environment

    @ddt.data('user/openstack.rst', 'user/nova.rst', 'user/services.rst',
              'user/sizing.rst')
    def test_commands(self, name):
        path = GUIDES / name
        shell = guide.Shell(self._environment())
        self.addCleanup(shell.close)
        steps = guide.steps(path.read_text())
        self.assertGreater(len(steps), 10)
        printed = [shell.type(step.command) for step in steps]
        if os.environ.get('REWRITE_GUIDES'):
            guide.rewrite(path, printed)
            return
        # All that differs: the guides take minutes.
        self.assertEqual([], [
            (step.command, guide.normal(step.output), guide.normal(output))
            for step, output in zip(steps, printed, strict=True)
            if not guide.agree(step.output, output)])

    @ddt.data('user/python.rst', 'user/sdk.rst')
    def test_python(self, name):
        done = subprocess.run(
            [*base.COMMAND, 'run', '--as', 'alice', '--', sys.executable,
             '-m', 'doctest', '-o', 'ELLIPSIS', '-o', 'NORMALIZE_WHITESPACE',
             str(GUIDES / name)],
            env=self._environment(), text=True, check=False,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        self.assertEqual((0, ''), (done.returncode, done.stdout))
