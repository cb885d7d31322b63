# SPDX-License-Identifier: Apache-2.0

"""List host attributes, and give hosts attributes.

A host has an attribute when the metadata of one of the host's aggregates have
the attribute. Pcloud keeps an aggregate for each value; any other aggregate,
such as a rack's, may have attributes too.

Rule: reference-attributes-sources
"""

import collections
from collections.abc import Collection
from collections.abc import Iterable
import dataclasses
import typing

from nova import context as nova_context
from oslo_utils import timeutils

from pcloud.backend.aggregates import inherited_metadata
from pcloud.backend.aggregates import rows
from pcloud.backend.calls import announce
from pcloud.backend.cells import computes
from pcloud.backend.changes import change
from pcloud.backend.changes import journal
from pcloud.backend.changes import writes
from pcloud import exception
from pcloud import names
from pcloud.objects.placing import attribute_aggregates
from pcloud.objects import reconcile
from pcloud.rules.placing import attributes as attribute_rules
from pcloud.rules.placing import constraints


@dataclasses.dataclass(frozen=True)
class Attribute:
    """An attribute's value with the hosts that have the value through Pcloud.

    :ivar hosts: service hosts, by name
    """

    name: str
    value: str
    hosts: tuple[str, ...]


def index(context: nova_context.RequestContext) -> list[Attribute]:
    """Return the attributes that were set through Pcloud, by name and value.

    Two queries. Values that hosts inherit from other aggregates are left
    out.
    """
    by_value = collections.defaultdict(list)
    for aggregate in inherited_metadata.attribute_aggregates(context):
        if aggregate.hosts:
            pair, = names.attributes(aggregate.metadata).items()
            by_value[pair].append(aggregate)
    return [_attribute(*pair, aggregates)
            for pair, aggregates in sorted(by_value.items())]


def _attribute(
    name: str, value: str, aggregates: Iterable[rows.Aggregate],
) -> Attribute:
    return Attribute(name, value, tuple(sorted(frozenset().union(
        *(aggregate.hosts for aggregate in aggregates)))))


def statements(
    aggregates: Iterable[rows.Aggregate],
) -> dict[tuple[str, str], list[attribute_rules.Statement]]:
    """Return the values that aggregates give to hosts.

    :returns: ``(service host, attribute) -> values``
    """
    by_host = collections.defaultdict(list)
    for aggregate in aggregates:
        own = names.is_attribute(aggregate.metadata)
        for name, value in names.attributes(aggregate.metadata).items():
            for host in aggregate.hosts:
                by_host[host, name].append(
                    attribute_rules.Statement(value, own))
    return by_host


def effective(
    context: nova_context.RequestContext, hosts: Collection[str],
) -> dict[str, dict[str, str]]:
    """Return the attributes of hosts with the values that count.

    Two queries. Hosts without attributes have no entry.

    :returns: ``service host -> attribute -> value``
    """
    return _effective(inherited_metadata.attributes(context, hosts))


def effective_of(
    context: nova_context.RequestContext, host: str,
) -> dict[str, str]:
    """Return the attributes of one host with the values that count.

    One query.

    :returns: ``attribute -> value``
    """
    return _effective(inherited_metadata.attributes_of(context, host)).get(
        host, {})


def _effective(
    aggregates: Iterable[rows.Aggregate],
) -> dict[str, dict[str, str]]:
    now = timeutils.utcnow(with_timezone=True)
    attributes: dict[str, dict[str, str]] = {}
    for (host, name), values in statements(aggregates).items():
        value, _ = attribute_rules.effective(name, values, now)
        if value is not None:
            attributes.setdefault(host, {})[name] = value
    return attributes


def all_values(
    context: nova_context.RequestContext, hosts: Collection[str],
    wanted: Collection[str],
) -> dict[str, dict[str, frozenset]]:
    """Return the values that hosts have of wanted attributes.

    Two queries, none without hosts.

    :returns: ``service host -> attribute -> values``, as
        `attribute_rules.all_values` returns the values
    """
    now = timeutils.utcnow(with_timezone=True)
    attributes: dict[str, dict[str, frozenset]] = {}
    for (host, name), values in statements(
            inherited_metadata.attributes(context, hosts)).items():
        if name in wanted:
            attributes.setdefault(host, {})[name] = attribute_rules.all_values(
                name, values, now)
    return attributes


class _Affected(typing.NamedTuple):
    """The aggregates that hosts have left, and what became of them.

    :ivar changed: the uuids of the aggregates that still exist
    :ivar deleted: the aggregates that had no other host
    """

    changed: set[str]
    deleted: list[rows.Aggregate]


def put(
    context: nova_context.RequestContext, name: str, value: str,
    hosts: Collection[str],
) -> Attribute:
    """Give hosts a value of an attribute, in place of any other value.

    One change, whole or not at all. Placement is not told: nobody asks
    Placement for attributes.

    :param hosts: service hosts; other hosts keep their values
    :returns: the value with all the hosts that have the value now
    :raises: `exception.InvalidValue`, `exception.NameTooLong`,
        `exception.ComputeHostNotFound`, `exception.Conflict` for a host with
        several nodes, a name or value that is there in another spelling, a
        version that cannot be compared with others, and an attribute that
        audit finds broken; `exception.Unavailable`, and as `change.run`
    """
    attribute_rules.read(name, value)
    names.attribute(name, value)
    if not constraints.is_attribute(name.casefold()):
        raise exception.InvalidValue(
            'Host attribute name', name,
            'another name: as a machine constraint the name means something '
            'else')
    _check_hosts(context, hosts)

    def work(written: writes.Rows) -> tuple[Attribute, _Affected]:
        there = inherited_metadata.saying_attributes(context)
        _check_spelling(name, there)
        if name == attribute_rules.PLATFORM:
            _check_kind(there, value, hosts)
        filled = attribute_aggregates.fill(written, name, value, hosts, there)
        affected = _leave(written, (
            aggregate for aggregate in _of_attribute(there, name)
            if names.attributes(aggregate.metadata)[name] != value), hosts)
        affected.changed.update(
            aggregate.uuid for aggregate in filled
            if not aggregate.hosts.isdisjoint(hosts))
        return _attribute(name, value, filled), affected

    attribute, affected = change.run(
        context, [journal.attribute_anchor(name)], work)
    _announce(context, affected)
    return attribute


def remove(
    context: nova_context.RequestContext, name: str,
    hosts: Collection[str] | None,
) -> None:
    """Take an attribute from hosts, whatever the value.

    Values that hosts inherit from other aggregates stay.

    :param hosts: service hosts; None for all hosts
    :raises: `exception.InvalidValue`, `exception.NotFound`
        when none of the hosts has the attribute, and as `change.run`
    """
    names.attribute_key(name)

    def work(written: writes.Rows) -> _Affected:
        there = inherited_metadata.attribute_aggregates(context, name)
        if not any(aggregate.hosts if hosts is None else
                   aggregate.hosts & frozenset(hosts)
                   for aggregate in there):
            raise exception.NotFound(
                f'Host attribute {name} is not set on any of these hosts.')
        return _leave(written, there, hosts)

    _announce(context, change.run(
        context, [journal.attribute_anchor(name)], work))


def _check_hosts(
    context: nova_context.RequestContext, hosts: Collection[str],
) -> None:
    """Refuse hosts that Nova does not know, or knows with many nodes."""
    known = computes.load(context, hosts)
    for host in hosts:
        if host not in known:
            raise exception.ComputeHostNotFound(host=host)
        if known[host].nodes:
            known[host].node


def _check_spelling(name: str, there: Iterable[rows.Aggregate]) -> None:
    """Refuse a name that differs from another in letter case alone.

    :raises: `exception.Conflict`
    """
    right = attribute_rules.right_spelling(name, {
        other for aggregate in there
        for other in names.attributes(aggregate.metadata)})
    if right != name:
        raise exception.Conflict(
            f"Host attributes '{name}' and '{right}' differ in letter case "
            f"alone, and would be two attributes; use '{right}'.")


def _check_kind(
    there: list[rows.Aggregate], value: str, hosts: Collection[str],
) -> None:
    """Refuse stamps beside dotted versions, which cannot be compared."""
    for aggregate in there:
        other = names.attributes(aggregate.metadata).get(
            attribute_rules.PLATFORM)
        if other is None or aggregate.hosts <= frozenset(hosts):
            continue
        try:
            mixed = (attribute_rules.platform(other).dotted !=
                     attribute_rules.platform(value).dotted)
        except exception.InvalidValue:
            # The value counts nowhere; audit names the value.
            continue
        if mixed:
            raise exception.Conflict(
                f'Platform version {value!r} cannot be compared with '
                f'{other!r}, which other hosts have: use stamps for all '
                'hosts, or dotted versions for all.')


def _of_attribute(
    there: list[rows.Aggregate], name: str,
) -> list[rows.Aggregate]:
    """Return the whole aggregates for values of one attribute."""
    return [aggregate for aggregate in there
            if name in names.attributes(aggregate.metadata) and
            inherited_metadata.is_whole_attribute(
                aggregate.name, aggregate.metadata)]


def _leave(
    written: writes.Rows, aggregates: Iterable[rows.Aggregate],
    hosts: Collection[str] | None,
) -> _Affected:
    """Take hosts out of the aggregates of an attribute's values.

    :param hosts: None for all hosts
    """
    affected = _Affected(set(), [])
    for aggregate in aggregates:
        leaving = (aggregate.hosts if hosts is None else
                   aggregate.hosts & frozenset(hosts))
        if leaving:
            written.leave(aggregate.id, leaving)
        # An aggregate that was empty before is a leftover.
        if leaving == aggregate.hosts:
            written.delete(aggregate.id)
            affected.deleted.append(aggregate)
        elif leaving:
            affected.changed.add(aggregate.uuid)
    return affected


def _announce(
    context: nova_context.RequestContext, affected: _Affected,
) -> None:
    # A scheduler keeps the attributes of a deleted aggregate until told.
    reconcile.announced(context, affected.changed)
    for aggregate in affected.deleted:
        reconcile.notified(announce.deleted, context, aggregate)
