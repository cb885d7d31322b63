# SPDX-License-Identifier: Apache-2.0

"""Measure what each operation costs in a cloud of one size."""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Iterator
import dataclasses
import gc
import itertools
import time

from pcloud.tests import concurrency  # noqa: F401

from nova import context as nova_context

from pcloud.tests.benchmarks import aggregates
from pcloud.tests.benchmarks.control_plane import place
from pcloud.tests.benchmarks.control_plane import watching
from pcloud.tests.benchmarks import meter
from pcloud.tests.benchmarks.model import costs
from pcloud.tests.benchmarks.model import operations as ops
from pcloud.tests.support import counting
from pcloud.worker import passes

_ADMIN = 'reader,member,admin'


@dataclasses.dataclass(frozen=True)
class Work:
    """An operation.

    :ivar before: what is done before, and is not measured
    :ivar after: what undoes the operation
    """

    name: str
    do: Callable[[], object]
    before: Callable[[], object] = lambda: None
    after: Callable[[], object] = lambda: None


def works(there: place.Place) -> Iterator[Work]:
    """Yield the operations; each leaves the cloud as the cloud was."""
    pcloud = there.pclouds[0]
    yield Work(ops.ACCEPT, lambda: there.call(
        'POST', '/servers', place.launch_body(None)),
        after=there.forget_launches)
    yield Work(ops.CHOOSE, lambda: there.choose(None))
    yield Work(ops.CHOOSE_HINTED, lambda: there.choose(pcloud.id))
    yield from _of_pclouds(there, pcloud.id, pcloud.hosts[0])
    yield from _of_pools(there)
    yield _of_attributes(there)
    yield Work(ops.PASS, _look)


def _of_pclouds(
    there: place.Place, pcloud: str, host: str,
) -> Iterator[Work]:
    hosts = f'/os-pclouds/{pcloud}/hosts'
    states = itertools.cycle(('disabled', 'enabled'))

    def add() -> None:
        there.call('POST', hosts, {'host': {
            'name': 'new', 'host_flavor': 'flavor-1'}})

    def remove() -> None:
        there.call('DELETE', f'{hosts}/new')

    yield Work(ops.ADD, add, after=remove)
    yield Work(ops.SWITCH, lambda: there.call(
        'PUT', f'{hosts}/{host}', {'host': {'state': next(states)}}))
    yield Work(ops.REMOVE, remove, before=add)


def _of_pools(there: place.Place) -> Iterator[Work]:
    path = '/os-host-flavors/flavor-2/hosts'
    spare = [f'spare-{number:02}' for number in range(10)]

    def enter() -> None:
        there.call('POST', path, {'host': {'host': spare[0]}}, _ADMIN)

    def enter_many() -> None:
        there.call('POST', path, {'hosts': spare}, _ADMIN)

    def leave() -> None:
        there.call('DELETE', f'{path}/{spare[0]}', roles=_ADMIN)

    def leave_all() -> None:
        for each in spare:
            there.call('DELETE', f'{path}/{each}', roles=_ADMIN)

    yield Work(ops.ENTER, enter, after=leave)
    yield Work(ops.ENTER_MANY, enter_many, after=leave_all)
    yield Work(ops.LEAVE, leave, before=enter)


def _of_attributes(there: place.Place) -> Work:
    """Return a change of the value of one host, of many with the value."""
    hosts = there.hosts[:place.WITH_VALUE]
    values = itertools.cycle(('20260101T000000Z', '20260201T000000Z'))

    def put(value: str, some: list[str]) -> None:
        there.call('PUT', '/os-pcloud-attributes/platform_version', {
            'attribute': {'value': value, 'hosts': some}}, _ADMIN)

    put('20260201T000000Z', hosts)
    return Work(ops.ATTRIBUTE, lambda: put(next(values), hosts[:1]))


def _look() -> None:
    """Make a pass of a worker in which nothing is due."""
    passes.hosts(nova_context.get_admin_context(), passes.immediately)


class Measure:
    """Measures operations at a place."""

    def __init__(self, there: place.Place) -> None:
        self._there = there
        self._meter = meter.Meter(there.cloud.serving())

    def cost(self, work: Work, repeat: int) -> costs.Cost:
        """Return what an operation costs, in so many turns."""
        # What is read once and cached is not the operation's.
        self._turn(work)
        samples = tuple(self._turn(work) for _ in range(repeat))
        work.before()
        began = time.perf_counter()
        with (counting.counted() as counted, watching.casting() as casts,
              watching.locking() as locked):
            work.do()
        all_ = time.perf_counter() - began
        work.after()
        return costs.Cost(
            samples, counted.sql, counted.http,
            self._locked(work, locked, began, all_), casts.size,
            self._heard(casts))

    def first(self, do: Callable[[], object]) -> costs.Cost:
        """Return what is done once in a process costs."""
        with counting.counted() as counted:
            sample = self._turn(Work('', do))
        return costs.Cost((sample,), counted.sql, counted.http)

    def _turn(self, work: Work) -> costs.Sample:
        work.before()
        gc.collect()
        spent = self._meter.spent(work.do)
        work.after()
        return costs.Sample(spent.own, spent.others, spent.database)

    def _locked(
        self, work: Work, locked: watching.Transactions, began: float,
        all_: float,
    ) -> costs.Locked:
        """Return what an operation locks.

        :param locked: when anchors were locked in a turn
        :param began: when the turn began
        :param all_: how many seconds the turn took
        """
        if locked.begun is None or locked.ended is None:
            return costs.Locked()
        work.before()
        with watching.counting_locks() as counted:
            work.do()
        work.after()
        return costs.Locked(
            tuple(sorted(locked.anchors)), counted.rows,
            (locked.begun - began) / all_,
            (locked.ended - locked.begun) / all_)

    def _heard(self, casts: watching.Casts) -> float:
        """Return what a scheduler spends on what was cast."""
        began = time.process_time()
        for aggregates_ in casts.aggregates:
            if aggregates_:
                self._there.chooser.manager.update_aggregates(
                    nova_context.get_admin_context(), aggregates_)
        return time.process_time() - began


def measure_cloud(hosts: int, repeat: int) -> dict[str, costs.Cost]:
    """Return operation -> cost, in a cloud of so many hosts."""
    there = place.Place(hosts)
    try:
        gc.collect()
        gc.freeze()
        measure = Measure(there)
        found = {work.name: measure.cost(work, repeat)
                 for work in works(there)}
        found[ops.START] = measure.first(aggregates.start_scheduler)
        return found
    finally:
        there.stop()
