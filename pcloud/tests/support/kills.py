# SPDX-License-Identifier: Apache-2.0


"""Processes that end in the middle of a call."""

from collections.abc import Callable
import threading

import sqlalchemy as sa


class Killed(BaseException):
    """The end of a process at a statement."""


def is_killed(
    engine: sa.Engine, number: int, call: Callable[[], object],
) -> bool:
    """Call, and end the call at one of the statements of its thread.

    Who is dead tidies nothing up: each statement afterwards ends likewise.

    :param number: at which statement, from 1 on
    :returns: whether there was such a statement
    """
    left, thread = [number], threading.get_ident()

    def count(*_) -> None:
        if threading.get_ident() == thread:
            left[0] -= 1
            if left[0] <= 0:
                raise Killed()

    sa.event.listen(engine, 'before_cursor_execute', count)
    try:
        call()
    except Killed:
        return True
    finally:
        sa.event.remove(engine, 'before_cursor_execute', count)
    return False
