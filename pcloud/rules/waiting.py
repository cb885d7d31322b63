# SPDX-License-Identifier: Apache-2.0

"""Who gets the next host of a host flavor, of those who wait for hosts.

Rule: reference-waiting-order
"""

from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Mapping
import dataclasses
import heapq
import itertools

from pcloud import exception
from pcloud.rules import forms
from pcloud.rules.moving import dates
from pcloud.rules.moving import draining
from pcloud.rules.placing import attributes
from pcloud.rules import record
from pcloud.rules import units as unit_rules

# The share of a project that has no share of its own, and the bounds.
SHARE, LEAST_SHARE, MOST_SHARE = 1.0, 0.001, 1000.0
# The length of an owner's name for a host.
_NAME_LENGTH = 63


@dataclasses.dataclass(frozen=True)
class Entry(record.Record):
    """An entry of the waiting list of a host flavor, as kept.

    :ivar pcloud: the id of the Pcloud that gets the host
    :ivar name: the owner's name for the host
    :ivar since: seconds since the epoch; so is `until`
    :ivar until: when the entry ends
    :ivar leave: when the host is to leave again, None for no date
    :ivar move: which servers are moved then
    :ivar zone: the availability zone of the host, None for any zone
    """

    pcloud: str = dataclasses.field(metadata=record.word(
        '<Pcloud id>', forms.UUID))
    name: str = dataclasses.field(metadata=record.word(
        '<name>', '[A-Za-z0-9._-]{1,63}'))
    since: int = dataclasses.field(metadata=record.INSTANT)
    until: int = dataclasses.field(metadata=record.INSTANT)
    leave: int | None = dataclasses.field(
        default=None, metadata=record.INSTANT)
    move: str | None = dataclasses.field(
        default=None, metadata=record.choice(*draining.MOVES))
    zone: str | None = dataclasses.field(default=None, metadata=record.TEXT)

    @property
    def until_of_host(self) -> dates.Until | None:
        """When the host is to leave that the entry gets."""
        return None if self.leave is None else dates.Until(
            self.leave, self.move or draining.NONE)


@dataclasses.dataclass(frozen=True)
class Waiting:
    """An entry with its id and its owner.

    :ivar flavor: the id of the host flavor
    :ivar owner: the project that owns the Pcloud
    """

    id: str
    flavor: str
    owner: str
    entry: Entry

    def competes(self, zone: str | None) -> bool:
        """Whether the entry wants hosts that others want too.

        =========  =============  ========
        entry's    others' zone   competes
        zone
        =========  =============  ========
        none       any            yes
        any        none           yes
        a          a              yes
        a          b              no
        =========  =============  ========

        :param zone: where the hosts of others are, None for any zone
        """
        return (self.entry.zone is None or zone is None or
                self.entry.zone == zone)


@dataclasses.dataclass(frozen=True)
class Project:
    """What decides when a project gets a host.

    :ivar in_use: the units of the project's hosts
    :ivar share: how many units the project gets for one of a project with
        share 1
    :ivar limit: the most units that the project may use, `units.UNLIMITED`
        for any number
    :ivar settling: the units of hosts that the project has let go, and that
        still settle: these count against the limit
    """

    in_use: int = 0
    share: float = SHARE
    limit: int = unit_rules.UNLIMITED
    settling: int = 0

    @property
    def rank(self) -> float:
        """The units in use for one unit of share; the least comes first."""
        return self.in_use / self.share

    def allows(self, units: int) -> bool:
        """Whether the quota allows some more units."""
        return (not units or self.limit == unit_rules.UNLIMITED or
                self.in_use + self.settling + units <= self.limit)

    def with_more(self, units: int) -> 'Project':
        """Return the project as it is with more units."""
        return dataclasses.replace(self, in_use=self.in_use + units)


@dataclasses.dataclass(frozen=True)
class Place:
    """A place in the order.

    :ivar position: 1 for the next
    :ivar is_matchable: whether the quota of the owner allows the host
    """

    waiting: Waiting
    position: int
    is_matchable: bool


def order(
    waiting: Iterable[Waiting], projects: Mapping[str, Project], units: int,
) -> list[Place]:
    """Return the places of entries, as if hosts became free one by one.

    The next is the entry whose owner has the least units in use for its share;
    of these the oldest, then the least id. Each host that an owner gets counts
    for the entries of the owner that follow.

    =================  ==============  =========================
    entries            units in use    order
    =================  ==============  =========================
    a1, b1             a 2, b 1        b1, a1
    a1, b1             a 1, b 1        the older first
    a1, b1             a 3 (share 4),  a1, b1
                       b 1
    a1, a2, b1         a 0, b 0        a1, b1, a2
    =================  ==============  =========================

    An entry whose owner may not use the units keeps its place, and is passed
    over: `Place.is_matchable`.

    :param projects: ``project id -> Project``
    :param units: what a host of the host flavor costs
    """
    return list(_ordered(waiting, projects, units))


def _ordered(
    waiting: Iterable[Waiting], projects: Mapping[str, Project], units: int,
) -> Iterator[Place]:
    queues: dict[str, list[Waiting]] = {}
    for each in sorted(waiting, key=_age, reverse=True):
        queues.setdefault(each.owner, []).append(each)
    now = {owner: projects.get(owner, Project()) for owner in queues}
    heads = [(now[owner].rank, _age(queue[-1]), owner)
             for owner, queue in queues.items()]
    heapq.heapify(heads)
    position = 0
    while heads:
        owner = heapq.heappop(heads)[-1]
        queue, position = queues[owner], position + 1
        yield Place(queue.pop(), position, now[owner].allows(units))
        now[owner] = now[owner].with_more(units)
        if queue:
            heapq.heappush(
                heads, (now[owner].rank, _age(queue[-1]), owner))


def _age(waiting: Waiting) -> tuple[int, str]:
    return waiting.entry.since, waiting.id


def before(places: Iterable[Place], zone: str | None) -> list[Place]:
    """Return who comes before whoever does not wait, and wants a host now.

    :param places: of the host flavor
    :param zone: the zone of the host, None for any zone
    """
    return [place for place in places
            if place.is_matchable and place.waiting.competes(zone)]


def until(text: str, now: float, most: int) -> int:
    """Read until when somebody waits.

    :param text: ISO 8601, in UTC when no zone is given; a date without a time
        means the end of the day
    :param now: seconds since the epoch
    :param most: how many seconds ahead the moment may be
    :returns: seconds since the epoch
    :raises: `exception.InvalidValue`
    """
    try:
        moment = int(attributes.reboot(text).timestamp())
    except exception.InvalidValue:
        moment = 0
    if not now < moment <= min(now + most, record.LATEST):
        raise exception.InvalidValue(
            'wait_until', text,
            'a moment to come in ISO 8601, such as 2026-12-31T23:59:59Z, at '
            f'most {most} seconds from now')
    return moment


def free_name(name: str, taken: Iterable[str]) -> str:
    """Return a name that no host of a Pcloud has.

    ==========  =================  ===========
    name        taken              returned
    ==========  =================  ===========
    ``web``     none               ``web``
    ``web``     ``WEB``            ``web-2``
    ``web``     ``web``, ``web-2`` ``web-3``
    ==========  =================  ===========

    :param name: the owner's name for the host, which is shortened where a
        number makes it too long
    """
    there = {each.lower() for each in taken}
    ends = itertools.chain([''], (
        f'-{number}' for number in itertools.count(2)))
    return next(
        free for end in ends
        if (free := f'{name[:_NAME_LENGTH - len(end)]}{end}').lower()
        not in there)


def stored_share(value: float | None) -> dict[str, str]:
    """Return the share of a project as kept, {} for no share of its own."""
    return {} if value is None else {'waiting': f'{value:.9g}'}


def share(text: str) -> float:
    """Read the share of a project, as kept.

    :raises: `exception.InvalidValue`
    """
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not LEAST_SHARE <= value <= MOST_SHARE or text != f'{value:.9g}':
        raise exception.InvalidValue(
            'Share', text,
            f'a number from {LEAST_SHARE:g} to {MOST_SHARE:g}')
    return value
