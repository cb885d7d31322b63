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

"""Machine constraints: what a machine must have, and which wastes least.

A constraint is a key with a value. `cpu`, `ram` and `storage` are minimums of
a machine's size; `host` names a machine; `role` stands for a named group of
constraints; any other key is an attribute of hosts. Each key falls back on
its own from the request to the built-in value.

Rule: reference-constraints
"""

from collections.abc import Iterable
from collections.abc import Mapping
from collections.abc import Sequence
import dataclasses
import difflib
from fractions import Fraction
import itertools
import math
import re

from pcloud import exception
from pcloud.rules import attributes
from pcloud.rules import forms

CPU, RAM, STORAGE = SIZES = ('cpu', 'ram', 'storage')
HOST, ROLE, MAX = 'host', 'role', 'max'
# Rule: reference-constraints-keys
DEFAULTS = {CPU: '1', RAM: '512M', STORAGE: '4G'}
BUILT_IN = 'built-in'
REQUEST = 'request'

# What users write for a key, in the words of Nova and of other clouds.
_OTHER_WORDS = {
    CPU: ('cpus', 'vcpu', 'vcpus', 'core', 'cores'),
    RAM: ('mem', 'memory', 'memory_mb'),
    STORAGE: ('disk', 'disk_gb', 'root_disk', 'root-disk'),
}
_FOREIGN = ('ec2-', 'orchestra-')
_NOT = '^'
_KEY = re.compile(forms.ATTRIBUTE_NAME)
_PAIR = re.compile(r'(?:\\.|[^\s\\]|\\(?=\s|$))+')
_ESCAPED = re.compile(r'\\([ \\])')
_TO_ESCAPE = re.compile(r'[ \\]')
_NUMBER = re.compile(r'\d+(\.\d+)?', re.ASCII)
_ROLE = re.compile(forms.SCOPE_ID)
_SUFFIXES = {'': 1, 'M': 1, 'G': 1024, 'T': 1024 ** 2, 'P': 1024 ** 3}
# The most characters that a value is stored with.
_LONGEST = 255
# Every request reads all constraints of every level.
_LONGEST_TEXT, _MOST = 4096, 100
_SHOWN = 40
# How alike two words have to be, from 0 to 1, to be taken for one.
_ALIKE = 0.75


@dataclasses.dataclass(frozen=True)
class Setting:
    """An effective constraint.

    :ivar source: the level of the constraint
    """

    key: str
    value: str
    source: str

    def __str__(self) -> str:
        return text({self.key: self.value})


@dataclasses.dataclass(frozen=True)
class Wanted:
    """What a machine must have.

    :ivar minimums: ``size -> minimum``, for `SIZES` in cpus or MiB; None for
        the greatest size there is. A missing size does not matter.
        Machines come in whole cpus and MiB, so a minimum is rounded up.
    :ivar attributes: ``attribute -> (required values, forbidden values)``
    :ivar host: the name of the required host, None for any host
    """

    minimums: Mapping[str, int | None]
    attributes: Mapping[str, tuple[frozenset, frozenset]]
    host: str | None


@dataclasses.dataclass(frozen=True, slots=True)
class Machine:
    """What a machine has.

    :ivar sizes: cpus, MiB of memory and MiB of storage, by `SIZES`; 0 for a
        size that the machine does not report
    :ivar attributes: ``attribute -> values of the machine``, as
        `attributes.read` makes the values
    :ivar names: the names of the machine in a constraint
    """

    sizes: Mapping[str, int]
    attributes: Mapping[str, frozenset]
    names: tuple[str, ...]


def parse(written: str) -> dict[str, str]:
    r"""Read constraints: ``key=value`` pairs between blanks.

    A blank inside of a value is written ``\ ``, a backslash before a blank
    or before another backslash ``\\``.

    :returns: ``key -> value``, the values as written
    :raises: `exception.InvalidConstraint` with position and rule

    Rule: reference-constraints-syntax
    """
    if len(written) > _LONGEST_TEXT:
        raise exception.InvalidConstraint(
            pair=f'{written[:_SHOWN]}...', position=1,
            expected=f'in a text of at most {_LONGEST_TEXT} characters')
    constraints: dict[str, str] = {}
    seen: set[str] = set()
    for match in _PAIR.finditer(written):
        pair, where = match.group(), match.start() + 1
        try:
            key, value = _pair(_ESCAPED.sub(r'\1', pair))
            # Some of Nova's databases ignore the letter case.
            if key.casefold() in seen:
                raise _Bad('the only one of its key, whatever the letter '
                           'case')
            if len(seen) == _MOST:
                raise _Bad(f'one of at most {_MOST}')
        except _Bad as rule:
            raise exception.InvalidConstraint(
                pair=pair, position=where, expected=str(rule))
        seen.add(key.casefold())
        constraints[key] = value
    return constraints


def text(constraints: Mapping[str, str]) -> str:
    """Write constraints as `parse` reads them."""
    return ' '.join(_TO_ESCAPE.sub(r'\\\g<0>', f'{key}={value}')
                    for key, value in constraints.items())


def check(key: str, value: str) -> None:
    """Refuse a constraint, stored by itself, which `parse` would misread.

    :raises: `exception.InvalidConstraint` also where blanks of any kind
        around or inside of the value would change the constraint
    """
    if parse(text({key: value})) != {key: value}:
        raise exception.InvalidConstraint(
            pair=f'{key}={value}', position=1,
            expected='without line breaks, tabs and the like')


class _Bad(ValueError):
    """The form required of a pair."""


def _pair(written: str) -> tuple[str, str]:
    key, equals, value = written.partition('=')
    if not equals or not _KEY.fullmatch(key):
        raise _Bad('KEY=VALUE, with a key of 1 to 64 letters, digits, ".", '
                   '"_", "-" or blanks')
    if len(value) > _LONGEST or not value.isprintable():
        raise _Bad(f'of at most {_LONGEST} characters that can be printed')
    if key in SIZES:
        if value not in ('', MAX):
            _amount(key, value)
    elif key == ROLE:
        if value and not _ROLE.fullmatch(value):
            raise _Bad('the name of a role, of 1 to 64 letters, digits, "_" '
                       'or "-"')
    elif key != HOST and not _is_foreign(key):
        if key.casefold() in (*SIZES, HOST, ROLE):
            raise _Bad(f'written {key.casefold()}=')
        _choice(key, value)
    return key, value


def _is_foreign(key: str) -> bool:
    """Whether a key is for other providers, and ignored here.

    Rule: reference-constraints-keys
    """
    return key.startswith(_FOREIGN)


def _amount(key: str, value: str) -> Fraction:
    """Read a minimum, exactly, in cpus or MiB."""
    number, unit = value, ''
    if key != CPU and value[-1:] in _SUFFIXES:
        number, unit = value[:-1], value[-1:]
    if not _NUMBER.fullmatch(number):
        raise _Bad('a number that is not negative, such as 2 or 0.5, or max'
                   if key == CPU else
                   'a number that is not negative, such as 512M, 1.5G, 2T or '
                   '1P, or max')
    return Fraction(number) * _SUFFIXES[unit]


def _choice(key: str, value: str) -> tuple[frozenset, frozenset]:
    """Read the required and the forbidden values of an attribute."""
    has: set = set()
    has_not: set = set()
    for choice in value.split(',') if value else ():
        plain = choice.removeprefix(_NOT)
        if not plain:
            raise _Bad(f'a list such as a,{_NOT}b: has a and has not b')
        try:
            (has if plain == choice else has_not).add(
                attributes.read(key, plain))
        except exception.InvalidAttribute as error:
            raise _Bad(error.details['expected'])
    return frozenset(has), frozenset(has_not)


def attribute_names(constraints: Mapping[str, str]) -> frozenset[str]:
    """Return the attributes that constraints ask for.

    A constraint without a value asks for nothing.
    """
    return frozenset(key for key, value in constraints.items()
                     if value and is_attribute(key))


def is_attribute(key: str) -> bool:
    """Whether a constraint with a key is about an attribute of hosts."""
    return key not in (*SIZES, HOST, ROLE) and not _is_foreign(key)


def likely_key(written: str) -> str | None:
    """Return the other key that a user is likely to mean, None for none.

    :param written: a key that no host knows
    """
    known = {word: key for key, words in _OTHER_WORDS.items()
             for word in words}
    known |= {key: key for key in (*SIZES, HOST, ROLE, *attributes.KNOWN)}
    close = difflib.get_close_matches(written.casefold(), known, 1, _ALIKE)
    key = known[close[0]] if close else None
    return None if key == written else key


def check_role(constraints: Mapping[str, str]) -> None:
    """Refuse a role in a role.

    :raises: `exception.RoleInRole`

    Rule: reference-constraints-roles
    """
    if constraints.get(ROLE):
        raise exception.RoleInRole(role=constraints[ROLE])


def role_of(levels: Iterable[tuple[str, Mapping[str, str]]]) -> str | None:
    """Return the effective role: the role of the lowest level with a role.

    :param levels: as for `effective`
    """
    return next((constraints[ROLE] for _, constraints in levels
                 if ROLE in constraints), None) or None


def role_source(role: str) -> str:
    """Return the source of the constraints of a role."""
    return f'role {role}'


def effective(
    levels: Sequence[tuple[str, Mapping[str, str]]],
    role: Mapping[str, str],
) -> dict[str, Setting]:
    """Return the effective constraints, each key falling back on its own.

    An empty value ends the fallback: the built-in value counts. The role
    follows directly after the level that names the role. Where no level has a
    constraint nothing is built in: people who do not use constraints are not
    to lose a host.

    :param levels: name and constraints of each level; the lowest level, the
        request, comes first
    :param role: the constraints of the effective role

    Rule: reference-constraints-levels
    """
    settings: dict[str, Setting] = {}
    named = role_of(levels)
    for source, constraints in levels:
        parts = [(source, constraints)]
        if named and constraints.get(ROLE) == named:
            parts.append((role_source(named), role))
        for its_source, part in parts:
            for key, value in part.items():
                settings.setdefault(key, Setting(key, value, its_source))
    for key, value in DEFAULTS.items() if settings else ():
        if key not in settings or not settings[key].value:
            settings[key] = Setting(key, value, BUILT_IN)
    return {key: settings[key] for key in sorted(settings)
            if settings[key].value}


def wanted(settings: Mapping[str, Setting]) -> Wanted:
    """Return what effective constraints ask for."""
    minimums: dict[str, int | None] = {}
    for key in settings.keys() & set(SIZES):
        value = settings[key].value
        if value == MAX:
            minimums[key] = None
        elif amount := _amount(key, value):
            minimums[key] = math.ceil(amount)
    host = settings.get(HOST)
    return Wanted(minimums, {
        key: _choice(key, setting.value) for key, setting in settings.items()
        if is_attribute(key)},
        host.value if host else None)


def unmet(
    what: Wanted, machines: Sequence[Machine],
) -> list[frozenset[str]]:
    """Return the unsatisfied keys of each machine.

    A size that a machine does not report satisfies every minimum, and is the
    smallest of all sizes. The greatest size is the greatest among the machines
    which satisfy all other constraints; where several sizes are to be the
    greatest, each size is compared on its own.

    Rule: reference-constraints-keys
    """
    key_sets = [_unmet(what, machine) for machine in machines]
    for key in [key for key, value in what.minimums.items()
                if value is None]:
        greatest = max((machine.sizes[key] for machine, keys in
                        zip(machines, key_sets, strict=True)
                        if not keys - set(SIZES) and
                        not _too_small(what, machine)), default=0)
        for machine, keys in zip(machines, key_sets, strict=True):
            if machine.sizes[key] < greatest:
                keys.add(key)
    return [frozenset(keys) for keys in key_sets]


def large_enough(
    what: Wanted, sizes: Mapping[str, Sequence[int]],
) -> Sequence[int]:
    """Return the positions of the machines that are as large as wanted.

    The machines satisfy all other constraints, so these are the machines for
    which `unmet` returns no key. For thousands of machines of different sizes
    this is faster than `unmet`.

    :param sizes: ``size -> size of each machine``, for `SIZES`
    """
    found: Sequence[int] = range(len(sizes[CPU]))
    for key, least in what.minimums.items():
        column = sizes[key]
        if least is not None and min(column, default=least) < least:
            found = [number for number in found
                     if column[number] >= least or not column[number]]
    greatest = [(column, max((column[number] for number in found), default=0))
                for key, column in sizes.items()
                if what.minimums.get(key, 0) is None]
    for column, most in greatest:
        found = [number for number in found if column[number] == most]
    return found


def levels(
    what: Wanted, machines: Sequence[Machine],
) -> list[int | None]:
    """Return when the turn of each machine comes, 0 for the greatest.

    A machine of a level satisfies all constraints when the machines of all
    levels before are gone, for instance because they are full.

    :returns: None for a machine whose turn never comes

    Rule: reference-constraints-filter
    """
    greatest = [key for key, value in what.minimums.items() if value is None]
    sizes = [None if _unmet(what, machine) else
             tuple(machine.sizes[key] for key in greatest)
             for machine in machines]
    # A machine is the greatest of the remaining machines when the machine
    # comes first of them in this order, and no later one exceeds any size.
    order = sorted({each for each in sizes if each is not None}, reverse=True)
    remaining_greatest = [*itertools.accumulate(
        reversed(order), lambda one, other: tuple(map(max, one, other)))]
    turns = {each: level for level, (each, _) in enumerate(
        itertools.takewhile(lambda pair: pair[0] == pair[1], zip(
            order, reversed(remaining_greatest), strict=True)))}
    return [None if each is None else turns.get(each) for each in sizes]


def _unmet(what: Wanted, machine: Machine) -> set[str]:
    keys = {key for key, (has, has_not) in what.attributes.items()
            if not has <= machine.attributes.get(key, frozenset()) or
            has_not & machine.attributes.get(key, frozenset())}
    if what.host is not None and what.host not in machine.names:
        keys.add(HOST)
    return keys | _too_small(what, machine)


def _too_small(what: Wanted, machine: Machine) -> set[str]:
    return {key for key, least in what.minimums.items()
            if least is not None and 0 < machine.sizes[key] < least}


def waste(
    what: Wanted, sizes: Mapping[str, int],
) -> tuple[bool, int, int, int]:
    """Return what would be wasted: memory first, then cpus, then storage.

    Nothing is wasted of a size wanted as the greatest. Before all sizes stands
    whether a size is too small or not reported, which is the greatest waste.

    Rule: reference-constraints-waste
    """
    def excess(key: str) -> int:
        least = what.minimums.get(key, 0)
        return 0 if least is None else sizes[key] - least

    spare = excess(RAM), excess(CPU), excess(STORAGE)
    return min(spare) < 0, *spare


def waste_scores(wastes: Sequence[tuple]) -> list[float]:
    """Score machines: 1.0 for the least waste, 0.0 for the most.

    Wastes between have scores equally far apart. A machine which is too
    small wastes more than all machines of sufficient size.

    Rule: reference-constraints-waste
    """
    order = sorted(set(wastes), reverse=True)
    last = max(len(order) - 1, 1)
    places = {spare: number / last for number, spare in enumerate(order)}
    return [places[spare] if len(order) > 1 else 1.0 for spare in wastes]
