# SPDX-License-Identifier: Apache-2.0

"""The second cell: servers in the cell, and outages of the cell's parts."""

from collections.abc import Callable
from collections.abc import Iterator
from collections.abc import Mapping
import contextlib
import random
import time

from pcloud.tests.concurrency import crowd
from pcloud.tests.soak import computes
from pcloud.tests.soak import estates
from pcloud.tests.soak import launches
from pcloud.tests.soak import outages
from pcloud.tests.soak import rows
from pcloud.tests.soak import stage as soak_stage

_MOST = 4
_LOOK = 0.5
# Seconds after which a server is deleted that Nova has lost in an outage, or
# is deleted once more.
_PATIENCE = 30
# With no change for so many seconds Nova cannot delete a server at all.
_STUCK = 600
# No moment of an outage is as long.
_LONGEST = 3600


class _Visitor:
    """Starts servers in Pclouds of the second cell, and deletes them.

    Nova may lose a server whose cell is away, so that only what is left on a
    host matters here, and the rights of active servers.
    """

    def __init__(self, stage: soak_stage.Stage, mark: str) -> None:
        self._stage, self._mark = stage, mark
        self._chance = random.Random(f'{stage.seed} {mark}')
        self._reader = rows.Reader()
        self._admin = stage.computes.user(f'{0:032x}', admin=True)

    def run(self) -> None:
        """Start and delete servers until the run ends; leave no server."""
        while self._stage.wait_for_calls(self._chance.randint(3, 15)):
            found = self._reader.aggregates(
                'a.id IN (SELECT aggregate_id FROM aggregate_metadata '
                'WHERE `key` = "pcloud:owner")')
            pclouds = [each for each in found
                       if each.hosts & set(self._stage.far) and
                       'enabled' in each.metadata.values()]
            if pclouds:
                self._launch(self._chance.choice(pclouds).metadata)
                self._wait_for_builds()
                self._delete()

    def _launch(self, pcloud: Mapping[str, str]) -> None:
        self._ask(
            self._stage.computes.user(pcloud['pcloud:owner']), 'launch',
            'POST', '/servers', {
                'server': {
                    'name': f'{self._mark}-', 'imageRef': computes.IMAGE,
                    'flavorRef': computes.FLAVORS[0],
                    'networks': computes.NETWORK,
                    'min_count': self._chance.randint(1, _MOST)},
                'os:scheduler_hints': {'pcloud': pcloud['pcloud:id']}})

    def _ask(self, user: crowd.User, kind: str, method: str, path: str,
             body: dict | None = None) -> None:
        """Make a call, which may fail while the second cell is away."""
        began, start = time.monotonic(), soak_stage.now()
        answer = user.call(method, path, body, **computes.NEW)
        self._stage.figures.call(f'{kind} by {self._mark}',
                                 answer.status_code, soak_stage.now() - start)
        if answer.status_code >= 500 and not self._stage.outages.any_since(
                began, outages.CALM):
            self._stage.figures.violation(
                'answer 500', f'{kind} at {start:.3f}', answer.text[:300] +
                self._stage.last_errors(' ERROR '))

    def _wait_for_builds(self) -> None:
        last, since = None, time.monotonic()
        while any(map(launches.is_building, (found := self._left()).values())):
            if found != last:
                last, since = found, time.monotonic()
            elif time.monotonic() > since + _PATIENCE:
                self._stage.figures.count('builds lost in the second cell')
                return
            time.sleep(_LOOK)

    def _left(self) -> dict[str, str | None]:
        """Return uuid -> state of the servers that Nova's API still finds.

        Where the database goes away while nova-conductor writes a server, a
        row may stay there that no call of Nova shows or deletes.
        """
        left = self._reader.left_of(self._mark)
        return {uuid: left[uuid] for uuid in self._reader.known(left)}

    def _delete(self) -> None:
        """Delete all servers, again and again, as messages get lost."""
        began, asked = time.monotonic(), 0.0
        while left := self._left():
            now = time.monotonic()
            if now > began + _STUCK:
                self._stage.figures.violation(
                    'server lost by Nova', self._mark, str(left))
                return
            if now > asked + _PATIENCE:
                for uuid in left:
                    if asked:
                        self._ask(self._admin, 'reset server', 'POST',
                                  f'/servers/{uuid}/action',
                                  {'os-resetState': {'state': 'error'}})
                    self._ask(self._admin, 'delete server', 'DELETE',
                              f'/servers/{uuid}')
                asked = now
            time.sleep(_LOOK)


def visit(stage: soak_stage.Stage) -> None:
    """Start servers in the second cell until the run ends."""
    _Visitor(stage, 'visitor').run()


class _Bystander:
    """Makes calls for the first cell alone, while the second cell is away."""

    def __init__(self, stage: soak_stage.Stage) -> None:
        self._stage = stage
        self._estate = estates.Estate(
            stage, 'aside', soak_stage.ASIDE,
            'outage of a cell felt in another')

    def look(self) -> None:
        """Make each kind of call once, all of which have to be done."""
        estate = self._estate
        start = time.monotonic()
        estate.found(1)
        name, = estate.hosts()
        for path in ('hosts', f'hosts/{name}', 'tenants', 'explain?flavor=' +
                     computes.FLAVORS[0]):
            estate.must('GET', estate.path(path))
        for path in ('/os-host-flavors', '/os-pclouds'):
            estate.must('GET', path)
        estate.must('PUT', estate.path(), {'pcloud': {'name': 'beside'}})
        estate.launch(1)
        estate.remove()
        self._stage.figures.call(
            'all calls beside an outage', 200, time.monotonic() - start)


@contextlib.contextmanager
def _without_broker(stage: soak_stage.Stage) -> Iterator[None]:
    stage.broker.stop()
    try:
        yield
    finally:
        stage.computes.lasting(stage.broker.start)


@contextlib.contextmanager
def _without_database(stage: soak_stage.Stage) -> Iterator[None]:
    stage.proxies.take_away('cell2', _LONGEST)
    try:
        yield
    finally:
        stage.proxies.give_back('cell2')


_PARTS: dict[str, Callable] = {
    'broker': _without_broker, 'database': _without_database}


def take_away(stage: soak_stage.Stage) -> None:
    """Have broker or database of the second cell be away now and then.

    An outage is over when somebody who needs the first cell alone has made
    each kind of call.
    """
    chance = random.Random(f'{stage.seed} far')
    bystander = _Bystander(stage)
    while stage.wait_for_calls(chance.randint(100, 400)):
        part = chance.choice(sorted(_PARTS))
        with stage.outages.one(), _PARTS[part](stage):
            bystander.look()
        stage.figures.count(f'{part} of the second cell away')


ACTORS: list[Callable[[soak_stage.Stage], None]] = [visit, take_away]
