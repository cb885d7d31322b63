# SPDX-License-Identifier: Apache-2.0

"""Counters that the processes of Nova write, and one command adds up.

A process that counts writes two files below `[pcloud] metrics_directory`, in
the form of the multiprocess mode of prometheus_client. Without the option, or
without the library, nothing is counted. Counting never fails a call.

The counters of prometheus_client itself choose where to write when the library
is imported, by a variable of the environment. openstacksdk, which Nova imports
first, imports the library. So this module writes the files, by the library's
own writer of one file.

Rule: reference-metrics-counters
"""

from __future__ import annotations

import bisect
from collections.abc import Sequence
import dataclasses
import fcntl
import os
import pathlib
import threading

from oslo_config import cfg
from oslo_log import log as logging

try:
    from prometheus_client import mmap_dict
    from prometheus_client import utils
except ImportError:
    mmap_dict = utils = None

CONF = cfg.CONF
LOG = logging.getLogger(__name__)

COUNTER, HISTOGRAM = 'counter', 'histogram'

# Bytes of a file, which are reserved before the file is mapped: on a full file
# system a mapped page without a block ends the process. A value takes about
# 300 bytes.
_SIZE = 256 * 1024

# Processes that count at the same time.
_MOST = 1024


@dataclasses.dataclass(frozen=True)
class Counter:
    """A number that only grows, for each combination of labels.

    :ivar name: the name of the metric without ``_total``
    :ivar documentation: what is counted, in a sentence
    :ivar labels: the names of the labels
    """

    name: str
    documentation: str
    labels: tuple[str, ...]

    def add(self, values: Sequence[str], amount: int = 1) -> None:
        """Count an event.

        :param values: the values of the labels, in order
        """
        if CONF.pcloud.metrics_directory:
            _processes_own().write(COUNTER, self, [
                (f'{self.name}_total', self.labels, values, amount)])


@dataclasses.dataclass(frozen=True)
class Histogram:
    """How many values are at most as large as each of some bounds.

    :ivar name: the name of the metric
    :ivar documentation: what is measured, in a sentence
    :ivar bounds: in order, the last one infinite
    """

    name: str
    documentation: str
    bounds: tuple[float, ...]

    def observe(self, value: float) -> None:
        """Count a value."""
        if CONF.pcloud.metrics_directory:
            at = bisect.bisect_left(self.bounds, value)
            # All bounds are written: a reader cannot know of the missing ones.
            _processes_own().write(HISTOGRAM, self, [
                (f'{self.name}_sum', (), (), value),
                *((f'{self.name}_bucket', ('le',), (_text(bound),),
                   int(number == at))
                  for number, bound in enumerate(self.bounds))])


def _text(bound: float) -> str:
    return utils.floatToGoString(bound) if utils else ''


class _Process:
    """The files of a process.

    A forked process has separate files, and a lock that no thread held at the
    fork.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._files: dict[str, _Files | None] = {}

    def write(
        self, kind: str, metric: Counter | Histogram,
        changes: Sequence[tuple[str, Sequence[str], Sequence[str], float]],
    ) -> None:
        """Add to values, each a name, the names and values of labels, amount.

        A failure is written to the log once.
        """
        directory = CONF.pcloud.metrics_directory
        with self._lock:
            try:
                if directory not in self._files:
                    self._files[directory] = _Files(directory)
                files = self._files[directory]
                if files is not None:
                    for name, labels, values, amount in changes:
                        files.add(kind, mmap_dict.mmap_key(
                            metric.name, name, labels, values,
                            metric.documentation), amount)
            # Whoever is counted must not fail for the counting.
            except Exception as error:
                self._files[directory] = None
                LOG.warning('This process counts nothing in %(directory)s '
                            '([pcloud] metrics_directory): %(error)s',
                            {'directory': directory, 'error': error})


# By the id of the process.
_processes: dict[int, _Process] = {}


def _processes_own() -> _Process:
    """Return what belongs to the present process, and not to the parent."""
    pid = os.getpid()
    return _processes.get(pid) or _processes.setdefault(pid, _Process())


class _Files:
    """The two files of the first slot that no living process has.

    A process that begins goes on where a process that has ended stopped, so
    there are as many files as there were processes at the same time. The
    kernel gives the lock of a slot back when the process ends, however the
    process ends. Processes with the same id, as in two containers, have
    different slots.

    :raises: `OSError`, `RuntimeError` without the library
    """

    def __init__(self, directory: str) -> None:
        if mmap_dict is None:
            raise RuntimeError('prometheus_client is not installed')
        folder = pathlib.Path(directory)
        folder.mkdir(parents=True, exist_ok=True)
        number, self._held = _free_slot(folder)
        self._dicts = {kind: _mapped(folder / f'{kind}_{number}.db')
                       for kind in (COUNTER, HISTOGRAM)}

    def add(self, kind: str, key: str, amount: float) -> None:
        """Add to a value, which begins with 0."""
        value, _ = self._dicts[kind].read_value(key)
        self._dicts[kind].write_value(key, value + amount, 0.0)


def _free_slot(folder: pathlib.Path) -> tuple[int, int]:
    """Take a slot.

    :returns: the number of the slot, and a descriptor that holds the slot as
        long as the descriptor is open
    :raises: `OSError`
    """
    refused: OSError | None = None
    for number in range(_MOST):
        try:
            held = os.open(folder / f'{number}.lock',
                           os.O_RDWR | os.O_CREAT, 0o644)
        except PermissionError as error:
            # The slot of another user.
            refused = error
            continue
        try:
            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return number, held
        except BlockingIOError:
            os.close(held)
    raise refused or OSError(f'{_MOST} processes count already')


def _mapped(path: pathlib.Path) -> mmap_dict.MmapedDict:
    """Map a file, which is made whole before any process may read the file.

    :raises: `OSError`
    """
    if not path.exists():
        made = path.with_suffix('.new')
        with made.open('wb') as file:
            os.posix_fallocate(file.fileno(), 0, _SIZE)
        made.replace(path)
    return mmap_dict.MmapedDict(str(path))
