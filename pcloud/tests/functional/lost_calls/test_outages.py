# SPDX-License-Identifier: Apache-2.0
"""What works, and what is refused, while a part of the cloud is away.

The tables of the operators' guide are read, and each cell is tried.
"""

from __future__ import annotations

from collections.abc import Collection
from collections.abc import Iterator
import csv
import dataclasses
import json
import logging
import pathlib
import re
import textwrap

from nova.db.api import api as api_db
from placement import db_api as placement_db

from pcloud.audit import all_checks
from pcloud.objects import reconcile
from pcloud.tests.functional.lost_calls import test_drops
from pcloud.tests.support import base
from pcloud.tests.support import ledger
from pcloud.tests.support import outages
from pcloud.tests.support import written

GUIDE = (pathlib.Path(__file__).parents[4] /
         'doc' / 'source' / 'admin' / 'outages.rst')

# The first cell has the database that Nova uses for what is in no cell.
HERE, THERE = 'cell2', 'cell3'

WORKS, HOSTS_DOWN = 'works', 'hosts down'
KINDS_UNKNOWN = 'kinds unknown'
CLOSED, AS_NOVA = 'closed until told', 'as Nova'

alice, admin = test_drops.alice, test_drops.admin
PCLOUD = '/os-pclouds/{mine}'
HOSTS = f'{PCLOUD}/hosts'
FLAVORS = '/os-host-flavors'
QUOTA = f'/os-pcloud-quotas/{base.ALICE}'
POLICIES = '/os-pcloud-policies'
ATTRIBUTES = '/os-pcloud-attributes'
OTHER = 'd' * 32

CALLS = {
    'Look at Pclouds, tenants, quotas, policies, attributes': [
        alice('GET', '/os-pclouds'), alice('GET', PCLOUD),
        alice('GET', f'{PCLOUD}/tenants'), alice('GET', QUOTA),
        alice('GET', f'{PCLOUD}/waiting'),
        admin('GET', f'{FLAVORS}/gpu/waiting'),
        admin('GET', f'{QUOTA[:-32]}{OTHER}'),
        admin('GET', f'{POLICIES}/project/{base.ALICE}'),
        admin('GET', ATTRIBUTES)],
    'Look at hosts and host flavors': [
        alice('GET', HOSTS), alice('GET', f'{HOSTS}/web'),
        admin('GET', FLAVORS), alice('GET', f'{FLAVORS}/gpu')],
    'Explain a Pcloud; look for capacity': [
        alice('GET', f'{PCLOUD}/explain?flavor=small'),
        alice('POST', f'{PCLOUD}/simulate', simulate={'servers': [
            {'flavor': 'small', 'count': 99}]}),
        alice('GET', f'{PCLOUD}/rebalance?goal=fit&flavor=small'),
        alice('GET', '/os-pcloud-room?flavor=small&pcloud={mine}'),
        admin('GET', '/os-pcloud-room?flavor=small')],
    'Create or rename a Pcloud; delete one by force': [
        alice('POST', '/os-pclouds', pcloud={'name': 'new'}),
        alice('PUT', PCLOUD, pcloud={'name': 'other'}),
        alice('DELETE', '/os-pclouds/{empty}?force=1')],
    'Delete a Pcloud': [alice('DELETE', '/os-pclouds/{empty}')],
    'Set the ratios of a Pcloud': [
        alice('PUT', PCLOUD, pcloud={'cpu_allocation_ratio': 5}),
        alice('PUT', PCLOUD, pcloud={'ram_allocation_ratio': None})],
    'Add or remove a tenant; end a rebalance': [
        alice('DELETE', f'{PCLOUD}/rebalance'),
        alice('PUT', f'{PCLOUD}/tenants/{OTHER}'),
        alice('DELETE', f'{PCLOUD}/tenants/{base.BOB}')],
    'Add a tenant by name': [
        alice('POST', f'{PCLOUD}/tenants', tenant={'name': 'film'})],
    'Add a host': [
        alice('POST', HOSTS, host={'name': 'db', 'host_flavor': 'gpu'}),
        alice('POST', HOSTS, host={'name': 'db', 'constraints': 'cpu=1'}),
        admin('POST', HOSTS, host={'name': 'db', 'constraints': 'cpu=1'})],
    'Enable a host': [
        alice('PUT', f'{HOSTS}/old', host={'state': 'enabled'})],
    'Enable a host that is closed': [
        alice('PUT', f'{HOSTS}/old', host={'state': 'enabled'})],
    'Disable a host': [
        alice('PUT', f'{HOSTS}/web', host={'state': 'disabled'})],
    'Drain a host': [
        alice('PUT', f'{HOSTS}/web', host={'state': 'draining'})],
    'Remove a host': [alice('DELETE', f'{HOSTS}/old')],
    'Create, change or delete a host flavor': [
        admin('POST', FLAVORS, host_flavor={'id': 'new', 'units': 2}),
        admin('PUT', f'{FLAVORS}/gpu', host_flavor={'units': 2}),
        admin('DELETE', f'{FLAVORS}/none')],
    'Add a host to a pool': [
        admin('POST', f'{FLAVORS}/gpu/hosts', host={'host': 'node-3'})],
    'Remove a host from a pool': [
        admin('DELETE', f'{FLAVORS}/gpu/hosts/node-2')],
    'Fence a host': [
        admin('PUT', f'{FLAVORS}/gpu/hosts/node-2', host={'fenced': True})],
    'Set or reset a quota': [
        admin('PUT', QUOTA, quota={'units': {'limit': 7}}),
        admin('DELETE', QUOTA)],
    'Set or delete a policy': [
        alice('PUT', f'{POLICIES}/pcloud/{{mine}}',
              policy={'constraints': 'cpu=2'}),
        admin('PUT', f'{POLICIES}/project/{base.ALICE}',
              policy={'customer_keys': ['A=1:1']}),
        admin('DELETE', f'{POLICIES}/project/{base.ALICE}')],
    'Set or unset an attribute': [
        admin('PUT', f'{ATTRIBUTES}/rack',
              attribute={'value': 'r2', 'hosts': ['node-1', 'node-2']}),
        admin('DELETE', f'{ATTRIBUTES}/rack?host=node-1')],
}
LAUNCHES = {
    'Start a server in a Pcloud': True,
    'Start a server outside Pclouds': False,
}

# What is done before, while Placement is away.
BEFORE = {'Enable a host that is closed':
          alice('PUT', PCLOUD, pcloud={'cpu_allocation_ratio': 4})}

# What else than a host's size and state tells of a cell that is silent.
_REASONS = {'in_the_way', 'changes', 'reason', 'code', 'params', 'available',
            'exact', 'placed', 'binding', 'enable', 'more', 'bounds',
            'not_explained', 'moves', 'steps', 'frees', 'pinned', 'valid_for'}
_UNKNOWN = (None, 0, 'down', 'unknown')


def read_table(name: str) -> list[dict[str, str]]:
    """Return the rows of a table of the guide, by the titles of columns.

    :param name: the table's class
    """
    found = re.search(
        rf'^\.\. csv-table::\n(?: +:.*\n)* +:class: {name}\n\n'
        r'((?: +.*\n)+)', GUIDE.read_text(), re.MULTILINE)
    return list(csv.DictReader(
        textwrap.dedent(found[1]).splitlines(), skipinitialspace=True))


@dataclasses.dataclass(frozen=True)
class Refusal:
    """How a call is refused.

    :ivar status: the answer's, or the server's
    :ivar words: a pattern of them
    """

    status: str
    words: re.Pattern

    def differs(self, status: object, text: str) -> Iterator[str]:
        """Tell what is not as the guide has it."""
        if str(status) != self.status or not self.words.fullmatch(text):
            yield f'{status} {text!r}, not {self.status} {self.words.pattern}'


def refusals() -> dict[str, Refusal]:
    """Return the refusals that the guide knows."""
    return {row['Answer']: Refusal(row['Status'], re.compile('.*'.join(
        map(re.escape, re.split('<[a-z]+>', row['Words'])))))
        for row in read_table('refusals')}


class OutagesTestCase(base.PcloudTestCase):
    """A cell with all hosts but one, and all of Alice's enabled hosts.

    Her Pcloud 'mine' has the hosts 'web' and, disabled, 'old' there, and
    'far' in another cell. One host is free, one may be put into a pool, and
    one is outside.
    """

    NUMBER_OF_CELLS = 3
    hosts = {f'node-{number}': 'az1' for number in range(1, 7)}

    def _start_compute(self, host, cell_name=None):
        return super()._start_compute(
            host, THERE if host == 'node-4' else HERE)

    _send = test_drops.DropsTestCase._send
    _make = test_drops.DropsTestCase._make

    def setUp(self):
        super().setUp()
        self.useFixture(base.fixtures.MonkeyPatch(
            'pcloud.backend.changes.change.PATIENCE', 0.3))
        self.useFixture(outages.Keystone())
        self.application = self.api_fixture.app()
        self.api_engine = api_db.context_manager.writer.get_engine()
        self.databases = written.Databases(
            self.api_engine, outages.cell_engine(self.cell_mappings[HERE]),
            placement_db.placement_context_manager.writer.get_engine())
        self.make_flavor('small')
        self.ids = {'{mine}': self.make_pcloud(self.alice),
                    '{empty}': self.make_pcloud(self.alice, 'empty')}
        mine = self.ids['{mine}']
        self.make_pool('none')
        self.make_pool('gpu', 'node-1')
        self.add_host(self.alice, mine, 'web', 'gpu')
        self._into_pool('gpu', 'node-6')
        self.add_host(self.alice, mine, 'old', 'gpu', enable=False)
        self._into_pool('gpu', 'node-2')
        self.make_pool('far', 'node-4')
        self.add_host(self.alice, mine, 'far', 'far', enable=False)
        self.disable_service('node-3')
        for call in [
                alice('PUT', PCLOUD, pcloud={'ram_allocation_ratio': 3}),
                alice('PUT', f'{PCLOUD}/tenants/{base.BOB}'),
                admin('PUT', QUOTA, quota={'units': {'limit': 9}}),
                admin('PUT', f'{POLICIES}/project/{base.ALICE}',
                      policy={'customer_keys': ['B=1:1']}),
                admin('PUT', f'{ATTRIBUTES}/rack', attribute={
                    'value': 'r1', 'hosts': ['node-1', 'node-2']})]:
            self._make(call)
        self.databases.know_pclouds()
        self.assertEqual([], all_checks.find(self.context, settle=0))
        self.kept = self.databases.keep()
        # All that is logged is wanted.
        logging.disable(logging.CRITICAL)
        self.addCleanup(logging.disable, logging.NOTSET)

    def _into_pool(self, flavor, host):
        self.disable_service(host)
        self._make(admin('POST', f'{FLAVORS}/{flavor}/hosts',
                         host={'host': host}))

        self.refusals = refusals()
        self.complaints: list[str] = []

    def _away(self, part: str):
        """Return what keeps a part away."""
        return {
            'API database': lambda: outages.SilentDatabase(self.api_engine),
            'Cell': lambda: outages.SilentCell(self.cell_mappings[HERE]),
            'Other cell': lambda: outages.SilentCell(
                self.cell_mappings[THERE]),
            'Placement': lambda: outages.SilentPlacement(
                self.placement.fixture._client),
            'RabbitMQ': outages.SilentBroker,
            'Keystone': outages.SilentKeystone,
            'Glance': lambda: outages.SilentGlance(self.glance),
        }[part]()

    def _check(self, rows: Collection[str], check) -> None:
        """Check the cells of some rows of the table."""
        table = {row.pop('Call'): row for row in read_table('outages')}
        self.assertEqual({*CALLS, *LAUNCHES}, table.keys())
        for title in rows:
            for part, answer in table[title].items():
                self.complaints += (
                    f'{title}, without {part}: {each}'
                    for each in check(title, part, answer))
        if self.complaints:
            self.fail('\n'.join(self.complaints))


class CallsTest(OutagesTestCase):
    """Calls of Pcloud's own API."""

    def setUp(self):
        super().setUp()
        self.audited: set[str] = set()
        self.usual: dict[str, Usual] = {}

    def test_looking(self):
        self._check([title for title, calls in CALLS.items()
                     if calls[0].method == 'GET'], self._look)

    def test_changing(self):
        self._check([title for title, calls in CALLS.items()
                     if calls[0].method != 'GET'], self._change)

    def _look(self, title, part, wanted) -> Iterator[str]:
        differing = 0
        for call in CALLS[title]:
            usual = self._send_anew(call)
            self.assertTrue(usual.is_success, f'{call}: {usual}')
            with self._away(part):
                answer = self._send_anew(call)
            if wanted in self.refusals:
                yield from self._refused(call, wanted, answer)
            elif not answer.is_success:
                yield f'{call}: {answer}'
            else:
                found = list(_differences(
                    json.loads(usual.text), json.loads(answer.text)))
                differing += bool(found)
                yield from (f'{call}: {name} is {value!r}'
                            for name, value in found
                            if not _is_unknown(wanted, name, value))
        if wanted in (HOSTS_DOWN, KINDS_UNKNOWN) and not differing:
            yield 'all is known'

    def _send_anew(self, call):
        """Send a call to a process that remembers no pool."""
        self.useFixture(base.ForgetfulProcess())
        return self._send(call)

    def _refused(self, call, wanted, answer):
        for each in self.refusals[wanted].differs(answer.status, answer.text):
            yield f'{call}: {each}'

    def _change(self, title, part, wanted) -> Iterator[str]:
        for call in CALLS[title]:
            usual = self._usual(title, call)
            self._put_back(title)
            start = self.databases.read()
            with self._away(part) as silent:
                answer = self._send(call)
            now = self.databases.read()
            yield from (f'{call}: nothing bounds {each}'
                        for each in getattr(silent, 'endless', ()))
            complaints = (
                self._refused_change(call, wanted, answer, start, now)
                if wanted in self.refusals else
                self._made_change(wanted, answer, usual, now))
            yield from (f'{call}: {each}' for each in complaints)
            if not answer.is_success:
                again = self._send(call)
                if not again.is_success:
                    yield f'{call}, repeated: {again}'
            yield from (f'{call}, in the end: {each}' for each in
                        written.differences(usual.end, self._end()))

    def _refused_change(self, call, wanted, answer, start, now):
        yield from self._refused(call, wanted, answer)
        yield from written.differences(start, now)

    def _made_change(self, wanted, answer, usual, now):
        if answer.status != usual.status:
            yield str(answer)
            return
        behind = now.due - usual.after.due if wanted == CLOSED else ()
        yield from written.differences(usual.after, now, behind)
        if wanted == CLOSED and not behind:
            yield 'nothing is due'
        for host in ledger.given_to(sorted(behind)) if behind else ():
            yield f'{host} takes servers'

    def _put_back(self, title):
        self.databases.put_back(self.kept)
        if title in BEFORE:
            with self._away('Placement'):
                self._make(BEFORE[title])

    def _usual(self, title, call) -> Usual:
        """Return what a call does on any other day."""
        name = f'{title}: {call}'
        if name not in self.usual:
            self._put_back(title)
            answer = self._send(call)
            self.assertTrue(answer.is_success, f'{call}: {answer}')
            self.usual[name] = Usual(
                answer.status, self.databases.read(), self._end())
        return self.usual[name]

    def _end(self) -> written.State:
        """Have everything done that is due, and audited."""
        for host in sorted(self.databases.read().due):
            self.assertTrue(reconcile.host(self.context, host), host)
        state = self.databases.read()
        if str(state) not in self.audited:
            self.assertEqual([], all_checks.find(self.context, settle=0))
            self.audited.add(str(state))
        return state


@dataclasses.dataclass(frozen=True)
class Usual:
    """What a call does on any other day.

    :ivar after: what is there after the call
    :ivar end: the same when nothing is due any more
    """

    status: int
    after: written.State
    end: written.State


def _differences(
    usual: object, now: object, name: str = '',
) -> Iterator[tuple[str, object]]:
    """Yield the names and values that differ from the usual ones."""
    if isinstance(usual, dict) and isinstance(now, dict):
        for each in usual.keys() | now.keys():
            yield from _differences(
                usual.get(each), now.get(each), f'{name}.{each}')
    elif isinstance(usual, list) and isinstance(now, list) and (
            len(usual) == len(now)):
        for number, pair in enumerate(zip(usual, now, strict=True)):
            yield from _differences(*pair, f'{name}.{number}')
    elif usual != now:
        yield name, now


def _is_unknown(wanted: str, name: str, value: object) -> bool:
    """Whether a value is what is shown while a part is silent.

    :param wanted: how the guide calls the answer
    """
    members = name.split('.')
    if wanted == KINDS_UNKNOWN:
        return value is None and members[-1] in ('resources', 'traits')
    return wanted == HOSTS_DOWN and (
        value in _UNKNOWN or not _REASONS.isdisjoint(members))
