# SPDX-License-Identifier: Apache-2.0

"""Calls that may meet faults, written down with the answers."""

import itertools
import time

import requests

from pcloud.tests.concurrency import crowd
from pcloud.tests.soak import calls
from pcloud.tests.soak import judge
from pcloud.tests.soak import registers
from pcloud.tests.soak import rows
from pcloud.tests.soak import stage as soak_stage

TIMEOUT = 90
# So often a call is repeated that is answered 5xx, or not at all.
_MOST = 300
_PAUSE = 0.2
_turns = itertools.count()


def ask(stage: soak_stage.Stage, user: crowd.User, call: calls.Call,
        who: str, **headers: str) -> judge.Outcome:
    """Make a call through an API process in turn.

    :param who: the caller's name in the journal
    :param headers: in the place of the user's headers
    """
    number = next(_turns)
    start = soak_stage.now()
    code, text = None, ''
    try:
        response = user.call_at(
            number, call.method, call.path, call.body, timeout=TIMEOUT,
            **headers)
        code, text = response.status_code, response.text
    except requests.Timeout:
        # A killed process cannot change rows after the comparison.
        stage.figures.violation(
            'no answer in time', f'{call.method} {call.path}',
            f'{call.body} took more than {TIMEOUT} s')
        stage.cloud.kill(number % len(stage.cloud.urls))
    except requests.ConnectionError as error:
        text = str(error)
    outcome = judge.Outcome(call, code, text, start, soak_stage.now())
    stage.write_down(who, outcome)
    if code == 500:
        stage.tell_of_error(outcome)
    return outcome


class Party:
    """A project of an actor, and the project's only Pcloud.

    :param mark: the name of the project in the journal
    :ivar pcloud: the id of the Pcloud, '' before `found`
    """

    def __init__(self, stage: soak_stage.Stage, mark: str,
                 project: str) -> None:
        self.stage, self.mark, self.project = stage, mark, project
        self.pcloud = ''
        self.reader = rows.Reader()
        self._users = {admin: stage.user(project, admin)
                       for admin in (False, True)}

    def ask(self, call: calls.Call) -> judge.Outcome:
        """Make a call once; the effects are in the rows, or never will be."""
        outcome = ask(self.stage, self._users[call.admin], call, self.mark)
        if outcome.code is None or outcome.code >= 500:
            self.stage.proxies.wait_until_passed()
            self.reader.wait_until_settled()
        return outcome

    def insist(self, call: calls.Call) -> judge.Outcome:
        """Make a call until the answer is not a fault.

        :raises: `TimeoutError` when each answer is a fault
        """
        for _ in range(_MOST):
            outcome = self.ask(call)
            if outcome.code is not None and outcome.code < 500:
                return outcome
            time.sleep(_PAUSE)
        raise TimeoutError(outcome.says())

    def found(self) -> None:
        """Make the Pcloud."""
        outcome = self.insist(calls.found_pcloud(self.mark))
        self.expect(outcome, 200, 201)
        self.pcloud = outcome.json()['pcloud']['id']

    def expect(self, outcome: judge.Outcome, *codes: int) -> bool:
        """Return whether an answer has a code that is right; else count."""
        if outcome.code in codes:
            return True
        if outcome.code != 500:
            self.stage.figures.violation(
                'refused without a reason',
                f'{outcome.call.kind} {outcome.code}',
                f'{outcome.says()} at {outcome.start:.3f}')
        return False

    def aggregate(self) -> rows.Aggregate | None:
        """Return the rows of the Pcloud."""
        found = self.reader.aggregates('a.name = %(name)s',
                                       {'name': rows.PCLOUD + self.pcloud})
        return found[0] if found else None

    def hosts(self) -> dict[str, str]:
        """Return name -> state of the hosts of the Pcloud."""
        aggregate = self.aggregate()
        return registers.hosts(aggregate) if aggregate else {}

    def let_go(self, name: str) -> bool:
        """Remove a host; return whether the host has left."""
        if self.hosts().get(name) == 'enabled':
            self.expect(self.insist(calls.set_state(
                self.pcloud, name, 'disabled')), 200, 404, 409)
        outcome = self.insist(calls.remove_host(self.pcloud, name))
        return self.expect(outcome, 204, 404, 409) and outcome.code != 409

    def leave(self) -> None:
        """Remove all hosts, and the Pcloud."""
        for _ in range(_MOST):
            for name in self.hosts():
                self.let_go(name)
            if not self.hosts():
                break
            time.sleep(_PAUSE)
        self.expect(self.insist(calls.delete_pcloud(self.pcloud, True)),
                    204, 404)
