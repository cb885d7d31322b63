# SPDX-License-Identifier: Apache-2.0

"""Reads all rows, all the time, and finds broken promises."""

import collections
import threading

from pcloud.tests.soak import registers
from pcloud.tests.soak import rights
from pcloud.tests.soak import rows
from pcloud.tests.soak import stage as soak_stage

_PAUSE = 0.25


class Sampler:
    """Counts samples, and the violations in samples.

    :ivar stop: set when no more samples are wanted
    """

    def __init__(self, stage: soak_stage.Stage) -> None:
        self._stage = stage
        self._reader = rows.Reader()
        self._seen: set[str] = set()
        self._held: dict[str, str] = {}
        self.stop = threading.Event()

    def run(self) -> None:
        """Take samples until `stop` is set."""
        while not self.stop.wait(_PAUSE):
            self.sample()

    def sample(self) -> None:
        """Take a sample."""
        excused = set(self._stage.excused)
        with self._reader.moment():
            found = self._reader.aggregates_now(
                f'({rows.CLOSED}) OR a.name LIKE "Pcloud:policy:project:%%" '
                'OR a.name = %(journal)s', {'journal': rows.JOURNAL})
            servers = self._reader.servers_now()
        excused |= self._stage.excused
        self._stage.figures.count('samples')
        pools = [each for each in found if each.name.startswith(rows.POOL)]
        policies = [each for each in found
                    if each.name.startswith(rows.POLICY)]
        journals = [each for each in found if each.name == rows.JOURNAL]
        pclouds = [each for each in found
                   if each not in pools + policies + journals]
        self._check_holders('host in two Pclouds', {
            each.name: each.hosts for each in pclouds})
        self._check_holders('host in two pools', {
            each.name: each.hosts for each in pools})
        self._check_holders('state of a host in two Pclouds', {
            each.name: _after(each, 'pcloud:host_state:')
            for each in pclouds})
        self._check_pools(pclouds, pools)
        self._check_names(pclouds)
        self._check_quotas(pclouds, pools, policies, excused)
        held = rights.holders(pools, pclouds)
        self._count(servers, held)
        for server, text in rights.violations(
                servers, held, rows.due_hosts(found)):
            self._stage.figures.violation(
                'server where it has no right', server,
                f'{text} at {soak_stage.now():.3f}')

    def _count(self, servers: list[rows.Server], held: dict) -> None:
        """Count new servers, and real hosts that changed hands."""
        new = {each.uuid for each in servers} - self._seen
        self._seen |= new
        self._stage.figures.count('servers seen active', len(new))
        now = {host: held[host].name if held.get(host) else
               f'pooled {host in held}' for host in self._stage.real}
        self._stage.figures.count('changes of hands of computes', sum(
            name != self._held.get(host) for host, name in now.items()))
        self._held = now

    def _check_holders(self, kind: str, held: dict) -> None:
        holders = collections.defaultdict(list)
        for name, things in held.items():
            for thing in things:
                holders[thing].append(name)
        for thing, having in holders.items():
            if len(having) > 1:
                self._stage.figures.violation(
                    kind, f'{thing} in {" and ".join(sorted(having))}',
                    f'at {soak_stage.now():.3f}')

    def _check_pools(self, pclouds: list, pools: list) -> None:
        pooled = {host for pool in pools for host in pool.hosts}
        for each in pclouds:
            for host in each.hosts - pooled:
                self._stage.figures.violation(
                    'host in a Pcloud and in no pool',
                    f'{host} in {each.name}', f'at {soak_stage.now():.3f}')

    def _check_names(self, pclouds: list[rows.Aggregate]) -> None:
        for each in pclouds:
            names = collections.Counter(
                name.lower() for name in _after(each, 'pcloud:host:'))
            for name, number in names.items():
                if number > 1:
                    self._stage.figures.violation(
                        'name twice in a Pcloud', f'{name} in {each.name}',
                        f'{dict(each.metadata)}')

    def _check_quotas(self, pclouds: list, pools: list, policies: list,
                      excused: set[str]) -> None:
        limits = {
            each.name.rsplit(':', 1)[1]: int(
                each.metadata['pcloud:quota:units'])
            for each in policies if 'pcloud:quota:units' in each.metadata}
        for project, units in registers.used(pclouds, pools).items():
            limit = limits.get(project, soak_stage.DEFAULT_QUOTA)
            if 0 <= limit < units and project not in excused:
                self._stage.figures.violation(
                    'quota passed', f'project {project}',
                    f'{units} of {limit} at {soak_stage.now():.3f}')


def _after(aggregate: rows.Aggregate, prefix: str) -> list[str]:
    return [key.removeprefix(prefix) for key in aggregate.metadata
            if key.startswith(prefix)]
