# SPDX-License-Identifier: Apache-2.0

"""Run a user's command with the variables of a sandbox's user."""

from collections.abc import Callable
from collections.abc import Iterator
import contextlib
import os
import signal
import subprocess
import sys
import types

from pcloud_sandbox.configuration import environment
from pcloud_sandbox.configuration import settings
from pcloud_sandbox import errors


class CommandNotRun(errors.SandboxError):
    """The command cannot be run.

    :ivar status: the status that a shell would return: 127 for a command
        that was not found, else 126
    """

    def __init__(self, message: str, status: int):
        super().__init__(message)
        self.status = status


@contextlib.contextmanager
def signals_passed_on(
    child_of: Callable[[], subprocess.Popen | None],
) -> Iterator[None]:
    """Leave the reaction to a signal to the command.

    The terminal sends Ctrl-C to the command too, so SIGINT is not passed
    on. A handler, unlike "ignore", is not inherited by the command.

    :param child_of: returns the command's process, or None
    """
    def pass_on(signum: int, frame: types.FrameType | None) -> None:
        child = child_of()
        if child is not None and signum != signal.SIGINT:
            child.send_signal(signum)

    signums = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    before = {signum: signal.signal(signum, pass_on) for signum in signums}
    try:
        yield
    finally:
        for signum, handler in before.items():
            signal.signal(signum, handler)


def search_path(path: str) -> str:
    """Return a PATH that leads to the clients.

    The clients are installed beside this program. The folder need not be
    on the PATH of a user who calls this program by the full name.
    """
    return path + os.pathsep + os.path.dirname(sys.executable)


def run(argv: list[str], chosen: settings.Settings, user: str) -> int:
    """Run a command and wait for the end.

    :returns: the command's status as a shell shows the status: 128 plus
        the signal's number for a command that a signal ended
    :raises CommandNotRun: the command cannot be run
    :raises SandboxError: there is no such user
    """
    variables = environment.apply(dict(os.environ), chosen, user)
    variables['PATH'] = search_path(variables.get('PATH', os.defpath))
    started: list[subprocess.Popen] = []
    with signals_passed_on(lambda: started[0] if started else None):
        try:
            started.append(subprocess.Popen(argv, env=variables))
        except FileNotFoundError as error:
            raise CommandNotRun(f'{argv[0]}: not found', 127) from error
        except OSError as error:
            raise CommandNotRun(
                f'{argv[0]}: {error.strerror}', 126) from error
        status = started[0].wait()
    return 128 - status if status < 0 else status
