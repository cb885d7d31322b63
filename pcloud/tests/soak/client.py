# SPDX-License-Identifier: Apache-2.0

"""A client, which makes calls, records answers, and checks the rows."""

import concurrent.futures
import itertools
import random
import time

import requests

from pcloud.tests.soak import calls
from pcloud.tests.soak import judge
from pcloud.tests.soak import registers
from pcloud.tests.soak import rows
from pcloud.tests.soak import stage as soak_stage
from pcloud.tests.soak import wishes

TIMEOUT = 90
_REPEATS = 3
_PAUSE = 0.05
_turns = itertools.count()


class Client:
    """The only client that changes a project and the project's Pclouds."""

    def __init__(self, stage: soak_stage.Stage, number: int,
                 taste: wishes.Taste) -> None:
        self.stage = stage
        self.mark = f'soak{number}'
        self.project = f'{number + 100:032x}'
        self.values: dict = {}
        self.reader = rows.Reader()
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

    def _make(self, call: calls.Call) -> judge.Outcome:
        number = next(_turns)
        start = soak_stage.now()
        code, text = None, ''
        try:
            response = self._users[call.admin].call_at(
                number, call.method, call.path, call.body, timeout=TIMEOUT)
            code, text = response.status_code, response.text
        except requests.Timeout:
            # A killed process cannot change rows after the comparison.
            self.stage.figures.violation(
                'no answer in time', f'{call.method} {call.path}',
                f'{call.body} took more than {TIMEOUT} s')
            self.stage.cloud.kill(number % len(self.stage.cloud.urls))
        except requests.ConnectionError as error:
            text = str(error)
        outcome = judge.Outcome(call, code, text, start, soak_stage.now())
        self.stage.write_down(self.mark, outcome)
        if code == 500:
            self.stage.tell_of_error(outcome)
        return outcome

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
            if outcome.call.birth or self._is_done(outcome.call):
                return
            self.stage.figures.count('repeated')
            outcome, = self.make([outcome.call])

    def _is_done(self, call: calls.Call) -> bool:
        return all(self.values.get(register) == value
                   for register, value in call.effects.items()) and not any(
            register[0] == call.clears for register in self.values)

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
