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

"""Refuse wrong values of Pcloud's keys where administrators set the values.

Administrators may set values with Nova's own calls, on aggregates and flavors.
A wrong value would have no effect or close hosts, and only a log would report
the value. The removal of a key is always allowed.

Rule: reference-isolation-values
"""

from collections.abc import Callable
from collections.abc import Iterable
from collections.abc import Mapping
import re

from nova.api.openstack.compute import aggregates as nova_aggregates
from nova.api.openstack.compute import flavors_extraspecs
from nova.policies import aggregates

from pcloud.api.nova_calls import dispatch
from pcloud.backend import readings
from pcloud.backend import rows
from pcloud.objects import values

_EXTRA_SPECS = flavors_extraspecs.FlavorExtraSpecsController
_ID = re.compile(r'[0-9]{1,9}')


def check(call: dispatch.NovaCall) -> None:
    """Check the values that a call sets for Pcloud's keys.

    Nova answers all calls that set neither metadata nor extra specs, and calls
    that are not well-formed.

    :raises: `exception.Invalid`
    """
    check_items: Callable[
        [dispatch.NovaCall, Iterable[tuple[str, str]]], None]
    inside: tuple[str, ...]
    if call.is_of(nova_aggregates.AggregateController, 'set_metadata'):
        check_items, inside = _check_metadata, ('set_metadata', 'metadata')
    elif call.is_of(_EXTRA_SPECS, 'create'):
        check_items, inside = _check_extra_specs, ('extra_specs',)
    elif call.is_of(_EXTRA_SPECS, 'update'):
        check_items, inside = _check_extra_specs, ()
    else:
        return
    try:
        members = call.body
        for name in inside:
            members = members[name]
        # Nova keeps a number as text.
        items = [(key, str(value)) for key, value in members.items()
                 if isinstance(value, str | int | float)]
    except (KeyError, TypeError, AttributeError):
        return
    check_items(call, items)


def _check_metadata(
    call: dispatch.NovaCall, items: Iterable[tuple[str, str]],
) -> None:
    for key, value in items:
        values.check_metadata(key, value)
        if key in readings.RATIOS and _is_for_pcloud(call, dict(items)):
            values.check_ratio(key, value)


def _is_for_pcloud(
    call: dispatch.NovaCall, new: Mapping[str, str],
) -> bool:
    """Whether a call sets the ratios of a Pcloud.

    A caller who may not make Nova's call learns nothing about the aggregate.
    Pcloud has no rules for the ratios of other aggregates; an aggregate whose
    id is not in the usual form counts as a Pcloud.
    """
    context, aggregate_id = call.context, call.arguments['id']
    if not context.can(
            aggregates.POLICY_ROOT % 'set_metadata', fatal=False):
        return False
    if not _ID.fullmatch(aggregate_id):
        # Nova leaves the conversion of such an id to the database.
        return True
    aggregate = rows.of_id(context, int(aggregate_id))
    return aggregate is not None and values.is_ratio_of_pcloud(
        aggregate.name, {**aggregate.metadata, **new})


def _check_extra_specs(
    _: dispatch.NovaCall, items: Iterable[tuple[str, str]],
) -> None:
    for key, value in items:
        values.check_extra_spec(key, value)
