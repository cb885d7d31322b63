# SPDX-License-Identifier: Apache-2.0

"""Pclouds of actors, with servers, through the API without faults."""

from collections.abc import Callable
from collections.abc import Iterable
import itertools
import random
import time
from typing import TypeVar

import requests

from pcloud.tests.soak import computes
from pcloud.tests.soak import launches
from pcloud.tests.soak import rows
from pcloud.tests.soak import stage as soak_stage
from pcloud.tests.support import bulk

_LOOK = 1
# With no change for so many seconds nobody gets on.
_STUCK = 1800
# After so many seconds without a change an administrator helps, who resets the
# state of a server that Nova or a killed worker has left busy.
_PATIENCE = 90
_NAME = 'pcloud:host:'
_Found = TypeVar('_Found')


class Estate:
    """A Pcloud of an actor, and the Pcloud's servers.

    The calls meet no faults, and concern the first cell alone. So all of them
    have to be done, whatever befalls the second cell.

    :param mark: the prefix of the servers' names
    :param flavor: the host flavor of all hosts
    :param complaint: the kind of violation of a call that is refused
    :ivar chance: the choices of the actor
    :ivar reader: a connection of the actor's thread
    :ivar pcloud: the id of the Pcloud
    """

    def __init__(self, stage: soak_stage.Stage, mark: str, flavor: str,
                 complaint: str = 'refused without a reason') -> None:
        self._stage, self.mark, self._flavor = stage, mark, flavor
        self._complaint = complaint
        self.chance = random.Random(f'{stage.seed} {mark}')
        self._project = f'{self.chance.getrandbits(128):032x}'
        self._owner = stage.computes.user(self._project)
        self._admin = stage.computes.user(self._project, admin=True)
        self.reader = rows.Reader()
        self._serial = itertools.count()
        self.pcloud = ''

    def found(self, number: int) -> None:
        """Make the Pcloud, with a number of enabled hosts."""
        self.pcloud = self.must('POST', '/os-pclouds', {
            'pcloud': {'name': self.mark}})['pcloud']['id']
        for _ in range(number):
            self.add_host(f'h{next(self._serial)}')

    def add_host(self, name: str) -> None:
        """Add a host as soon as one is free, and enable the host."""
        self.wait('host is not given', lambda: self.ask(
            'POST', self.path('hosts'),
            {'host': {'name': name, 'host_flavor': self._flavor}}),
            lambda answer: answer.status_code != 409)
        self.must('PUT', self.path('hosts', name),
                  {'host': {'state': 'enabled'}})

    def path(self, *parts: str) -> str:
        """Return the path of the Pcloud, or of a part of the Pcloud."""
        return '/'.join(('/os-pclouds', self.pcloud, *parts))

    def ask(self, method: str, path: str,
            body: dict | None = None) -> requests.Response:
        """Make a call of the owner."""
        return self._stage.answer_of_nova(
            self._owner, self._kind(method, path), method, path, body)

    def must(self, method: str, path: str, body: dict | None = None) -> dict:
        """Make a call of the owner that has to be done."""
        return self._judged(self.ask(method, path, body))

    def command(self, method: str, path: str,
                body: dict | None = None) -> dict:
        """Make a call of an administrator that has to be done."""
        return self._judged(self._stage.answer_of_nova(
            self._admin, self._kind(method, path), method, path, body))

    def _kind(self, method: str, path: str) -> str:
        """Return the name of a call in the figures."""
        words = path.split('?')[0].strip('/').split('/')
        return f'{method} {"/".join(words[::2])} ({self.mark})'

    def _judged(self, answer: requests.Response) -> dict:
        if answer.status_code >= 300:
            request = answer.request
            self._stage.figures.violation(
                self._complaint, f'{self.mark} at {soak_stage.now():.3f}',
                f'{request.method} {request.path_url} {request.body!r} -> '
                f'{answer.status_code} {answer.text[:300]}')
        # A refusal has no members that anybody reads.
        return answer.json() if answer.content else {}

    def hosts(self) -> dict[str, str]:
        """Return the owner's name of a host -> host, from the rows."""
        return {
            key.removeprefix(_NAME): node.removesuffix(bulk.NODE_SUFFIX)
            for each in self.reader.aggregates(
                'a.name = %(name)s', {'name': rows.PCLOUD + self.pcloud})
            for key, node in each.metadata.items() if key.startswith(_NAME)}

    def servers(self) -> dict[str, rows.Place]:
        """Return uuid -> place of all servers."""
        return self.reader.places_of(self.mark)

    def launch(self, number: int) -> set[str]:
        """Start servers; return those that are active, and delete others."""
        before = set(self.servers())
        self.must('POST', '/servers', {
            'server': {
                'name': f'{self.mark}-{next(self._serial)}',
                'imageRef': computes.IMAGE, 'flavorRef': computes.FLAVORS[0],
                'networks': computes.NETWORK, 'min_count': number},
            'os:scheduler_hints': {'pcloud': self.pcloud}})
        self.wait('server lost by Nova',
                  lambda: self.reader.left_of(self.mark),
                  lambda left: not any(
                      map(launches.is_building, left.values())))
        made = {uuid: place for uuid, place in self.servers().items()
                if uuid not in before}
        for uuid, place in made.items():
            if place.cell == 'nova_cell0':
                self._stage.figures.violation(
                    self._complaint, f'{self.mark} at {soak_stage.now():.3f}',
                    f'no host for server {uuid} in Pcloud {self.pcloud}')
        failed = {uuid for uuid, place in made.items()
                  if place.state != 'active None'}
        self._stage.figures.count(f'{self.mark}: started',
                                  len(made) - len(failed))
        self._stage.figures.count(f'{self.mark}: failed to start', len(failed))
        self.delete(failed)
        return made.keys() - failed

    def delete(self, uuids: Iterable[str]) -> None:
        """Delete servers, and wait until all are gone."""
        uuids = set(uuids)

        def ask() -> None:
            for uuid in uuids & set(self.reader.left_of(self.mark)):
                self._stage.answer_of_nova(
                    self._admin, f'delete server ({self.mark})', 'DELETE',
                    f'/servers/{uuid}')

        ask()
        self.wait('server lost by Nova',
                  lambda: uuids & set(self.reader.left_of(self.mark)),
                  lambda left: not left, ask)

    def reset_busy(self) -> None:
        """Reset the state of busy servers, as an administrator may have to.

        Nobody can tell whose request a server waits for when a worker has
        died at the wrong moment.
        """
        for uuid, place in self.servers().items():
            if not place.state.endswith(' None'):
                self._stage.figures.count(f'{self.mark}: servers reset')
                self.command('POST', f'/servers/{uuid}/action',
                             {'os-resetState': {'state': 'active'}})

    def check(self, uuids: Iterable[str], what: str) -> None:
        """Find servers that are lost, or outside the Pcloud.

        :param what: the order that was carried out
        """
        # A host that joins is there before a server is.
        servers = self.servers()
        hosts = set(self.hosts().values())
        for uuid in uuids:
            place = servers.get(uuid)
            if place is None:
                self._stage.figures.violation(
                    f'server lost in a {what}', uuid, f'of {self.mark}')
            elif place.host not in hosts:
                self._stage.figures.violation(
                    f'server of a {what} outside its Pcloud', uuid,
                    f'{place}, while {self.pcloud} has {hosts}')

    def wait(self, kind: str, look: Callable[[], _Found],
             is_over: Callable[[_Found], bool],
             help_on: Callable[[], None] = lambda: None) -> bool:
        """Wait until something is over.

        :param kind: the violation of what does not change for very long
        :param look: returns what may change meanwhile
        :param help_on: what an administrator does when nothing changes
        :returns: False when nothing has changed for very long
        """
        last, since = '', time.monotonic()
        helped = since
        while not is_over(found := look()):
            shown, now = _shown(found), time.monotonic()
            if shown != last:
                last, since, helped = shown, now, now
            elif now > since + _STUCK:
                self._stage.figures.violation(
                    kind, f'{self.mark} at {soak_stage.now():.3f}', shown)
                return False
            elif now > helped + _PATIENCE:
                helped = now
                help_on()
            time.sleep(_LOOK)
        return True

    def remove(self) -> None:
        """Delete all servers, remove all hosts, and delete the Pcloud."""
        self.delete(self.reader.left_of(self.mark))
        for name in self.hosts():
            self.must('PUT', self.path('hosts', name),
                      {'host': {'state': 'disabled'}})
            if self.wait('stuck: its owner cannot remove it',
                         lambda: self.ask('DELETE', self.path('hosts', name)),
                         lambda answer: answer.status_code != 409):
                self._stage.figures.count(f'{self.mark}: hosts removed')
        # Whether a server is shelved in another cell is not asked.
        self.must('DELETE', self.path() + '?force=1')


def _shown(found: object) -> str:
    if isinstance(found, requests.Response):
        return f'{found.status_code} {found.text}'
    return str(found)
