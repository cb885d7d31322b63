# SPDX-License-Identifier: Apache-2.0

"""The box: a root file system with its own namespaces, systemd and network.

systemd-nspawn makes the namespaces and starts the systemd, and slirp4netns is
the network, in user space, so that the machine gets no interface, no rule and
no forwarding. Whatever is in the box ends with the first process of the box,
which ends with this process, for whatever reason this process ends.
"""

from collections.abc import Callable
from collections.abc import Iterator
from collections.abc import Sequence
import contextlib
import os
import pathlib
import subprocess
import time
from typing import TextIO

from pcloud.tests.devstack import root_file_system

_POLL = 0.2
# The kernel ends a process with its parent. "setpriv" asks for that, and
# "unshare" passes on what befell it to all of a namespace of processes.
_MORTAL = ('setpriv', '--pdeathsig', 'KILL')
_OWN_PROCESSES = ('unshare', '--mount', '--pid', '--fork',
                  '--kill-child=KILL', '--mount-proc')
_NSPAWN = ('systemd-nspawn', '--boot', '--register=no', '--keep-unit',
           '--private-network', '--resolv-conf=off', '--timezone=off',
           '--link-journal=no', '--console=pipe',
           f'--machine={root_file_system.HOSTNAME}')
# Two systemds in one control group would end each other's services, so each
# box has a group: a scope of the machine's systemd, which removes the scope
# at the end, or else a folder of this name and the number of the process.
_GROUP = 'pcloud-devstack-'
_SCOPE = ('systemd-run', '--scope', '--quiet', '--property=Delegate=yes')
_UNIFIED = 'SYSTEMD_NSPAWN_UNIFIED_HIERARCHY=1'
_SLIRP = ('slirp4netns', '--configure', '--mtu=65520',
          '--disable-host-loopback', f'--cidr={root_file_system.NETWORK}')


class BoxError(Exception):
    """The box does not start, or has ended."""


class Box:
    """A running box.

    :ivar root: the folder of the root file system
    :ivar leader: the first process of the box, as the machine counts
    """

    def __init__(self, root: pathlib.Path, leader: int) -> None:
        self.root = root
        self.leader = leader

    def way_in(self) -> str:
        """Return the command that leads a person into the box."""
        return f'nsenter --target {self.leader} --all su - stack'

    def run(self, command: str, log: pathlib.Path) -> int:
        """Run a command of the shell as the user "stack".

        :param log: the file at whose end the output goes
        :returns: the status of the command
        """
        with log.open('a') as output:
            return subprocess.run(
                [*self.way_in().split(), '--command', command],
                stdin=subprocess.DEVNULL, stdout=output,
                stderr=subprocess.STDOUT).returncode

    def read(self, command: str) -> str:
        """Return the output of a command that the user "stack" runs.

        :raises subprocess.CalledProcessError: the command has failed
        """
        return subprocess.run(
            [*self.way_in().split(), '--command', command],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True,
            check=True).stdout


@contextlib.contextmanager
def running(root: pathlib.Path, binds: Sequence[tuple[pathlib.Path, str]],
            log: pathlib.Path) -> Iterator[Box]:
    """Start a box, and end the box with all processes in it.

    :param binds: folders of the machine, each with a place in the box
    :raises BoxError: the box does not start
    """
    with log.open('a') as output, contextlib.ExitStack() as ending:
        command = [*_NSPAWN, f'--directory={root}',
                   *(f'--bind={folder}:{place}' for folder, place in binds)]
        process = _started(
            ['env', _UNIFIED, *_scope(), *_OWN_PROCESSES, *command], output,
            ending.enter_context(_group()))
        ending.callback(_end, process)
        leader = _leader(process, log)
        network = _started([*_SLIRP, str(leader), 'tap0'], output, None)
        ending.callback(_end, network)
        box = Box(root, leader)
        _await_systemd(box, process, log)
        yield box


def _started(command: Sequence[str], output: TextIO,
             first: Callable[[], None] | None) -> subprocess.Popen:
    """Start what ends with this process; Ctrl-C is for this process alone.

    :param first: what the new process does before the command; None for
        nothing
    """
    return subprocess.Popen([*_MORTAL, *command], start_new_session=True,
                            stdin=subprocess.DEVNULL, stdout=output,
                            stderr=subprocess.STDOUT, preexec_fn=first)


def _scope() -> Sequence[str]:
    return _SCOPE if pathlib.Path('/run/systemd/system').is_dir() else ()


def _end(process: subprocess.Popen) -> None:
    process.kill()
    process.wait()


def _leader(process: subprocess.Popen, log: pathlib.Path) -> int:
    """Wait until a systemd is the first process of the box."""
    while process.poll() is None:
        for nspawn in _children(process.pid):
            for child in _children(nspawn):
                if _program(child) == 'systemd':
                    return child
        time.sleep(_POLL)
    raise BoxError(f'the box has not started; {log} says why')


def _children(pid: int) -> list[int]:
    with contextlib.suppress(FileNotFoundError, ProcessLookupError):
        return [int(word) for word in pathlib.Path(
            f'/proc/{pid}/task/{pid}/children').read_text().split()]
    return []


def _program(pid: int) -> str:
    with contextlib.suppress(FileNotFoundError, ProcessLookupError):
        return pathlib.Path(f'/proc/{pid}/exe').readlink().name
    return ''


def _await_systemd(box: Box, process: subprocess.Popen,
                   log: pathlib.Path) -> None:
    """Wait until the systemd of the box has tried to start all units.

    A unit that has failed is in the log; stack.sh says whether the unit
    matters.
    """
    command = ('systemctl is-system-running --wait | '
               'grep --extended-regexp "running|degraded" && '
               'systemctl --failed --no-pager')
    while process.poll() is None:
        if box.run(command, log) == 0:
            return
        time.sleep(_POLL)
    raise BoxError(f'the box has ended; {log} says why')


@contextlib.contextmanager
def _group() -> Iterator[Callable[[], None]]:
    """Make a control group for the box, unless a systemd makes a scope.

    Groups of runs that were killed are removed as well.

    :returns: what a process calls to enter the group
    """
    groups = [parent / f'{_GROUP}{os.getpid()}'
              for parent in ([] if _scope() else _own_groups())]
    for group in groups:
        for left in group.parent.glob(f'{_GROUP}*'):
            _remove_tree(left)
        group.mkdir()
    try:
        yield lambda: [group.joinpath('cgroup.procs').write_text('0')
                       for group in groups]
    finally:
        for group in groups:
            # The kernel ends the processes of the box one after the other.
            while group.exists():
                _remove_tree(group)
                time.sleep(_POLL)


def _own_groups() -> Iterator[pathlib.Path]:
    """Yield the groups of this process in the hierarchies of systemd."""
    own = dict(line.split(':', 2)[1:] for line in pathlib.Path(
        '/proc/self/cgroup').read_text().splitlines())
    for line in pathlib.Path('/proc/self/mounts').read_text().splitlines():
        _, place, kind, options, *_ = line.split()
        if kind == 'cgroup2':
            yield pathlib.Path(place + own[''])
        elif kind == 'cgroup' and 'name=systemd' in options.split(','):
            yield pathlib.Path(place + own['name=systemd'])


def _remove_tree(folder: pathlib.Path) -> None:
    """Remove a group and the groups in it; a group with processes stays."""
    with contextlib.suppress(OSError):
        for child in folder.iterdir():
            if child.is_dir():
                _remove_tree(child)
        folder.rmdir()
