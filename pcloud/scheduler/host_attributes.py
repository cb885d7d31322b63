# SPDX-License-Identifier: Apache-2.0

"""Attributes of the hosts that a request may have.

The attributes are read from the aggregates of the hosts, without a query:
isolation does not depend on attributes, and Pcloud tells the schedulers of
each change of an attribute.

Rule: reference-attributes-effective
"""

from __future__ import annotations

from collections.abc import Collection
from collections.abc import Iterable
import datetime
import itertools
import operator
from typing import Any

from nova import objects
from nova.scheduler import host_manager
from oslo_utils import timeutils

from pcloud.backend import complaints
from pcloud import names
from pcloud.rules.moving import maintenance_windows
from pcloud.rules.placing import attributes
from pcloud.scheduler import host_kinds
from pcloud.scheduler import memo

_AGGREGATES = operator.attrgetter('aggregates')


def now() -> datetime.datetime:
    """Return the present moment, in UTC."""
    return timeutils.utcnow(with_timezone=True)


def values(
    host_states: Collection[host_manager.HostState], name: str,
) -> list[Any]:
    """Return the effective value of an attribute, for each host.

    :returns: as `grouped`
    """
    of_hosts, of_kinds = grouped(host_states, name)
    return [of_kinds[kind] for kind in of_hosts]


def grouped(
    host_states: Collection[host_manager.HostState], name: str,
) -> tuple[list[int], list[Any]]:
    """Return the kind of each host, and the effective value of each kind.

    A value that is not valid counts as no value, with a single warning for all
    hosts and requests.

    :returns: for each host the position of its kind; and for each kind the
        value as `attributes.read` makes values, None for no value
    """
    moment = now()
    of_hosts, kinds = _kinds(host_states, [name])
    return of_hosts, [
        _read(name, _statements(kind, name), moment) for kind in kinds]


def reboots(
    host_states: Collection[host_manager.HostState],
    spec: objects.RequestSpec,
) -> tuple[list[int], list[datetime.datetime | None]]:
    """Return the dates of the next reboots, with maintenances to come.

    The request filter has read the maintenances of the Pcloud of the request;
    a host outside Pclouds has none. Hosts are of the same kind when the hosts
    have the same date.

    :returns: as `grouped`

    Rule: reference-maintenance-seen
    """
    of_hosts, dates = grouped(host_states, attributes.REBOOT)
    moment = now()
    coming = {host: found for host, text
              in memo.of_request(spec).maintenances.items()
              if (found := maintenance_windows.of(text)) and
              found.moment > moment}
    if not coming:
        return of_hosts, dates
    return host_kinds.numbered([
        maintenance_windows.next_reboot(
            dates[kind], coming.get(host_state.host))
        for host_state, kind in zip(host_states, of_hosts, strict=True)])


def grouped_lists(
    host_states: Collection[host_manager.HostState], names_: Collection[str],
) -> tuple[list[int], list[dict[str, frozenset]]]:
    """Return the kind of each host, and `attributes.all_values` of each kind.

    :returns: for each host the position of its kind; and for each kind
        ``attribute -> values``
    """
    moment = now()
    of_hosts, kinds = _kinds(host_states, names_)
    return of_hosts, [
        {name: attributes.all_values(name, _statements(kind, name), moment)
         for name in names_} for kind in kinds]


def aggregates(
    host_states: Iterable[host_manager.HostState],
) -> set[objects.Aggregate]:
    """Return the different aggregates of hosts.

    The hosts of an aggregate share the object of the aggregate.
    """
    return _different(map(_AGGREGATES, host_states))


def _different(
    lists: Iterable[Iterable[objects.Aggregate]],
) -> set[objects.Aggregate]:
    return set(itertools.chain.from_iterable(lists))


def by_aggregates(
    host_states: Iterable[host_manager.HostState],
    counting: Iterable[objects.Aggregate],
) -> tuple[list[int], list[frozenset[objects.Aggregate]]]:
    """Return the kind of each host, and the aggregates of each kind.

    Hosts are of the same kind when the hosts are in the same aggregates of
    those that count.

    :returns: for each host the position of its kind; and for each kind the
        aggregates that count
    """
    return _kinds_of_lists(map(_AGGREGATES, host_states), counting)


def _kinds_of_lists(
    lists: Iterable[Iterable[objects.Aggregate]],
    counting: Iterable[objects.Aggregate],
) -> tuple[list[int], list[frozenset[objects.Aggregate]]]:
    return host_kinds.numbered(map(frozenset(counting).intersection, lists))


def _kinds(
    host_states: Collection[host_manager.HostState], names_: Iterable[str],
) -> tuple[list[int], list[frozenset[objects.Aggregate]]]:
    """Return the kind of each host, and what each kind has of attributes.

    Thousands of hosts share a few statements. So each aggregate is read once,
    and each set of aggregates with one of the attributes is evaluated once.
    """
    keys = set(map(names.attribute_key, names_))
    # To fetch the lists from memory takes as long as to go through the lists.
    lists = [*map(_AGGREGATES, host_states)]
    # A Pcloud has hundreds of keys, of which a set would look at each.
    stating = [aggregate for aggregate in _different(lists)
               if not aggregate.metadata.keys().isdisjoint(keys)]
    if not stating:
        return [0] * len(host_states), [frozenset()]
    return _kinds_of_lists(lists, stating)


def _statements(
    kind: Iterable[objects.Aggregate], name: str,
) -> frozenset[attributes.Statement]:
    """Return what aggregates state of an attribute."""
    key = names.attribute_key(name)
    return frozenset(
        attributes.Statement(metadata[key], names.is_attribute(metadata))
        for aggregate in kind if key in (metadata := aggregate.metadata))


def _read(
    name: str, statements: frozenset[attributes.Statement],
    moment: datetime.datetime,
) -> Any:
    value, bad = attributes.effective(name, statements, moment)
    for text in bad:
        complaints.once(f'Host attribute {name}: {text!r} is not valid and '
                        'counts as none; "pcloud-manage audit" tells where '
                        'it is set.')
    return None if value is None else attributes.read(name, value)
