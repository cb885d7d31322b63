# Licensed under the Apache License, Version 2.0 (the "License"); you may
# not use this file except in compliance with the License. You may obtain
# a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the
# License for the specific language governing permissions and limitations
# under the License.

"""Attributes of hosts: which there are, and giving them to hosts.

A host has an attribute when it is in an aggregate whose metadata say so: one
that Pcloud keeps for each value, or any other, such as a rack's.

Source: CONTRACT sections 1 and 4.
"""

import collections
from collections.abc import Collection
from collections.abc import Iterable
from collections.abc import Mapping
import dataclasses

from nova import context as nova_context
from oslo_utils import timeutils
import tenacity

from pcloud.aggregates import computes
from pcloud.aggregates import names
from pcloud.aggregates import snapshot
from pcloud.aggregates import store
from pcloud import exception
from pcloud.rules import attributes as rules


class _Lost(Exception):
    """Another request changed the same attribute at the same moment."""


def _give_up(_: tenacity.RetryCallState):
    raise exception.AttributeContended()


# Of two requests that give one host different values, each may take away
# what the other has just written.
_again = tenacity.retry(
    retry=tenacity.retry_if_exception_type(
        (_Lost, exception.AggregateGone)),
    wait=tenacity.wait_random(0, 0.3), stop=tenacity.stop_after_attempt(10),
    retry_error_callback=_give_up)


@dataclasses.dataclass(frozen=True)
class Attribute:
    """An attribute's value with the hosts that Pcloud's aggregate gives it.

    :ivar hosts: service hosts, by name
    """

    name: str
    value: str
    hosts: tuple[str, ...]


def index(context: nova_context.RequestContext) -> list[Attribute]:
    """Return the attributes that were set through Pcloud, by name and value.

    Three queries. What hosts inherit from other aggregates is not among
    them.
    """
    return sorted((_attribute(aggregate) for aggregate in
                   snapshot.attribute_aggregates(context) if aggregate.hosts),
                  key=lambda each: (each.name, each.value))


def _attribute(aggregate: snapshot.Aggregate) -> Attribute:
    (name, value), = names.attributes(aggregate.metadata).items()
    return Attribute(name, value, tuple(sorted(aggregate.hosts)))


def said(
    aggregates: Iterable[snapshot.Aggregate],
) -> dict[tuple[str, str], list[rules.Said]]:
    """Return what aggregates say, by service host and attribute."""
    found = collections.defaultdict(list)
    for aggregate in aggregates:
        own = names.is_attribute(aggregate.metadata)
        for name, value in names.attributes(aggregate.metadata).items():
            for host in aggregate.hosts:
                found[host, name].append(rules.Said(value, own))
    return found


def effective(
    context: nova_context.RequestContext, hosts: Collection[str],
) -> dict[str, dict[str, str]]:
    """Return service host to its attributes, each with the value that counts.

    Two queries. Hosts without any have no entry.
    """
    now = timeutils.utcnow(with_timezone=True)
    found: dict[str, dict[str, str]] = {}
    for (host, name), values in said(
            snapshot.attributes(context, hosts)).items():
        value, _ = rules.effective(name, values, now)
        if value is not None:
            found.setdefault(host, {})[name] = value
    return found


def held(
    context: nova_context.RequestContext, hosts: Collection[str],
    wanted: Collection[str],
) -> dict[str, dict[str, frozenset]]:
    """Return service host to the values that it has of wanted attributes.

    Two queries, none without hosts.

    :returns: values as `rules.held` makes them
    """
    now = timeutils.utcnow(with_timezone=True)
    found: dict[str, dict[str, frozenset]] = {}
    for (host, name), values in said(
            snapshot.attributes(context, hosts)).items():
        if name in wanted:
            found.setdefault(host, {})[name] = rules.held(name, values, now)
    return found


@_again
def put(
    context: nova_context.RequestContext, name: str, value: str,
    hosts: Collection[str],
) -> Attribute:
    """Give hosts a value of an attribute, in place of any other value.

    Hosts come to the new value before they leave an old one, so that a
    crash leaves them with both, which audit finds, and not with none.

    :param hosts: service hosts; others keep what they have
    :returns: the value with all the hosts that have it now
    :raises: `exception.InvalidAttribute`, `exception.InvalidAttributeName`,
        `exception.NameTooLong`, `exception.ComputeHostNotFound`,
        `exception.HostHasManyNodes`, `exception.MixedPlatforms`,
        `exception.AttributeTwin`, `exception.AttributeBroken`,
        `exception.AttributeContended`, `exception.Unavailable`,
        `exception.AttributeInterrupted` when some hosts may have changed
    """
    rules.read(name, value)
    wanted = names.attribute(name, value)
    nodes = _nodes(context, hosts)
    there = snapshot.saying_attributes(context)
    if name == rules.PLATFORM:
        _check_kind(there, value, nodes)
    aggregate = _find_or_create(context, name, value, there)
    try:
        for host in sorted(nodes.keys() - aggregate.hosts):
            _add(context, aggregate, host, nodes[host])
        _leave(context, name, nodes, but=wanted)
    except exception.Unavailable as error:
        raise exception.AttributeInterrupted() from error
    now = snapshot.attribute_aggregates(context, name)
    if not nodes.keys() <= frozenset().union(*(each.hosts for each in now)):
        raise _Lost()
    return next((_attribute(each) for each in now if each.name == wanted),
                Attribute(name, value, ()))


def remove(
    context: nova_context.RequestContext, name: str,
    hosts: Collection[str] | None,
) -> None:
    """Take an attribute from hosts, whatever value they have.

    What they inherit from other aggregates stays.

    :param hosts: service hosts; None for all
    :raises: `exception.InvalidAttributeName`,
        `exception.AttributeNotFound` when none of them has it,
        `exception.AttributeInterrupted` when some hosts may have changed
    """
    try:
        found = _leave(context, name, hosts)
    except exception.Unavailable as error:
        raise exception.AttributeInterrupted() from error
    if not found:
        raise exception.AttributeNotFound(name=name)


def _nodes(
    context: nova_context.RequestContext, hosts: Collection[str],
) -> dict[str, str]:
    """Return service host to hypervisor hostname; all of them have to be."""
    known = computes.load(context, hosts)
    for host in hosts:
        if host not in known:
            raise exception.ComputeHostNotFound(host=host)
    return {host: known[host].node.hypervisor_hostname for host in hosts}


def _check_kind(
    there: list[snapshot.Aggregate], value: str, nodes: Mapping[str, str],
) -> None:
    """Refuse stamps beside dotted versions, which cannot be compared."""
    for aggregate in there:
        other = names.attributes(aggregate.metadata).get(rules.PLATFORM)
        if other is None or aggregate.hosts <= nodes.keys():
            continue
        try:
            mixed = (rules.platform(other).dotted !=
                     rules.platform(value).dotted)
        except exception.InvalidAttribute:
            # It counts nowhere; audit names it.
            continue
        if mixed:
            raise exception.MixedPlatforms(value=value, other=other)


def _find_or_create(
    context: nova_context.RequestContext, name: str, value: str,
    there: list[snapshot.Aggregate],
) -> snapshot.Aggregate:
    wanted = names.attribute(name, value)
    found = next((each for each in there if each.name == wanted), None)
    if found is None:
        _check_twins(context, wanted, there)
        created = store.create(context, wanted, {
            names.TYPE: names.TYPE_ATTRIBUTE,
            names.attribute_key(name): value})
        found = snapshot.named(context, wanted)
        if found is None and not created:
            # The database takes another one for it, by an accent perhaps.
            for other in snapshot.alike(context, wanted):
                _refuse_twin(wanted, other)
    if found is None:
        raise _Lost()
    if not snapshot.is_whole_attribute(found.name, found.metadata):
        raise exception.AttributeBroken(aggregate=found.name)
    return found


def _check_twins(
    context: nova_context.RequestContext, wanted: str,
    there: list[snapshot.Aggregate],
) -> None:
    """Refuse what differs in letter case only, on every database alike.

    One that has no hosts was left behind by somebody, and is deleted.

    :raises: `exception.AttributeTwin`
    """
    for other in there:
        if other.name.casefold() == wanted.casefold() and (
                other.hosts or not store.delete(context, other.id)):
            _refuse_twin(wanted, other.name)


def _refuse_twin(wanted: str, other: str) -> None:
    raise exception.AttributeTwin(
        wanted=wanted.removeprefix(names.ATTRIBUTE_PREFIX),
        other=other.removeprefix(names.ATTRIBUTE_PREFIX))


def _add(
    context: nova_context.RequestContext, aggregate: snapshot.Aggregate,
    host: str, node: str,
) -> None:
    try:
        store.add_host(context, aggregate.id, aggregate.uuid, host, node)
    except exception.HostInAggregate:
        # Another request had the same wish.
        return


def _leave(
    context: nova_context.RequestContext, name: str,
    hosts: Collection[str] | None, but: str | None = None,
) -> bool:
    """Take hosts out of the aggregates of an attribute's values.

    :param but: the name of one that they stay in
    :returns: whether any host was in any of them
    """
    found = False
    for aggregate in snapshot.attribute_aggregates(context, name):
        leaving = (aggregate.hosts if hosts is None else
                   aggregate.hosts & frozenset(hosts))
        if aggregate.name == but:
            continue
        for host in sorted(leaving):
            found |= store.remove_host(context, aggregate.id, host)
        # Those that were empty before were left behind by somebody.
        if leaving == aggregate.hosts:
            store.delete(context, aggregate.id)
    return found
