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

"""The default Pcloud: where servers go that name no Pcloud.

A default is set for a project, a domain or the cloud. The most specific level
with a default counts, and a default that is set to nothing ends the search.

========  ==========================================================
mode      a server without a hint about Pclouds
========  ==========================================================
strict    goes to the Pcloud, as with the hint ``pcloud``
prefer    goes to the Pcloud while there is room, else outside, as
          with the hint ``pcloud_prefer``
========  ==========================================================

Rule: reference-default-pcloud
"""

from collections.abc import Iterable
from collections.abc import Mapping
import dataclasses

from pcloud import exception
from pcloud.rules import hints

STRICT, PREFER = MODES = 'strict', 'prefer'
# The mode that is stored for a default set to nothing.
_NONE = 'none'
# The names under which a default is stored.
PCLOUD, MODE = MEMBERS = 'pcloud', 'mode'
_HINTS = {STRICT: hints.PCLOUD, PREFER: hints.PREFER}


@dataclasses.dataclass(frozen=True)
class Default:
    """The default of a level.

    :ivar pcloud: the id of the Pcloud
    :ivar mode: one of `MODES`
    """

    pcloud: str
    mode: str

    @property
    def hint(self) -> dict[str, list[str]]:
        """The hint that a server gets: ``name -> values``."""
        return {_HINTS[self.mode]: [self.pcloud]}


def written(default: Mapping[str, str] | None) -> dict[str, str]:
    """Return a default as it is stored, None for a default of nothing."""
    return {MODE: _NONE} if default is None else {
        name: default[name] for name in MEMBERS}


def read(members: Mapping[str, str]) -> Default | None:
    """Return a stored default; None for a default set to nothing.

    :param members: what `written` returns, or anything that an administrator
        has written by hand
    :raises: `exception.InvalidDefaultPcloud`
    """
    if members == written(None):
        return None
    for name, value in members.items():
        check(name, value)
    if members.keys() != set(MEMBERS) or members[MODE] not in MODES:
        raise exception.InvalidDefaultPcloud(
            value=', '.join(f'{name}={value}' for name, value
                            in sorted(members.items())),
            expected='a Pcloud and a mode')
    return Default(members[PCLOUD], members[MODE])


def check(name: str, value: str) -> None:
    """Refuse a stored member that is never right.

    :raises: `exception.InvalidDefaultPcloud`
    """
    expected = {PCLOUD: 'the id of a Pcloud',
                MODE: ', '.join((*MODES, _NONE))}
    is_right = {PCLOUD: hints.is_pcloud_id(value),
                MODE: value in (*MODES, _NONE)}
    if not is_right.get(name, False):
        raise exception.InvalidDefaultPcloud(
            value=f'{name}={value}', expected=expected.get(
                name, f'left out: only {" and ".join(MEMBERS)} are known'))


def counting(
    levels: Iterable[tuple[str, Mapping[str, str]]],
) -> tuple[str, Mapping[str, str]] | None:
    """Return the stored default that counts, with the level; None if none.

    :param levels: level and stored default, which is empty where nothing is
        set; the most specific level first
    """
    return next((level for level in levels if level[1]), None)
