# SPDX-License-Identifier: Apache-2.0

"""Work in copies of this process, which leave nothing behind."""

from collections.abc import Callable
from collections.abc import Iterable
from collections.abc import Iterator
import dataclasses
import itertools
import multiprocessing
from multiprocessing import connection
import os
import traceback
from typing import Any

_FORK = multiprocessing.get_context('fork')


@dataclasses.dataclass(frozen=True)
class Outcome:
    """The end of some work.

    :ivar value: what the work has returned
    :ivar error: the traceback of what the work has raised, or empty
    :ivar signal: the signal that has ended the process, 0 without a signal
    """

    value: Any = None
    error: str = ''
    signal: int = 0


def outcomes(
    work: Callable[[Any], Any], jobs: Iterable[Any], most: int,
) -> Iterator[tuple[Any, Outcome]]:
    """Do some work for each job in a child, and yield what comes of the job.

    :param jobs: a job is taken when a child is free
    :param most: how many children work at the same time
    """
    left, running = iter(jobs), {}
    while True:
        for job in itertools.islice(left, most - len(running)):
            receiver, sender = _FORK.Pipe(duplex=False)
            process = _FORK.Process(target=_do, args=(work, job, sender))
            process.start()
            # The end of the pipe is seen when the child alone has the pipe.
            sender.close()
            running[receiver] = job, process
        if not running:
            return
        for receiver in connection.wait(running):
            job, process = running.pop(receiver)
            yield job, _received(receiver, process)


def _received(receiver: connection.Connection, process: Any) -> Outcome:
    with receiver:
        try:
            outcome = receiver.recv()
            process.join()
            return outcome
        except EOFError:
            process.join()
            return Outcome(error='no answer', signal=max(0, -process.exitcode))


def _do(work: Callable, job: Any, sender: connection.Connection) -> None:
    """Work in the child, which prints nothing."""
    null = os.open(os.devnull, os.O_RDWR)
    for standard in range(3):
        os.dup2(null, standard)
    try:
        outcome = Outcome(work(job))
    # A fault may end in SystemExit, and a test in KeyboardInterrupt.
    except BaseException:
        outcome = Outcome(error=traceback.format_exc())
    sender.send(outcome)
    # Threads that tests have left are not waited for.
    os._exit(0)
