# SPDX-License-Identifier: Apache-2.0

"""Rebalances of a Pcloud whose servers come and go."""

from pcloud.tests.soak import estates
from pcloud.tests.soak import stage as soak_stage

MARK = 'spread'
# The numbers of hosts, of those that get servers, and of servers on each.
_HOSTS, _USED, _MOST = 4, 3, 3


class _Balancer:
    """Spreads servers over a Pcloud's hosts, and has the servers moved."""

    def __init__(self, stage: soak_stage.Stage) -> None:
        self._stage = stage
        self._estate = estates.Estate(stage, MARK, soak_stage.SPREAD)
        self._chance = self._estate.chance

    def run(self) -> None:
        """Rebalance again and again until the run ends."""
        self._estate.found(_HOSTS)
        while self._stage.wait_for_calls(self._chance.randint(5, 30)):
            servers = self._spread()
            move = self._chance.choice(('live', 'any'))
            if move == 'any':
                self._stop(self._chance.choice(sorted(servers) or ['']))
            if self._begin(move):
                self._follow()
            self._estate.check(servers, 'rebalance')
            # A server that was moved twice would stay for an hour.
            self._estate.delete(self._estate.servers())
        self._estate.remove()

    def _spread(self) -> set[str]:
        """Start servers on several hosts, some on each; return the servers."""
        names = sorted(self._estate.hosts())
        servers: set[str] = set()
        for name in self._chance.sample(names, _USED):
            # One request may put all its servers onto one host.
            self._set_states(names, name, 'disabled')
            servers |= self._estate.launch(self._chance.randint(1, _MOST))
            self._set_states(names, name, 'enabled')
        return servers

    def _set_states(self, names: list[str], but: str, state: str) -> None:
        """Enable or disable all hosts but one."""
        for name in names:
            if name != but:
                self._estate.must('PUT', self._estate.path('hosts', name),
                                  {'host': {'state': state}})

    def _stop(self, server: str) -> None:
        """Stop a server, which is then moved otherwise."""
        if not server:
            return
        self._estate.must('POST', f'/servers/{server}/action',
                          {'os-stop': None})
        self._estate.wait(
            'server lost by Nova', lambda: self._estate.servers()[server],
            lambda place: place.state.endswith(' None'))

    def _begin(self, move: str) -> bool:
        """Ask for a plan and have it made; return whether it is made."""
        path = self._estate.path('rebalance')
        plan = self._estate.must(
            'GET', f'{path}?goal=free_hosts&move={move}').get('rebalance', {})
        self._stage.figures.count('moves of plans',
                                  len(plan.get('moves', ())))
        if not plan.get('moves'):
            self._stage.figures.count('plans without moves')
            return False
        answer = self._estate.ask('POST', path, {
            'rebalance': {'valid_for': plan['valid_for']}})
        if answer.status_code == 409:
            # Nova tells of a server that has gone a moment later.
            self._stage.figures.count('plans out of date')
            return False
        if answer.status_code != 202:
            self._stage.figures.violation(
                'refused without a reason', f'{MARK} {answer.status_code}',
                answer.text[:300])
            return False
        return True

    def _follow(self) -> None:
        """Wait for the end of a rebalance, or end it."""
        if self._chance.random() < 0.15:
            self._estate.must('DELETE', self._estate.path('rebalance'))
        ended = self._estate.wait(
            'rebalance does not end', self._look,
            lambda found: not found['under_way'], self._estate.reset_busy)
        if not ended:
            self._estate.must('DELETE', self._estate.path('rebalance'))
        # Servers that are on their way arrive.
        self._estate.wait(
            'server lost by Nova', self._estate.servers,
            lambda servers: all(place.state.endswith(' None')
                                for place in servers.values()),
            self._estate.reset_busy)
        stopped = self._look()['stopped']
        self._stage.figures.count(
            f'rebalance: {stopped["code"] if stopped else "done"}')

    def _look(self) -> dict:
        found = self._estate.must(
            'GET', self._estate.path('rebalance') +
            '?goal=free_hosts')['rebalance']
        return {'under_way': found['under_way'], 'stopped': found['stopped'],
                'servers': self._estate.servers()}


def rebalance(stage: soak_stage.Stage) -> None:
    """Have servers of a Pcloud moved until the run ends."""
    _Balancer(stage).run()
