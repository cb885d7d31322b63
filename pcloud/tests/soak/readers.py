# SPDX-License-Identifier: Apache-2.0

"""Users who may only read, and users who may not even read.

All calls that read are made about a Pcloud of another project each time: by a
reader of the owner's project, by a reader of a stranger's project, and by a
user without any role in the owner's project.
"""

from collections.abc import Iterator
from collections.abc import Set
import dataclasses
import enum
import random
import re
import uuid

from pcloud.tests.concurrency import crowd
from pcloud.tests.soak import asking
from pcloud.tests.soak import calls
from pcloud.tests.soak import computes
from pcloud.tests.soak import judge
from pcloud.tests.soak import rows
from pcloud.tests.soak import stage as soak_stage
from pcloud.tests.support import bulk
from pcloud.tests.support import tenancy

# The attribute that names racks, whose names are for administrators.
_RACKS = ('hidden-rack-a', 'hidden-rack-b')


class Who(enum.Enum):
    """A user who reads."""

    OWNER = "reader of the owner's project"
    STRANGER = "reader of a stranger's project"
    NOBODY = "user without a role in the owner's project"


class Level(enum.Enum):
    """Who may make a call that reads."""

    ANY = 'anybody'
    PCLOUD = 'readers of the project that owns the Pcloud'
    LIST = 'readers, who see what is of their project'
    PROJECT = 'readers of the project in the path'
    ADMIN = 'administrators'


_ROLES = {Who.OWNER: 'reader', Who.STRANGER: 'reader', Who.NOBODY: 'auditor'}
_REFUSED = {(Who.STRANGER, Level.PCLOUD): {404},
            (Who.STRANGER, Level.PROJECT): {403}}
# Calls for anybody, and for administrators; the beginning of the path.
_ANY = re.compile(r'/os-host-flavors(/[^/?]+)?(\?.*)?$|/os-pcloud$')
_ADMIN = re.compile(r'/os-host-flavors/.*/waiting$|/os-pcloud-audit$|'
                    r'/os-pcloud-usage$|/os-pcloud-attributes$|.*all_tenants|'
                    r'/os-pcloud-policies/(cloud|role)/')
_OF_PROJECT = re.compile(r'/os-pcloud-(quotas|usage|policies/project)/')
_OF_PCLOUD = re.compile(r'/os-pclouds/|/os-pcloud-policies/pcloud/|'
                        r'/os-pcloud-room')


def level(path: str) -> Level:
    """Return who may make a call."""
    for form, its in ((_ANY, Level.ANY), (_ADMIN, Level.ADMIN),
                      (_OF_PROJECT, Level.PROJECT),
                      (_OF_PCLOUD, Level.PCLOUD)):
        if form.match(path):
            return its
    return Level.LIST


def right_codes(who: Who, path: str) -> Set[int]:
    """Return the status codes that a call may be answered with.

    Whatever the call is about may be gone by now: 404. Who may not read is
    told nothing, also while parts of the cloud are away.
    """
    its = level(path)
    if its is Level.ANY:
        return {200, 404}
    if who is Who.NOBODY or its is Level.ADMIN:
        # A list of all is for administrators; others see their own.
        return {403}
    return _REFUSED.get((who, its), {200, 404, 409})


def faults(who: Who, path: str, code: int, text: str, secrets: Set[str],
           own: Set[str]) -> Iterator[judge.Violation]:
    """Yield what is wrong with an answer.

    :param secrets: names of hosts, hypervisors and racks
    :param own: the ids of the Pcloud and of the owner
    """
    words = {each.strip('.-') for each in re.findall(r'[\w.-]+', text)}
    for each in sorted(words & secrets):
        yield judge.Violation('hostname shown', f'{each} in {path}',
                              f'to {who.value}: {text[:500]}')
    if code in right_codes(who, path) | {503}:
        shown = words & own if code == 200 else set()
        if who is Who.OWNER or level(path) is Level.ANY or not shown:
            return
    elif who is Who.OWNER:
        if code != 500:
            yield judge.Violation('refused without a reason', f'GET {code}',
                                  f'{path} to {who.value}: {text[:300]}')
        return
    yield judge.Violation('shown to a stranger', f'{code} of {path}',
                          f'to {who.value}: {text[:300]}')


@dataclasses.dataclass(frozen=True)
class _Reader:
    who: Who
    user: crowd.User


def paths(there: tenancy.Tenancy) -> list[str]:
    """Return the paths of all calls that read."""
    pcloud = f'/os-pclouds/{there.pcloud}'
    policies, small = '/os-pcloud-policies', computes.FLAVORS[0]
    return list(dict.fromkeys([
        *(each.path for each in tenancy.reads(there)),
        f'{pcloud}/hosts/{there.host}', f'{pcloud}/explain?flavor={small}',
        f'{pcloud}/rehearsal', f'{pcloud}/rehearsal?lose=rack',
        f'{pcloud}/rebalance?goal=free_hosts',
        f'/os-pcloud-room?flavor={small}&pcloud={there.pcloud}',
        '/os-pcloud', '/os-pcloud-servers', '/os-pcloud-hidden-servers',
        '/os-pcloud-attributes', '/os-pcloud-audit',
        f'/os-host-flavors/{there.flavor}/waiting',
        f'{policies}/project/{there.owner}', f'{policies}/cloud/default',
        f'{policies}/project/{there.owner}?effective=1',
        f'{policies}/pcloud/{there.pcloud}']))


class _Reading:

    def __init__(self, stage: soak_stage.Stage) -> None:
        self._stage = stage
        self._chance = random.Random(f'{stage.seed} readers')
        self._reader = rows.Reader()
        self._stranger = f'{self._chance.getrandbits(128):032x}'
        self._party = asking.Party(stage, 'reader', self._stranger)
        self._hosts = sorted(stage.real)

    def run(self) -> None:
        """Read until the run ends."""
        for number, rack in enumerate(_RACKS):
            self._party.expect(self._party.insist(calls.set_attribute(
                'rack', rack, self._hosts[number::2])), 200)
        while self._stage.wait_for_calls(self._chance.randint(30, 100)):
            self._read_all()
        self._party.expect(self._party.insist(calls.delete_attribute(
            'rack', self._hosts)), 204, 404)

    def _read_all(self) -> None:
        there = self._choose()
        if there is None:
            return
        secrets = self._secrets()
        wanted = paths(there)
        for who in Who:
            project = (self._stranger if who is Who.STRANGER else there.owner)
            reader = _Reader(who, self._stage.user(project))
            for path in self._chance.sample(wanted, min(8, len(wanted))):
                self._read(reader, path, secrets, {there.pcloud, there.owner})

    def _read(self, reader: _Reader, path: str, secrets: Set[str],
              own: Set[str]) -> None:
        outcome = asking.ask(
            self._stage, reader.user, calls.read(path), reader.who.value,
            **{'X-Roles': _ROLES[reader.who]})
        if outcome.code is None:
            return
        self._stage.figures.count(f'answers to readers: {outcome.code}')
        for found in faults(reader.who, path, outcome.code, outcome.text,
                            secrets, own):
            self._stage.figures.violation(
                found.kind, found.subject,
                f'{found.text} at {outcome.start:.3f}')

    def _choose(self) -> tenancy.Tenancy | None:
        """Return a Pcloud, preferably with hosts, and what belongs to it."""
        found = self._reader.aggregates(
            'a.id IN (SELECT aggregate_id FROM aggregate_metadata '
            'WHERE `key` = "pcloud:owner")')
        filled = [each for each in found if each.hosts] or found
        if not filled:
            return None
        chosen = self._chance.choice(filled)
        names = [key.removeprefix('pcloud:host:') for key in chosen.metadata
                 if key.startswith('pcloud:host:')]
        return tenancy.Tenancy(
            chosen.metadata['pcloud:owner'], self._stranger,
            chosen.metadata['pcloud:id'],
            self._chance.choice(sorted(names) or ['none']),
            self._chance.choice([soak_stage.REAL, *self._stage.shared]),
            str(uuid.UUID(int=self._chance.getrandbits(128))))

    def _secrets(self) -> Set[str]:
        hosts = {host for host, in self._reader.query(
            'SELECT host FROM host_mappings')}
        return hosts | {host + bulk.NODE_SUFFIX for host in hosts} | {
            *_RACKS}


def read(stage: soak_stage.Stage) -> None:
    """Have users read who may only read, or not even read."""
    _Reading(stage).run()


ACTORS = [read]
