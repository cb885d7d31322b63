# SPDX-License-Identifier: Apache-2.0

"""Suites that run side by side: none of their failures gets lost."""

import subprocess
import sys

import ddt
from oslotest import base

from pcloud.tests import side_by_side

GOOD, BAD = ([sys.executable, '-c', f'print("{word}"); exit({code})']
             for word, code in (('good', 0), ('bad', 3)))


def _told(*several):
    """Run commands in a process of its own; return status and output."""
    words = [word for command in several for word in ('+', *command)][1:]
    done = subprocess.run(
        [sys.executable, '-m', 'pcloud.tests.side_by_side', *words],
        stdout=subprocess.PIPE, text=True)
    return done.returncode, done.stdout.split()


@ddt.ddt
class SideBySideTest(base.BaseTestCase):

    @ddt.data(([], []), (['a'], [['a']]), (['a', '-b', '+', 'c'],
                                           [['a', '-b'], ['c']]))
    @ddt.unpack
    def test_commands(self, words, expected):
        self.assertEqual(expected, side_by_side.commands(words))

    def test_output_and_status(self):
        self.assertEqual((0, ['good', 'good']), _told(GOOD, GOOD))
        for several in ((BAD, GOOD), (GOOD, BAD), (GOOD, BAD, GOOD)):
            status, words = _told(*several)
            self.assertEqual(1, status)
            self.assertEqual(sorted(words), sorted(
                ['bad' if command is BAD else 'good' for command in several]))
