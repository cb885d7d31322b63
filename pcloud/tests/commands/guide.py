# SPDX-License-Identifier: Apache-2.0

"""A guide: text with commands and their outputs, and a shell for commands.

In a block of reStructuredText of the language ``console``, a command is a line
that begins with ``$ `` and the next lines that begin with ``> ``; the lines
after the command are the output. A line ``...`` matches any lines.
"""

import dataclasses
import pathlib
import re
import subprocess

_BLOCK = re.compile(
    r'^\.\. code-block:: console\n\n((?:   .*\n|\n)+)', re.MULTILINE)
_MARK = 'END-OF-OUTPUT'
_ANY = '...'
# The warning that nova prints first, and that the guide mentions once.
_EVERY_TIME = 'nova CLI is deprecated and will be removed in a future release'

# Texts that differ from run to run, each with a replacement.
_VARYING = [
    (re.compile('[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}'), '<uuid>'),
    (re.compile(r'\b[0-9a-f]{32}\b'), '<id>'),
    (re.compile(r'\d{4}(-\d\d){2}T\d\d(:\d\d){2}Z'), '<time>'),
    (re.compile('[+-]{3,}'), '---'),
    (re.compile(' +'), ' '),
]


@dataclasses.dataclass(frozen=True)
class Step:
    """A command and the output in the guide."""

    command: str
    output: str


def steps(text: str) -> list[Step]:
    """Return the steps of a guide, in order."""
    found = []
    for block in _BLOCK.findall(text):
        lines = [line[3:] for line in block.rstrip().split('\n')]
        for line in lines:
            if line.startswith('$ '):
                found.append([line[2:]])
            elif line.startswith('> ') and len(found[-1]) == 1:
                found[-1][0] += '\n' + line[2:]
            else:
                found[-1].append(line)
    return [Step(first, '\n'.join(rest).rstrip())
            for first, *rest in found]


def normal(output: str) -> list[str]:
    """Return the lines of an output, with varying texts replaced."""
    lines = [line.rstrip() for line in output.strip().split('\n')]
    for pattern, instead in _VARYING:
        lines = [pattern.sub(instead, line) for line in lines]
    return lines


def agree(promised: str, printed: str) -> bool:
    """Return whether an output agrees with the guide."""
    pattern = ''.join(
        r'(?:.*\n)*' if line == _ANY else re.escape(line) + r'\n'
        for line in normal(promised))
    return re.fullmatch(pattern, '\n'.join(normal(printed)) + '\n') is not None


class Shell:
    """A shell that runs commands in sequence."""

    def __init__(self, environment: dict) -> None:
        self._process = subprocess.Popen(
            ['bash', '--norc', '--noprofile'], env=environment, text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT)

    def type(self, command: str) -> str:
        """Run a command, and return the output of both streams."""
        self._process.stdin.write(
            f'{{ {command}\n}} </dev/null\necho; echo {_MARK}\n')
        self._process.stdin.flush()
        lines = []
        for line in self._process.stdout:
            if line.strip() == _MARK:
                return ''.join(lines).rstrip()
            if line.strip() != _EVERY_TIME:
                lines.append(line)
        raise AssertionError(f'The shell ended at: {command}')

    def close(self) -> None:
        """Log out."""
        self._process.stdin.close()
        self._process.wait(60)
        self._process.stdout.close()


def rewrite(path: pathlib.Path, printed: list[str]) -> None:
    """Replace the outputs in a guide by the real outputs.

    Outputs with ``...`` stay.
    """
    text = path.read_text()
    outputs = iter(zip(steps(text), printed))

    def block(match: re.Match) -> str:
        lines = []
        for _ in [line for line in match[1].split('\n')
                  if line.startswith('   $ ')]:
            step, real = next(outputs)
            kept = _ANY in step.output.split('\n')
            output = step.output if kept else real
            typed = step.command.replace('\n', '\n> ')
            shown = f'$ {typed}\n{output}'.rstrip()
            lines += [f'   {line}'.rstrip() for line in shown.split('\n')]
        return '.. code-block:: console\n\n' + '\n'.join(lines) + '\n\n'

    path.write_text(_BLOCK.sub(block, text).rstrip() + '\n')
