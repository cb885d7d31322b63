# SPDX-License-Identifier: Apache-2.0

"""Projects that wait for the few hosts of a host flavor.

Workers give hosts. Only the calls of this actor give hosts back, one after the
other, and after each call the rows are read: so the order is known in which
hosts have to be given.
"""

from collections.abc import Iterator
import datetime
import itertools
import random
import time

from pcloud.tests.soak import asking
from pcloud.tests.soak import calls
from pcloud.tests.soak import judge
from pcloud.tests.soak import lines
from pcloud.tests.soak import rows
from pcloud.tests.soak import stage as soak_stage
from pcloud.tests.support import bulk

FLAVOR = 'soak-wait'
HOSTS = 4
_WAITERS = 3
_MOST_ENTRIES = 8
_LONG, _SHORT = 24 * 3600, 20
_ENTRY, _HOST = f'pcloud:waiting:{FLAVOR}:', 'pcloud:host:'
_SHARE, _LIMIT = 'pcloud:share:waiting', 'pcloud:quota:units'
_STAMP = '%Y%m%dT%H%M%SZ'
# So many seconds pass before somebody waits in vain beside a free host.
_STUCK = 600


class _Book:
    """Reads the rows of the waiting list, and judges the changes.

    :ivar now: the rows that were read last
    """

    def __init__(self, stage: soak_stage.Stage,
                 parties: list[asking.Party]) -> None:
        self._stage, self._parties = stage, parties
        self._reader = rows.Reader()
        self.now = self._read()
        self._got_on = time.monotonic()

    def look(self, **acts: object) -> None:
        """Read the rows, and compare the rows with those of the last look.

        :param acts: the calls since then, as for `lines.Acts`
        """
        before, self.now = self.now, self._read()
        self._stage.figures.count('looks at a waiting list')
        for found in lines.compare(before, self.now, lines.Acts(
                {each.pcloud for each in self._parties}, **acts)):
            self._stage.figures.violation(
                found.kind, found.subject, found.text)
        new = self.now.held.keys() - before.held.keys()
        ended = before.entries.keys() - self.now.entries.keys()
        self._stage.figures.count('hosts of a waiting list given', len(new))
        self._stage.figures.count('waiting entries ended', len(ended))
        if new or not (self.now.free and before.free and any(
                lines.waiting(before, self.now))):
            self._got_on = time.monotonic()
        elif time.monotonic() > self._got_on + _STUCK:
            self._stage.figures.violation(
                'waited in vain', FLAVOR, f'{self.now}')

    def _read(self) -> lines.Moment:
        with self._reader.moment():
            found = self._reader.aggregates_now(
                'a.id IN (SELECT aggregate_id FROM aggregate_metadata WHERE '
                '`key` = "pcloud:owner") OR a.name IN (%(journal)s, %(pool)s) '
                'OR a.name LIKE "Pcloud:policy:project:%%"',
                {'journal': rows.JOURNAL, 'pool': rows.POOL + FLAVOR})
            numbers = {(uuid, host): number for uuid, host, number
                       in self._reader.query(
                           'SELECT a.uuid, h.host, h.id FROM aggregates a '
                           'JOIN aggregate_hosts h ON h.aggregate_id = a.id '
                           'WHERE h.host LIKE %s', (f'{FLAVOR}-%',))}
        owned = {each.metadata['pcloud:id']: each for each in found
                 if 'pcloud:owner' in each.metadata}
        held = {numbers[each.uuid, host]: _held(each, host)
                for each in owned.values() for host in each.hosts
                if (each.uuid, host) in numbers}
        pool = next(each.hosts for each in found
                    if each.name == rows.POOL + FLAVOR)
        taken = {each.host for each in held.values()} | rows.due_hosts(found)
        projects = {each.name.rpartition(':')[2]: each.metadata
                    for each in found if each.name.startswith(rows.POLICY)}
        return lines.Moment(
            soak_stage.now(),
            {each.id: each for journal in found
             if journal.name == rows.JOURNAL
             for each in _entries(journal, owned)}, held,
            {project: float(its[_SHARE]) for project, its
             in projects.items() if _SHARE in its},
            {each.project: int(projects.get(each.project, {}).get(
                _LIMIT, soak_stage.DEFAULT_QUOTA))
             for each in self._parties}, pool - taken)


def _held(pcloud: rows.Aggregate, host: str) -> lines.Held:
    names = [key.removeprefix(_HOST) for key, node in pcloud.metadata.items()
             if key.startswith(_HOST) and node == host + bulk.NODE_SUFFIX]
    return lines.Held(host, pcloud.metadata['pcloud:id'],
                      pcloud.metadata['pcloud:owner'], (names or [''])[0])


def _entries(journal: rows.Aggregate, owned: dict[str, rows.Aggregate],
             ) -> Iterator[lines.Entry]:
    for key, value in journal.metadata.items():
        if key.startswith(_ENTRY):
            its = dict(each.split('=', 1) for each in value.split(' '))
            pcloud = owned.get(its['pcloud'])
            yield lines.Entry(
                key.removeprefix(_ENTRY), its['pcloud'],
                pcloud.metadata['pcloud:owner'] if pcloud else '',
                its['name'], _seconds(its['since']), _seconds(its['until']))


def _seconds(stamp: str) -> int:
    return int(datetime.datetime.strptime(stamp, _STAMP).replace(
        tzinfo=datetime.UTC).timestamp())


class _Queue:
    """A project that has hosts first, and projects that wait."""

    def __init__(self, stage: soak_stage.Stage) -> None:
        self._stage = stage
        self._chance = random.Random(f'{stage.seed} queue')
        self._parties = [asking.Party(
            stage, f'queue{number}', f'{self._chance.getrandbits(128):032x}')
            for number in range(1 + _WAITERS)]
        self._holder, *self._waiters = self._parties
        self._serial = itertools.count()

    def run(self) -> None:
        """Wait, and give hosts back, until the run ends; leave nothing."""
        for each in self._parties:
            each.found()
        self._book = _Book(self._stage, self._parties)
        actions = {self._wait: 30, self._free: 25, self._add: 12,
                   self._withdraw: 5, self._share: 4, self._limit: 4}
        while self._stage.wait_for_calls(1):
            self._book.look()
            if self._chance.random() < 0.1:
                action, = self._chance.choices(
                    list(actions), list(actions.values()))
                action()
        self._leave()

    def _wait(self) -> None:
        """Begin to wait for a host, sometimes for some seconds."""
        if len(self._book.now.entries) >= _MOST_ENTRIES:
            return self._free()
        party = self._chance.choice(self._waiters)
        name = f'w{next(self._serial)}'
        until = datetime.datetime.fromtimestamp(
            int(soak_stage.now()) + self._chance.choice(
                (_LONG, _LONG, _LONG, _SHORT)), datetime.UTC)
        outcome = party.ask(calls.wait_for_host(
            party.pcloud, name, FLAVOR, until.isoformat()))
        self._asked(party, name, outcome, 201, 202, 403)

    def _add(self) -> None:
        """Ask for a host without waiting: nobody may be overtaken."""
        party = self._chance.choice([self._holder, *self._parties])
        name = f'w{next(self._serial)}'
        outcome = party.ask(calls.add_host(
            party.pcloud, name, 'flavor, not waiting', host_flavor=FLAVOR))
        self._asked(party, name, outcome, 201, 403, 409)

    def _asked(self, party: asking.Party, name: str, outcome: judge.Outcome,
               *codes: int) -> None:
        self._book.look(asked={(party.pcloud, name): outcome.code})
        if outcome.code is not None and outcome.code != 503:
            party.expect(outcome, *codes)

    def _free(self) -> None:
        """Give a host back; mostly whoever does not wait gives it back."""
        held = list(self._book.now.held.values())
        for party in (self._holder, *self._chance.sample(
                self._waiters, _WAITERS)):
            names = [each.name for each in held
                     if each.pcloud == party.pcloud]
            if names and self._chance.random() < 0.8:
                party.let_go(self._chance.choice(names))
                # A worker may have computed the order before the change.
                party.reader.wait_until_settled()
                return self._book.look()

    def _withdraw(self) -> None:
        entries = sorted(self._book.now.entries)
        if not entries:
            return
        entry = self._book.now.entries[self._chance.choice(entries)]
        for party in self._waiters:
            if party.pcloud == entry.pcloud:
                party.expect(party.insist(calls.wait_no_longer(
                    entry.pcloud, entry.id)), 204, 404)
                self._book.look(withdrawn={entry.id})

    def _share(self) -> None:
        party = self._chance.choice(self._waiters)
        party.expect(party.insist(calls.set_share(
            party.project, self._chance.choice((None, 0.5, 2, 3)))), 200)
        party.reader.wait_until_settled()
        self._book.look()

    def _limit(self) -> None:
        """Let a project have no more, or as many as others."""
        party = self._chance.choice(self._waiters)
        # A worker may give a host before the limit counts.
        self._stage.excused.add(party.project)
        limit = self._chance.choice((1, soak_stage.DEFAULT_QUOTA, -1))
        party.expect(party.insist(calls.set_quota(
            party.project, limit, limit == 1)), 200)
        party.reader.wait_until_settled()
        self._book.look()
        if limit != 1:
            self._stage.excused.discard(party.project)

    def _leave(self) -> None:
        """Withdraw all entries, and remove hosts, policies and Pclouds."""
        for each in list(self._book.now.entries.values()):
            for party in self._waiters:
                if party.pcloud == each.pcloud:
                    party.insist(calls.wait_no_longer(each.pcloud, each.id))
        for party in self._parties:
            party.leave()
        for party in self._waiters:
            party.expect(party.insist(calls.delete_policy(
                'project', party.project, False)), 204, 404)
            party.expect(party.insist(calls.reset_quota(party.project)), 204)


def wait(stage: soak_stage.Stage) -> None:
    """Have projects wait for hosts until the run ends."""
    _Queue(stage).run()


ACTORS = [wait]
