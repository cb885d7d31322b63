# SPDX-License-Identifier: Apache-2.0

"""Signals that are held and delivered, in a program of their own."""

import subprocess
import sys
import unittest

_HEAD = """
import os, signal, subprocess, sys
from pcloud_sandbox.running import interrupts
interrupts.end_the_program()
me = os.getpid()
"""


class InterruptsTest(unittest.TestCase):

    def run_program(self, program):
        """Run a program: (status, standard output)."""
        done = subprocess.run(
            [sys.executable, '-c', _HEAD + program], text=True,
            stdout=subprocess.PIPE)
        return done.returncode, done.stdout.split()

    def test_each_signal_ends_the_program(self):
        for name, status in (('INT', 130), ('TERM', 143), ('HUP', 129)):
            with self.subTest(name):
                self.assertEqual(
                    (status, ['begun', 'ended']), self.run_program(f"""
try:
    print('begun')
    os.kill(me, signal.SIG{name})
    print('missed')
finally:
    print('ended')
"""))

    def test_a_held_signal_waits_for_the_end_of_the_block(self):
        self.assertEqual((130, ['kept']), self.run_program("""
with interrupts.held():
    os.kill(me, signal.SIGINT)
    print('kept')
print('missed')
"""))

    def test_the_second_signal_waits_for_what_the_first_started(self):
        self.assertEqual((143, ['cleaned']), self.run_program("""
with interrupts.held():
    try:
        with interrupts.delivered():
            os.kill(me, signal.SIGINT)
            print('missed')
    finally:
        os.kill(me, signal.SIGTERM)
        print('cleaned')
print('missed')
"""))

    def test_a_child_inherits_whether_the_signals_are_held(self):
        self.assertEqual((0, ['0', '-2']), self.run_program("""
child = [sys.executable, '-c',
         'import os, signal; signal.signal(2, signal.SIG_DFL); '
         'os.kill(os.getpid(), 2)']
with interrupts.held():
    print(subprocess.run(child).returncode, flush=True)
    with interrupts.delivered():
        print(subprocess.run(child).returncode)
"""))

    def test_a_child_may_have_the_signals_delivered(self):
        self.assertEqual((0, ['-2']), self.run_program("""
child = [sys.executable, '-c',
         'from pcloud_sandbox.running import interrupts; import os, signal; '
         'signal.signal(2, signal.SIG_DFL); interrupts.deliver_from_now_on(); '
         'os.kill(os.getpid(), 2)']
with interrupts.held():
    print(subprocess.run(child).returncode)
"""))
