# SPDX-License-Identifier: Apache-2.0

"""The servers of a project, started and deleted at once."""

from collections.abc import Callable
from collections.abc import Iterable
import concurrent.futures
import itertools
import re
import time

import requests

from pcloud.tests.soak import computes
from pcloud.tests.soak import launches
from pcloud.tests.soak import rows
from pcloud.tests.soak import stage as soak_stage

_LOOK = 0.2


class Fleet:
    """The servers of a project whose names begin with a mark."""

    def __init__(self, stage: soak_stage.Stage, mark: str, project: str,
                 flavor: str = computes.FLAVORS[0]) -> None:
        self._stage, self._mark, self._flavor = stage, mark, flavor
        self._reader = rows.Reader()
        self._user = stage.computes.user(project)
        self._admin = stage.computes.user(project, admin=True)
        self._serial = itertools.count()

    def launch(self, numbers: Iterable[int], hints: dict[str, str],
               look: Callable[[], None]) -> list[requests.Response]:
        """Make requests for servers at once, and return the answers.

        :param numbers: the number of servers of each request
        :param look: called again and again until all answers are there
        """
        with concurrent.futures.ThreadPoolExecutor(16) as pool:
            asked = [pool.submit(self._ask, number, hints)
                     for number in numbers]
            while not all(each.done() for each in asked):
                look()
                time.sleep(_LOOK)
        return [each.result() for each in asked]

    def _ask(self, number: int, hints: dict[str, str]) -> requests.Response:
        body = {'server': {
            'name': f'{self._mark}-{next(self._serial)}',
            'imageRef': computes.IMAGE, 'flavorRef': self._flavor,
            'networks': computes.NETWORK, 'min_count': number}}
        if hints:
            body['os:scheduler_hints'] = hints
        return self._stage.answer_of_nova(
            self._user, f'launch by {self._mark}', 'POST', '/servers', body)

    def states(self) -> dict[str, str | None]:
        """Return uuid -> state, as `rows.Reader.left_of`."""
        return self._reader.left_of(self._mark)

    def rest(self, look: Callable[[], None]) -> dict[str, str | None]:
        """Wait until no server is being built; return uuid -> state.

        :param look: called again and again meanwhile
        """
        return launches.wait(self._stage, self._mark, self.states,
                             launches.is_building, look)

    def delete(self, uuids: Iterable[str],
               look: Callable[[], None]) -> None:
        """Delete servers, and wait until the servers are gone."""
        gone = set(uuids)
        for uuid in sorted(gone):
            self._stage.ask_nova(self._admin, 'delete server', 'DELETE',
                                 f'/servers/{uuid}')
        launches.wait(
            self._stage, self._mark,
            lambda: {uuid: state for uuid, state in self.states().items()
                     if uuid in gone}, launches.is_there, look)


def is_quota_of_nova(text: str) -> bool:
    """Return whether an answer, or a fault, tells of a quota of Nova."""
    return re.search('Quota exceeded for (instances|cores|ram)', text
                     ) is not None
