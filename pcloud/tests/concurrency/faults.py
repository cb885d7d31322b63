# SPDX-License-Identifier: Apache-2.0

"""Kill the process at a chosen write of a request.

A request with the header ``X-Kill-At: before:3`` ends the process with
SIGKILL before the request's third write; ``after:3`` right after that write.
"""

import contextvars
import functools
import os
import signal

HEADER = 'HTTP_X_KILL_AT'

_plan: contextvars.ContextVar[list | None] = contextvars.ContextVar(
    'plan', default=None)


def install() -> None:
    """Wrap every write of `steps.WRITES`."""
    from pcloud.tests.support import steps

    for holder, name in steps.WRITES:
        setattr(holder, name, _wrap(getattr(holder, name)))


def plan(environ: dict) -> None:
    """Plan the kill that a request's header asks for, if any."""
    asked = environ.get(HEADER)
    if asked:
        when, number = asked.split(':')
        _plan.set([when, int(number)])
    else:
        _plan.set(None)


def _wrap(step):
    @functools.wraps(step)
    def wrapped(*args, **kwargs):
        planned = _plan.get()
        if planned is None:
            return step(*args, **kwargs)
        planned[1] -= 1
        number = planned[1]
        if planned[0] == 'before' and number == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        result = step(*args, **kwargs)
        if planned[0] == 'after' and number == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return result
    return wrapped
