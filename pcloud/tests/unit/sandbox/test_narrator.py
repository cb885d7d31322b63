# SPDX-License-Identifier: Apache-2.0

"""How stories type commands and show outputs."""

import contextlib
import io
import shlex
import signal
import subprocess
import sys
import time
import unittest

import psutil

from pcloud_sandbox import narrator

_UUID = '1c0c9571-f98f-4b9c-98b0-3e2a74ba52e8'
_YAML = """\

id: 1c0c9571
units: 2
text: '5'
"""


class TypedTest(unittest.TestCase):

    def assert_typed(self, command):
        """Assert that a shell reads the lines as the command; return them."""
        lines = narrator.typed(command)
        self.assertLessEqual(max(map(len, lines.splitlines())), 80)
        self.assertEqual(shlex.split(command),
                         shlex.split(lines.replace('\\\n', '')))
        return lines.splitlines()

    def test_short_command(self):
        self.assertEqual(['nova list'], self.assert_typed('nova list'))

    def test_long_command(self):
        self.assertEqual(
            ['alice$ openstack server create --flavor m1.small '
             '--image cirros --nic none \\',
             '    --wait -c name -c status \\',
             f'    --hint pcloud={_UUID} inside'],
            self.assert_typed(
                'alice$ openstack server create --flavor m1.small --image '
                'cirros --nic none --wait -c name -c status --hint '
                f'pcloud={_UUID} inside'))

    def test_every_length(self):
        for length in range(1, 90):
            with self.subTest(length):
                self.assert_typed('openstack ' + 'x ' * length + '-y z')

    def test_quotes_stay_whole(self):
        self.assertEqual(
            ['openstack host flavor create gpu --units 2 --zones az1 \\',
             '    --description "10 cpus, 8 GiB" x=\'y z\''],
            self.assert_typed(
                'openstack host flavor create gpu --units 2 --zones az1 '
                '--description "10 cpus, 8 GiB" x=\'y z\''))


class MemberTest(unittest.TestCase):

    def test_members(self):
        for name, text in (('id', '1c0c9571'), ('units', '2'), ('text', '5')):
            self.assertEqual(text, narrator.member(_YAML, name))

    def test_no_such_member(self):
        for name in ('unit', 'd', '1c0c9571', ''):
            with self.assertRaises(narrator.PromiseBroken):
                narrator.member(_YAML, name)


class NarratorTest(unittest.TestCase):

    def setUp(self):
        self.teller = narrator.Narrator()
        self.shown = io.StringIO()

    def tell(self, method, *arguments):
        """Call a method of the narrator."""
        with contextlib.redirect_stdout(self.shown):
            return getattr(self.teller, method)(*arguments)

    def test_nothing_is_wider_than_a_terminal(self):
        words = 'a word and another ' * 9
        self.tell('open_chapter', '1. A chapter')
        self.tell('say', words)
        output = self.tell('run', '', f'echo {words}; echo {words} >&2')
        self.tell('promise', True, words)
        self.assertLessEqual(
            max(map(len, self.shown.getvalue().splitlines())), 80)
        self.assertEqual(f'{words.strip()}\n' * 2, output)

    def test_tables_of_openstack_fit_as_on_a_terminal(self):
        self.assertEqual('80\n', self.tell(
            'run', '', 'echo $CLIFF_MAX_TERM_WIDTH'))

    def test_broken_promises(self):
        for method, argument in (('run', 'exit 3'), ('fails', 'exit 0')):
            with self.assertRaises(narrator.PromiseBroken):
                self.tell(method, '', argument)
        with self.assertRaises(narrator.PromiseBroken):
            self.tell('promise', False, 'the moon is green')
        self.assertEqual(0, self.teller.promise_count)

    def test_output_passes_through_and_an_interrupt_ends_the_command(self):
        for signum in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            mark = f'{signum + 0}{id(self)}'
            process = self.start_telling(f'echo READY; sleep {mark} && true')
            process.send_signal(signum)
            self.assertEqual(128 + signum, process.wait())
            while self.is_running(['sleep', mark]):
                time.sleep(0.1)

    @staticmethod
    def is_running(argv):
        """Return whether some process has these arguments."""
        return any(process.info['cmdline'] == argv
                   for process in psutil.process_iter(['cmdline']))

    def start_telling(self, command):
        """Start a narrator that runs a command; wait for the output READY."""
        process = subprocess.Popen(
            [sys.executable, '-c', f"""
from pcloud_sandbox import narrator
from pcloud_sandbox.running import interrupts
interrupts.end_the_program()
narrator.Narrator().run('', {command!r})
"""], stdout=subprocess.PIPE, text=True)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        self.addCleanup(process.stdout.close)
        while process.stdout.readline() != 'READY\n':
            self.assertIsNone(process.poll())
        return process
