# SPDX-License-Identifier: Apache-2.0

"""Who is the next in a waiting list, computed from the rows.

Between two moments the rows may have changed in any order: a worker computes
the order within the change that gives a host. So only what holds at both
moments, and whatever has happened between both, tells that somebody was
overtaken. Of the next two numbers of units the greater counts for those who
wait, and the lesser for those who have got a host.
"""

from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Set
import dataclasses
import re

from pcloud.tests.soak import judge

OVERTAKEN = 'overtaken in the waiting list'
UNASKED = 'given without having waited'
LOST = 'waiting entry lost'
KEPT = 'given, and waits on'
# What a host of the host flavor costs.
UNITS = 1
# A call that does not wait may have looked before an entry was written; no
# call takes so many seconds.
_LONGEST_CALL = 180


@dataclasses.dataclass(frozen=True)
class Entry:
    """An entry of the waiting list, for a host in any zone.

    :ivar owner: the owner of the Pcloud, '' for a Pcloud that is gone
    :ivar since: seconds since the epoch; so is `until`
    """

    id: str
    pcloud: str
    owner: str
    name: str
    since: int
    until: int

    @property
    def age(self) -> tuple[int, str]:
        """The place among entries of owners with as many units."""
        return self.since, self.id


@dataclasses.dataclass(frozen=True)
class Held:
    """A host of the host flavor in a Pcloud.

    :ivar name: the owner's name for the host
    """

    host: str
    pcloud: str
    owner: str
    name: str


@dataclasses.dataclass(frozen=True)
class Moment:
    """The rows of a moment.

    :ivar at: when the rows had been read, in seconds since the epoch
    :ivar entries: id -> entry
    :ivar held: number of a membership, which is never used again -> host
    :ivar shares: project -> share, 1 for projects that are not there
    :ivar limits: project -> most units, -1 for any number
    :ivar free: hosts of the host flavor that nobody has, and that settle not
    """

    at: float
    entries: Mapping[str, Entry] = dataclasses.field(default_factory=dict)
    held: Mapping[int, Held] = dataclasses.field(default_factory=dict)
    shares: Mapping[str, float] = dataclasses.field(default_factory=dict)
    limits: Mapping[str, int] = dataclasses.field(default_factory=dict)
    free: Set[str] = frozenset()


@dataclasses.dataclass(frozen=True)
class Acts:
    """The calls between two moments.

    :ivar pclouds: the Pclouds whose owners make no other calls
    :ivar asked: (Pcloud, name) -> the code of the answer, None where the
        outcome is not known, for calls that add a host, or wait for a host
    :ivar withdrawn: ids of entries that may have been withdrawn
    """

    pclouds: Set[str] = frozenset()
    asked: Mapping[tuple[str, str], int | None] = dataclasses.field(
        default_factory=dict)
    withdrawn: Set[str] = frozenset()


def compare(before: Moment, after: Moment,
            acts: Acts) -> Iterator[judge.Violation]:
    """Judge how hosts were given between two moments."""
    given = set()
    for number in after.held.keys() - before.held.keys():
        host = after.held[number]
        entry = next((each for each in before.entries.values()
                      if _is_of(host, each)), None)
        if entry is not None:
            given.add(entry.id)
        # The host that is given does not count yet.
        yield from _judge(host, entry, before, dataclasses.replace(
            after, held={each: its for each, its in after.held.items()
                         if each != number}), acts)
    for entry in before.entries.values():
        if (entry.id not in after.entries.keys() | given | acts.withdrawn and
                entry.until > after.at + 1 and entry.owner):
            yield judge.Violation(LOST, entry.id, _told(entry, before, after))


def _judge(host: Held, entry: Entry | None, before: Moment, after: Moment,
           acts: Acts) -> Iterator[judge.Violation]:
    """Judge how a host was given.

    :param entry: what the host was given for, None for no entry
    :param after: without the host
    """
    certain = list(waiting(before, after))
    code = acts.asked.get((host.pcloud, host.name.lower()), 0)
    ahead: list[Entry] = []
    if entry is not None:
        if entry.id in after.entries:
            yield judge.Violation(KEPT, entry.id, _told(host, before, after))
        ahead = [each for each in certain if each != entry and
                 _is_before(each, entry, before, after)]
    elif host.pcloud not in acts.pclouds:
        ahead = [each for each in certain
                 if each.since < after.at - _LONGEST_CALL]
    elif code not in (None, 201, 202):
        yield judge.Violation(UNASKED, f'{host.name} in {host.pcloud}',
                              _told(host, before, after))
    elif code == 201:
        ahead = certain
    for each in ahead:
        yield judge.Violation(OVERTAKEN, each.id, (
            f'by {host} for {entry}; {_told(each, before, after)}'))


def _is_of(host: Held, entry: Entry) -> bool:
    """Return whether a host was given for an entry, by name and Pcloud."""
    return host.pcloud == entry.pcloud and re.fullmatch(
        re.escape(entry.name.lower()) + r'(-[0-9]+)?',
        host.name.lower()) is not None


def waiting(before: Moment, after: Moment) -> Iterator[Entry]:
    """Yield the entries that could have had a host for the whole time."""
    for id_, entry in before.entries.items():
        _, most = in_use(entry.owner, before, after)
        limits = [each.limits.get(entry.owner, -1)
                  for each in (before, after)]
        if (id_ in after.entries and entry.until > after.at + 1 and
                entry.owner and all(
                    limit < 0 or most + UNITS <= limit for limit in limits)):
            yield entry


def in_use(owner: str, before: Moment, after: Moment) -> tuple[int, int]:
    """Return the least and the most units that an owner has had in use."""
    both = [{number for number, held in moment.held.items()
             if held.owner == owner} for moment in (before, after)]
    return (UNITS * len(both[0] & both[1]), UNITS * len(both[0] | both[1]))


def _is_before(one: Entry, other: Entry, before: Moment,
               after: Moment) -> bool:
    """Return whether an entry came first, whatever has happened between."""
    if one.owner == other.owner:
        return one.age < other.age
    shares = {owner: [each.shares.get(owner, 1.0)
                      for each in (before, after)]
              for owner in (one.owner, other.owner)}
    mine = in_use(one.owner, before, after)[1] / min(shares[one.owner])
    its = in_use(other.owner, before, after)[0] / max(shares[other.owner])
    return mine < its or (mine == its and one.age < other.age)


def _told(what: Entry | Held, before: Moment, after: Moment) -> str:
    return (f'{what} from {before.at:.3f} to {after.at:.3f}; held '
            f'{sorted(map(str, after.held.values()))}, waiting '
            f'{sorted(map(str, before.entries.values()))}')
