# SPDX-License-Identifier: Apache-2.0


"""The words of ``pcloud-sandbox``."""

import contextlib
import io
import pathlib
import tempfile
import unittest
from unittest import mock

from pcloud_sandbox import cli
from pcloud_sandbox import command
from pcloud_sandbox.configuration import parts
from pcloud_sandbox.configuration import settings


class ParseTest(unittest.TestCase):

    def test_dir_before_or_after_the_verb(self):
        for argv in (['--dir', 'd', 'up'], ['up', '--dir', 'd']):
            args = cli.parse(argv)
            self.assertEqual(pathlib.Path('d'), args.dir)
            self.assertEqual(6, args.hosts)

    def test_command_is_left_alone(self):
        args = cli.parse(
            ['run', '--as', 'bob', '--', 'x', '--hosts', '9', '--', '-y'])
        self.assertEqual(['x', '--hosts', '9', '--', '-y'], args.command)
        self.assertEqual(('bob', 6), (args.user, args.hosts))

    def test_refused(self):
        for argv in (['run'], ['run', '--'], ['up', '--', 'x'], [],
                     ['up', '--hosts', '0'], ['sideways']):
            with self.subTest(argv), self.assertRaises(SystemExit) as seen:
                with contextlib.redirect_stderr(io.StringIO()):
                    cli.parse(argv)
            self.assertEqual(2, seen.exception.code)


class MainTest(unittest.TestCase):

    def main(self, *argv):
        shown = io.StringIO()
        with contextlib.redirect_stderr(shown), \
                contextlib.redirect_stdout(shown), \
                mock.patch('signal.signal'):
            status = cli.main(list(argv))
        return status, shown.getvalue()

    def test_not_installed(self):
        with mock.patch.object(parts, 'NEEDED', ('nova', 'no_such_thing')):
            status, shown = self.main('up')
        self.assertEqual(1, status)
        self.assertEqual(
            'pcloud-sandbox: no_such_thing not installed: pip install -c '
            "constraints.txt '.[sandbox]' in a clone of the "
            'repository\n', shown)

    def test_nothing_is_running(self):
        with tempfile.TemporaryDirectory() as folder:
            for verb, expected in (('status', 3), ('down', 0), ('env', 1)):
                status, shown = self.main(verb, '--dir', f'{folder}/new')
                self.assertEqual(expected, status)
                self.assertRegex(shown, '(?i)no sandbox (is|was) running')


class RunTest(unittest.TestCase):

    CHOSEN = settings.Settings(hosts=1, ports={'keystone': 1})

    def test_status(self):
        for script, expected in (('exit 7', 7), ('kill -9 $$', 137),
                                 ('test $OS_USERNAME = carol', 0)):
            self.assertEqual(expected, command.run(
                ['sh', '-c', script], self.CHOSEN, 'carol'))

    def test_not_found(self):
        with self.assertRaises(command.CommandNotRun) as seen:
            command.run(['/no/such/command'], self.CHOSEN, 'carol')
        self.assertEqual(127, seen.exception.status)
