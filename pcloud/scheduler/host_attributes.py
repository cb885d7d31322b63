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

"""Attributes of the hosts that a request may have.

The attributes are read from the aggregates of the hosts, without a query:
isolation does not depend on attributes, and Pcloud tells the schedulers of
each change.

Rule: reference-attributes-effective
"""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Collection
from collections.abc import Iterable
from collections.abc import Mapping
import datetime
from typing import Any
from typing import TypeVar

from nova import objects
from nova.scheduler import host_manager
from oslo_utils import timeutils

from pcloud.backend import complaints
from pcloud import names
from pcloud.rules import attributes as rules

_Value = TypeVar('_Value')


def now() -> datetime.datetime:
    """Return the present moment, in UTC."""
    return timeutils.utcnow(with_timezone=True)


def values(
    host_states: Collection[host_manager.HostState], name: str,
) -> list[Any]:
    """Return the effective value of an attribute, for each host.

    A value that is not valid counts as no value, with a single warning for all
    hosts and requests.

    :returns: values as `rules.read` makes values, None for no value
    """
    moment = now()
    return _by_statements(host_states, name, lambda statements: _read(
        name, statements, moment))


def all_values(
    host_states: Collection[host_manager.HostState], name: str,
) -> list[frozenset]:
    """Return `rules.all_values` of an attribute for each host."""
    moment = now()
    return _by_statements(
        host_states, name, lambda statements: rules.all_values(
            name, statements, moment))


def aggregates(
    host_states: Iterable[host_manager.HostState],
) -> Mapping[int, objects.Aggregate]:
    """Return the different aggregates of hosts.

    The hosts of an aggregate share the object of the aggregate.

    :returns: ``id() of the object -> object``; valid as long as the hosts
        have the aggregates
    """
    return {id(aggregate): aggregate for host_state in host_states
            for aggregate in host_state.aggregates}


def _by_statements(
    host_states: Collection[host_manager.HostState], name: str,
    evaluate: Callable[[frozenset[rules.Statement]], _Value],
) -> list[_Value]:
    """Evaluate what aggregates state of an attribute, for each host.

    Thousands of hosts share a few statements. So each aggregate is read once,
    and each set of aggregates is evaluated once.
    """
    statements = _statements(aggregates(host_states), name)
    if not statements:
        return [evaluate(frozenset())] * len(host_states)
    known: dict[tuple[int, ...], _Value] = {}
    results = []
    for host_state in host_states:
        stating = tuple([number for aggregate in host_state.aggregates
                         if (number := id(aggregate)) in statements])
        if stating not in known:
            known[stating] = evaluate(frozenset(
                statements[number] for number in stating))
        results.append(known[stating])
    return results


def _statements(
    known: Mapping[int, objects.Aggregate], name: str,
) -> dict[int, rules.Statement]:
    """Return what the aggregates with an attribute state of the attribute."""
    key = names.attribute_key(name)
    return {number: rules.Statement(metadata[key],
                                    names.is_attribute(metadata))
            for number, aggregate in known.items()
            if key in (metadata := aggregate.metadata)}


def _read(
    name: str, statements: frozenset[rules.Statement],
    moment: datetime.datetime,
) -> Any:
    value, bad = rules.effective(name, statements, moment)
    for text in bad:
        complaints.once(f'Host attribute {name}: {text!r} is not valid and '
                        'counts as none; "pcloud-manage audit" tells where '
                        'it is set.')
    return None if value is None else rules.read(name, value)
