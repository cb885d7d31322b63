# SPDX-License-Identifier: Apache-2.0

"""A tenant with a cap, who asks for more servers than the cap allows."""

import dataclasses
import random

from pcloud.tests.concurrency import mariadb
from pcloud.tests.soak import asking
from pcloud.tests.soak import calls
from pcloud.tests.soak import fleets
from pcloud.tests.soak import rows
from pcloud.tests.soak import stage as soak_stage

# The host flavor of hosts on which servers start, for this actor alone.
FLAVOR = 'soak-guests'
_HOSTS = 2
# At least so many schedulers decide at the same moment.
_SCHEDULERS = 2
_MOST = 5
_MARK = 'guest'


@dataclasses.dataclass
class Allowance:
    """How many servers a tenant may have.

    :ivar caps: the caps that may be in force
    :ivar used: the servers when no request was under way last
    :ivar largest: the servers of the largest request since then
    """

    caps: set[int] = dataclasses.field(default_factory=set)
    used: int = 0
    largest: int = 0

    def rest(self, cap: int, used: int) -> None:
        """Begin anew, as no request is under way."""
        self.caps, self.used, self.largest = {cap}, used, 0

    def most(self, schedulers: int) -> int:
        """Return the most servers that there may be.

        A cap below what is used takes nothing away; and so many requests as
        there are schedulers may exceed a cap.
        """
        return max(*self.caps, self.used, 0) + schedulers * self.largest

    def explains_refusal(self, asked: int, there: int) -> bool:
        """Return whether a cap may have been passed without a refusal.

        :param asked: the servers of all requests together
        :param there: the servers before the requests
        """
        return asked + there > min(self.caps)


class _Guest:
    """An owner with hosts on which servers start, and the owner's tenant."""

    def __init__(self, stage: soak_stage.Stage) -> None:
        self._stage = stage
        self._chance = random.Random(f'{stage.seed} {_MARK}')
        self._owner = asking.Party(
            stage, f'{_MARK} owner', f'{self._chance.getrandbits(128):032x}')
        self._project = f'{self._chance.getrandbits(128):032x}'
        self._fleet = fleets.Fleet(stage, _MARK, self._project)
        self._reader = rows.Reader()
        self._allowance = Allowance()
        self._cap = 0

    def run(self) -> None:
        """Play rounds until the run ends, and leave nothing."""
        self._owner.found()
        while self._stage.wait_for_calls(self._chance.randint(3, 15)):
            self._settle_in()
            if self._owner.hosts():
                self._round()
        self._fleet.delete(self._fleet.states(), self._look)
        self._owner.leave()

    def _settle_in(self) -> None:
        """Have enabled hosts, as far as there are free hosts."""
        wanted = {f'g{number}' for number in range(_HOSTS)}
        for name in sorted(wanted - self._owner.hosts().keys()):
            self._owner.expect(self._owner.insist(calls.add_host(
                self._owner.pcloud, name, 'guest flavor',
                host_flavor=FLAVOR)), 201, 409)
        for name, state in self._owner.hosts().items():
            if state == 'disabled':
                self._owner.expect(self._owner.insist(calls.set_state(
                    self._owner.pcloud, name, 'enabled')), 200, 409)

    def _round(self) -> None:
        """Ask for servers at once, mostly for too many; delete some."""
        self._set_cap(self._chance.randint(0, _MOST))
        there = self._fleet.states()
        self._allowance.rest(self._cap, self._count())
        size = self._chance.choice((1, 1, 1, 3))
        asked = [size] * self._chance.randint(1, _MOST + 3)
        self._launch(asked, len(there))
        if self._chance.random() < 0.5:
            self._set_cap(self._chance.randint(0, _MOST))
            self._launch([1] * self._chance.randint(1, 4), len(there) +
                         sum(asked))
        left = self._fleet.rest(self._look)
        for state in left.values():
            self._stage.figures.count(f'launched by {_MARK}: {state}')
        self._fleet.delete([uuid for uuid in left
                            if self._chance.random() < 0.7], self._look)
        if not self._fleet.states() and self._chance.random() < 0.3:
            self._renew()

    def _renew(self) -> None:
        """End the tenancy, which ends the cap, and give a host back."""
        self._owner.expect(self._owner.insist(calls.remove_tenant(
            self._owner.pcloud, self._project)), 204, 404)
        names = sorted(self._owner.hosts())
        if names:
            self._owner.let_go(self._chance.choice(names))

    def _set_cap(self, cap: int) -> None:
        # From now on either cap may be in force.
        self._allowance.caps.add(cap)
        self._owner.expect(self._owner.insist(calls.cap_tenant(
            self._owner.pcloud, self._project, cap)), 204)
        self._cap = cap

    def _launch(self, asked: list[int], there: int) -> None:
        self._allowance.largest = max(self._allowance.largest, *asked)
        answers = self._fleet.launch(
            asked, {'pcloud': self._owner.pcloud}, self._look)
        for answer in answers:
            if answer.status_code == 202 or answer.status_code >= 500 or (
                    fleets.is_quota_of_nova(answer.text)):
                continue
            if answer.status_code != 403 or not (
                    self._allowance.explains_refusal(sum(asked), there)):
                self._stage.figures.violation(
                    'refused without a reason',
                    f'launch by {_MARK} at {soak_stage.now():.3f}',
                    f'{asked} beside {there}, {self._allowance}: '
                    f'{answer.status_code} {answer.text[:300]}')

    def _look(self) -> None:
        count, most = self._count(), self._allowance.most(self._schedulers())
        self._stage.figures.count('looks at a cap')
        if count > most:
            self._stage.figures.violation(
                'cap passed', f'Pcloud {self._owner.pcloud}',
                f'{count} servers, {self._allowance} allows {most} at '
                f'{soak_stage.now():.3f}')

    def _count(self) -> int:
        """Return how many servers of the tenant are on the owner's hosts."""
        (number,), = self._reader.query(
            f'SELECT COUNT(*) FROM {mariadb.own("nova_cell1")}.instances '
            'WHERE deleted = 0 AND project_id = %s AND host IN (SELECT h.host '
            'FROM aggregate_hosts h JOIN aggregates a ON a.id = '
            'h.aggregate_id WHERE a.name = %s)',
            (self._project, rows.PCLOUD + self._owner.pcloud))
        return number

    def _schedulers(self) -> int:
        (number,), = self._reader.query(
            f'SELECT COUNT(*) FROM {mariadb.own("nova_cell1")}.services '
            "WHERE deleted = 0 AND `binary` = 'nova-scheduler'")
        return max(number, _SCHEDULERS)


def cap(stage: soak_stage.Stage) -> None:
    """Have a tenant with a cap start servers until the run ends."""
    _Guest(stage).run()


ACTORS = [cap]
