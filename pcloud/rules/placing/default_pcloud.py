# SPDX-License-Identifier: Apache-2.0

"""The default Pcloud: where servers go that name no Pcloud.

A default is set for a project, a domain or the cloud. The most specific level
with a default counts, and a default that is set to nothing ends the search.

========  ==========================================================
mode      a server without a hint about Pclouds
========  ==========================================================
strict    goes to the Pcloud, as with the hint ``pcloud``
prefer    goes to the Pcloud while there is capacity, else outside, as
          with the hint ``pcloud_prefer``
grow      goes to the Pcloud, as in mode strict; while there is no
          capacity, free hosts join the Pcloud first
========  ==========================================================

Rule: reference-default-pcloud
"""

from collections.abc import Iterable
from collections.abc import Mapping
import dataclasses
import re
import typing

from pcloud import exception
from pcloud.rules import forms
from pcloud.rules.placing import hints

STRICT, PREFER, GROW = MODES = 'strict', 'prefer', 'grow'
# The mode that is stored for a default set to nothing.
_NONE = 'none'
# The names under which a default is stored.
PCLOUD, MODE = _ALWAYS = 'pcloud', 'mode'
HOST_FLAVOR, MOST_HOSTS, ZONE = _GROWTH = (
    'host_flavor', 'max_hosts', 'availability_zone')
# Who has set a default in mode grow; stored, and never shown.
USER, PROJECT = SETTER = 'user', 'project'
_HINTS = {STRICT: hints.PCLOUD, PREFER: hints.PREFER, GROW: hints.PCLOUD}
# The most hosts that a Pcloud may be set to grow to.
LARGEST = 10000


@dataclasses.dataclass(frozen=True)
class Setter:
    """Who has set a default: the id of a user, and of the user's project."""

    user: str
    project: str


@dataclasses.dataclass(frozen=True)
class Growth:
    """How a Pcloud grows.

    :ivar host_flavor: the id of the host flavor of new hosts
    :ivar most_hosts: the most hosts that the Pcloud may have afterwards
    :ivar zone: the availability zone of new hosts, None for any zone
    :ivar setter: who has set the default, None when not recorded
    """

    host_flavor: str
    most_hosts: int
    zone: str | None = None
    setter: Setter | None = None


@dataclasses.dataclass(frozen=True)
class Default:
    """The default of a level.

    :ivar pcloud: the id of the Pcloud
    :ivar mode: one of `MODES`
    :ivar growth: how the Pcloud grows, None unless the mode is grow
    """

    pcloud: str
    mode: str
    growth: Growth | None = None

    @property
    def hint(self) -> dict[str, list[str]]:
        """The hints that a server gets: ``name -> values``."""
        hint = {_HINTS[self.mode]: [self.pcloud]}
        return hint if self.growth is None else {
            **hint, hints.GROW_RECORD: [GROW]}

    @property
    def strict(self) -> typing.Self:
        """The default for a server that names a host of the Pcloud.

        The server cannot go outside, and new hosts would not help.
        """
        return dataclasses.replace(self, mode=STRICT, growth=None)

    @property
    def members(self) -> dict[str, str | int]:
        """The default as the API shows and takes defaults."""
        shown: dict[str, str | int] = {PCLOUD: self.pcloud, MODE: self.mode}
        if self.growth is not None:
            shown |= {HOST_FLAVOR: self.growth.host_flavor,
                      MOST_HOSTS: self.growth.most_hosts}
            if self.growth.zone is not None:
                shown[ZONE] = self.growth.zone
        return shown


def written(
    default: Mapping[str, str | float] | None,
    setter: Setter | None = None,
) -> dict[str, str]:
    """Return a default as it is stored, None for a default of nothing.

    :param default: the members, as the API takes a default
    :param setter: who sets the default, None when unknown
    :raises: `exception.InvalidValue` for members that do not belong
        together
    """
    if default is None:
        return {MODE: _NONE}
    # To JSON's schemas 2.0 is a whole number.
    stored = {name: f'{value:g}' if isinstance(value, float) else str(value)
              for name, value in default.items()}
    if stored.get(MODE) == GROW and setter is not None:
        stored |= {USER: setter.user, PROJECT: setter.project}
    read(stored)
    return stored


def read(members: Mapping[str, str]) -> Default | None:
    """Return a stored default; None for a default set to nothing.

    :param members: what `written` returns, or anything that an administrator
        has written by hand
    :raises: `exception.InvalidValue`
    """
    if members == written(None):
        return None
    for name, value in members.items():
        check(name, value)
    grows = members.get(MODE) == GROW
    needed = {*_ALWAYS, *((HOST_FLAVOR, MOST_HOSTS) if grows else ())}
    allowed = {*_ALWAYS, *((*_GROWTH, *SETTER) if grows else ())}
    if (not needed <= members.keys() <= allowed or
            members[MODE] not in MODES):
        raise exception.InvalidValue(
            'Default Pcloud',
            ', '.join(f'{name}={value}'
                      for name, value in sorted(members.items())),
            'a Pcloud and a mode, and in mode grow, and in no other, '
            'a host flavor, the most hosts, and perhaps a zone')
    return Default(members[PCLOUD], members[MODE], Growth(
        members[HOST_FLAVOR], int(members[MOST_HOSTS]),
        members.get(ZONE), _setter(members)) if grows else None)


def _setter(members: Mapping[str, str]) -> Setter | None:
    return (Setter(members[USER], members[PROJECT])
            if members.keys() >= frozenset(SETTER) else None)


def shown(stored: Mapping[str, str]) -> dict[str, str]:
    """Return a stored default, without who has set the default."""
    return {name: value for name, value in stored.items()
            if name not in SETTER}


# Member of a stored default -> what is right, in words.
_EXPECTED = {
    PCLOUD: 'the id of a Pcloud', MODE: ', '.join((*MODES, _NONE)),
    HOST_FLAVOR: 'the id of a host flavor',
    MOST_HOSTS: f'a whole number from 1 to {LARGEST}',
    ZONE: 'the name of an availability zone', USER: 'the id of a user',
    PROJECT: 'the id of a project'}


def check(name: str, value: str) -> None:
    """Refuse a stored member that is never right.

    :raises: `exception.InvalidValue`
    """
    is_right = {
        PCLOUD: forms.is_uuid(value), MODE: value in (*MODES, _NONE),
        HOST_FLAVOR: re.fullmatch(forms.HOST_FLAVOR_ID, value) is not None,
        MOST_HOSTS: _is_number_of_hosts(value), ZONE: bool(value),
        USER: bool(value), PROJECT: bool(value)}
    if not is_right.get(name, False):
        raise exception.InvalidValue(
            'Default Pcloud', f'{name}={value}',
            _EXPECTED.get(
                name, f'left out: only {", ".join(_EXPECTED)} are known'))


def _is_number_of_hosts(text: str) -> bool:
    return re.fullmatch('[1-9][0-9]{0,4}', text) is not None and (
        int(text) <= LARGEST)


def counting(
    levels: Iterable[tuple[str, Mapping[str, str]]],
) -> tuple[str, Mapping[str, str]] | None:
    """Return the stored default that counts, with the level; None if none.

    :param levels: level and stored default, which is empty where nothing is
        set; the most specific level first
    """
    return next((level for level in levels if level[1]), None)
