# SPDX-License-Identifier: Apache-2.0
"""Tell a process that starts slowly from a process that never will."""

import pathlib
import time

import psutil

from pcloud_sandbox import errors

# Seconds without any progress, after which a part is taken for stuck. Even a
# machine with a hundredth of a processor gives a part a second of work in
# this time.
SILENCE = 600
# Seconds of work that are progress. A service that waits in vain works too,
# but less.
_WORK = 1


class Progress:
    """The progress of a process: the log grows, or the process works.

    :param name: the name of the part that the process runs
    :param process: the process; the work of its descendants counts too
    :param log: the file that the process writes
    :param works: whether work is progress. A process that waits for another
        process works in vain, so such a process has to log progress.
    """

    def __init__(
        self, name: str, process: psutil.Process, log: pathlib.Path,
        works: bool,
    ) -> None:
        self._name = name
        self._process, self._log, self._works = process, log, works
        self._last, self._done = time.monotonic(), 0.
        self._size, self._done = self._log_size(), self._work()

    def silence(self) -> float:
        """Return for how many seconds there has been no progress.

        A caller asks now and then: progress is noticed at a call.
        """
        size, work = self._log_size(), self._work()
        if size != self._size or work >= self._done + _WORK:
            self._size, self._done = size, work
            self._last = time.monotonic()
        return time.monotonic() - self._last

    def check(self) -> None:
        """Check that the process has not been silent for too long.

        :raises StartFailed: there has been no progress for `SILENCE`
        """
        silence = self.silence()
        if silence > SILENCE:
            raise errors.StartFailed(
                f'{self._name} has made no progress for {silence:.0f} '
                'seconds', str(self._log))

    def _log_size(self) -> int:
        return self._log.stat().st_size if self._log.exists() else 0

    def _work(self) -> float:
        if not self._works:
            return 0.
        try:
            family = [self._process,
                      *self._process.children(recursive=True)]
        except psutil.NoSuchProcess:
            return self._done
        return sum(map(_seconds_of_work, family))


def _seconds_of_work(process: psutil.Process) -> float:
    try:
        times = process.cpu_times()
    except psutil.NoSuchProcess:
        return 0.
    return (times.user + times.system +
            times.children_user + times.children_system)
