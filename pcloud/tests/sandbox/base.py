# SPDX-License-Identifier: Apache-2.0

"""Run ``pcloud-sandbox`` as a user does, and look for leftovers."""

import json
import os
import pathlib
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

import psutil

from pcloud_sandbox import command

COMMAND = [sys.executable, '-m', 'pcloud_sandbox.cli']
# Seconds without an end, after which a command is taken for stuck. A command
# that starts a sandbox makes progress for minutes on a busy machine.
TIMEOUT = 3600


def start(folder, *arguments, **options):
    """Start the command for the sandbox in a folder; returns a Popen."""
    return subprocess.Popen(
        [*COMMAND, '--dir', str(folder), *arguments], text=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options)


def call(folder, *arguments, **options):
    """Run the command: (status, standard output, standard error)."""
    process = start(folder, *arguments, **options)
    shown, told = process.communicate(timeout=TIMEOUT)
    return process.returncode, shown, told


def interrupt_until_the_end(process):
    """Send a process SIGINT again and again; return the status of a shell."""
    while process.poll() is None:
        process.send_signal(signal.SIGINT)
        time.sleep(0.1)
    # At the very end of a program Python has no handler any more.
    return {-signal.SIGINT: 130}.get(process.returncode, process.returncode)


def processes_of(folder):
    """Return every process of the sandbox in a folder.

    gunicorn overwrites the arguments and the environment with a title, but
    the current folder of gunicorn is in the sandbox's folder.
    """
    found = []
    for process in psutil.process_iter():
        try:
            places = [*process.cmdline(), *process.environ().values(),
                      process.cwd()]
        except (psutil.NoSuchProcess, psutil.AccessDenied):
            continue
        if any(str(folder) in place for place in places):
            found.append(process)
    return found


class SandboxTest(unittest.TestCase):
    """Tests with a folder for a sandbox."""

    maxDiff = None

    def new_folder(self):
        """Return a folder; the folder's sandbox is stopped at the end."""
        parent = tempfile.mkdtemp(prefix='pcloud-sandbox-test-')
        self.addCleanup(shutil.rmtree, parent)
        folder = pathlib.Path(parent, 'sandbox')
        self.addCleanup(call, folder, 'down')
        return folder

    def assert_no_process(self, folder):
        """Assert that no process of the sandbox in a folder runs."""
        self.assertEqual([], processes_of(folder))

    @staticmethod
    def command_environment():
        """Return an environment that contradicts the sandbox's users."""
        return os.environ | {'OS_CLOUD': 'elsewhere', 'OS_TOKEN': 'old'}


class SharedSandboxTest(SandboxTest):
    """A single running sandbox for all tests of a class.

    :cvar up_options: the options of ``pcloud-sandbox up``
    :cvar folder: the sandbox's folder
    :cvar started: the return value of `call` for the start
    """

    up_options: tuple[str, ...] = ()

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        parent = tempfile.mkdtemp(prefix='pcloud-sandbox-test-')
        cls.addClassCleanup(shutil.rmtree, parent)
        cls.folder = pathlib.Path(parent, 'sandbox')
        cls.addClassCleanup(call, cls.folder, 'down')
        cls.started = call(cls.folder, 'up', *cls.up_options)

    @classmethod
    def shell(cls, user, script):
        """Run a script in a user's shell, and return the output.

        :raises: `subprocess.CalledProcessError` when the script fails
        """
        become = ' '.join(map(shlex.quote, [
            *COMMAND, '--dir', str(cls.folder), 'env', user]))
        environment = cls.command_environment()
        environment['PATH'] = command.search_path(environment['PATH'])
        return subprocess.run(
            ['sh', '-euc', f'eval "$({become})"\n{script}'], check=True,
            env=environment, text=True, stdout=subprocess.PIPE).stdout

    @classmethod
    def environment_of(cls, user):
        """Return the environment of a user's shell."""
        read = 'import json, os; print(json.dumps(dict(os.environ)))'
        return json.loads(cls.shell(
            user, shlex.join([sys.executable, '-c', read])))
