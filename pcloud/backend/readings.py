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

"""Values of metadata as Pcloud counts with them, whatever is written there.

Nova lets an administrator write anything. What cannot be read counts as if
it were the most careful value there is, is told of in the log once, and is
found by `audit`.
"""

from collections.abc import Callable
from collections.abc import Mapping
from typing import TypeVar

from pcloud.backend import complaints
from pcloud import exception
from pcloud import names
from pcloud.rules import ratios
from pcloud.rules import units as unit_rules

_T = TypeVar('_T')

_WHERE = '"pcloud-manage audit" tells where it is set.'
RATIOS = (names.CPU_RATIO, names.RAM_RATIO)


def ratio(metadata: Mapping[str, str], key: str) -> float | None:
    """Return a ratio of a Pcloud; None where it is not set, or not one.

    :param key: one of `RATIOS`
    """
    return _read(metadata, key, ratios.of_pcloud)


def own_ratio(metadata: Mapping[str, str], key: str) -> float | None:
    """Return what a host's ratio was; None where nobody knows.

    :param key: from `names.saved_ratio_key`
    """
    return _read(metadata, key, ratios.of_host)


def is_clear(metadata: Mapping[str, str]) -> bool:
    """Whether the ratios of a Pcloud, where they are set, can be read."""
    return all(key not in metadata or ratio(metadata, key) is not None
               for key in RATIOS)


def units(metadata: Mapping[str, str]) -> int | None:
    """Return what a host of a pool costs; None where nobody knows."""
    return _read(metadata, names.UNITS, unit_rules.read)


def limit(metadata: Mapping[str, str]) -> int | None:
    """Return a project's limit of units; None where it is not set.

    One that cannot be read allows nothing.
    """
    if names.QUOTA_UNITS not in metadata:
        return None
    found = _read(metadata, names.QUOTA_UNITS, unit_rules.limit)
    return 0 if found is None else found


def _read(
    metadata: Mapping[str, str], key: str, read: Callable[[str], _T],
) -> _T | None:
    if key not in metadata:
        return None
    try:
        return read(metadata[key])
    except exception.Invalid as error:
        complaints.once(f'Metadata {key}: {error} {_WHERE}')
        return None
