# SPDX-License-Identifier: Apache-2.0

"""Start, find and stop a sandbox."""

import collections.abc
from collections.abc import Iterator
import contextlib
import errno
import json
import os
import shutil
import signal
import subprocess
import sys
import time

import psutil

from pcloud_sandbox.configuration import config
from pcloud_sandbox.configuration import databases
from pcloud_sandbox.configuration import ini
from pcloud_sandbox.configuration import layout
from pcloud_sandbox.configuration import messaging
from pcloud_sandbox.configuration import options
from pcloud_sandbox.configuration import parts
from pcloud_sandbox.configuration import ports
from pcloud_sandbox.configuration import settings
from pcloud_sandbox import errors
from pcloud_sandbox.hypervisors import host_files
from pcloud_sandbox import rest
from pcloud_sandbox.running import interrupts
from pcloud_sandbox.running import lock
from pcloud_sandbox.running import processes
from pcloud_sandbox.running import progress
from pcloud_sandbox.running import restarts

# Seconds that a supervisor may take to end; the children have
# processes.GRACE of these seconds.
STOP_TIMEOUT = processes.GRACE + 10
# Seconds between two looks at a service that starts.
LOOK = 0.2

Report = collections.abc.Callable[[str], None]


def running(where: layout.Layout) -> settings.State | None:
    """Return the state of a running, usable sandbox, or None."""
    state = settings.load(where)
    if state and state.ready and owner(state):
        return state
    return None


def owner(state: settings.State) -> psutil.Process | None:
    """Return the running supervisor of a sandbox, or None."""
    return processes.find(state.processes.get('supervisor'))


def need_running(where: layout.Layout) -> settings.State:
    """Return the state of a running, usable sandbox.

    :raises SandboxError: no sandbox is running
    """
    state = running(where)
    if state is None:
        raise errors.SandboxError(
            f'no sandbox is running in {where.directory}; start one with '
            'pcloud-sandbox up')
    return state


def up(where: layout.Layout, chosen: settings.Settings,
       port_base: int | None, attached: bool, timeout: float | None,
       report: Report) -> None:
    """Start a sandbox and wait until all parts are usable.

    :param chosen: settings of the sandbox; the ports are filled in
    :param port_base: the first port; None finds free ports
    :param attached: whether the sandbox ends with this process
    :param timeout: seconds that the start may take; None waits as long as
        the parts make progress
    :param report: called with each line for the user
    :raises StartFailed: a part did not start; no process is left running
    :raises SandboxError: a sandbox is already running, or the folder, a
        port or a server cannot be used; nothing has been changed
    """
    where.check_usable()
    # A second Ctrl-C waits until the first has left nothing.
    with interrupts.held():
        with lock_or_tell(where) as descriptor:
            with interrupts.delivered():
                chosen.ports = ports.choose(port_base)
                databases.check(chosen)
                messaging.check(chosen)
                clean(where)
            try:
                with interrupts.delivered():
                    prepare(where, chosen)
                # The supervisor has the lock too, and keeps the lock.
                supervisor = spawn(where, descriptor, attached, timeout)
            except BaseException:
                remove(where)
                raise
        try:
            with interrupts.delivered():
                follow(supervisor, report)
        except errors.StartFailed:
            end(where, supervisor)
            raise
        except BaseException:
            # Whatever interrupted the start, above all Ctrl-C: leave nothing.
            end(where, supervisor)
            down(where, keep=False)
            raise


@contextlib.contextmanager
def lock_or_tell(where: layout.Layout) -> Iterator[int]:
    """Hold the lock of a folder in which no sandbox runs.

    :raises SandboxError: a sandbox runs in the folder, or another
        pcloud-sandbox command holds the lock
    """
    try:
        descriptor = lock.acquire(where)
    except lock.Busy:
        state = running(where)
        if state is None:
            raise
        raise errors.SandboxError(
            f'a sandbox is already running in {where.directory} '
            f'(Keystone: {state.settings.auth_url}); stop it with '
            'pcloud-sandbox down, or choose another --dir') from None
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def clean(where: layout.Layout) -> None:
    """Remove all leftovers of a sandbox that has ended.

    The caller holds the lock, so the supervisor has ended.

    :raises SandboxError: a server that holds databases or virtual hosts of
        the sandbox refuses, or does not answer
    """
    state = settings.load(where)
    if state is not None:
        processes.kill_leftovers(state.processes)
        databases.drop(state.settings)
        messaging.delete(state.settings)
    for folder in (where.etc, where.data, where.logs):
        if folder.exists():
            shutil.rmtree(folder)
    for file in (where.clouds, where.state, where.fresh_state):
        file.unlink(missing_ok=True)


def prepare(where: layout.Layout, chosen: settings.Settings) -> None:
    """Write configuration and state; make databases and virtual hosts.

    :raises SandboxError: a server refuses, or does not answer
    """
    config.write_all(where, chosen)
    if chosen.hypervisors:
        host_files.write_all(where, chosen)
    settings.save(where, settings.State(settings=chosen))
    databases.create(where, chosen)
    messaging.create(chosen)


def spawn(where: layout.Layout, descriptor: int, attached: bool,
          timeout: float | None) -> subprocess.Popen:
    """Start the supervisor, and pass on the lock."""
    argv = [sys.executable, '-m', 'pcloud_sandbox.running.supervisor',
            str(where.directory)]
    if attached:
        argv.append('--attached')
    if timeout is not None:
        argv += ['--timeout', str(timeout)]
    with open(where.log('supervisor'), 'ab') as log:
        return subprocess.Popen(
            argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=log, text=True, pass_fds=[descriptor],
            cwd=where.directory, start_new_session=True,
            env=processes.clean_environment(), preexec_fn=end_with_launcher)


def end_with_launcher() -> None:
    """Have the supervisor end with the launcher.

    The function runs in the supervisor's process, before the program.
    """
    processes.die_with_parent(signal.SIGTERM)


def follow(supervisor: subprocess.Popen, report: Report) -> None:
    """Report the progress of the start to the user until the end.

    :raises StartFailed: a part did not start, or the sandbox was stopped
    """
    # `spawn` has made a pipe.
    assert supervisor.stdout is not None
    for line in supervisor.stdout:
        message = json.loads(line)
        if 'progress' in message:
            report(f'[{message["done"]:2}/{message["of"]}] '
                   f'{message["progress"]}')
        elif 'waiting' in message:
            report(f'        waiting for {", ".join(message["waiting"])} '
                   f'({message["seconds"]} s)')
        elif 'failed' in message:
            raise errors.StartFailed(message['failed'], message['log'])
        elif 'ready' in message:
            supervisor.stdout.close()
            return
    raise errors.StartFailed(
        'the sandbox was stopped while it started', None)


def end(where: layout.Layout, supervisor: subprocess.Popen) -> None:
    """End a supervisor, and kill a late supervisor.

    Processes that the supervisor did not end are killed too.
    """
    supervisor.terminate()
    try:
        supervisor.wait(STOP_TIMEOUT)
    except subprocess.TimeoutExpired:
        supervisor.kill()
        supervisor.wait()
    state = settings.load(where)
    if state is not None:
        processes.kill_leftovers(state.processes)


def down(where: layout.Layout, keep: bool) -> bool:
    """Stop a sandbox, and remove all that the sandbox made.

    :param keep: whether to leave the files, databases and virtual hosts
    :returns: whether a supervisor was running
    :raises SandboxError: the folder is not a sandbox's, or another
        pcloud-sandbox command holds the lock, or a server does not answer
    """
    if not where.directory.exists():
        return False
    where.check_usable()
    state = settings.load(where)
    supervisor = owner(state) if state else None
    if supervisor is not None:
        processes.end_all([supervisor], grace=STOP_TIMEOUT)
    with lock.hold(where, timeout=STOP_TIMEOUT):
        if keep:
            stop_leftovers(where)
        else:
            remove(where)
    return supervisor is not None


def stop_leftovers(where: layout.Layout) -> None:
    """Kill processes that a supervisor left; record that none runs."""
    state = settings.load(where)
    if state is not None:
        processes.kill_leftovers(state.processes)
        settings.save(where, settings.State(settings=state.settings))


def remove(where: layout.Layout) -> None:
    """Remove the sandbox's files, and the folder if no file is left."""
    clean(where)
    where.lock.unlink()
    try:
        where.directory.rmdir()
    except OSError as error:
        # Another command has begun to make the next sandbox here.
        if error.errno != errno.ENOTEMPTY:
            raise


def stop_service(where: layout.Layout, name: str) -> None:
    """Stop one service of a running sandbox, as an operator does.

    :raises SandboxError: no sandbox is running, or the sandbox has no such
        service
    """
    state = need_running(where)
    need_service(where, state, name)
    process = processes.find(state.processes.get(name))
    if process is not None:
        processes.end_all([process])


def start_service(where: layout.Layout, name: str) -> None:
    """Start a service that was stopped or has ended, and wait.

    :raises StartFailed: the service ends, or makes no progress
    :raises SandboxError: no sandbox is running, or the sandbox has no such
        service
    """
    state = need_running(where)
    part = need_service(where, state, name)
    before = state.processes.get(name)
    restarts.put(where, name)
    known = before
    while known == before and processes.find(known) is None:
        time.sleep(LOOK)
        known = need_running(where).processes.get(name)
    wait_for_service(where, part, known)


def set_option(where: layout.Layout, section: str, option: str,
               value: str, report: Report) -> None:
    """Set an option of nova.conf, and restart the services that read it.

    :param report: called with a line for each service that is restarted
    :raises StartFailed: a service does not start with this value
    :raises SandboxError: no sandbox is running, or there is no such option,
        or the value is not one of the option's; nothing has been changed
    """
    state = need_running(where)
    options.check_value(section, option, value)
    conf = ini.Ini(where.nova_conf)
    conf.set(section, option, value)
    conf.save()
    restart_readers(where, state, section, report)


def unset_option(where: layout.Layout, section: str, option: str,
                 report: Report) -> None:
    """Remove an option from nova.conf, and restart what reads the option.

    The default of Nova, or of Pcloud, is in force then.

    :param report: called with a line for each service that is restarted
    :raises StartFailed: a service does not start without the option
    :raises SandboxError: no sandbox is running, or there is no such option;
        nothing has been changed
    """
    state = need_running(where)
    options.check_option(section, option)
    conf = ini.Ini(where.nova_conf)
    conf.delete(section, option)
    conf.save()
    restart_readers(where, state, section, report)


def restart_readers(where: layout.Layout, state: settings.State,
                    section: str, report: Report) -> None:
    """Restart the running services that read a section of nova.conf.

    A service that the user has stopped stays stopped.

    :raises StartFailed: a service ends, or makes no progress
    """
    for part in parts.readers(where, state.settings, section):
        if processes.find(state.processes.get(part.name)) is not None:
            report(f'restarting {part.name}')
            stop_service(where, part.name)
            start_service(where, part.name)


def wait_for_service(
    where: layout.Layout, part: parts.Part, known: dict | None,
) -> None:
    """Wait until a service answers.

    :param known: the identity of the service's process
    :raises StartFailed: the service ends, or makes no progress
    """
    log = where.log(part.name)
    process = processes.find(known)
    if process is None:
        raise errors.StartFailed(f'{part.name} has ended', str(log))
    if part.url is None:
        return
    probe = rest.Probe(part.url)
    watched = progress.Progress(part.name, process, log, part.works)
    while not probe.answered():
        if processes.find(known) is None:
            raise errors.StartFailed(f'{part.name} has ended', str(log))
        watched.check()
        time.sleep(LOOK)


def need_service(where: layout.Layout, state: settings.State,
                 name: str) -> parts.Part:
    """Return the service with a name.

    :raises SandboxError: the sandbox has no such service
    """
    known = {part.name: part
             for part in parts.services(where, state.settings)}
    if name not in known:
        raise errors.SandboxError(
            f'there is no service {name}; there are {", ".join(known)}')
    return known[name]


def service_states(
    where: layout.Layout, state: settings.State,
) -> list[tuple[str, str | None, int | None, bool]]:
    """Return (name, URL, process number, whether running) per service."""
    states = []
    for part in parts.services(where, state.settings):
        process = processes.find(state.processes.get(part.name))
        states.append((part.name, part.url,
                       process.pid if process else None,
                       process is not None))
    return states
