# SPDX-License-Identifier: Apache-2.0

"""Commands whose output is not read to the end, as in ``... | head -1``."""

from collections.abc import Callable
import functools
import os
import signal
import sys

# What a shell shows for a command that the signal of a closed pipe has ended.
STATUS = 128 + signal.SIGPIPE


def ends_quietly(main: Callable[..., int]) -> Callable[..., int]:
    """Make a command end without a traceback when nobody reads any more.

    :param main: the command; returns the exit status
    :returns: the command; returns `STATUS` when standard output is closed
    """
    @functools.wraps(main)
    def wrapped(*args: object, **options: object) -> int:
        try:
            try:
                return main(*args, **options)
            finally:
                # Also before a SystemExit: at the end of the process Python
                # would tell the user of the pipe.
                sys.stdout.flush()
        except BrokenPipeError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return STATUS
    return wrapped
