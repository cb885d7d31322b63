# SPDX-License-Identifier: Apache-2.0

"""When the signals that ask a program to stop may interrupt the program.

The kernel keeps a signal that arrives while the signals are held. Child
processes inherit whether the signals are held.
"""

from collections.abc import Iterator
import contextlib
import signal
import types

# Ctrl-C, ``kill``, a terminal that is closed.
_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Interrupted(SystemExit):
    """A signal asked this program to stop.

    The class is not a `KeyboardInterrupt`, after which `subprocess` does not
    wait for the end of a child process.
    """


def end_the_program() -> None:
    """Have each signal end this program, with the status of a shell.

    SIGINT counts also where SIGINT was ignored, as in the background of a
    script.
    """
    for signum in _SIGNALS:
        signal.signal(signum, _interrupt)


def _interrupt(signum: int, frame: types.FrameType | None) -> None:
    raise Interrupted(128 + signum)


@contextlib.contextmanager
def held() -> Iterator[None]:
    """Keep the signals until the end of a block."""
    with _mask(signal.SIG_BLOCK):
        yield


@contextlib.contextmanager
def delivered() -> Iterator[None]:
    """Let the signals through, within a block that holds the signals."""
    with _mask(signal.SIG_UNBLOCK):
        yield


def deliver_from_now_on() -> None:
    """Let the signals through that the parent of this process held."""
    signal.pthread_sigmask(signal.SIG_UNBLOCK, _SIGNALS)


@contextlib.contextmanager
def _mask(how: signal.Sigmasks) -> Iterator[None]:
    before = signal.pthread_sigmask(how, _SIGNALS)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
