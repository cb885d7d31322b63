# SPDX-License-Identifier: Apache-2.0

"""A client, which makes calls, records answers, and checks the rows."""

import concurrent.futures
import random
import time

from pcloud.tests.soak import asking
from pcloud.tests.soak import calls
from pcloud.tests.soak import clocks
from pcloud.tests.soak import judge
from pcloud.tests.soak import registers
from pcloud.tests.soak import rows
from pcloud.tests.soak import stage as soak_stage
from pcloud.tests.soak import wishes

_REPEATS = 3
_PAUSE = 0.05


class Client:
    """The only client that changes a project and the project's Pclouds."""

    def __init__(self, stage: soak_stage.Stage, number: int,
                 taste: wishes.Taste) -> None:
        self.stage = stage
        self.mark = f'soak{number}'
        self.project = f'{number + 100:032x}'
        self.values: dict = {}
        self.reader = rows.Reader()
        self.clock = clocks.Clock()
        self._began = soak_stage.now()
        self._chance = random.Random(f'{stage.seed} {number}')
        self._users = {admin: stage.user(self.project, admin)
                       for admin in (False, True)}
        self._wishes = wishes.Wishes(
            self._chance, self.project, self.mark, taste)
        self._pool = concurrent.futures.ThreadPoolExecutor(4)

    def run(self) -> None:
        """Make calls until the run ends."""
        while not self.stage.stop.is_set():
            wanted = self._wishes.draw(self.values, self._in_use())
            outcomes = self.make(wanted)
            if len(outcomes) == 1:
                self._mend(outcomes[0])
            time.sleep(self._chance.uniform(0, _PAUSE))

    def make(self, wanted: list[calls.Call]) -> list[judge.Outcome]:
        """Make calls at the same time, and compare rows with answers."""
        excused = any(call.lowers for call in wanted)
        if excused:
            self.stage.excused.add(self.project)
        if len(wanted) == 1:
            outcomes = [self._make(wanted[0])]
        else:
            outcomes = list(self._pool.map(self._make, wanted))
        self._compare(outcomes)
        if self.project in self.stage.excused and not self._is_over():
            self.stage.excused.discard(self.project)
        return outcomes

    def check_usage(self) -> None:
        """Compare the usage that the API shows with the shadow clock."""
        self.make([])
        earlier, shown = dict(self.clock.spans), []
        for month in clocks.months(self._began, soak_stage.now()):
            path = f'/os-pcloud-usage/{self.project}?month={month}'
            outcome = self._make(calls.read(path))
            if not outcome.done:
                self._check_refusal(outcome)
                return
            shown += outcome.json()['usage']['host_flavors']
        self.make([])
        self.stage.figures.count('usages compared')
        for found in clocks.faults(
                self.project, shown, self.clock.bounds(earlier)):
            self.stage.figures.violation(
                found.kind, found.subject, found.text)

    def _make(self, call: calls.Call) -> judge.Outcome:
        return asking.ask(self.stage, self._users[call.admin], call,
                          self.mark)

    def _compare(self, outcomes: list[judge.Outcome]) -> None:
        """Read the rows, and compare the rows with the answers.

        A call without an answer, or with an answer 5xx, may still be on the
        way through the proxies and MariaDB: the rows are read after the end
        of all bytes and transactions that were under way.
        """
        if any(each.code is None or each.code >= 500 for each in outcomes):
            self.stage.proxies.wait_until_passed()
            self.reader.wait_until_settled()
        values = registers.read(self.reader, self.project, self.mark)
        self.clock.look(clocks.read(
            self.reader, self.project, self.clock.last))
        for found in judge.judge(self.values, values, outcomes):
            self.stage.figures.violation(found.kind, found.subject,
                                         found.text)
        if len(outcomes) == 1:
            self._check_refusal(outcomes[0])
        self.values = values

    def _check_refusal(self, outcome: judge.Outcome) -> None:
        kind = judge.refusal(outcome, self.stage.faults)
        if kind and outcome.code != 500 and not any(
                registers.is_half(value) for value in self.values.values()):
            self.stage.figures.violation(
                kind, f'{outcome.call.kind} {outcome.code}',
                f'{outcome.says()} at {outcome.start:.3f}')

    def _mend(self, outcome: judge.Outcome) -> None:
        """Repeat a failed call until the call is done or refused.

        There are at most `_REPEATS` repetitions.
        """
        for _ in range(_REPEATS):
            if outcome.code is not None and outcome.code < 500:
                return
            if outcome.call.birth or judge.is_done(
                    outcome.call, self.values):
                return
            self.stage.figures.count('repeated')
            outcome, = self.make([outcome.call])

    def _in_use(self) -> int:
        """Return an upper bound of the units in use: 2 for each host."""
        return 2 * sum(register[1] == 'host' for register in self.values)

    def _is_over(self) -> bool:
        limit = self.values.get((self.project, 'quota', ''),
                                soak_stage.DEFAULT_QUOTA)
        found = self.reader.aggregates(rows.CLOSED)
        pools = [each for each in found if each.name.startswith(rows.POOL)]
        own = [each for each in found
               if each.metadata.get('pcloud:owner') == self.project]
        return 0 <= limit < registers.used(own, pools).get(self.project, 0)
