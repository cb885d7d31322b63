# SPDX-License-Identifier: Apache-2.0

import json
import os
import subprocess
import sys

import ddt
import testtools


def run(name, *arguments):
    """Run a command of operators."""
    return subprocess.run(
        [sys.executable, '-m', f'pcloud.cmd.{name}', *arguments],
        text=True, capture_output=True)


@ddt.ddt
class MissingTest(testtools.TestCase):
    """A file of configuration that is not there is no answer."""

    @ddt.data(('manage', 'audit'), ('manage', 'explain', '--server', 'x'),
              ('status', 'upgrade', 'check'))
    def test_one_line(self, command):
        name, *arguments = command
        done = run(name, '--config-file', '/nope.conf', *arguments)
        self.assertEqual((2, ''), (done.returncode, done.stdout))
        self.assertEqual(
            f'pcloud-{name}: Failed to find some config files: /nope.conf',
            done.stderr.splitlines()[-1])
        self.assertNotIn('Traceback', done.stderr)

    def test_no_configuration(self):
        """Options that are nowhere set are no fault of the configuration."""
        done = subprocess.run(
            [sys.executable, '-c',
             'import sys; from oslo_config import cfg; '
             'cfg.find_config_files = lambda *_, **__: []; '
             'cfg.find_config_dirs = lambda *_, **__: []; '
             'from pcloud.cmd import status; sys.exit(status.main())',
             'upgrade', 'check'], text=True, capture_output=True)
        self.assertEqual((2, ''), (done.returncode, done.stdout))
        self.assertEqual(
            'pcloud-status: no configuration was found; --config-file takes '
            'the nova.conf that is to be checked',
            done.stderr.splitlines()[-1])

    def test_json(self):
        done = run('status', '--config-file', os.devnull, 'upgrade', 'check',
                   '--json')
        checks = json.loads(done.stdout)['checks']
        self.assertIn('Scheduler filter', [each['check'] for each in checks])

    def test_help(self):
        done = run('status', '--help')
        self.assertIn('--version', done.stdout)
        self.assertIn('Commands:\n  {upgrade}', done.stdout)
        self.assertIn('usage: pcloud-status ', done.stdout)

    def test_no_database(self):
        done = run('manage', '--config-file', os.devnull, 'audit')
        self.assertEqual((2, ''), (done.returncode, done.stdout))
        self.assertIn('no configuration names a database; --config-file',
                      done.stderr.splitlines()[-1])
        self.assertNotIn('Traceback', done.stderr)
