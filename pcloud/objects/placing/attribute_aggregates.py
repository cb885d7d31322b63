# SPDX-License-Identifier: Apache-2.0

"""The aggregates that give hosts a value of an attribute.

Nova sends an aggregate whole to each scheduler, and a scheduler compares each
host of the aggregate with all others: 10,000 hosts keep a scheduler for a
second. So a value that many hosts have is in several aggregates, of which a
change concerns one.

Rule: reference-attributes-sources
"""

from collections.abc import Collection
import dataclasses
import itertools

from oslo_utils import uuidutils

from pcloud.backend.aggregates import inherited_metadata
from pcloud.backend.aggregates import rows
from pcloud.backend.changes import writes
from pcloud import exception
from pcloud import names

# How many hosts an aggregate of a value has at most.
MOST_HOSTS = 1000


def of_value(
    there: Collection[rows.Aggregate], name: str, value: str,
) -> list[rows.Aggregate]:
    """Return the aggregates of a value, by name."""
    wanted = names.attribute(name, value)
    return [aggregate for aggregate in there
            if inherited_metadata.first_name(aggregate) == wanted]


def fill(
    written: writes.Rows, name: str, value: str, hosts: Collection[str],
    there: Collection[rows.Aggregate],
) -> list[rows.Aggregate]:
    """Have hosts join the aggregates of a value; create what is missing.

    The hosts that have the value stay where the hosts are.

    :param there: all aggregates with an attribute in name or metadata
    :returns: the aggregates of the value, with the hosts that have joined
    :raises: `exception.Conflict` for a value that is there in another
        spelling, and for an aggregate that audit finds broken;
        `exception.NameTooLong`
    """
    found = of_value(there, name, value)
    if not found:
        there = _without_twins(written, names.attribute(name, value), there)
    for aggregate in found:
        _check_whole(aggregate)
    missing = sorted(frozenset(hosts).difference(
        *(aggregate.hosts for aggregate in found)))
    filled = []
    for aggregate in found:
        free = max(0, MOST_HOSTS - len(aggregate.hosts))
        filled.append(_joined(written, aggregate, missing[:free]))
        missing = missing[free:]
    taken = {aggregate.name.casefold() for aggregate in there}
    while missing:
        made = _created(written, name, value, taken)
        taken.add(made.name.casefold())
        filled.append(_joined(written, made, missing[:MOST_HOSTS]))
        missing = missing[MOST_HOSTS:]
    return filled


def _joined(
    written: writes.Rows, aggregate: rows.Aggregate, hosts: Collection[str],
) -> rows.Aggregate:
    for host in hosts:
        written.join(aggregate.id, host)
    return dataclasses.replace(
        aggregate, hosts=aggregate.hosts | frozenset(hosts))


def _created(
    written: writes.Rows, name: str, value: str, taken: Collection[str],
) -> rows.Aggregate:
    """Create an aggregate of a value, under the first name that is free."""
    wanted = next(
        each for number in itertools.count(1)
        if (each := inherited_metadata.part_name(name, value, number))
        .casefold() not in taken)
    metadata = {names.TYPE: names.TYPE_ATTRIBUTE,
                names.attribute_key(name): value}
    uuid = uuidutils.generate_uuid()
    try:
        made = written.create(uuid, wanted, metadata)
    except exception.AggregateNameTaken:
        # The database takes another name for the same, by an accent perhaps.
        other = written.find(wanted)
        raise _twin(wanted, other.name if other else wanted)
    return rows.Aggregate(made, uuid, wanted, frozenset(), metadata)


def _check_whole(aggregate: rows.Aggregate) -> None:
    if not inherited_metadata.is_whole_attribute(
            aggregate.name, aggregate.metadata):
        raise exception.Conflict(
            f"Name and metadata of aggregate '{aggregate.name}' do not agree "
            'on the attribute; mend or delete it first.')


def _without_twins(
    written: writes.Rows, wanted: str, there: Collection[rows.Aggregate],
) -> list[rows.Aggregate]:
    """Refuse a value that differs from another value in letter case only.

    Every database is treated alike. An aggregate without hosts is a leftover,
    and is deleted.

    :returns: the aggregates that stay
    :raises: `exception.Conflict`
    """
    stay = []
    for other in there:
        theirs = inherited_metadata.first_name(other)
        if theirs.casefold() != wanted.casefold():
            stay.append(other)
        elif other.hosts or not written.delete(other.id):
            raise _twin(wanted, theirs)
    return stay


def _twin(wanted: str, other: str) -> exception.Conflict:
    return exception.Conflict(
        'The database cannot tell host attribute '
        f"'{wanted.removeprefix(names.ATTRIBUTE_PREFIX)}' from "
        f"'{other.removeprefix(names.ATTRIBUTE_PREFIX)}', which exists "
        'already; use that one, or unset it first.')
