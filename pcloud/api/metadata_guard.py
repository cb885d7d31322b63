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

"""Refuse attributes and placement keys that are not right where they are set.

Administrators may set them with Nova's own calls, on aggregates and flavors;
what is wrong would count nowhere, and be told of in a log only.
"""

from collections.abc import Callable
from collections.abc import Mapping
import json
import re

from nova.api.openstack import wsgi as nova_wsgi

from pcloud.aggregates import affinity_keys
from pcloud.aggregates import names
from pcloud.rules import affinity
from pcloud.rules import attributes
from pcloud.rules import colocation

_AGGREGATE = re.compile(r'(?:/[0-9a-f-]+)?/os-aggregates/[^/]+/action')
_FLAVOR = re.compile(
    r'(?:/[0-9a-f-]+)?/flavors/[^/]+/os-extra_specs(?:/[^/]+)?')


def check(request: nova_wsgi.Request) -> None:
    """Hold what a request sets against the rules, where it is of ours.

    Whatever is not such a request, or not well-formed, is left to Nova.

    :raises: `exception.InvalidAttribute`, `exception.InvalidPlacementKey`,
        `exception.InvalidColocationFlag`
    """
    if request.method not in ('POST', 'PUT'):
        return
    if _AGGREGATE.fullmatch(request.path_info):
        checks, inside = _OF_AGGREGATES, ('set_metadata', 'metadata')
    elif _FLAVOR.fullmatch(request.path_info):
        checks = _OF_FLAVORS
        inside = ('extra_specs',) if request.method == 'POST' else ()
    else:
        return
    try:
        found = json.loads(request.body)
        for name in inside:
            found = found[name]
        items = [(key, value) for key, value in found.items()
                 if isinstance(value, str)]
    except (ValueError, RecursionError, KeyError, TypeError, AttributeError):
        return
    for key, value in items:
        _check(checks, key, value)


def _check(
    checks: Mapping[str, Callable[[str, str], object]], key: str, value: str,
) -> None:
    for prefix, check_value in checks.items():
        if key.startswith(prefix):
            check_value(key.removeprefix(prefix), value)


def _node_key(name: str, value: str) -> None:
    affinity_keys.node_key_name(name)
    affinity.number(value)


def _sticky_key(name: str, value: str) -> None:
    affinity_keys.node_key_name(name)
    # The copy that a server gets of it is a key with this weight.
    affinity.key(name, f'0:{value}')


def _system_key(name: str, value: str) -> None:
    affinity.check_system(affinity.key(name, value))


def _customer_key(name: str, value: str) -> None:
    affinity.check_customer(affinity.key(name, value))


def _co_located(rest: str, value: str) -> None:
    # What only begins like it is not ours.
    if not rest:
        colocation.check_flag(value)


_OF_AGGREGATES = {names.ATTRIBUTE_KEY_PREFIX: attributes.read,
                  names.NODE_KEY_PREFIX: _node_key,
                  names.STICKY_PREFIX: _sticky_key}
_OF_FLAVORS = {names.SYSTEM_KEY_PREFIX: _system_key,
               names.CUSTOMER_KEY_PREFIX: _customer_key,
               names.CO_LOCATED: _co_located}
