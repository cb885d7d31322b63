# SPDX-License-Identifier: Apache-2.0

"""Launches at the same moment into a default Pcloud that grows.

The cloud is one of separate processes over MariaDB and RabbitMQ, with two
processes of nova-api and two schedulers. The same launches go into a Pcloud
that has its hosts already, by the mode ``strict``, and into an empty Pcloud
that grows, in turns; the least time counts. Then many more are begun at once.
"""

from __future__ import annotations

import collections
from collections.abc import Iterator
from collections.abc import Sequence
import math
import time
import typing

from pcloud.tests.benchmarks import results
from pcloud.tests.cloud import stage as cloud_stage
from pcloud.tests.cloud import waiting
from pcloud.tests.concurrency import crowd

FULL = {'launches': 20, 'many': 200, 'rounds': 3}
SMALL = {'launches': 3, 'many': 6, 'rounds': 1}

# Hosts of the pool; one host of the cloud stays outside.
_HOSTS = 3
_MODES = _STRICT, _GROW = 'strict', 'grow'
_TABLE = 'Launches at the same moment into the default Pcloud'
# Memory is to be what fills the hosts: many more servers than processors run.
_CPU_RATIO = 16.0
# Times the time of launches into a Pcloud that has its hosts.
_MOST = 1.3
_ACTIVE, _BEING_BUILT = 'ACTIVE', 'BUILD'
_PAUSE = 0.1


class Found(typing.NamedTuple):
    """What became of launches.

    :ivar seconds: the time until the last server is active, or in error
    :ivar states: state of the servers -> number; the status code for those
        that nova-api refused
    :ivar hosts: how many hosts the Pcloud has then
    """

    seconds: float
    states: collections.Counter
    hosts: int


class Launches:
    """So many launches of servers that fill the hosts of a pool.

    :param stage: a stage with `_HOSTS` hosts
    :param count: how many servers
    """

    def __init__(self, stage: cloud_stage.Stage, count: int) -> None:
        self._stage, self._count = stage, count
        self._owner = stage.users['owner']
        self.on_a_host = math.ceil(count / _HOSTS)
        memory = {each.name: each.memory_size for each in
                  stage.admin.cloud.compute.hypervisors(details=True)}
        smallest = min(memory[each.node] for each in stage.computes)
        self._flavor = stage.new_flavor_of(
            smallest * 9 // 10 // self.on_a_host)

    def run(self, mode: str) -> Found:
        """Launch into a default Pcloud of a mode, and remove everything."""
        waiting.until(self._are_free, 'the hosts of the pool are free')
        pclouds = self._owner.pclouds
        pcloud = pclouds.update_pcloud(
            pclouds.create_pcloud(mode).id, cpu_allocation_ratio=_CPU_RATIO)
        if mode == _STRICT:
            for host in pclouds.add_hosts(
                    pcloud.id, 'h', _HOSTS,
                    host_flavor=self._stage.flavor_id):
                pclouds.set_host_state(pcloud.id, host.name, 'enabled')
            pclouds.set_default_pcloud(pcloud.id, mode)
        else:
            pclouds.set_default_pcloud(
                pcloud.id, mode, host_flavor=self._stage.flavor_id,
                max_hosts=_HOSTS)
        began = time.perf_counter()
        refused = collections.Counter(
            str(answer.status_code) for answer in crowd.at_once(
                [self._launch] * self._count) if answer.status_code != 202)
        states = self._ended()
        found = Found(time.perf_counter() - began, states + refused,
                      len(pclouds.list_hosts(pcloud.id)))
        self._owner.call(
            'DELETE', f'/os-pcloud-policies/project/{self._owner.project_id}')
        self._stage.clear()
        return found

    def _are_free(self) -> bool:
        flavor = self._stage.admin.pclouds.get_host_flavor(
            self._stage.flavor_id)
        return sum(flavor.available.values()) == _HOSTS

    def _launch(self) -> typing.Any:
        choice = self._stage.choice
        return self._owner.call('POST', '/servers', {'server': {
            'name': self._stage.name, 'flavorRef': self._flavor.id,
            'imageRef': choice.image.id, 'networks': choice.networks}})

    def _ended(self) -> collections.Counter:
        """Return the states of all servers, once none is being built."""
        while True:
            states = collections.Counter(
                each.status for each in self._owner.cloud.compute.servers())
            if not states[_BEING_BUILT]:
                return +states
            time.sleep(_PAUSE)


def _judged(
    name: str, runs: Sequence[Found], count: int,
) -> Iterator[results.Row]:
    yield results.Row(
        _TABLE, name, 'servers that are not active',
        sum(count - found.states[_ACTIVE] for found in runs), 0,
        why='those who wait get their turn')
    yield results.Row(
        _TABLE, name, 'hosts', max(found.hosts for found in runs), _HOSTS,
        why='no more hosts join than the launches need together')
    yield results.Row(
        _TABLE, name, 's until the last is active', _least(runs))


def _least(runs: Sequence[Found]) -> float:
    return min(found.seconds for found in runs)


def measure(launches: int, many: int, rounds: int) -> Iterator[results.Row]:
    """Measure launches into a Pcloud that has its hosts, and that grows.

    :param launches: how many launches are begun at the same moment
    :param many: how many at last
    :param rounds: how often each mode is measured
    """
    stage = cloud_stage.Stage()
    try:
        stage.build(_HOSTS, units=1)
        some = Launches(stage, launches)
        # The first launches load what later launches have.
        some.run(_STRICT)
        runs: dict[str, list[Found]] = {mode: [] for mode in _MODES}
        for _ in range(rounds):
            for mode, found in runs.items():
                found.append(some.run(mode))
        for mode, found in runs.items():
            yield from _judged(
                f'{launches} launches at once, {mode}', found, launches)
        yield results.Row(
            _TABLE, f'{launches} launches at once, {_GROW}',
            f'{results.TIMES}{_STRICT}',
            _least(runs[_GROW]) / _least(runs[_STRICT]), _MOST,
            why='one decides for all that wait')
        yield from _judged(f'{many} launches at once, {_GROW}',
                           [Launches(stage, many).run(_GROW)], many)
    finally:
        stage.remove()
