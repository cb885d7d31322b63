# SPDX-License-Identifier: Apache-2.0

"""The run, which clients, actors and checkers share."""

import dataclasses
import json
import threading
import time
from typing import TextIO

import requests

from pcloud.tests.cloud.own import servers
from pcloud.tests.concurrency import cloud as concurrency_cloud
from pcloud.tests.concurrency import crowd
from pcloud.tests.soak import computes as soak_computes
from pcloud.tests.soak import figures as soak_figures
from pcloud.tests.soak import judge
from pcloud.tests.soak import outages as soak_outages
from pcloud.tests.soak import proxies as soak_proxies

DEFAULT_QUOTA = 6
# The host flavor of the hosts on which servers start.
REAL = 'soak-real'
# Host flavors of hosts on which servers start too: in the second cell, and for
# one actor each.
FAR, ASIDE, FRAIL, SPREAD = 'soak-far', 'soak-aside', 'soak-frail', 'soak-room'


@dataclasses.dataclass
class Stage:
    """A run.

    :ivar seed: the seed of all random choices
    :ivar journal: each call with start, end and answer
    :ivar shared: host flavor -> hosts, of host flavors for all clients
    :ivar real: the hosts on which servers start
    :ivar swinging: hosts in `real` that are public at times
    :ivar far: the hosts of the second cell on which servers start
    :ivar broker: the message broker of the second cell
    :ivar outages: when a part of the second cell was away
    :ivar stop: set when clients and actors are to end
    :ivar played: set when clients and actors have ended, so that nobody waits
        for a worker
    :ivar ended: set when processes and databases are removed
    :ivar faults: whether the proxies cause faults
    :ivar excused: projects that may use more than the quota, because the
        quota was lowered
    """

    cloud: concurrency_cloud.Cloud
    proxies: soak_proxies.Proxies
    seed: int
    journal: TextIO
    shared: dict[str, list[str]]
    computes: soak_computes.Computes
    real: list[str]
    swinging: list[str]
    far: list[str]
    broker: servers.RabbitMQ
    figures: soak_figures.Figures = dataclasses.field(
        default_factory=soak_figures.Figures)
    outages: soak_outages.Outages = dataclasses.field(
        default_factory=soak_outages.Outages)
    stop: threading.Event = dataclasses.field(
        default_factory=threading.Event)
    played: threading.Event = dataclasses.field(
        default_factory=threading.Event)
    ended: threading.Event = dataclasses.field(
        default_factory=threading.Event)
    faults: bool = False
    excused: set[str] = dataclasses.field(default_factory=set)
    _lock: threading.Lock = dataclasses.field(default_factory=threading.Lock)

    def switch(self, on: bool) -> None:
        """Turn the faults of the proxies on or off."""
        self.proxies.switch(on)
        self.faults = on

    def wait_for_calls(self, number: int) -> bool:
        """Wait until a number of further calls was answered.

        :returns: False when the run ends before
        """
        wanted = self.figures.calls() + number
        while not self.stop.wait(0.05):
            if self.figures.calls() >= wanted:
                return True
        return False

    def user(self, project: str, admin: bool = False) -> crowd.User:
        """Return a user who makes calls."""
        return crowd.User(self.cloud.urls, project, admin=admin)

    def ask_nova(self, user: crowd.User, kind: str, method: str, path: str,
                 body: dict | None = None) -> int:
        """Make a call without faults; return the answer's status code."""
        return self.answer_of_nova(user, kind, method, path, body).status_code

    def answer_of_nova(self, user: crowd.User, kind: str, method: str,
                       path: str, body: dict | None = None,
                       ) -> requests.Response:
        """Make a call without faults; return the answer."""
        start, began = now(), time.monotonic()
        response = user.call(method, path, body, **soak_computes.NEW)
        self.figures.call(kind, response.status_code, now() - start)
        if response.status_code == 503 and self.outages.any_since(
                began, soak_outages.CALM):
            self.figures.count('answers 503 in outages of the second cell')
        elif response.status_code >= 500:
            self._tell(f'{kind} at {start:.3f}', path, response.text,
                       response.text[:300])
        return response

    def write_down(self, who: str, outcome: judge.Outcome) -> None:
        """Write a call and the answer to the journal."""
        call = outcome.call
        self.figures.call(call.kind, outcome.code,
                          outcome.end - outcome.start)
        line = json.dumps({
            'who': who, 'start': outcome.start, 'end': outcome.end,
            'call': f'{call.method} {call.path}', 'body': call.body,
            'answer': outcome.code, 'text': outcome.text[:1000]})
        with self._lock:
            self.journal.write(line + '\n')

    def tell_of_error(self, outcome: judge.Outcome) -> None:
        """Count an answer 500, with the last errors of the log."""
        self._tell(f'{outcome.call.kind} at {outcome.start:.3f}',
                   outcome.call.path, outcome.text, outcome.says())

    def _tell(self, subject: str, path: str, text: str, says: str) -> None:
        """Count an answer 5xx, apart where Nova itself gives the answer."""
        errors = self.last_errors(' ERROR ')
        event = judge.server_error(
            path, text, self.last_errors('(1040, '))
        if event is None:
            self.figures.violation('answer 500', subject, says + errors)
        else:
            self.figures.count(event)

    def last_errors(self, mark: str) -> str:
        """Return the last lines of the log that contain a mark."""
        log = self.cloud.log
        with log.open('rb') as lines:
            lines.seek(max(0, log.stat().st_size - 1_000_000))
            found = [line.decode(errors='replace').rstrip()
                     for line in lines if mark.encode() in line]
        return ''.join(f'\n        {line}' for line in found[-12:])


def now() -> float:
    """Return the time, in seconds."""
    return time.time()
