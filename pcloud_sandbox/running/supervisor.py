# SPDX-License-Identifier: Apache-2.0

"""The process that owns a running sandbox.

``launcher`` runs the supervisor as a program: the supervisor starts the
parts, reports the progress on standard output, one JSON object a line, and
then waits for a signal to stop. The supervisor leads a session. The kernel
kills the children when the supervisor ends, for whatever reason. The
supervisor inherits the sandbox's lock and holds the lock until the end.

Keep the supervisor free of threads: a child that asks the kernel for a
signal at the parent's end (die_with_parent) gets the signal when the
*thread* ends that made the child.
"""

import argparse
import json
import os
import signal
import subprocess
import sys
import time
import types

import psutil

from pcloud_sandbox.configuration import layout
from pcloud_sandbox.configuration import parts
from pcloud_sandbox.configuration import settings
from pcloud_sandbox import errors
from pcloud_sandbox import rest
from pcloud_sandbox.running import interrupts
from pcloud_sandbox.running import processes
from pcloud_sandbox.running import progress
from pcloud_sandbox.running import restarts

# Seconds: between two checks during the start; between two reports about a
# part that is waited for; between two checks after the start.
LOOK = 0.1
REPORT = 15
WATCH = 0.5


class Stopped(BaseException):
    """A signal asked this process to stop.

    The class is not an Exception, lest a handler of exceptions swallows
    the request to stop.
    """


class Supervisor:
    """Starts the parts of one sandbox in order, and ends the parts.

    :param where: the sandbox's folder
    :param state: the sandbox's state; from now on this process alone
        writes the state
    :param timeout: seconds for all parts to start; None has no limit
    """

    def __init__(self, where: layout.Layout, state: settings.State,
                 timeout: float | None = None):
        self.where = where
        self.state = state
        self.timeout = timeout
        self.waiting = parts.all_parts(where, state.settings)
        self.total = len(self.waiting)
        self.children: dict[str, subprocess.Popen] = {}
        self.starting: list[parts.Part] = []
        self.probes: dict[str, rest.Probe] = {}
        self.progress: dict[str, progress.Progress] = {}
        self.done: set[str] = set()

    def start(self) -> None:
        """Start all parts.

        :raises StartFailed: a part ended, or makes no progress, or the
            time is over
        """
        began = reported = time.monotonic()
        # More parts at a time than processors would only slow each part.
        slots = max(2, len(os.sched_getaffinity(0)))
        while self.waiting or self.starting:
            for part in self.ready_to_start(slots - len(self.starting)):
                self.begin(part)
            self.check_children()
            for part in list(self.starting):
                if self.is_done(part):
                    self.finish(part)
                    reported = time.monotonic()
            self.check_time(began)
            if time.monotonic() >= reported + REPORT:
                self.report_waiting(time.monotonic() - began)
                reported = time.monotonic()
            time.sleep(LOOK)

    def check_time(self, began: float) -> None:
        """Check that the start may still take time.

        :param began: when the start began
        :raises StartFailed: the time that the user gives is over
        """
        if (self.timeout is not None and self.starting
                and time.monotonic() > began + self.timeout):
            late = self.starting[0].name
            raise errors.StartFailed(
                f'{late} has not started {self.timeout:g} seconds after '
                'pcloud-sandbox up', str(self.where.log(late)))

    def report_waiting(self, seconds: float) -> None:
        """Report which parts are waited for.

        :param seconds: since the start of the first part
        :raises StartFailed: a part makes no progress
        """
        for part in self.starting:
            self.progress[part.name].check()
        tell({'waiting': [part.name for part in self.starting],
              'seconds': int(seconds)})

    def ready_to_start(self, slots: int) -> list[parts.Part]:
        """Return the most urgent startable parts, at most ``slots``."""
        able = [part for part in self.waiting
                if self.done.issuperset(part.needs)]
        return able[:max(slots, 0)]

    def begin(self, part: parts.Part) -> None:
        """Start a part for the first time."""
        self.spawn(part)
        self.waiting.remove(part)
        self.starting.append(part)
        self.progress[part.name] = progress.Progress(
            part.name, psutil.Process(self.children[part.name].pid),
            self.where.log(part.name), part.works)
        if part.url is not None:
            self.probes[part.name] = rest.Probe(part.url)

    def spawn(self, part: parts.Part) -> None:
        """Start one part's process."""
        environment = processes.clean_environment() | part.environment
        with open(self.where.log(part.name), 'ab') as log:
            child = subprocess.Popen(
                part.argv, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                cwd=part.folder or self.where.data, env=environment,
                preexec_fn=processes.die_with_parent)
        self.children[part.name] = child
        self.state.processes[part.name] = processes.identity(child.pid)
        settings.save(self.where, self.state)

    def check_children(self) -> None:
        """Check that the services that have started still run.

        A service may have counted as started because another program
        answered on the service's port.

        :raises StartFailed: a service has ended
        """
        for name in self.done & self.children.keys():
            status = self.children[name].poll()
            if status is not None:
                raise self.ended(name, status)

    def ended(self, name: str, status: int) -> errors.StartFailed:
        """Return the error for a part that has ended."""
        return errors.StartFailed(f'{name} ended with status {status}',
                                  str(self.where.log(name)))

    def is_done(self, part: parts.Part) -> bool:
        """Return whether the parts that need a part may start.

        :raises StartFailed: the part has failed
        """
        status = self.children[part.name].poll()
        if status is None:
            return part.stays and (
                part.url is None or self.probes[part.name].answered())
        if status == 0 and not part.stays:
            return True
        raise self.ended(part.name, status)

    def finish(self, part: parts.Part) -> None:
        """Record that a part is done, and report the progress."""
        self.starting.remove(part)
        self.done.add(part.name)
        del self.progress[part.name]
        if not part.stays:
            del self.children[part.name]
            del self.state.processes[part.name]
        tell({'progress': part.says, 'done': len(self.done),
              'of': self.total})

    def watch(self) -> None:
        """Watch the services until a signal asks to stop.

        The log records each service that ends; a requested service that
        does not run is started again.
        """
        services = {part.name: part for part in parts.services(
            self.where, self.state.settings)}
        while True:
            for name, child in list(self.children.items()):
                status = child.poll()
                if status is not None:
                    print(f'{name} ended with status {status}',
                          file=sys.stderr, flush=True)
                    del self.children[name]
            for name in restarts.take(self.where):
                if name in services and name not in self.children:
                    self.spawn(services[name])
            time.sleep(WATCH)

    def stop(self) -> None:
        """End every child, and wait for the end of each child."""
        alive = [c for c in self.children.values() if c.poll() is None]
        workers = processes.descendants(alive)
        for child in alive:
            child.terminate()
        deadline = time.monotonic() + processes.GRACE
        for child in alive:
            try:
                child.wait(max(0, deadline - time.monotonic()))
            except subprocess.TimeoutExpired:
                child.kill()
                child.wait()
        processes.send(workers, signal.SIGKILL)


def tell(message: dict) -> None:
    """Send the launcher a message.

    :raises Stopped: the launcher has ended; the signal that says so is on
        the way
    """
    try:
        print(json.dumps(message), flush=True)
    except BrokenPipeError:
        raise Stopped() from None


def let_go() -> None:
    """Close the pipe to the launcher; the launcher may end now."""
    nothing = os.open(os.devnull, os.O_WRONLY)
    sys.stdout.flush()
    os.dup2(nothing, 1)
    os.close(nothing)


def stop_once(signum: int, frame: types.FrameType | None) -> None:
    """Handle a signal to stop; a second signal changes nothing."""
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    raise Stopped()


def supervise(supervisor: Supervisor, attached: bool) -> None:
    """Start the parts, report to the launcher, watch the services.

    :param attached: whether the sandbox ends with the launcher even after
        all parts have started
    """
    try:
        supervisor.start()
    except errors.StartFailed as error:
        tell({'failed': str(error), 'log': error.log})
        return
    supervisor.state.ready = True
    settings.save(supervisor.where, supervisor.state)
    if not attached:
        processes.die_with_parent(0)
    tell({'ready': True})
    let_go()
    supervisor.watch()


def main() -> None:
    """Run the sandbox in a folder."""
    parser = argparse.ArgumentParser()
    parser.add_argument('directory')
    parser.add_argument('--attached', action='store_true')
    parser.add_argument('--timeout', type=float)
    arguments = parser.parse_args()
    for signum in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(signum, stop_once)
    interrupts.deliver_from_now_on()
    where = layout.Layout(arguments.directory)
    state = settings.read(where)
    state.processes['supervisor'] = processes.identity(os.getpid())
    settings.save(where, state)
    supervisor = Supervisor(where, state, arguments.timeout)
    try:
        supervise(supervisor, arguments.attached)
    except Stopped:
        pass
    finally:
        supervisor.stop()


if __name__ == '__main__':
    main()
