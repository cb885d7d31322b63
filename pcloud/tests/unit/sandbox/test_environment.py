# SPDX-License-Identifier: Apache-2.0


"""The variables of a sandbox's users."""

import subprocess
import unittest

from pcloud_sandbox.configuration import environment
from pcloud_sandbox.configuration import settings
from pcloud_sandbox import errors

CHOSEN = settings.Settings(
    hosts=2, ports={'keystone': 5000}, password="it's $HOME; \"x\"")


class EnvironmentTest(unittest.TestCase):

    def test_shell_reads_what_was_written(self):
        lines = environment.shell_lines(CHOSEN, 'alice')
        script = '\n'.join(lines + [
            'echo "$OS_PASSWORD|$OS_USERNAME|$OS_PROJECT_NAME|$OS_AUTH_URL|'
            '$OS_TOKEN"'])
        shown = subprocess.run(
            ['sh', '-eu', '-c', script.replace('$OS_TOKEN', '${OS_TOKEN-}')],
            env={'OS_TOKEN': 'old'}, check=True, text=True,
            stdout=subprocess.PIPE).stdout
        self.assertEqual('it\'s $HOME; "x"|alice|alice|'
                         'http://127.0.0.1:5000/v3|\n', shown)

    def test_apply_drops_what_conflicts(self):
        made = environment.apply(
            {'OS_CLOUD': 'devstack', 'OS_USERNAME': 'me', 'PATH': '/bin'},
            CHOSEN, 'bob')
        self.assertNotIn('OS_CLOUD', made)
        self.assertEqual('bob', made['OS_USERNAME'])
        self.assertEqual('/bin', made['PATH'])

    def test_nothing_is_both_set_and_unset(self):
        made = environment.variables(CHOSEN, 'admin')
        self.assertEqual(set(), set(made) & set(environment.CONFLICTING))

    def test_unknown_user(self):
        self.assertRaisesRegex(
            errors.SandboxError,
            "no user 'eve'; there are admin, alice, bob, carol",
            environment.shell_lines, CHOSEN, 'eve')
