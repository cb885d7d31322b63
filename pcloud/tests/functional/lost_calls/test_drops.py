# SPDX-License-Identifier: Apache-2.0

"""Every changing call, with each call that it makes itself lost.

A call is lost before or after it took effect, once or for the rest of the
request, alone or together with a second one: all of them, one by one.
Whatever is lost, an answer of 4xx or 5xx has changed nothing, one of 2xx has
changed everything, and repeating the call mends what is left to do.
"""

from __future__ import annotations

import collections
from collections.abc import Callable
from collections.abc import Iterator
import dataclasses
import datetime
import itertools
import json
import logging
import re
import sys

import webob

from pcloud.audit import all_checks
from pcloud.objects import reconcile
from pcloud.tests.support import base
from pcloud.tests.support import drops
from pcloud.tests.support import ledger
from pcloud.tests.support import written

ROLES = {'alice': 'reader,member', 'admin': 'reader,member,admin'}
PROJECTS = {'alice': base.ALICE, 'admin': base.CAROL}

# The words of the one refusal that does not promise that nothing changed.
UNKNOWN = re.compile(r'is not known')

# For how many seconds a call may wait in all.
PATIENCE = 60

# Of each complaint so many drops are named.
_NAMED = 4


@dataclasses.dataclass(frozen=True)
class Call:
    """A call of the API; `{mine}` and `{empty}` in paths are Pclouds."""

    user: str
    method: str
    path: str
    body: dict | None = None

    def __str__(self) -> str:
        body = '' if self.body is None else f' {json.dumps(self.body)}'
        return f'{self.method} {self.path}{body}'


@dataclasses.dataclass(frozen=True)
class Case:
    """A call that changes something, and what is done before.

    :ivar unused: whether no change was ever made in this cloud before
    :ivar makes_anew: whether the call, repeated, changes something again
    """

    call: Call
    before: tuple[Call, ...] = ()
    unused: bool = False
    makes_anew: bool = False

    def __str__(self) -> str:
        return f'{self.call}{" (first change)" if self.unused else ""}'


def _by(user: str) -> Callable[..., Call]:
    def make(method, path, **body):
        return Call(user, method, path, body or None)
    return make


alice, admin = _by('alice'), _by('admin')

HOSTS = '/os-pclouds/{mine}/hosts'
GPU = '/os-host-flavors/gpu'
QUOTA = f'/os-pcloud-quotas/{base.ALICE}'
POLICIES = '/os-pcloud-policies'

_new_pcloud = alice('POST', '/os-pclouds', pcloud={'name': 'new'})
_add_host = alice(
    'POST', HOSTS, host={'name': 'db', 'host_flavor': 'gpu'})
_enable = alice('PUT', f'{HOSTS}/web', host={'state': 'enabled'})
_drain = alice('PUT', f'{HOSTS}/web', host={
    'state': 'draining', 'drain': {'deadline': '2100-01-01'}})
_spare = alice('PUT', f'{HOSTS}/web', host={'state': 'spare'})

# No host is in the pool.
_wait = alice('POST', HOSTS, host={
    'name': 'db', 'host_flavor': 'big', 'until': '2100-01-01',
    'wait_until': f'{datetime.date.today() + datetime.timedelta(days=9)}'})

PCLOUDS = [
    Case(_new_pcloud, makes_anew=True),
    Case(_new_pcloud, unused=True, makes_anew=True),
    Case(alice('PUT', '/os-pclouds/{mine}', pcloud={'name': 'other'})),
    Case(alice('PUT', '/os-pclouds/{mine}', pcloud={
        'cpu_allocation_ratio': 5, 'ram_allocation_ratio': 2})),
    Case(alice('PUT', '/os-pclouds/{mine}', pcloud={
        'cpu_allocation_ratio': None})),
    Case(alice('PUT', '/os-pclouds/{mine}', pcloud={
        'shrink': {'after_hours': 2, 'min_hosts': 0, 'keep_spare': 0}})),
    Case(alice('PUT', '/os-pclouds/{mine}', pcloud={
        'host_recovery': 'replace'})),
    Case(alice('DELETE', '/os-pclouds/{empty}')),
]
ADDING = [
    Case(_add_host),
    Case(_add_host, unused=True),
    Case(alice('POST', HOSTS, host={'name': 'db', 'constraints': 'cpu=1'})),
]
WAITING = [Case(_wait), Case(_wait, unused=True)]
REMOVING = [Case(alice('DELETE', f'{HOSTS}/web'))]
STATES = [
    Case(_enable),
    Case(alice('PUT', f'{HOSTS}/web', host={'state': 'disabled'}),
         before=(_enable,)),
    Case(_drain, before=(_enable,)),
    Case(_enable, before=(_drain,)),
    Case(_spare, before=(_enable,)),
    Case(_enable, before=(_spare,)),
]
TENANTS = [
    Case(alice('PUT', f'/os-pclouds/{{mine}}/tenants/{"d" * 32}')),
    Case(alice('POST', '/os-pclouds/{mine}/tenants',
               tenant={'name': 'film'})),
    Case(alice('PUT', f'/os-pclouds/{{mine}}/tenants/{base.BOB}',
               tenant={'max_vcpus': 5})),
    Case(alice('DELETE', f'/os-pclouds/{{mine}}/tenants/{base.BOB}')),
]
HOST_FLAVORS = [
    Case(admin('POST', '/os-host-flavors',
               host_flavor={'id': 'new', 'units': 2})),
    Case(admin('PUT', GPU, host_flavor={'description': 'new', 'units': 2})),
    Case(admin('DELETE', '/os-host-flavors/big')),
]
POOLS = [
    Case(admin('POST', f'{GPU}/hosts', host={'host': 'node-3'})),
    Case(admin('DELETE', f'{GPU}/hosts/node-2')),
]
QUOTAS = [
    Case(admin('PUT', QUOTA, quota={'units': {'limit': 7}})),
    Case(admin('DELETE', QUOTA)),
]
SCOPED_POLICIES = [
    Case(alice('PUT', f'{POLICIES}/pcloud/{{mine}}',
               policy={'constraints': 'cpu=2', 'customer_keys': []})),
    Case(admin('DELETE', f'{POLICIES}/pcloud/{{mine}}')),
    Case(admin('PUT', f'{POLICIES}/project/{base.ALICE}',
               policy={'constraints': 'cpu=2'})),
    Case(admin('DELETE', f'{POLICIES}/project/{base.ALICE}')),
]
ATTRIBUTES = [
    Case(admin('PUT', '/os-pcloud-attributes/rack',
               attribute={'value': 'r2', 'hosts': ['node-1', 'node-2']})),
    Case(admin('PUT', '/os-pcloud-attributes/next_reboot',
               attribute={'value': '2030-01-01T00:00:00Z',
                          'hosts': ['node-1']})),
    Case(admin('DELETE', '/os-pcloud-attributes/rack?host=node-1')),
]

# What is there before each case.
THERE = [
    alice('POST', HOSTS, host={'name': 'web', 'host_flavor': 'gpu'}),
    alice('PUT', '/os-pclouds/{mine}', pcloud={'cpu_allocation_ratio': 3}),
    alice('PUT', f'/os-pclouds/{{mine}}/tenants/{base.BOB}'),
    admin('PUT', QUOTA, quota={'units': {'limit': 5}}),
    admin('PUT', f'{POLICIES}/project/{base.ALICE}',
          policy={'customer_keys': ['B=1:1']}),
    admin('PUT', f'{POLICIES}/pcloud/{{mine}}',
          policy={'customer_keys': ['A=1:1']}),
    admin('PUT', '/os-pcloud-attributes/rack',
          attribute={'value': 'r1', 'hosts': ['node-1', 'node-2']}),
]


@dataclasses.dataclass(frozen=True)
class Answer:
    """An answer of the API, or what it raised instead.

    :ivar wrong: what is wrong with it whatever the call was
    """

    status: int
    text: str
    wrong: str | None = None

    @property
    def is_success(self) -> bool:
        """Whether the call was done."""
        return 200 <= self.status < 300

    @property
    def is_unknown(self) -> bool:
        """Whether the answer says that its effect is not known."""
        return self.status == 503 and bool(UNKNOWN.search(self.text))

    def __str__(self) -> str:
        return f'{self.status} {self.text}'


def judge(response: webob.Response) -> Answer:
    """Hold a response against the shape that the contract gives to all."""
    text, status = response.text, response.status_int
    wrong = None
    if status >= 500 and status != 503:
        wrong = f'the answer is {status} {text}'
    elif status >= 400:
        try:
            fault, = json.loads(text).values()
            text = fault['message']
            if fault['code'] != status or not text:
                wrong = f'the fault is not of its shape: {response.text}'
        except (ValueError, KeyError, TypeError, AttributeError):
            wrong = f'the fault is not of its shape: {response.text}'
    elif not 200 <= status < 300:
        wrong = f'the answer is {status}'
    return Answer(status, text, wrong)


class Complaints:
    """What was wrong, and which drops it came from."""

    def __init__(self) -> None:
        self._found: dict[str, list[str]] = collections.defaultdict(list)
        self.trials = 0

    def add(self, complaint: str, cause: str) -> None:
        """Note that something was wrong when something was lost."""
        self._found[complaint].append(cause)

    @property
    def causes(self) -> int:
        """How many trials went wrong."""
        return len(set(itertools.chain.from_iterable(
            self._found.values())))

    def __str__(self) -> str:
        lines = []
        for complaint, causes in self._found.items():
            lines.append(f'  {complaint}')
            lines += [f'    when {cause}' for cause in causes[:_NAMED]]
            if len(causes) > _NAMED:
                lines.append(f'    and {len(causes) - _NAMED} times more')
        return '\n'.join(lines)


class DropsTestCase(base.PcloudTestCase):
    """A cloud with two hosts in a pool and one that may be put there.

    Alice's Pcloud 'mine' has a ratio, a tenant, a policy and a host; her
    other one is empty. There is one free host, so that chance decides
    nothing.
    """

    hosts = {'node-1': 'az1', 'node-2': 'az1', 'node-3': 'az1'}

    def setUp(self):
        super().setUp()
        self.application = self.api_fixture.app()
        api, cell, placement = self.engines()
        self.databases = written.Databases(api, cell, placement)
        self.outgoing = self.useFixture(drops.Outgoing(
            {'API database': api, 'cell database': cell},
            self.placement.fixture._client))
        self.make_pool('big')
        self.make_pool('gpu', 'node-1')
        self.disable_service('node-3')
        self.ids = {'{mine}': self.make_pcloud(self.alice),
                    '{empty}': self.make_pcloud(self.alice, 'empty')}
        for call in THERE:
            self._make(call)
        # Only now, so that node-1 is the one in the Pcloud.
        self.disable_service('node-2')
        self._make(admin('POST', f'{GPU}/hosts', host={'host': 'node-2'}))
        self.databases.know_pclouds()
        self.assertEqual([], all_checks.find(self.context, settle=0))
        self.kept = self.databases.keep()
        # Thousands of faults are logged, all of them wanted.
        logging.disable(logging.CRITICAL)
        self.addCleanup(logging.disable, logging.NOTSET)

    def _send(self, call: Call) -> Answer:
        path = call.path
        for name, value in self.ids.items():
            path = path.replace(name, value)
        request = webob.Request.blank(
            f'/v2.1{path}', method=call.method, headers={
                'Content-Type': 'application/json',
                'X-Roles': ROLES[call.user],
                'X-Auth-User': call.user, 'X-User-Id': call.user,
                'X-Auth-Project-Id': PROJECTS[call.user]})
        if call.body is not None:
            request.json = call.body
        try:
            return judge(request.get_response(self.application))
        except (Exception, drops.Endless) as error:
            return Answer(500, repr(error), f'the call raised {error!r}')

    def _make(self, call: Call) -> None:
        answer = self._send(call)
        self.assertTrue(answer.is_success, f'{call}: {answer}')

    def check_singles(self, cases: list[Case]) -> None:
        """Lose each call of each case by itself."""
        self._check(cases, Trials.singles)

    def check_pairs(self, cases: list[Case]) -> None:
        """Lose each two calls of each case."""
        self._check(cases, Trials.pairs)

    def _check(self, cases, run):
        failures = []
        for case in cases:
            trials = Trials(self, case)
            run(trials)
            found = trials.complaints
            title = (f'{case}: {trials.calls}, {found.trials} trials, '
                     f'{found.causes} went wrong')
            print(f'\n{title}', file=sys.stderr)
            if found.causes:
                failures.append(f'{title}\n{found}')
        if failures:
            self.fail('\n' + '\n'.join(failures))


class Trials:
    """One case, again and again from the same start.

    :ivar points: where the undisturbed call could have been disturbed
    """

    def __init__(self, test: DropsTestCase, case: Case) -> None:
        self._test, self._case = test, case
        self._databases = test.databases
        self._databases.put_back(test.kept)
        for call in case.before:
            test._make(call)
        self._kept = self._databases.keep()
        if case.unused:
            self._forget_journal()
        self._start = self._databases.read()
        self.complaints = Complaints()
        self._audited: set[str] = set()
        # The first call fills what Nova remembers for ever.
        for _ in range(2):
            self._databases.put_back(self._kept)
            with test.outgoing.dropping() as met:
                answer = test._send(case.call)
        self.points = met.points
        test.assertEqual([], list(self._reconcile()), str(case))
        self._wanted = self._databases.read()
        self._status = answer.status
        test.assertTrue(answer.is_success, f'{case}: {answer}')
        test.assertNotEqual(self._start, self._wanted, str(case))
        self._databases.put_back(self._kept)
        test.assertEqual(self._start, self._databases.read())

    @property
    def calls(self) -> str:
        """How many calls the undisturbed call makes, of whom."""
        count = collections.Counter(
            f'{point.part} commits' if point.text == drops.COMMIT
            else point.part for point in self.points)
        return ', '.join(f'{part} {number}'
                         for part, number in sorted(count.items()))

    def _forget_journal(self) -> None:
        self._databases.drop_journal()
        self._kept = self._databases.keep()

    def singles(self) -> None:
        """Lose each call, once and for the rest of the request."""
        for number, point in enumerate(self.points, 1):
            for when in point.whens:
                for stays_away in (False, True):
                    self._try(drops.Drop(number, when, stays_away))

    def pairs(self) -> None:
        """Lose each two calls; of a transaction's statements the first."""
        for first in _of_transactions(self.points):
            second_points = self._try(first)
            for second in _of_transactions(second_points, first.number):
                self._try(first, second)

    def _try(self, *lost: drops.Drop) -> list[drops.Point]:
        """Lose calls, look at what is there then, and have it mended.

        :returns: what was met on the way
        """
        self.complaints.trials += 1
        self._databases.put_back(self._kept)
        with self._test.outgoing.dropping(*lost) as met:
            answer = self._test._send(self._case.call)
        if met.lost != len(lost):
            self.complaints.add(
                f'the call makes other calls each time, now {met.points}',
                str(lost))
            return met.points
        cause = ', '.join(
            f'#{drop.number} was lost {drop.when.value} it was done'
            f'{" and its part stays away" if drop.stays_away else ""} '
            f'({met.points[drop.number - 1]})' for drop in lost)
        for complaint in itertools.chain(
                self._check_answer(answer, met), self._check_rows(answer),
                self._mend(answer)):
            self.complaints.add(complaint, cause)
        return met.points

    def _check_answer(self, answer, met) -> Iterator[str]:
        if answer.wrong:
            yield answer.wrong
        elif answer.is_success and answer.status != self._status:
            yield f'the answer is {answer.status}, not {self._status}'
        if met.waited > PATIENCE:
            yield f'more than {PATIENCE} seconds of waiting'

    def _check_rows(self, answer) -> Iterator[str]:
        now = self._databases.read()
        if answer.is_success:
            yield from self._tell(
                answer.status, 'but', self._wanted, now, now.due)
        elif not answer.is_unknown:
            yield from self._tell(answer, 'but', self._start, now)
        elif list(written.differences(self._start, now)):
            yield from self._tell(
                'unknown', 'and not whole:', self._wanted, now, now.due)
        for host in sorted(now.due and ledger.given_to(sorted(now.due))):
            yield f'{host} takes servers while something is due for it'

    def _tell(self, answer, and_, wanted, found, behind=frozenset()):
        for difference in written.differences(wanted, found, behind):
            yield f'{answer} {and_} {difference}'

    def _mend(self, answer) -> Iterator[str]:
        """Do what is to be done when all parts of the cloud are back."""
        yield from self._reconcile()
        if not answer.is_success and not (
                answer.is_unknown and self._case.makes_anew):
            again = self._test._send(self._case.call)
            if again.wrong:
                yield f'repeated: {again.wrong}'
            elif not again.is_success and not answer.is_unknown:
                yield f'{answer.status}, and repeated: {again}'
        now = self._databases.read()
        for difference in written.differences(self._wanted, now):
            if not (answer.is_unknown and self._case.makes_anew):
                yield f'{answer.status}, and in the end {difference}'
        if str(now) not in self._audited:
            yield from self._audit(now)

    def _reconcile(self) -> Iterator[str]:
        for host in sorted(self._databases.read().due):
            try:
                reconcile.host(self._test.context, host)
            except Exception as error:  # Whatever it is, the rest goes on.
                yield f'reconciling {host} raised {error!r}'

    def _audit(self, now: written.State) -> Iterator[str]:
        try:
            left = self._left_by_audit()
        except Exception as error:  # As above.
            yield f'audit raised {error!r}'
            return
        if left:
            yield f'audit still finds {", ".join(sorted(left))}'
        else:
            self._audited.add(str(now))

    def _left_by_audit(self) -> set[str]:
        """Have audit repair what it can; returns the kinds it then finds."""
        context = self._test.context
        found = all_checks.find(context, settle=0)
        for finding in found:
            if finding.repair is not None:
                finding.repair(context)
        return {finding.kind for finding in
                (found and all_checks.find(context, settle=0))}


def _of_transactions(
    points: list[drops.Point], after: int = 0,
) -> Iterator[drops.Drop]:
    """Return the drops behind a point at which pairs are looked at."""
    for number, point in enumerate(points, 1):
        if number > after and not point.within:
            for when in point.whens:
                yield drops.Drop(number, when)


class SinglesTest(DropsTestCase):
    """One call is lost."""

    def test_pclouds(self):
        self.check_singles(PCLOUDS)

    def test_adding_hosts(self):
        self.check_singles(ADDING)

    def test_removing_hosts(self):
        self.check_singles(REMOVING)

    def test_waiting(self):
        self.check_singles(WAITING)

    def test_states_of_hosts(self):
        self.check_singles(STATES)

    def test_tenants(self):
        self.check_singles(TENANTS)

    def test_host_flavors(self):
        self.check_singles(HOST_FLAVORS)

    def test_pools(self):
        self.check_singles(POOLS)

    def test_quotas(self):
        self.check_singles(QUOTAS)

    def test_policies(self):
        self.check_singles(SCOPED_POLICIES)

    def test_attributes(self):
        self.check_singles(ATTRIBUTES)


class PairsTest(DropsTestCase):
    """Two calls are lost."""

    def test_pclouds(self):
        self.check_pairs(PCLOUDS)

    def test_adding_hosts(self):
        self.check_pairs(ADDING)

    def test_removing_hosts(self):
        self.check_pairs(REMOVING)

    def test_waiting(self):
        self.check_pairs(WAITING)

    def test_states_of_hosts(self):
        self.check_pairs(STATES)

    def test_tenants(self):
        self.check_pairs(TENANTS)

    def test_host_flavors(self):
        self.check_pairs(HOST_FLAVORS)

    def test_pools(self):
        self.check_pairs(POOLS)

    def test_quotas(self):
        self.check_pairs(QUOTAS)

    def test_policies(self):
        self.check_pairs(SCOPED_POLICIES)

    def test_attributes(self):
        self.check_pairs(ATTRIBUTES)
