# SPDX-License-Identifier: Apache-2.0

"""What a run tells: its phases, how long each took, and where the logs are."""

from collections.abc import Iterator
import contextlib
import pathlib
import sys
import time

_TAIL = 30


class PhaseFailed(Exception):
    """A phase has not come to its end."""


class Progress:
    """The phases of a run, each with a log of its own.

    :ivar folder: the folder of the logs
    :ivar seconds: phase -> how long the phase took, in order
    """

    def __init__(self, folder: pathlib.Path) -> None:
        self.folder = folder
        self.seconds: dict[str, float] = {}

    @contextlib.contextmanager
    def phase(self, name: str) -> Iterator[pathlib.Path]:
        """Tell that a phase begins, and how long the phase has taken.

        :returns: the log of the phase
        """
        log = self.folder / f'{len(self.seconds) + 1:02}-{name}.log'
        tell(f'{time.strftime("%H:%M:%S")} {name}: {log}')
        start = time.monotonic()
        try:
            yield log
        finally:
            self.seconds[name] = time.monotonic() - start

    def table(self) -> str:
        """Return the phases with their times, a line each."""
        times = {**self.seconds, 'all': sum(self.seconds.values())}
        return '\n'.join(f'{name:16}{minutes(each)}'
                         for name, each in times.items())


def minutes(seconds: float) -> str:
    """Return a time as minutes and seconds, such as " 4:03"."""
    return f'{int(seconds) // 60:2}:{int(seconds) % 60:02}'


def tail(log: pathlib.Path) -> str:
    """Return the last lines of a log."""
    return '\n'.join(
        log.read_text(errors='replace').splitlines()[-_TAIL:])


def tell(line: str) -> None:
    """Print a line at once, also where a file takes the output."""
    print(line)
    sys.stdout.flush()
