# SPDX-License-Identifier: Apache-2.0

"""Start processes that cannot outlive the parent, and end processes."""

import ctypes
import os
import signal
import subprocess

import psutil

# From linux/prctl.h.
PR_SET_PDEATHSIG = 1
# Seconds between SIGTERM and SIGKILL.
GRACE = 10
# Seconds that the kernel may take to remove a killed process.
REAP = 5

# Loaded here and not between fork and exec, where little is allowed.
_LIBC = ctypes.CDLL(None, use_errno=True)


def die_with_parent(signum: int = signal.SIGKILL) -> None:
    """Have the kernel send this process a signal when the parent ends.

    :param signum: which signal; 0 withdraws the request
    :raises OSError: the kernel refuses
    """
    if _LIBC.prctl(PR_SET_PDEATHSIG, int(signum), 0, 0, 0):
        raise OSError(ctypes.get_errno(), 'prctl(PR_SET_PDEATHSIG)')


def identity(pid: int) -> dict:
    """Return the identity of a process.

    The creation time distinguishes the process from a later process with
    the same number.

    :returns: ``{'pid': int, 'created': float}``
    :raises psutil.NoSuchProcess: the process has ended
    """
    return {'pid': pid, 'created': psutil.Process(pid).create_time()}


def find(known: dict | None) -> psutil.Process | None:
    """Return the running process with an identity, or None."""
    if not known:
        return None
    try:
        process = psutil.Process(known['pid'])
        # The clock of creation times may have been set since; the kernel
        # does not use a number again within a second.
        same = abs(process.create_time() - known['created']) < 1
        if same and process.status() != psutil.STATUS_ZOMBIE:
            return process
    except psutil.NoSuchProcess:
        pass
    return None


def end_all(processes: list[psutil.Process], grace: float = GRACE) -> None:
    """End processes: SIGTERM, then SIGKILL for processes that still run.

    :param grace: seconds between the two signals
    """
    send(processes, signal.SIGTERM)
    _, alive = psutil.wait_procs(processes, timeout=grace)
    send(alive, signal.SIGKILL)
    psutil.wait_procs(alive, timeout=REAP)


def descendants(children: list[subprocess.Popen]) -> list[psutil.Process]:
    """Return the processes that children of this process have started."""
    processes = []
    for child in children:
        try:
            processes += psutil.Process(child.pid).children(recursive=True)
        except psutil.NoSuchProcess:
            continue
    return processes


def send(processes: list[psutil.Process], signum: int) -> None:
    """Send a signal to each process that still runs."""
    for process in processes:
        try:
            process.send_signal(signum)
        except psutil.NoSuchProcess:
            continue


def kill_leftovers(known: dict[str, dict]) -> None:
    """Kill the processes of a sandbox whose supervisor has ended.

    :param known: part name -> identity; the process may have ended, and
        a new process may have the number
    """
    processes = []
    for entry in known.values():
        process = find(entry)
        if process is None:
            continue
        try:
            processes += [process, *process.children(recursive=True)]
        except psutil.NoSuchProcess:
            continue
    send(processes, signal.SIGKILL)
    psutil.wait_procs(processes, timeout=REAP)


def clean_environment() -> dict[str, str]:
    """Return this process's environment without misleading variables.

    OpenStack's variables are for clients, but the services read some of
    the variables too. No request to a service on this machine goes to a
    proxy.
    """
    variables = {name: value for name, value in os.environ.items()
                 if not name.startswith('OS_')
                 and name.lower() not in ('http_proxy', 'https_proxy',
                                          'all_proxy', 'gunicorn_cmd_args')}
    variables['no_proxy'] = '*'
    variables['PYTHONWARNINGS'] = 'ignore'
    return variables
