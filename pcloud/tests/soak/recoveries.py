# SPDX-License-Identifier: Apache-2.0

"""Hosts that fail, whose servers are started on other hosts of a Pcloud."""

from pcloud.tests.soak import estates
from pcloud.tests.soak import rows
from pcloud.tests.soak import stage as soak_stage

MARK = 'frail'
_HOSTS, _MOST = 3, 5
_POLICIES = ('in_place', 'replace')
_ENDLESS = 'recovery does not end'


class _Recoverer:
    """Kills hosts of a Pcloud, and has them recovered."""

    def __init__(self, stage: soak_stage.Stage) -> None:
        self._stage = stage
        self._estate = estates.Estate(stage, MARK, soak_stage.FRAIL)
        self._chance = self._estate.chance

    def run(self) -> None:
        """Fail a host after the other until the run ends."""
        self._estate.found(_HOSTS)
        while self._stage.wait_for_calls(self._chance.randint(5, 30)):
            self._fail_one()
            self._estate.delete(self._estate.servers())
            self._enable_again()
        self._estate.remove()

    def _fail_one(self) -> None:
        policy = self._chance.choice(_POLICIES)
        self._estate.must('PUT', self._estate.path(), {
            'pcloud': {'host_recovery': policy}})
        servers = self._estate.launch(self._chance.randint(2, _MOST))
        places = self._estate.servers()
        used = {places[uuid].host for uuid in servers if uuid in places}
        names = sorted(name for name, host in self._estate.hosts().items()
                       if host in used)
        if not names:
            return
        name = self._chance.choice(names)
        host = self._estate.hosts()[name]
        self._stage.computes.kill(host)
        self._stage.computes.force_down(host, True)
        self._stage.figures.count(f'hosts failed ({policy})')
        if self._recover(name, host):
            self._check(servers, host)
        self._bring_back(name, host)
        self._estate.check(servers, 'recovery')

    def _recover(self, name: str, host: str) -> bool:
        """Wait until no server is left on a host; return whether none is."""
        held: set[str] = set()

        def look() -> tuple:
            recovery = self._estate.must(
                'GET', self._estate.path('hosts', name),
            ).get('host', {}).get('recovery') or {}
            if recovery.get('state') == 'held' and not held:
                # Many have failed within an hour; an administrator agrees.
                held.add(host)
                self._fence_again(host)
            return recovery.get('state'), recovery, self._estate.servers()

        ended = self._estate.wait(
            _ENDLESS, look, lambda found: found[0] == 'done',
            self._estate.reset_busy)
        self._stage.figures.count('held recoveries released', len(held))
        return ended

    def _fence_again(self, host: str) -> None:
        self._estate.command(
            'PUT', f'/os-host-flavors/{soak_stage.FRAIL}/hosts/{host}',
            {'host': {'fenced': True}})

    def _check(self, servers: set[str], host: str) -> None:
        self._estate.check(servers, 'recovery')
        self._stage.figures.count('recoveries done')
        for uuid, place in self._estate.servers().items():
            if place.host == host:
                self._stage.figures.violation(
                    'server lost in a recovery', uuid,
                    f'{place} after the recovery of {host}')

    def _bring_back(self, name: str, host: str) -> None:
        """Have a host start, and return to the Pcloud or the pool."""
        computes, reader = self._stage.computes, self._estate.reader
        computes.revive(host)
        # Until then Nova does not take the host back.
        self._estate.wait('compute service lost by Nova',
                          lambda: reader.left_behind(host),
                          lambda left: not left)
        computes.force_down(host, False)

        def is_over(found: dict) -> bool:
            return name not in self._estate.hosts() or (
                found.get('state') == 'enabled' and
                not found.get('recovery'))

        self._estate.wait(
            _ENDLESS, lambda: self._estate.ask(
                'GET', self._estate.path('hosts', name),
            ).json().get('host', {}), is_over)
        if name in self._estate.hosts():
            self._stage.figures.count('failed hosts back in their Pcloud')
            return
        # Pcloud leaves the host to an administrator, who lets Pcloud finish.
        if self._estate.wait(
                'host is back with its service enabled',
                lambda: (host, 1) in reader.services() and
                host not in self._due(), bool):
            computes.set_service(host, 'enabled')
            self._stage.figures.count('failed hosts back in their pool')

    def _due(self) -> set[str]:
        return rows.due_hosts(self._estate.reader.aggregates(
            'a.name = %(journal)s', {'journal': rows.JOURNAL}))

    def _enable_again(self) -> None:
        """Enable hosts that were disabled once more after `_bring_back`."""
        disabled = {host for host, is_disabled
                    in self._estate.reader.services() if is_disabled}
        for host in sorted(disabled & set(self._stage.computes.apart())):
            self._stage.figures.count('hosts disabled after their return')
            self._stage.computes.set_service(host, 'enabled')


def recover(stage: soak_stage.Stage) -> None:
    """Have hosts fail and be recovered until the run ends."""
    _Recoverer(stage).run()
