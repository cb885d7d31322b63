# SPDX-License-Identifier: Apache-2.0

"""Many changes at the same moment, and how two workers share.

Hosts enter one pool: one call after the other, all calls at the same moment,
and all hosts in one call. Then drained, empty hosts leave Pclouds of different
owners: by one worker, and by two workers that begin at the same moment. Each
worker is a process of ``pcloud-manage work --once``.
"""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Iterator
from collections.abc import Sequence
import functools
import resource
import statistics
import subprocess
import time
import uuid

from pcloud.tests import concurrency  # noqa: F401

from nova import context as nova_context
import requests

from pcloud.backend.aggregates import step_rows
from pcloud import names
from pcloud.rules.moving import draining
from pcloud.tests.benchmarks import clouds
from pcloud.tests.benchmarks import meter
from pcloud.tests.benchmarks import results
from pcloud.tests.concurrency import cloud as concurrency_cloud
from pcloud.tests.concurrency import crowd
from pcloud.tests.support import bulk

FULL = {'hosts': 22, 'drained': 100}
SMALL = {'hosts': 3, 'drained': 4}

_TABLE = 'Many changes at the same moment'
_SINGLY, _AT_ONCE, _TOGETHER = (
    'one call after the other', 'all calls at once', 'one call')
_OF_ONE = 'the time of one worker'
# Times the processor time of calls that come one after the other.
_MOST_AT_ONCE, _MOST_TOGETHER = 1.5, 0.5
# Times the time, and the processor time, of one worker.
_MOST_TIME, _MOST_SPENT = 0.6, 1.2
_FLAVOR = 'at-once'
_PAUSE = 0.02


def _adds(
    admin: crowd.User, hosts: Sequence[str],
) -> list[Callable[[], tuple[requests.Response, float]]]:
    """Return a function for each host that adds the host, and its time."""
    def add(host: str) -> tuple[requests.Response, float]:
        began = time.perf_counter()
        answer = admin.call('POST', f'/os-host-flavors/{_FLAVOR}/hosts',
                            {'host': {'host': host}})
        return answer, time.perf_counter() - began

    return [functools.partial(add, host) for host in hosts]


def pool(
    cloud: clouds.Cloud, admin: crowd.User, count: int,
) -> Iterator[results.Row]:
    """Measure hosts that enter one pool.

    :param count: how many hosts enter each way
    """
    groups = [[f'{way}-{number}' for number in range(count)]
              for way in ('first', 'singly', 'crowd', 'together')]
    cloud.rows().hosts('disabled', sum(groups, []))
    first, singly, at_once, together = groups
    answers: list[tuple[requests.Response, float]] = []
    watch = meter.Meter(cloud.serving())

    def spent(work: Callable[[], list]) -> float:
        answers.clear()
        found = watch.spent(lambda: answers.extend(work()))
        return found.others + found.database

    def together_() -> list:
        began = time.perf_counter()
        answer = admin.call('POST', f'/os-host-flavors/{_FLAVOR}/hosts',
                            {'hosts': together})
        return [(answer, time.perf_counter() - began)]

    # The first calls load what later calls have.
    spent(lambda: [each() for each in _adds(admin, first)])
    seconds = {}
    for way, work in (
            (_SINGLY, lambda: [each() for each in _adds(admin, singly)]),
            (_AT_ONCE, lambda: crowd.at_once(_adds(admin, at_once))),
            (_TOGETHER, together_)):
        seconds[way] = spent(work)
        name = f'{count} hosts into one pool, {way}'
        took = [each for _, each in answers]
        yield results.Row(
            _TABLE, name, 'refused', sum(
                answer.status_code != 201 for answer, _ in answers),
            0, why='those who wait get their turn')
        yield results.Row(_TABLE, name, 's, the slowest', max(took))
        yield results.Row(_TABLE, name, 's, median', statistics.median(took))
        yield results.Row(_TABLE, name, 'ms processor time a host',
                          1000 * seconds[way] / count)
    for way, most, why in (
            (_AT_ONCE, _MOST_AT_ONCE, 'to wait is not to work again'),
            (_TOGETHER, _MOST_TOGETHER, 'many hosts are one change')):
        yield results.Row(
            _TABLE, f'{count} hosts into one pool, {way}',
            f'{results.TIMES}{_SINGLY}, processor time',
            seconds[way] / seconds[_SINGLY], most, why=why)


def _drained(hosts: Sequence[str]) -> list[bulk.Aggregate]:
    """Return a Pcloud of each host, which leaves once a worker looks."""
    found = []
    for host in hosts:
        pcloud = bulk.pcloud(uuid.uuid4().hex, [host], {})
        pcloud.metadata[names.state_key(host + bulk.NODE_SUFFIX)] = 'disabled'
        pcloud.kept[names.drain_key(host)] = draining.Drain(
            int(time.time()), draining.NONE, release=True).text()
        found.append(pcloud)
    return found


def _left() -> int:
    """Return how many Pclouds have a host that is drained."""
    return len(step_rows.wished(nova_context.get_admin_context()))


def _work(cloud: clouds.Cloud, workers: int) -> tuple[float, float]:
    """Have workers do everything due.

    The time begins when the first drain has ended: to start a process takes
    longer than a drain.

    :returns: seconds for all drains but those ended at the beginning, scaled
        to all drains; seconds of processor time of the workers
    """
    due = left = _left()
    spent = _spent()
    processes = [subprocess.Popen(
        [concurrency_cloud.beside('pcloud-manage'), '--config-file',
         str(cloud.config), 'work', '--once'], stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL) for _ in range(workers)]
    while left == due and any(each.poll() is None for each in processes):
        time.sleep(_PAUSE)
        left = _left()
    began, counted = time.perf_counter(), left
    while left and any(each.poll() is None for each in processes):
        time.sleep(_PAUSE)
        left = _left()
    took = time.perf_counter() - began
    for each in processes:
        each.wait()
    return took * due / max(counted, 1), _spent() - spent


def _spent() -> float:
    """Return the processor time of the processes that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def drains(cloud: clouds.Cloud, count: int) -> Iterator[results.Row]:
    """Measure workers that let drained, empty hosts leave Pclouds.

    :param count: how many hosts leave each time
    """
    groups = [[f'drain-{workers}-{number}' for number in range(count)]
              for workers in (1, 2)]
    rows = cloud.rows()
    rows.hosts('enabled', sum(groups, []))
    everything = [_drained(hosts) for hosts in groups]
    rows.aggregates([bulk.pool('gpu', sum(groups, [])), *everything[0]])
    clouds.analyze()
    one = _work(cloud, 1)
    yield from _shown(count, 1, one)
    _, idle = _work(cloud, 1)
    rows.aggregates(everything[1])
    two = _work(cloud, 2)
    yield from _shown(count, 2, two)
    name = f'{count} drains, two workers'
    yield results.Row(
        _TABLE, name, f'{results.TIMES}{_OF_ONE}', two[0] / one[0],
        _MOST_TIME, why='workers share')
    yield results.Row(
        _TABLE, name, f'{results.TIMES}{_OF_ONE}, processor time',
        (two[1] - 2 * idle) / (one[1] - idle), _MOST_SPENT,
        why='no worker does what another has done')


def _shown(
    count: int, workers: int, found: tuple[float, float],
) -> Iterator[results.Row]:
    name = f'{count} drains, {("one worker", "two workers")[workers - 1]}'
    yield results.Row(_TABLE, name, 'drains that go on', _left(), 0,
                      why='a pass does everything due')
    yield results.Row(_TABLE, name, 's', found[0])
    yield results.Row(_TABLE, name, 's of processor time, with the start',
                      found[1])


def measure(hosts: int, drained: int) -> Iterator[results.Row]:
    """Measure everything.

    :param hosts: how many hosts enter a pool at the same moment
    :param drained: how many drained hosts leave Pclouds
    """
    cloud = clouds.Cloud(processes=2, server='alone-nova')
    try:
        cloud.start()
        cloud.make_host('disabled', disabled=True)
        cloud.make_host('enabled')
        admin = crowd.User(cloud.urls, uuid.uuid4().hex, admin=True)
        made = admin.call('POST', '/os-host-flavors', {'host_flavor': {
            'id': _FLAVOR, 'description': '', 'units': 1}})
        assert made.status_code == 201, made.text
        yield from pool(cloud, admin, hosts)
        yield from drains(cloud, drained)
    finally:
        cloud.stop()
