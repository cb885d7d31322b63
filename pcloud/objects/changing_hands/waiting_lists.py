# SPDX-License-Identifier: Apache-2.0

"""Who waits for hosts, host flavor by host flavor.

Rule: reference-waiting
"""

import collections
from collections.abc import Callable
from collections.abc import Collection
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Mapping
import dataclasses
import functools
import re
import types

from nova import context as nova_context
from oslo_utils import timeutils

from pcloud.backend.aggregates import kept_rows
from pcloud.backend.aggregates import pcloud_rows
from pcloud.backend.aggregates import pool_rows
from pcloud.backend.aggregates import readings
from pcloud.backend.aggregates import rows
from pcloud.backend.aggregates import waiting_rows
from pcloud.backend.changes import journal
from pcloud.backend import limits
from pcloud import exception
from pcloud import names
from pcloud.rules import forms
from pcloud.rules.placing import choice
from pcloud.rules import waiting as rules
from pcloud import text


@dataclasses.dataclass(frozen=True)
class Lists:
    """The waiting lists of some host flavors.

    :ivar waiting: the entries that may get a host, by host flavor
    :ivar over: the entries whose time is over, or whose Pcloud or host flavor
        is gone; the owner is '' where the Pcloud is gone
    :ivar projects: ``project id -> Project`` of the owners
    :ivar units: ``host flavor id -> units``
    :ivar known: the limits of the owners
    """

    waiting: Mapping[str, tuple[rules.Waiting, ...]]
    over: tuple[rules.Waiting, ...]
    projects: Mapping[str, rules.Project]
    units: Mapping[str, int]
    known: limits.Limits = limits.ROWS

    def places(self, flavor_id: str) -> list[rules.Place]:
        """Return the places in the waiting list of a host flavor, in order."""
        return rules.order(self.waiting.get(flavor_id, ()), self.projects,
                           self.units.get(flavor_id, 0))

    def every(self) -> Iterator[rules.Waiting]:
        """Yield the entries that may get a host, in no order."""
        for entries in self.waiting.values():
            yield from entries

    def places_in(self, pcloud_id: str) -> list[rules.Place]:
        """Return the places of the entries of a Pcloud, the oldest first."""
        return sorted((
            place for flavor in self.waiting for place in self.places(flavor)
            if place.waiting.entry.pcloud == pcloud_id),
            key=lambda place: (place.waiting.entry.since, place.waiting.id))


_NOBODY = Lists({}, (), {}, {})

_Reader = Callable[[Collection[str]], limits.Limits]


def open_zones(
    context: nova_context.RequestContext, flavor_id: str, zone: str | None,
) -> choice.Zones:
    """Return where whoever does not wait may have a host, while others wait.

    One query while nobody waits for a host of the host flavor, else as
    `with_limits`.

    :param zone: the availability zone of the host, None for any zone
    :raises: `exception.OthersWaiting` where others wait for any such host

    Rule: reference-waiting-overtaking
    """
    lists = _read(context, names.waiting_key(flavor_id, ''),
                  functools.partial(limits.read, context))
    ahead = rules.before(lists.places(flavor_id), zone)
    waited_for = collections.Counter(
        place.waiting.entry.zone or zone or '' for place in ahead)
    if waited_for.keys() & {'', zone}:
        raise exception.OthersWaiting(
            count=len(ahead), host_flavor=flavor_id, zone=text.in_zone(zone))
    return choice.Zones(zone, waited_for)


def of(
    context: nova_context.RequestContext, flavor_id: str,
) -> Lists:
    """Return the waiting list of a host flavor, with the queries of `all_`."""
    return _read(context, names.waiting_key(flavor_id, ''), _by_rows)


def all_(context: nova_context.RequestContext) -> Lists:
    """Return the waiting lists of all host flavors.

    One query while nobody waits, else seven. Keystone is not asked for limits,
    on which no position depends: `Place.is_matchable` tells nothing.
    """
    return _read(context, names.WAITING_PREFIX, _by_rows)


def _by_rows(owners: Collection[str]) -> limits.Limits:
    return limits.ROWS


def with_limits(context: nova_context.RequestContext) -> Lists:
    """Return `all_` with the limits of the owners.

    :raises: `exception.LimitsSilent`, `exception.LimitsOutdated`
    """
    return _read(context, names.WAITING_PREFIX,
                 functools.partial(limits.read, context))


def before_giving(
    context: nova_context.RequestContext, flavor_id: str,
    known: limits.Limits, owner: str, units: int,
) -> Lists:
    """Return a waiting list within a change, as before an owner got units.

    :param known: the limits, read before the change
    :param units: what the change has added to the units of the owner
    :raises: `exception.LimitsOutdated`, also when another project has begun to
        wait since
    """
    return _read(context, names.waiting_key(flavor_id, ''),
                 lambda owners: known, {owner: units})


def _read(
    context: nova_context.RequestContext, prefix: str, read: _Reader,
    given: Mapping[str, int] = types.MappingProxyType({}),
) -> Lists:
    """Return the waiting lists whose rows have a prefix.

    :param read: returns the limits of the owners
    :param given: ``project id -> units`` that do not count
    """
    kept = kept_rows.of_prefix(context, prefix)
    if not kept:
        return _NOBODY
    known = list(_known(kept))
    owners = waiting_rows.owners(
        context, {entry.pcloud for *_, entry in known})
    entries = [rules.Waiting(id_, flavor, owners.get(entry.pcloud, ''), entry)
               for flavor, id_, entry in known]
    units = _units(context, {each.flavor for each in entries})
    now = timeutils.utcnow_ts()
    live = [each for each in entries if each.entry.until > now and
            each.owner and each.flavor in units]
    by_flavor = collections.defaultdict(list)
    for each in live:
        by_flavor[each.flavor].append(each)
    live_owners = {each.owner for each in live}
    found = read(live_owners)
    return Lists(
        {flavor: tuple(its) for flavor, its in by_flavor.items()},
        tuple(frozenset(entries).difference(live)),
        _projects(context, live_owners, found, given), units, found)


def _known(
    kept: Mapping[str, str],
) -> Iterator[tuple[str, str, rules.Entry]]:
    """Yield host flavor, id and entry; what cannot be read is left out."""
    for key, value in kept.items():
        flavor, _, id_ = key.removeprefix(
            names.WAITING_PREFIX).rpartition(':')
        entry = rules.Entry.known(value)
        if (entry is not None and forms.is_uuid(id_) and
                re.fullmatch(forms.HOST_FLAVOR_ID, flavor)):
            yield flavor, id_, entry


def _units(
    context: nova_context.RequestContext, flavors: Iterable[str],
) -> dict[str, int]:
    """Return the units of the host flavors that there are (one query)."""
    pools = rows.metadata_by_name(context, list(map(names.pool, flavors)))
    return {its[names.FLAVOR_ID]: readings.units(its) or 0
            for name, its in pools.items() if pool_rows.is_whole(name, its)}


def _projects(
    context: nova_context.RequestContext, owners: Collection[str],
    known: limits.Limits, given: Mapping[str, int],
) -> dict[str, rules.Project]:
    """Return ``project id -> Project`` of owners; four queries."""
    in_use = {project: units - given.get(project, 0) for project, units
              in pcloud_rows.units_by_owner(context).items()}
    settling = journal.released_units(context)
    policies = rows.metadata_by_name(
        context, list(map(names.project_policy, owners)))
    found = {}
    for owner in owners:
        its = policies.get(names.project_policy(owner), {})
        share = readings.share(its)
        found[owner] = rules.Project(
            in_use.get(owner, 0), rules.SHARE if share is None else share,
            known.of(owner, its, lambda: in_use),
            settling.get(owner, 0))
    return found
