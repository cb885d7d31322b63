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
from oslo_utils import uuidutils

from pcloud.backend.aggregates import inherited_metadata
from pcloud.backend.aggregates import rows
from pcloud.backend.calls import announce
from pcloud.backend.cells import computes
from pcloud.backend.changes import change
from pcloud.backend.changes import journal
from pcloud.backend.changes import writes
from pcloud import exception
from pcloud import names
from pcloud.objects import reconcile
from pcloud.rules.placing import attributes as attribute_rules
from pcloud.rules.placing import constraints


@dataclasses.dataclass(frozen=True)
class Attribute:
    """An attribute's value with the hosts of Pcloud's aggregate for the value.

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
    aggregates = inherited_metadata.attribute_aggregates(context)
    return sorted((_attribute(aggregate) for aggregate in aggregates
                   if aggregate.hosts),
                  key=lambda attribute: (attribute.name, attribute.value))


def _attribute(aggregate: rows.Aggregate) -> Attribute:
    (name, value), = names.attributes(aggregate.metadata).items()
    return Attribute(name, value, tuple(sorted(aggregate.hosts)))


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
    wanted = names.attribute(name, value)
    if not constraints.is_attribute(name.casefold()):
        raise exception.InvalidValue(
            'Host attribute name', name,
            'another name: as a machine constraint the name means something '
            'else')
    _check_hosts(context, hosts)
    uuid = uuidutils.generate_uuid()

    def work(written: writes.Rows) -> tuple[Attribute, _Affected]:
        there = inherited_metadata.saying_attributes(context)
        _check_spelling(name, there)
        if name == attribute_rules.PLATFORM:
            _check_kind(there, value, hosts)
        aggregate = _find_or_create(written, uuid, name, value, there)
        for host in sorted(set(hosts) - aggregate.hosts):
            written.join(aggregate.id, host)
        affected = _leave(
            written, _of_attribute(there, name), hosts, but=wanted)
        affected.changed.add(aggregate.uuid)
        now = frozenset(hosts) | aggregate.hosts
        return Attribute(name, value, tuple(sorted(now))), affected

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


def _find_or_create(
    written: writes.Rows, uuid: str, name: str, value: str,
    there: list[rows.Aggregate],
) -> rows.Aggregate:
    """Return the aggregate of a value, created by the change if need be.

    :param uuid: the uuid for a new aggregate
    """
    wanted = names.attribute(name, value)
    aggregate = next(
        (candidate for candidate in there if candidate.name == wanted), None)
    if aggregate is None:
        _check_twins(written, wanted, there)
        metadata = {names.TYPE: names.TYPE_ATTRIBUTE,
                    names.attribute_key(name): value}
        try:
            made = written.create(uuid, wanted, metadata)
        except exception.AggregateNameTaken:
            # The database takes another name for the same, by an accent
            # perhaps.
            other = written.find(wanted)
            raise _twin(wanted, other.name if other else wanted)
        return rows.Aggregate(made, uuid, wanted, frozenset(), metadata)
    if not inherited_metadata.is_whole_attribute(
            aggregate.name, aggregate.metadata):
        raise exception.Conflict(
            f"Name and metadata of aggregate '{aggregate.name}' do not agree "
            'on the attribute; mend or delete it first.')
    return aggregate


def _check_twins(
    written: writes.Rows, wanted: str, there: list[rows.Aggregate],
) -> None:
    """Refuse a value that differs from another value in letter case only.

    Every database is treated alike. An aggregate without hosts is a leftover,
    and is deleted.

    :raises: `exception.Conflict`
    """
    for other in there:
        if other.name.casefold() == wanted.casefold() and (
                other.hosts or not written.delete(other.id)):
            raise _twin(wanted, other.name)


def _twin(wanted: str, other: str) -> exception.Conflict:
    return exception.Conflict(
        'The database cannot tell host attribute '
        f"'{wanted.removeprefix(names.ATTRIBUTE_PREFIX)}' from "
        f"'{other.removeprefix(names.ATTRIBUTE_PREFIX)}', which exists "
        'already; use that one, or unset it first.')


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
    hosts: Collection[str] | None, but: str | None = None,
) -> _Affected:
    """Take hosts out of the aggregates of an attribute's values.

    :param hosts: None for all hosts
    :param but: the name of an aggregate that keeps the hosts
    """
    affected = _Affected(set(), [])
    for aggregate in aggregates:
        leaving = (aggregate.hosts if hosts is None else
                   aggregate.hosts & frozenset(hosts))
        if aggregate.name == but:
            continue
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
