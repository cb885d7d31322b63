# Licensed under the Apache License, Version 2.0 (the "License"); you may
# not use this file except in compliance with the License. You may obtain
# a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the
# License for the specific language governing permissions and limitations
# under the License.

"""The process that owns a running sandbox.

Run as a program, by ``launcher``: it starts the parts, tells how it goes
on standard output, one JSON object a line, and then stays to be told to
stop. It leads its own session. Its children are killed by the kernel when
it ends, however that comes about. It holds the sandbox's lock, which it
was born with, as long as it lives.

Keep it free of threads: what asks the kernel for a signal at the parent's
end (die_with_parent) gets it when the *thread* ends that made the child.
"""

import json
import os
import signal
import subprocess
import sys
import time

from pcloud.sandbox import errors
from pcloud.sandbox import layout
from pcloud.sandbox import parts
from pcloud.sandbox import processes
from pcloud.sandbox import rest
from pcloud.sandbox import restarts
from pcloud.sandbox import settings

# Seconds: for everything to start, between looks, between looks later on.
START_TIMEOUT = 300
LOOK = 0.1
WATCH = 0.5


class Stopped(BaseException):
    """A signal told this process to stop.

    Not an Exception, lest something that handles those swallows it.
    """


class Supervisor:
    """Starts the parts of one sandbox in order, and ends them.

    :param where: the sandbox's folder
    :param state: its state, which this process writes from now on
    """

    def __init__(self, where: layout.Layout, state: settings.State):
        self.where = where
        self.state = state
        self.waiting = parts.all_parts(where, state.settings)
        self.total = len(self.waiting)
        self.children: dict[str, subprocess.Popen] = {}
        self.starting: list[parts.Part] = []
        self.done: set[str] = set()

    def start(self) -> None:
        """Start everything.

        :raises StartFailed: a part ended, or took too long
        """
        deadline = time.monotonic() + START_TIMEOUT
        # More at a time than processors would only make each one slower.
        slots = max(2, len(os.sched_getaffinity(0)))
        while self.waiting or self.starting:
            for part in self.ready_to_start(slots - len(self.starting)):
                self.begin(part)
            self.check_children()
            for part in list(self.starting):
                if self.is_done(part):
                    self.finish(part)
            if time.monotonic() > deadline:
                late = self.starting[0].name
                raise errors.StartFailed(
                    f'{late} has not started after {START_TIMEOUT} '
                    'seconds', str(self.where.log(late)))
            time.sleep(LOOK)

    def ready_to_start(self, slots: int) -> list[parts.Part]:
        """The most urgent parts whose needs are met, as many as slots."""
        able = [part for part in self.waiting
                if self.done.issuperset(part.needs)]
        return able[:max(slots, 0)]

    def begin(self, part: parts.Part) -> None:
        """Start a part for the first time."""
        self.spawn(part)
        self.waiting.remove(part)
        self.starting.append(part)

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
        """Look after the services that have started.

        One may have been taken for started because something else answered
        on its port.

        :raises StartFailed: one has ended
        """
        for name in self.done & self.children.keys():
            status = self.children[name].poll()
            if status is not None:
                raise self.ended(name, status)

    def ended(self, name: str, status: int) -> errors.StartFailed:
        """The error that tells of a part that has ended."""
        return errors.StartFailed(f'{name} ended with status {status}',
                                  str(self.where.log(name)))

    def is_done(self, part: parts.Part) -> bool:
        """Whether a part has done what others wait for.

        :raises StartFailed: it has failed
        """
        status = self.children[part.name].poll()
        if status is None:
            return part.stays and (
                part.url is None or rest.answers(part.url))
        if status == 0 and not part.stays:
            return True
        raise self.ended(part.name, status)

    def finish(self, part: parts.Part) -> None:
        """Note that a part is done, and tell."""
        self.starting.remove(part)
        self.done.add(part.name)
        if not part.stays:
            del self.children[part.name]
            del self.state.processes[part.name]
        tell({'progress': part.says, 'done': len(self.done),
              'of': self.total})

    def watch(self) -> None:
        """Stay until told to stop.

        Services that end are noted; those that are asked for are started
        again.
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
        """End every child and wait for it."""
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
    """Tell the launcher something.

    Where nobody listens any more, a signal is on its way to tell so.
    """
    try:
        print(json.dumps(message), flush=True)
    except BrokenPipeError:
        raise Stopped() from None


def let_go() -> None:
    """Close the pipe to the launcher, which may end now."""
    nothing = os.open(os.devnull, os.O_WRONLY)
    sys.stdout.flush()
    os.dup2(nothing, 1)
    os.close(nothing)


def stop_once(signum, frame):
    """Handle a signal to stop; a second one changes nothing."""
    for one in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(one, signal.SIG_IGN)
    raise Stopped()


def supervise(supervisor: Supervisor, attached: bool) -> None:
    """Start, tell, watch.

    :param attached: whether the sandbox ends with its launcher even when
        everything has started
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
    """Run the sandbox in the folder sys.argv[1]."""
    for one in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(one, stop_once)
    where = layout.Layout(sys.argv[1])
    state = settings.load(where)
    state.processes['supervisor'] = processes.identity(os.getpid())
    settings.save(where, state)
    supervisor = Supervisor(where, state)
    try:
        supervise(supervisor, attached='--attached' in sys.argv[2:])
    except Stopped:
        pass
    finally:
        supervisor.stop()


if __name__ == '__main__':
    main()
