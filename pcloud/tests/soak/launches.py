# SPDX-License-Identifier: Apache-2.0

"""Servers that come and go, and hosts that are public for a while."""

from collections.abc import Callable
import functools
import itertools
import random
import time

from pcloud.tests.soak import computes
from pcloud.tests.soak import rows
from pcloud.tests.soak import stage as soak_stage

_MOST = 8
_LOOK = 0.2
# With no change for so many seconds Nova has lost a server.
_STUCK = 1800
_POOL = f'/os-host-flavors/{soak_stage.REAL}/hosts'


def _nobody(pclouds: list[rows.Aggregate], mine: str,
            chance: random.Random) -> tuple[str, str | None]:
    return mine, None


def _owner(pclouds: list[rows.Aggregate], mine: str,
           chance: random.Random) -> tuple[str, str | None]:
    chosen = chance.choice(pclouds).metadata
    return chosen['pcloud:owner'], chosen['pcloud:id']


def _stranger(pclouds: list[rows.Aggregate], mine: str,
              chance: random.Random) -> tuple[str, str | None]:
    return mine, chance.choice(pclouds).metadata['pcloud:id']


class _Sender:
    """Starts several servers at once, then resizes and deletes the servers.

    :param mark: the prefix of the servers' names
    :param aim: function that chooses project and Pcloud
    """

    def __init__(self, stage: soak_stage.Stage, mark: str, aim) -> None:
        self._stage, self._mark, self._aim = stage, mark, aim
        self._chance = random.Random(f'{stage.seed} {mark}')
        self._mine = f'{self._chance.getrandbits(128):032x}'
        self._reader = rows.Reader()
        self._user = stage.computes.user(self._mine, admin=True)
        self._serial = itertools.count()

    def run(self) -> None:
        """Start and delete servers until the run ends; leave no server."""
        while self._stage.wait_for_calls(self._chance.randint(3, 15)):
            pclouds = self._pclouds()
            if pclouds or self._aim is _nobody:
                self._launch(*self._aim(pclouds, self._mine, self._chance))
                self._wait(is_building)
                self._resize()
                self._delete()

    def _pclouds(self) -> list[rows.Aggregate]:
        """Return the Pclouds that have hosts on which servers start."""
        found = self._reader.aggregates(
            'a.id IN (SELECT aggregate_id FROM aggregate_metadata '
            'WHERE `key` = "pcloud:owner")')
        return [each for each in found
                if each.hosts & set(self._stage.real) and
                'enabled' in each.metadata.values()]

    def _launch(self, project: str, pcloud: str | None) -> None:
        number = self._chance.randint(1, _MOST)
        body = {'server': {
            'name': f'{self._mark}-{next(self._serial)}',
            'imageRef': computes.IMAGE, 'flavorRef': computes.FLAVORS[0],
            'networks': computes.NETWORK, 'min_count': number}}
        if pcloud is not None:
            body['os:scheduler_hints'] = {'pcloud': pcloud}
        # A project may name a Pcloud that the project may not see.
        self._stage.ask_nova(
            self._stage.computes.user(project), f'launch by {self._mark}',
            'POST', '/servers', body)

    def _resize(self) -> None:
        for uuid, state in self._reader.left_of(self._mark).items():
            self._stage.figures.count(f'launched: {state}')
            if state == 'active None' and self._chance.random() < 0.3:
                self._act(uuid, 'resize', {'flavorRef': computes.FLAVORS[1]})
        self._wait(_is_busy)
        for uuid, state in self._reader.left_of(self._mark).items():
            if state == 'resized None':
                self._act(uuid, self._chance.choice(
                    ('confirmResize', 'revertResize')), None)
        # Nova fails to delete a server whose resize is being confirmed, which
        # looks at rest.
        self._wait(_is_resized)

    def _act(self, uuid: str, action: str, details: dict | None) -> None:
        self._stage.ask_nova(self._user, action, 'POST',
                             f'/servers/{uuid}/action', {action: details})

    def _delete(self) -> None:
        for uuid in self._reader.left_of(self._mark):
            self._stage.ask_nova(self._user, 'delete server', 'DELETE',
                                 f'/servers/{uuid}')
        self._wait(is_there)

    def _wait(self, is_waited_for: Callable[[str | None], bool]) -> None:
        wait(self._stage, self._mark,
             lambda: self._reader.left_of(self._mark), is_waited_for)


def wait(stage: soak_stage.Stage, mark: str,
         read: Callable[[], dict[str, str | None]],
         is_waited_for: Callable[[str | None], bool],
         look: Callable[[], None] = lambda: None) -> dict[str, str | None]:
    """Wait until no server is in a state; return uuid -> state.

    :param read: returns uuid -> state, as `rows.Reader.left_of`
    :param is_waited_for: function that shows whether a state is awaited
    :param look: called again and again meanwhile
    """
    last, since = None, time.monotonic()
    while any(map(is_waited_for, (found := read()).values())):
        look()
        if found != last:
            last, since = found, time.monotonic()
        elif time.monotonic() > since + _STUCK:
            stage.figures.violation('server lost by Nova', mark, str(found))
            break
        time.sleep(_LOOK)
    return found


def is_building(state: str | None) -> bool:
    """Return whether a server in a state, as of `left_of`, is being built."""
    return state is None or state.startswith('building')


def _is_busy(state: str | None) -> bool:
    return state is None or not state.endswith(' None')


def _is_resized(state: str | None) -> bool:
    return _is_busy(state) or state == 'resized None'


def is_there(state: str | None) -> bool:
    """Return that a server is there, whatever the state."""
    return True


def launch(mark: str, aim: Callable, stage: soak_stage.Stage) -> None:
    """Start servers until the run ends.

    :param mark: the prefix of the servers' names
    :param aim: function that chooses project and Pcloud
    """
    _Sender(stage, mark, aim).run()


SENDERS = [functools.partial(launch, mark, aim) for mark, aim in (
    ('public', _nobody), ('public2', _nobody), ('owner', _owner),
    ('owner2', _owner), ('stranger', _stranger))]


def swing(stage: soak_stage.Stage) -> None:
    """Have unused hosts enter a pool, and leave the pool again."""
    chance = random.Random(f'{stage.seed} swing')
    reader, admin = rows.Reader(), stage.computes.user(f'{0:032x}', True)
    while stage.wait_for_calls(chance.randint(5, 20)):
        host = chance.choice(stage.swinging)
        pool, = reader.aggregates(f'a.name = "{rows.POOL}{soak_stage.REAL}"')
        if host in pool.hosts:
            if stage.ask_nova(admin, 'DELETE pool host (real)', 'DELETE',
                              f'{_POOL}/{host}') == 204:
                stage.computes.set_service(host, 'enabled')
        else:
            stage.computes.set_service(host, 'disabled')
            if stage.ask_nova(admin, 'POST pool host (real)', 'POST', _POOL,
                              {'host': {'host': host}}) != 201:
                stage.computes.set_service(host, 'enabled')
