# SPDX-License-Identifier: Apache-2.0

"""Tell a story: run each command as a user, show the command's output."""

from collections.abc import Iterable
from collections.abc import Mapping
import json
import os
import re
import shlex
import signal
import subprocess
import sys
import textwrap

# Columns of the narrowest terminal in use.
WIDTH = 80
_PARAGRAPH_WIDTH = 72
# An argument of a shell's command, with the quotes; an option together with
# the next argument, which may be the option's value.
_WORD = r"""(?:[^\s"']|"[^"]*"|'[^']*')+"""
_ARGUMENT = re.compile(rf'-{_WORD} (?!-){_WORD}|{_WORD}')


class PromiseBroken(Exception):
    """A command did not do what the story promises."""


class Narrator:
    """Runs commands in a shell and checks the promises of a story.

    :ivar kept: number of promises kept so far
    """

    def __init__(self) -> None:
        self._variables: dict[str, Mapping[str, str]] = {}
        self.promise_count = 0

    def open_chapter(self, title: str) -> None:
        """Print the title of a chapter."""
        print(f'\n--- {title} '.ljust(_PARAGRAPH_WIDTH + 1, '-'), flush=True)

    def say(self, text: str) -> None:
        """Print a paragraph of the story."""
        plain = ' '.join(text.split())
        print('\n' + textwrap.fill(plain, _PARAGRAPH_WIDTH),
              flush=True)

    def show(self, lines: Iterable[str]) -> None:
        """Print a picture of the story."""
        print('\n' + '\n'.join(lines), flush=True)

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
        print(textwrap.fill(f'=> {text}', _PARAGRAPH_WIDTH,
                            initial_indent='  ', subsequent_indent='     '),
              flush=True)

    def _type(self, user: str, command: str) -> tuple[int, str]:
        print('\n' + typed(f'{user or "host"}$ {command}'), flush=True)
        lines = []
        # A group of processes of its own: Ctrl-C reaches the narrator alone.
        with subprocess.Popen(
                command, shell=True, env=self._environment(user), text=True,
                stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                stdin=subprocess.DEVNULL, process_group=0) as process:
            # `Popen` has made a pipe.
            assert process.stdout is not None
            try:
                for line in process.stdout:
                    print(folded(line.rstrip('\n')), flush=True)
                    lines.append(line)
            except BaseException:
                os.killpg(process.pid, signal.SIGTERM)
                raise
        return process.returncode, ''.join(lines)

    def _environment(self, user: str) -> Mapping[str, str]:
        if user not in self._variables:
            self._variables[user] = {
                **(_login(user) if user else os.environ),
                # What "openstack" finds out by itself on a terminal.
                'CLIFF_MAX_TERM_WIDTH': str(WIDTH)}
        return self._variables[user]


def _login(user: str) -> dict[str, str]:
    """Return the environment after ``eval "$(pcloud-sandbox env USER)"``."""
    script = (f'eval "$(pcloud-sandbox env {shlex.quote(user)})" && '
              f'exec {shlex.quote(sys.executable)} -c '
              '"import json, os; print(json.dumps(dict(os.environ)))"')
    done = subprocess.run(['/bin/sh', '-ec', script], text=True, check=True,
                          stdout=subprocess.PIPE)
    return json.loads(done.stdout)


def folded(line: str) -> str:
    """Return a line of an output as lines that fit a narrow terminal."""
    if len(line) <= WIDTH:
        return line
    return textwrap.fill(line, WIDTH, subsequent_indent='    ',
                         break_long_words=False, break_on_hyphens=False)


def typed(command: str) -> str:
    """Return a command in lines, as a user types a long command.

    A line of the shell breaks between arguments.
    """
    lines: list[str] = []
    for line in command.splitlines():
        arguments = _ARGUMENT.findall(line)
        lines.append(arguments[0])
        for argument in arguments[1:]:
            # The line may end with a blank and a backslash.
            if len(f'{lines[-1]} {argument}') <= WIDTH - 2:
                lines[-1] += f' {argument}'
            else:
                lines[-1] += ' \\'
                lines.append(f'    {argument}')
    return '\n'.join(lines)


def member(output: str, name: str) -> str:
    """Return the text of a plain member of an object that YAML shows.

    :raises: `PromiseBroken` when the output has no such member
    """
    match = re.search(rf"^{re.escape(name)}: '?(.*?)'?$", output,
                      re.MULTILINE)
    if not match:
        raise PromiseBroken(f'there is no {name} in the output')
    return match[1]
