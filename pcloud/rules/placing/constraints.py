# SPDX-License-Identifier: Apache-2.0

"""Machine constraints: how they are written, and which of them count.

A constraint is a key with a value:

==================  =======================================================
key                 constraint
==================  =======================================================
``cpu``, ``ram``,   a minimum of a machine's size
``storage``
``resource:CLASS``  a minimum of a resource class of Placement
``trait:NAME``      whether a trait of Placement is required or forbidden
``NAME>``           a minimum of an attribute whose values have an order;
                    with the sign of equality behind, ``NAME>=VALUE``
``host``            the name of a machine
``role``            a named group of constraints
any other           values of an attribute of hosts
==================  =======================================================

Each key falls back on its own from the request to the built-in value.

Rule: reference-constraints
"""

from collections.abc import Iterable
from collections.abc import Mapping
from collections.abc import Sequence
import dataclasses
import difflib
from fractions import Fraction
import re

from pcloud import exception
from pcloud.rules import forms
from pcloud.rules.placing import attributes

CPU, RAM, STORAGE = SIZES = ('cpu', 'ram', 'storage')
HOST, ROLE, MAX = 'host', 'role', 'max'
# The beginnings of keys about what Placement has of a machine.
RESOURCE, TRAIT = 'resource:', 'trait:'
REQUIRED, FORBIDDEN = 'required', 'forbidden'
# The end of a key about a minimum of an attribute.
_LEAST = '>'
# Rule: reference-constraints-keys
DEFAULTS = {CPU: '1', RAM: '512M', STORAGE: '4G'}
BUILT_IN = 'built-in'
REQUEST, IMAGE = 'request', 'image'
# Rule: reference-constraints-image
IMAGE_PROPERTY = 'pcloud_constraints'

# What users write for a key, in the words of Nova and of other clouds.
_OTHER_WORDS = {
    CPU: ('cpus', 'vcpu', 'vcpus', 'core', 'cores'),
    RAM: ('mem', 'memory', 'memory_mb'),
    STORAGE: ('disk', 'disk_gb', 'root_disk', 'root-disk'),
}
_FOREIGN = ('ec2-', 'orchestra-')
NOT = '^'
# Nova allows no ">" in the keys of metadata, and Pcloud no ":" in attributes.
_STORED_LEAST = 'least:'
_KEY = re.compile(f'{forms.ATTRIBUTE_NAME}{_LEAST}?')
_OF_PLACEMENT = re.compile(f'({RESOURCE}|{TRAIT})(.*)')
# The form that Placement gives to resource classes and traits, short enough
# to be stored behind the beginning of a key.
_PLACEMENT_NAME = re.compile('[A-Z0-9_]{1,200}')
_COUNT = re.compile(r'\d{1,15}', re.ASCII)
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
_NO_MAX = 'max is for cpu, ram and storage alone'
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


def parse(written: str) -> dict[str, str]:
    r"""Read constraints: ``key=value`` pairs between blanks.

    A blank inside of a value is written ``\ ``, a backslash before a blank
    or before another backslash ``\\``.

    :returns: ``key -> value``, the values as written
    :raises: `exception.InvalidValue` with position and rule

    Rule: reference-constraints-syntax
    """
    if len(written) > _LONGEST_TEXT:
        raise exception.InvalidValue(
            'Constraint at character 1', f'{written[:_SHOWN]}...',
            f'in a text of at most {_LONGEST_TEXT} characters')
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
            raise exception.InvalidValue(
                f'Constraint at character {where}', pair, str(rule))
        seen.add(key.casefold())
        constraints[key] = value
    return constraints


def text(constraints: Mapping[str, str]) -> str:
    """Write constraints as `parse` reads them."""
    return ' '.join(_TO_ESCAPE.sub(r'\\\g<0>', f'{key}={value}')
                    for key, value in constraints.items())


def readable(pairs: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Return those of some constraints that `parse` reads out of one text.

    The first constraints have precedence: a text has a most of pairs and
    characters, and each key once.
    """
    kept: dict[str, str] = {}
    for key, value in pairs:
        more = {**kept, key: value}
        try:
            if parse(text(more)) == more:
                kept = more
        except exception.InvalidValue:
            continue
    return kept


def check_stored(stored: str, value: str) -> None:
    """Refuse a constraint, stored by itself, which `parse` would misread.

    :param stored: the key, as `stored_key` makes keys
    :raises: `exception.InvalidValue` also where blanks of any kind
        around or inside of the value would change the constraint
    """
    key = key_of_stored(stored)
    if parse(text({key: value})) != {key: value}:
        raise exception.InvalidValue(
            'Constraint at character 1', f'{key}={value}',
            'without line breaks, tabs and the like')


class _Bad(ValueError):
    """The form required of a pair."""


def _pair(written: str) -> tuple[str, str]:
    key, equals, value = written.partition('=')
    of_placement = _OF_PLACEMENT.fullmatch(key.casefold())
    if not equals or not (of_placement or _KEY.fullmatch(key)):
        raise _Bad('KEY=VALUE, with a key of 1 to 64 letters, digits, ".", '
                   '"_", "-" or blanks; or ATTRIBUTE>=VALUE, resource:CLASS=N '
                   'or trait:NAME=required')
    if len(value) > _LONGEST or not value.isprintable():
        raise _Bad(f'of at most {_LONGEST} characters that can be printed')
    if of_placement:
        _check_of_placement(of_placement[1], key, value)
    elif key.endswith(_LEAST) and not _is_foreign(key):
        _check_least(key, value)
    else:
        _check_plain(key, value)
    return key, value


def _check_of_placement(kind: str, key: str, value: str) -> None:
    if not key.startswith(kind):
        raise _Bad(f'written {kind}')
    if not _PLACEMENT_NAME.fullmatch(key.removeprefix(kind)):
        raise _Bad(
            f'{kind}NAME, with a name of 1 to 200 capital letters, digits or '
            '"_", such as ' + ('resource:CUSTOM_FPGA=1' if kind == RESOURCE
                               else 'trait:HW_CPU_X86_AVX=required'))
    if kind == RESOURCE and value and not _COUNT.fullmatch(value):
        raise _Bad(f'a whole number from 0, such as 4; {_NO_MAX}')
    if kind == TRAIT and value not in ('', REQUIRED, FORBIDDEN):
        raise _Bad(f'{key}={REQUIRED} or {key}={FORBIDDEN}')


def _check_least(key: str, value: str) -> None:
    name = key.removesuffix(_LEAST)
    if name in SIZES:
        raise _Bad(f'written {name}=, which is a minimum')
    if name not in attributes.ORDERED:
        raise _Bad(f'written {name}=, for its values are texts, which have no '
                   f'order; >= is for {", ".join(attributes.ORDERED)}')
    if not value:
        return
    try:
        attributes.read(name, value)
    except exception.InvalidValue as error:
        if value == MAX:
            raise _Bad(f"{error.details['expected']}; {_NO_MAX}")
        raise _Bad(error.details['expected'])


def _check_plain(key: str, value: str) -> None:
    if key in SIZES:
        if value not in ('', MAX):
            amount(key, value)
    elif key == ROLE:
        if value and not _ROLE.fullmatch(value):
            raise _Bad('the name of a role, of 1 to 64 letters, digits, "_" '
                       'or "-"')
    elif key != HOST and not _is_foreign(key):
        if key.casefold() in (*SIZES, HOST, ROLE):
            raise _Bad(f'written {key.casefold()}=')
        choice(key, value)


def _is_foreign(key: str) -> bool:
    """Whether a key is for other providers, and ignored here.

    Rule: reference-constraints-keys
    """
    return key.startswith(_FOREIGN)


def amount(key: str, value: str) -> Fraction:
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


def written_amount(key: str, number: int) -> str:
    """Write a minimum as `amount` reads it, in the greatest whole unit.

    :param number: in cpus or MiB, more than 0
    """
    if key == CPU:
        return str(number)
    unit = max((unit for unit, size in _SUFFIXES.items()
                if unit and not number % size), key=_SUFFIXES.__getitem__)
    return f'{number // _SUFFIXES[unit]}{unit}'


def choice(key: str, value: str) -> tuple[frozenset, frozenset]:
    """Read the required and the forbidden values of an attribute."""
    has: set = set()
    has_not: set = set()
    for choice in value.split(',') if value else ():
        plain = choice.removeprefix(NOT)
        if not plain:
            raise _Bad(f'a list such as a,{NOT}b: has a and has not b')
        try:
            (has if plain == choice else has_not).add(
                attributes.read(key, plain))
        except exception.InvalidValue as error:
            raise _Bad(error.details['expected'])
    return frozenset(has), frozenset(has_not)


def attribute_names(constraints: Mapping[str, str]) -> dict[str, str]:
    """Return the attributes that constraints ask for: ``key -> attribute``.

    A constraint without a value asks for nothing.
    """
    return {key: key.removesuffix(_LEAST)
            for key, value in constraints.items() if value and (
                is_attribute(key) or is_least(key))}


def is_attribute(key: str) -> bool:
    """Whether a constraint with a key is about values of an attribute."""
    return not (key in (*SIZES, HOST, ROLE) or is_least(key) or
                is_of_placement(key) or _is_foreign(key))


def is_least(key: str) -> bool:
    """Whether a constraint with a key is about a minimum of an attribute."""
    return key.endswith(_LEAST) and not _is_foreign(key)


def least_key(name: str) -> str:
    """Return the key of a minimum of an attribute."""
    return name + _LEAST


def is_of_placement(key: str) -> bool:
    """Whether a constraint with a key is about what Placement has of hosts."""
    return key.startswith((RESOURCE, TRAIT))


def label(key: str) -> str:
    """Return a key as users know the key, without a value."""
    return f'{key}=' if is_least(key) else key


def stored_key(key: str) -> str:
    """Return the form of a key in the metadata of a policy.

    Rule: reference-constraints-stored
    """
    if key.endswith(_LEAST):
        return _STORED_LEAST + key.removesuffix(_LEAST)
    return key


def key_of_stored(stored: str) -> str:
    """Return the key that `stored_key` makes a form of.

    A form that `stored_key` makes of no key stands for a key that
    `check_stored` refuses.
    """
    if stored.startswith(_STORED_LEAST):
        return stored.removeprefix(_STORED_LEAST) + _LEAST
    return stored


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

    :raises: `exception.Invalid`

    Rule: reference-constraints-roles
    """
    if constraints.get(ROLE):
        raise exception.Invalid(
            f'The constraints of a role cannot have role={constraints[ROLE]} '
            'among them; write out what it stands for.')


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
