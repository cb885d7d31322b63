# SPDX-License-Identifier: Apache-2.0

"""Find host attributes with conflicting or invalid values."""

from collections.abc import Iterator
import functools

from nova import context as nova_context

from pcloud.audit import findings
from pcloud.audit import repair
from pcloud.backend.aggregates import inherited_metadata
from pcloud.backend.aggregates import rows
from pcloud import exception
from pcloud import names
from pcloud.objects.placing import host_attributes
from pcloud.rules.placing import attributes


def check(
    context: nova_context.RequestContext,
) -> Iterator[findings.Finding]:
    """Find host attributes with conflicting or invalid values."""
    aggregates = inherited_metadata.saying_attributes(context)
    yield from _check_platforms(aggregates)
    yield from _check_spellings(aggregates)
    for aggregate in aggregates:
        yield from _check_attribute_aggregate(aggregate)
    for (host, name), statements in sorted(
            host_attributes.statements(aggregates).items()):
        values = attributes.conflicting(name, statements)
        if values:
            yield findings.Finding(
                'attribute-conflict', names.ATTRIBUTE_PREFIX + name, host,
                'aggregates of equal standing give it different values: ' +
                ', '.join(values))


def _check_platforms(
    aggregates: list[rows.Aggregate],
) -> Iterator[findings.Finding]:
    kinds: dict[bool, set[str]] = {True: set(), False: set()}
    for aggregate in aggregates:
        value = names.attributes(aggregate.metadata).get(
            attributes.PLATFORM)
        if value is not None and aggregate.hosts:
            try:
                kind = attributes.platform(value).dotted
            except exception.InvalidValue:
                continue
            kinds[kind].add(value)
    if all(kinds.values()):
        yield findings.Finding(
            'attribute-kinds-mixed',
            names.ATTRIBUTE_PREFIX + attributes.PLATFORM, '',
            'stamps and versions cannot be compared, and hosts with the '
            'rarer kind count as oldest: ' + ', '.join(
                sorted(kinds[True] | kinds[False])))


def _check_spellings(
    aggregates: list[rows.Aggregate],
) -> Iterator[findings.Finding]:
    spellings: dict[str, set[str]] = {
        name: {name} for name in attributes.KNOWN}
    for aggregate in aggregates:
        for name in names.attributes(aggregate.metadata):
            spellings.setdefault(name.casefold(), set()).add(name)
    for _, spelled in sorted(spellings.items()):
        if len(spelled) > 1:
            yield findings.Finding(
                'attribute-spellings',
                names.ATTRIBUTE_PREFIX + attributes.right_spelling(
                    min(spelled), spelled), '',
                'names that differ in letter case alone are attributes of '
                f'their own: {", ".join(sorted(spelled))}')


def _check_attribute_aggregate(
    aggregate: rows.Aggregate,
) -> Iterator[findings.Finding]:
    if (aggregate.name.startswith(names.ATTRIBUTE_PREFIX) or
            names.is_attribute(aggregate.metadata)):
        if not inherited_metadata.is_whole_attribute(
                aggregate.name, aggregate.metadata):
            yield findings.Finding(
                'incomplete-aggregate', aggregate.name, '',
                'its name and its metadata do not agree on the attribute: '
                f'{names.TYPE} is {aggregate.metadata.get(names.TYPE)!r}, ' +
                ', '.join(f'{name} is {value!r}' for name, value in sorted(
                    names.attributes(aggregate.metadata).items())))
        elif not aggregate.hosts:
            yield findings.Finding(
                'attribute-without-hosts', aggregate.name, '',
                'no host has this value',
                functools.partial(repair.drop_attribute, aggregate))
    for name, value in sorted(names.attributes(aggregate.metadata).items()):
        try:
            attributes.read(name, value)
        except exception.InvalidValue as error:
            yield findings.KeyFinding(
                'attribute-not-valid', aggregate.name, name,
                f'it counts nowhere: {error}')
