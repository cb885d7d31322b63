# SPDX-License-Identifier: Apache-2.0

"""Run suites of tests at the same time, as most suites wait now and then.

    python -m pcloud.tests.side_by_side COMMAND [+ COMMAND]...

The output of the first command is shown as it comes, and the output of each
other command once the commands before have ended. Each command that runs
stestr gets a repository of stestr of its own: ``.stestr`` for the first, and
``.stestr-1`` and so on for the others.
"""

from collections.abc import Sequence
import itertools
import pathlib
import shutil
import subprocess
import sys
import tempfile


def commands(words: Sequence[str]) -> list[list[str]]:
    """Split the words of a command line at each "+"."""
    return [list(group) for is_sign, group in itertools.groupby(
        words, lambda word: word == '+') if not is_sign]


def _aside(command: Sequence[str], number: int) -> list[str]:
    """Return a command with a repository of stestr of its own."""
    program, *rest = command
    if program != 'stestr' or not number:
        return list(command)
    folder = pathlib.Path(f'.stestr-{number}')
    folder.mkdir(exist_ok=True)
    return [program, f'--repo-url={folder}', *rest]


def run(several: Sequence[Sequence[str]]) -> int:
    """Run commands at the same time.

    :returns: 0 when all commands have ended with 0, else 1
    """
    files = [tempfile.TemporaryFile() for _ in several]
    running = [
        subprocess.Popen(_aside(command, number),
                         stdout=file if number else None,
                         stderr=subprocess.STDOUT if number else None)
        for number, (command, file) in enumerate(
            zip(several, files, strict=True))]
    failed = False
    for process, file in zip(running, files, strict=True):
        failed |= process.wait() != 0
        file.seek(0)
        sys.stdout.flush()
        shutil.copyfileobj(file, sys.stdout.buffer)
        sys.stdout.buffer.flush()
        file.close()
    return int(failed)


if __name__ == '__main__':
    sys.exit(run(commands(sys.argv[1:])))
