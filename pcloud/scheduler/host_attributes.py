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

from collections.abc import Iterable
import datetime
from typing import Any

from nova.scheduler import host_manager
from oslo_utils import timeutils

from pcloud.backend import complaints
from pcloud import names
from pcloud.rules import attributes as rules


def now() -> datetime.datetime:
    """Return the present moment, in UTC."""
    return timeutils.utcnow(with_timezone=True)


def values(
    host_states: Iterable[host_manager.HostState], name: str,
) -> list[Any]:
    """Return the effective value of an attribute, for each host.

    A value that is not valid counts as no value, with a single warning for all
    hosts and requests.

    :returns: values as `rules.read` makes values, None for no value
    """
    moment, key = now(), names.attribute_key(name)
    return [_read(name, _statements(host_state, key), moment)
            for host_state in host_states]


def all_values(
    host_states: Iterable[host_manager.HostState], name: str,
) -> list[frozenset]:
    """Return `rules.all_values` of an attribute for each host."""
    moment, key = now(), names.attribute_key(name)
    known: dict[frozenset, frozenset] = {}
    results = []
    for host_state in host_states:
        statements = _statements(host_state, key)
        if statements not in known:
            known[statements] = rules.all_values(name, statements, moment)
        results.append(known[statements])
    return results


def _statements(
    host_state: host_manager.HostState, key: str,
) -> frozenset[rules.Statement]:
    return frozenset(
        rules.Statement(aggregate.metadata[key],
                        names.is_attribute(aggregate.metadata))
        for aggregate in host_state.aggregates if key in aggregate.metadata)


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
