# SPDX-License-Identifier: Apache-2.0

"""A short stream of launches and changes through real processes.

Processes of nova-api answer over HTTP. Schedulers and a worker are processes
too, over the same databases. No server is built: a launch ends when a host is
chosen and claimed.
"""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Iterator
from collections.abc import Mapping
from concurrent import futures
import contextlib
import dataclasses
import itertools
import logging
import multiprocessing
import os
import pathlib
import random
import threading
import time

from pcloud.tests import concurrency  # noqa: F401

from nova import config
from nova import context as nova_context
from nova.db.api import models as api_models
from nova import objects
import requests
import sqlalchemy as sa

from pcloud import conf
from pcloud.tests.benchmarks import clouds
from pcloud.tests.benchmarks.control_plane import place
from pcloud.tests.benchmarks import meter
from pcloud.tests.benchmarks.model import limits
from pcloud.tests.benchmarks.model import operations as ops
from pcloud.tests.benchmarks.model import stream
from pcloud.tests.concurrency import mariadb
from pcloud.tests.support import bulk
from pcloud.worker import passes

APIS, SCHEDULERS = 2, 2
PLANT = ops.Plant(apis=APIS, schedulers=SCHEDULERS, workers=1, placements=1,
                  cores=os.cpu_count() or 1)
# No compute service is there to answer when a host enters a pool.
_CHANGES = (ops.ADD, ops.SWITCH, ops.REMOVE, ops.ATTRIBUTE)
# Launches that a scheduler chooses for at once.
_THREADS = 10
_CLIENTS = 64
# Seconds of work of the probe, and between two works.
_LITTLE, _PAUSE = 0.2, 1.0
_TIMEOUT = 600


@dataclasses.dataclass
class Streamed:
    """What a stream through real processes has come to.

    :ivar outcome: as of a simulation
    :ivar speed: the part of a processor that a process got meanwhile, when
        the process had something to do
    """

    outcome: stream.Outcome
    speed: float


def rates(of_all: ops.Stream) -> dict[str, float]:
    """Return operation -> number a second, of the operations that work here.

    The changes that work here come as often as all changes would.
    """
    found = of_all.rates
    here = {name: found[name] for name in _CHANGES}
    factor = sum(found[name] for name in ops.CHANGES) / sum(here.values())
    return {**{name: found[name] for name in found if name not in ops.CHANGES},
            **{name: each * factor for name, each in here.items()}}


def _connect(path: pathlib.Path) -> None:
    config.parse_args(['nova', '--config-file', str(path)])
    logging.getLogger().setLevel(logging.ERROR)
    conf.register_opts(config.CONF)
    objects.register_all()


def _schedule(path: pathlib.Path, end) -> None:
    """Choose hosts for the launches that come, several at once."""
    _connect(path)
    chooser, lock = place.Chooser(), threading.Lock()

    def choose(number: int, pcloud: str | None, project: str) -> None:
        try:
            chooser.choose(pcloud, project)
            error = ''
        except Exception as each:
            error = repr(each)
        with lock:
            end.send((number, error))

    end.send(None)
    with futures.ThreadPoolExecutor(_THREADS) as pool:
        while (asked := end.recv()) is not None:
            pool.submit(choose, *asked)


def _work(path: pathlib.Path, end) -> None:
    """Look what is due, again and again."""
    _connect(path)
    end.send(None)
    while not end.poll(ops.INTERVAL):
        passes.hosts(nova_context.get_admin_context(), passes.immediately)


def _probe(end) -> None:
    """Work a little, again and again, and tell how long the work takes."""
    spent = wall = 0.0
    end.send(None)
    while not end.poll(_PAUSE):
        began = time.perf_counter()
        until = time.process_time() + _LITTLE
        while time.process_time() < until:
            pass
        spent += _LITTLE
        wall += time.perf_counter() - began
    end.send(spent / wall)


class _Scheduler:
    """The other end of a scheduler.

    :param end: of the pipe
    """

    def __init__(self, end) -> None:
        self._end = end
        self._asked: dict[int, futures.Future[str]] = {}
        self._numbers = itertools.count()
        self._lock = threading.Lock()
        threading.Thread(target=self._hear, daemon=True).start()

    def choose(self, pcloud: str | None, project: str) -> None:
        """Have a host chosen.

        :raises: `AssertionError` when none is found
        """
        answer: futures.Future[str] = futures.Future()
        with self._lock:
            number = next(self._numbers)
            self._asked[number] = answer
            self._end.send((number, pcloud, project))
        error = answer.result(_TIMEOUT)
        assert not error, error

    def _hear(self) -> None:
        with contextlib.suppress(EOFError, OSError):
            while True:
                number, error = self._end.recv()
                self._asked.pop(number).set_result(error)


class Plane:
    """Processes of nova-api, Placement, schedulers and a worker.

    :param hosts: the number of hosts
    """

    def __init__(self, hosts: int) -> None:
        self._cloud = clouds.Cloud(
            processes=APIS, server='launching-nova', options=place.OPTIONS)
        self._cloud.start()
        logging.getLogger().setLevel(logging.WARNING)
        self._pclouds = place.fill(self._cloud, hosts)
        self._hosts = place.names_of(hosts)
        context = multiprocessing.get_context('spawn')
        self._ends, self._children = [], []
        for target in [_schedule] * SCHEDULERS + [_work]:
            end, there = context.Pipe()
            self._children.append(context.Process(
                target=target, args=(self._cloud.config, there), daemon=True))
            self._children[-1].start()
            there.close()
            self._ends.append(end)
        for end in self._ends:
            end.recv()
        self._schedulers = [_Scheduler(end)
                            for end in self._ends[:SCHEDULERS]]
        self._engine = sa.create_engine(mariadb.url('nova_api'))
        self._local = threading.local()
        self._leaving: list[tuple[bulk.Aggregate, str]] = []
        self._numbers = itertools.count()

    def stop(self) -> None:
        """Stop all processes, and drop the databases."""
        for end in self._ends:
            with contextlib.suppress(BrokenPipeError):
                end.send(None)
        for child in self._children:
            child.join(_TIMEOUT)
        self._cloud.stop()

    def _call(self, chance: random.Random, method: str, path: str,
              body: dict | None, project: str, roles: str = 'reader,member',
              ) -> requests.Response:
        if not hasattr(self._local, 'session'):
            self._local.session = requests.Session()
        answer = self._local.session.request(
            method, f'{chance.choice(self._cloud.urls)}/v2.1{path}',
            json=body, timeout=_TIMEOUT, headers={
                'X-Project-Id': project, 'X-Roles': roles,
                'X-Project-Domain-Id': 'default', 'X-Auth-Token': 'token',
                'OpenStack-API-Version': place.MICROVERSION})
        assert answer.ok, answer.text
        return answer

    def _launch(self, name: str, chance: random.Random) -> None:
        pcloud = chance.choice(self._pclouds) if (
            name == ops.CHOOSE_HINTED) else None
        project = _owner(pcloud) if pcloud else place.STRANGER
        pcloud_id = pcloud.id if pcloud else None
        answer = self._call(chance, 'POST', '/servers',
                            place.launch_body(pcloud_id), project)
        chance.choice(self._schedulers).choose(pcloud_id, project)
        # As the conductor does, once a server is in its cell.
        with self._engine.begin() as connection:
            connection.execute(sa.delete(api_models.BuildRequest).where(
                api_models.BuildRequest.instance_uuid ==
                answer.json()['server']['id']))

    def _change(self, name: str, chance: random.Random) -> None:
        if name == ops.ATTRIBUTE:
            self._call(
                chance, 'PUT', '/os-pcloud-attributes/platform_version',
                {'attribute': {
                    'value': f'2026010{chance.randint(1, 3)}T000000Z',
                    'hosts': [chance.choice(self._hosts)]}},
                place.STRANGER, 'reader,member,admin')
            return
        if name == ops.REMOVE:
            pcloud, host = self._leaving.pop()
            self._call(chance, 'DELETE',
                       f'/os-pclouds/{pcloud.id}/hosts/{host}', None,
                       _owner(pcloud))
            return
        pcloud = chance.choice(self._pclouds)
        if name == ops.ADD:
            self.add(pcloud, chance)
            return
        self._call(
            chance, 'PUT',
            f'/os-pclouds/{pcloud.id}/hosts/{pcloud.hosts[-1]}',
            {'host': {'state': 'enabled'}}, _owner(pcloud))

    def add(self, pcloud: bulk.Aggregate, chance: random.Random) -> str:
        """Add a host to a Pcloud, and return the owner's name."""
        number = next(self._numbers)
        host = f'new-{number}'
        flavor = f'flavor-{number % limits.FLAVORS}'
        self._call(chance, 'POST', f'/os-pclouds/{pcloud.id}/hosts',
                   {'host': {'name': host, 'host_flavor': flavor}},
                   _owner(pcloud))
        return host

    def run(
        self, rates: Mapping[str, float], seconds: float,
        chance: random.Random,
    ) -> Streamed:
        """Have a stream come for some seconds, and wait for the last end.

        :param rates: operation -> number a second
        """
        plan = sorted(_plan(rates, seconds, chance))
        # A first time of each loads what later times have.
        warm = [(0.0, name) for name in rates if name != ops.ACCEPT]
        for _, name in [*plan, *warm * APIS * 2]:
            if name == ops.REMOVE:
                pcloud = chance.choice(self._pclouds)
                self._leaving.append((pcloud, self.add(pcloud, chance)))
        for _, name in warm * APIS * 2:
            self._do(name, chance)
        outcome = stream.Outcome(
            {stream.LAUNCH: [], stream.CHANGE: []}, {},
            {stream.LAUNCH: 0, stream.CHANGE: 0})

        def one(name: str, seed: float) -> None:
            began = time.monotonic()
            self._do(name, random.Random(seed))
            outcome.taken[_kind(name)].append(time.monotonic() - began)

        def work() -> None:
            began = time.monotonic()
            with futures.ThreadPoolExecutor(_CLIENTS) as pool:
                waiting = []
                for when, name in plan:
                    time.sleep(max(0.0, began + when - time.monotonic()))
                    outcome.begun[_kind(name)] += 1
                    waiting.append(pool.submit(one, name, chance.random()))
                for each in waiting:
                    each.result()

        return self._metered(work, outcome)

    def _do(self, name: str, chance: random.Random) -> None:
        (self._launch if _kind(name) == stream.LAUNCH else self._change)(
            name, chance)

    def _metered(
        self, work: Callable[[], None], outcome: stream.Outcome,
    ) -> Streamed:
        """Work, and fill in the times of all processes."""
        placement, *apis = self._cloud.serving()
        children = [child.pid or 0 for child in self._children]
        pids = {ops.NOVA_API: apis, ops.PLACEMENT: [placement],
                ops.SCHEDULER: children[:SCHEDULERS],
                ops.WORKER: children[SCHEDULERS:]}

        def spent() -> dict[str, float]:
            return {name: sum(map(meter.of_process, its))
                    for name, its in pids.items()}

        with _probed() as probed:
            began, before = time.monotonic(), spent()
            all_ = meter.Meter([*children, placement, *apis]).spent(work)
            seconds = time.monotonic() - began
            after = spent()
        used = {name: after[name] - before[name] for name in pids}
        used[ops.DATABASE] = all_.database
        outcome.shares = {
            name: each / seconds / PLANT.places[name]
            for name, each in used.items()}
        return Streamed(outcome, probed())


@contextlib.contextmanager
def _probed() -> Iterator[Callable[[], float]]:
    """Run a probe; yield what returns its result afterwards."""
    context = multiprocessing.get_context('spawn')
    end, there = context.Pipe()
    child = context.Process(target=_probe, args=(there,), daemon=True)
    child.start()
    end.recv()
    try:
        yield end.recv
    finally:
        end.send(None)


def _kind(name: str) -> str:
    return stream.CHANGE if name in ops.CHANGES else stream.LAUNCH


def _owner(pcloud: bulk.Aggregate) -> str:
    return pcloud.metadata['pcloud:owner']


def _plan(
    rates: Mapping[str, float], seconds: float, chance: random.Random,
) -> Iterator[tuple[float, str]]:
    """Yield when each operation begins, in seconds, and the operation."""
    for name, rate in rates.items():
        if name == ops.ACCEPT or not rate:
            continue
        when = chance.expovariate(rate)
        while when < seconds:
            yield when, name
            when += chance.expovariate(rate)


def streamed(
    hosts: int, of_all: ops.Stream, seconds: float, seed: int,
) -> Streamed:
    """Have a stream come through real processes, in a cloud of a size."""
    plane = Plane(hosts)
    try:
        return plane.run(rates(of_all), seconds, random.Random(seed))
    finally:
        plane.stop()
