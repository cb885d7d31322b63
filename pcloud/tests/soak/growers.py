# SPDX-License-Identifier: Apache-2.0

"""A project whose default Pcloud grows, and servers without a hint."""

from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Set
import dataclasses
import random
import re

from pcloud.tests.concurrency import mariadb
from pcloud.tests.soak import asking
from pcloud.tests.soak import calls
from pcloud.tests.soak import fleets
from pcloud.tests.soak import launches
from pcloud.tests.soak import registers
from pcloud.tests.soak import rows
from pcloud.tests.soak import stage as soak_stage

# The host flavor of hosts on which servers start, for this actor alone.
FLAVOR = 'soak-grown'
_MARK = 'grower'
_MOST_HOSTS = 3
# A server of this flavor leaves no capacity for another on a host.
_WHOLE = {'id': 'soak-whole', 'name': 'soak-whole', 'vcpus': 1, 'ram': 6000,
          'disk': 1}
_LIMIT = re.compile(r'it has (\d+) hosts, needs at least (\d+) more, and may '
                    r'have (\d+)')
_UNITS = re.compile(r'requested (\d+), but already used (\d+) of (-?\d+) unit')
# Nobody takes a right away, and Keystone always answers.
_WRONG = ('set the default anew', 'Keystone', 'cannot be used',
          'cannot grow now')
_RIGHT = ('There is no free host', 'settle', 'could be kept in',
          'too few free hosts', 'repeat the request', 'are waiting before',
          # Nova's choice; a build that fails late, on each host that is left.
          'No valid host was found', 'It fails late', 'Exhausted all hosts',
          'Exceeded maximum number of retries')


@dataclasses.dataclass(frozen=True)
class Started:
    """A server without a hint of the user's.

    :ivar hint: the Pcloud in the hint that nova-api has given the server
    :ivar fault: why the server did not start
    """

    uuid: str
    host: str | None
    state: str
    hint: str | None
    fault: str


def is_right(reason: str, most: int, limit: int) -> bool:
    """Return whether there can be such a reason for a refusal.

    :param most: the most hosts that the Pcloud may have
    :param limit: the most units of the project, -1 for any number
    """
    if found := _LIMIT.search(reason):
        there, more, its = map(int, found.groups())
        return its == most and there <= its < there + more
    if found := _UNITS.search(reason):
        more, used, its = map(int, found.groups())
        return its == limit and 0 <= its < used + more
    return (fleets.is_quota_of_nova(reason) or
            any(each in reason for each in _RIGHT) and
            not any(each in reason for each in _WRONG))


def faults(servers: Iterable[Started], default: str | None,
           hosts: Set[str], most: int, limit: int,
           ) -> Iterator[tuple[str, str, str]]:
    """Yield servers that are not where the default has servers go.

    :param default: the Pcloud that grows, None while there is no default
    :param hosts: the hosts of the Pcloud
    :returns: kind of the violation, uuid, description
    """
    for each in servers:
        if each.hint != default or (
                each.host is not None and (each.host in hosts) != (
                    default is not None)):
            yield ('server not where its default is', each.uuid,
                   f'{each}, the default is {default} with {sorted(hosts)}')
        elif each.state == 'error' and not is_right(each.fault, most, limit):
            yield 'refused without a reason', each.uuid, str(each)


class _Grower:

    def __init__(self, stage: soak_stage.Stage) -> None:
        self._stage = stage
        self._chance = random.Random(f'{stage.seed} {_MARK}')
        self._party = asking.Party(
            stage, _MARK, f'{self._chance.getrandbits(128):032x}')
        self._fleet = fleets.Fleet(
            stage, _MARK, self._party.project, _WHOLE['id'])
        self._reader = rows.Reader()
        self._default: str | None = None
        self._limit = soak_stage.DEFAULT_QUOTA

    def run(self) -> None:
        """Play rounds until the run ends, and leave nothing."""
        project = self._party.project
        self._stage.answer_of_nova(
            self._stage.computes.user(project, admin=True),
            'POST server flavor', 'POST', '/flavors', {'flavor': _WHOLE})
        self._party.found()
        while self._stage.wait_for_calls(self._chance.randint(3, 15)):
            self._choose()
            self._round()
            self._give_back()
        self._party.insist(calls.set_default(project, None))
        self._party.expect(self._party.insist(calls.delete_policy(
            'project', project, True)), 204, 404)
        self._party.expect(self._party.insist(calls.reset_quota(project)),
                           204)
        self._party.leave()

    def _choose(self) -> None:
        """Choose default and limit, while no request is under way."""
        outside = self._chance.random() < 0.1
        self._party.expect(self._party.insist(calls.set_default(
            self._party.project, None if outside else {
                'pcloud': self._party.pcloud, 'mode': 'grow',
                'host_flavor': FLAVOR, 'max_hosts': _MOST_HOSTS})), 200)
        self._default = None if outside else self._party.pcloud
        self._limit = self._chance.choice(
            (soak_stage.DEFAULT_QUOTA, soak_stage.DEFAULT_QUOTA, 2, -1))
        lowers = 0 <= self._limit < len(self._party.hosts())
        if lowers:
            self._stage.excused.add(self._party.project)
        self._party.expect(self._party.insist(calls.set_quota(
            self._party.project, self._limit, lowers)), 200)
        if not lowers:
            self._stage.excused.discard(self._party.project)

    def _round(self) -> None:
        """Start servers at once, judge where the servers are, delete all."""
        asked = [self._chance.choice((1, 1, 2))
                 for _ in range(self._chance.randint(1, 4))]
        answers = self._fleet.launch(asked, {}, self._look)
        accepted = 0
        for number, answer in zip(asked, answers):
            if answer.status_code == 202:
                accepted += number
            elif answer.status_code < 500 and not is_right(
                    answer.text, _MOST_HOSTS, self._limit):
                self._stage.figures.violation(
                    'refused without a reason',
                    f'launch by {_MARK} at {soak_stage.now():.3f}',
                    f'{answer.status_code} {answer.text[:400]}')
        left = self._fleet.rest(self._look)
        if len(left) > accepted:
            self._stage.figures.violation(
                'refused, but changed something', f'{_MARK} {sorted(left)}',
                f'{asked}: {[each.text for each in answers]}')
        self._judge()
        self._fleet.delete(left, self._look)

    def _judge(self) -> None:
        # Nova writes that a server is in error before Nova writes why.
        launches.wait(self._stage, _MARK, self._unexplained,
                      launches.is_there, self._look)
        servers = list(self._servers())
        for each in servers:
            self._stage.figures.count(
                f'launched by {_MARK}: {each.state}, '
                f'{"in the default" if each.hint else "outside"}')
        aggregate = self._party.aggregate()
        for kind, uuid, text in faults(
                servers, self._default,
                aggregate.hosts if aggregate else frozenset(), _MOST_HOSTS,
                self._limit):
            self._stage.figures.violation(kind, uuid, text)

    def _unexplained(self) -> dict[str, str | None]:
        """Return uuid -> state of the servers in error without a fault."""
        return {each.uuid: each.state for each in self._servers()
                if each.state == 'error' and not each.fault}

    def _servers(self) -> Iterator[Started]:
        for cell in ('nova_cell0', 'nova_cell1'):
            name = mariadb.own(cell)
            for uuid, host, state, spec, fault in self._reader.query(
                    'SELECT i.uuid, i.host, i.vm_state, s.spec, '
                    f'(SELECT f.message FROM {name}.instance_faults f '
                    'WHERE f.instance_uuid = i.uuid ORDER BY f.id DESC '
                    f'LIMIT 1) FROM {name}.instances i LEFT JOIN '
                    'request_specs s ON s.instance_uuid = i.uuid '
                    'WHERE i.deleted = 0 AND i.project_id = %s',
                    (self._party.project,)):
                yield Started(uuid, host, state, rows.hint_of(spec),
                              fault or '')

    def _look(self) -> None:
        aggregate = self._party.aggregate()
        if aggregate and len(aggregate.hosts) > _MOST_HOSTS:
            self._stage.figures.violation(
                'grown beyond max_hosts', aggregate.name,
                f'{sorted(aggregate.hosts)} at {soak_stage.now():.3f}')

    def _give_back(self) -> None:
        """Remove some of the hosts, or have a worker remove the hosts."""
        for name, state in sorted(self._party.hosts().items()):
            self._stage.figures.count('hosts seen in a default that grows')
            if state == registers.LEAVING or self._chance.random() < 0.3:
                continue
            if self._chance.random() < 0.5:
                self._party.expect(self._party.insist(calls.drain(
                    self._party.pcloud, name,
                    {'move': 'none', 'release': True}, state)), 200, 404)
            else:
                self._party.let_go(name)


def grow(stage: soak_stage.Stage) -> None:
    """Have a default Pcloud grow until the run ends."""
    _Grower(stage).run()


ACTORS = [grow]
