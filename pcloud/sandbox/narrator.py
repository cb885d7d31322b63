# Licensed under the Apache License, Version 2.0 (the "License"); you may
# not use this file except in compliance with the License. You may obtain
# a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the
# License for the specific language governing permissions and limitations
# under the License.

"""Tell a story: run each command as a user, show the command's output."""

from collections.abc import Mapping
import json
import os
import re
import shlex
import subprocess
import sys
import textwrap


class PromiseBroken(Exception):
    """A command did not do what the story promises."""


class Narrator:
    """Runs commands in a shell and checks the promises of a story.

    :ivar kept: number of promises kept so far
    """

    def __init__(self) -> None:
        self._variables: dict[str, Mapping[str, str]] = {}
        self.promise_count = 0

    def say(self, text: str) -> None:
        """Print a paragraph of the story."""
        plain = ' '.join(text.split())
        print('\n' + textwrap.fill(plain, 72), flush=True)

    def run(self, user: str, command: str) -> str:
        """Run a command as a user, and return the command's output.

        :param user: 'admin', 'alice', ...; '' is the owner of the machine
        :raises: `PromiseBroken` when the command ends with an error
        """
        status, output = self._type(user, command)
        if status:
            raise PromiseBroken(f'{command}: ended with status {status}')
        return output

    def fails(self, user: str, command: str) -> str:
        """Run a command that has to fail, and return the output.

        :raises: `PromiseBroken` when the command succeeds
        """
        status, output = self._type(user, command)
        if not status:
            raise PromiseBroken(f'{command}: succeeded, but must not')
        return output

    def forget(self) -> None:
        """Forget the users' logins: the next story has a new cloud."""
        self._variables.clear()

    def promise(self, holds: bool, text: str) -> None:
        """Check and print a promise of the story.

        :param holds: whether the output has shown the promise
        :raises: `PromiseBroken` when the promise does not hold
        """
        if not holds:
            raise PromiseBroken(text)
        self.promise_count += 1
        print(f'  => {text}', flush=True)

    def _type(self, user: str, command: str) -> tuple[int, str]:
        print(f'\n{user or "host"}$ {command}', flush=True)
        lines = []
        with subprocess.Popen(
                command, shell=True, env=self._environment(user), text=True,
                stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                stdin=subprocess.DEVNULL) as process:
            # `Popen` has made a pipe.
            assert process.stdout is not None
            try:
                for line in process.stdout:
                    print(line, end='', flush=True)
                    lines.append(line)
            except BaseException:
                process.terminate()
                raise
        return process.returncode, ''.join(lines)

    def _environment(self, user: str) -> Mapping[str, str]:
        if user not in self._variables:
            self._variables[user] = _login(user) if user else os.environ
        return self._variables[user]


def _login(user: str) -> dict[str, str]:
    """Return the environment after ``eval "$(pcloud-sandbox env USER)"``."""
    script = (f'eval "$(pcloud-sandbox env {shlex.quote(user)})" && '
              f'exec {shlex.quote(sys.executable)} -c '
              '"import json, os; print(json.dumps(dict(os.environ)))"')
    done = subprocess.run(['/bin/sh', '-ec', script], text=True, check=True,
                          stdout=subprocess.PIPE)
    return json.loads(done.stdout)


def row(output: str, field: str) -> str:
    """Return a field's value in a table of two columns.

    :raises: `PromiseBroken` when the table has no such field
    """
    match = re.search(rf'^\| {re.escape(field)} *\| (.*?) *\|$', output,
                      re.MULTILINE)
    if not match:
        raise PromiseBroken(f'there is no {field} in the output')
    return match.group(1)
