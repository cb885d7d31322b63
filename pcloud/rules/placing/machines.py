# SPDX-License-Identifier: Apache-2.0

"""Which machines satisfy machine constraints, and which wastes least.

Rule: reference-constraints-keys, reference-constraints-waste
"""

from collections.abc import Iterable
from collections.abc import Mapping
from collections.abc import Sequence
import dataclasses
import itertools
import math

from pcloud.rules.placing import attributes
from pcloud.rules.placing import constraints

CPU, RAM, STORAGE = SIZES = constraints.SIZES
# The classes whose amounts tell more of a size than the size.
_CLASSES_OF = {CPU: ('VCPU', 'PCPU'), RAM: ('MEMORY_MB',),
               STORAGE: ('DISK_GB',)}
# The classes of which a size tells all.
_TOLD = ('VCPU', 'MEMORY_MB', 'DISK_GB')
# The beginning of the traits that are the operator's own.
_CUSTOM = 'CUSTOM_'


@dataclasses.dataclass(frozen=True)
class Wanted:
    """What a machine must have.

    :ivar minimums: ``size -> minimum``, for `SIZES` in cpus or MiB; None for
        the greatest size there is. A missing size does not matter.
        Machines come in whole cpus and MiB, so a minimum is rounded up.
    :ivar attributes: ``attribute -> (required values, forbidden values)``
    :ivar host: the name of the required host, None for any host
    :ivar least: ``attribute -> least value``, as `attributes.read` makes the
        values
    :ivar resources: ``resource class -> least amount``, in the order of the
        classes
    :ivar traits: ``trait -> whether the trait is required``, else forbidden
    :ivar judged: the sizes of which a machine has to report something, or
        wastes more than all machines that do
    """

    minimums: Mapping[str, int | None]
    attributes: Mapping[str, tuple[frozenset, frozenset]]
    host: str | None
    least: Mapping[str, object] = dataclasses.field(default_factory=dict)
    resources: Mapping[str, int] = dataclasses.field(default_factory=dict)
    traits: Mapping[str, bool] = dataclasses.field(default_factory=dict)
    judged: frozenset[str] = frozenset()

    @property
    def all_attributes(self) -> frozenset[str]:
        """The attributes that are asked for, by values or by a minimum."""
        return frozenset((*self.attributes, *self.least))


@dataclasses.dataclass(frozen=True, slots=True)
class Machine:
    """What a machine has.

    :ivar sizes: cpus, MiB of memory and MiB of storage, by `SIZES`; 0 for a
        size that the machine does not report
    :ivar attributes: ``attribute -> values of the machine``, as
        `attributes.read` makes the values
    :ivar names: the names of the machine in a constraint
    :ivar resources: ``resource class -> amount``, the used amounts too; a
        missing class is one that the machine has nothing of
    :ivar traits: the traits of the machine; None when they are not known,
        which satisfies nothing
    """

    sizes: Mapping[str, int]
    attributes: Mapping[str, frozenset]
    names: tuple[str, ...]
    resources: Mapping[str, int] = dataclasses.field(default_factory=dict)
    traits: frozenset[str] | None = frozenset()


def wanted(settings: Mapping[str, constraints.Setting]) -> Wanted:
    """Return what effective constraints ask for."""
    values = {key: settings[key].value for key in sorted(settings)}
    resources = _resources(values)
    return Wanted(
        _minimums(values),
        {key: constraints.choice(key, value) for key, value in values.items()
         if constraints.is_attribute(key)},
        values.get(constraints.HOST),
        {name: attributes.read(name, values[key]) for key, name
         in constraints.attribute_names(values).items()
         if constraints.is_least(key)},
        resources,
        {key.removeprefix(constraints.TRAIT): value == constraints.REQUIRED
         for key, value in values.items()
         if key.startswith(constraints.TRAIT)},
        frozenset(
            size for size in SIZES if size in settings and
            settings[size].source != constraints.BUILT_IN and
            resources.keys().isdisjoint(_CLASSES_OF[size])))


def _minimums(values: Mapping[str, str]) -> dict[str, int | None]:
    minimums: dict[str, int | None] = {}
    for key in values.keys() & set(SIZES):
        if values[key] == constraints.MAX:
            minimums[key] = None
        elif amount := constraints.amount(key, values[key]):
            minimums[key] = math.ceil(amount)
    return minimums


def _resources(values: Mapping[str, str]) -> dict[str, int]:
    return {key.removeprefix(constraints.RESOURCE): least
            for key, value in values.items()
            if key.startswith(constraints.RESOURCE) and (least := int(value))}


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


def unmeetable(unmet: Iterable[frozenset[str]]) -> list[tuple[str, ...]]:
    """Return why no machine meets constraints: the keys that rule all out.

    ==========================================  ============================
    machines                                    keys
    ==========================================  ============================
    none meets a key                            each such key, by itself
    each key is met, and no machine meets two   the first two such keys
    of the keys
    any two keys are met, and no machine meets  some of the keys, of which
    all of the keys                             none can be left out
    a machine meets all keys                    none
    ==========================================  ============================

    :param unmet: the keys that each machine does not meet, as from `unmet`

    Rule: reference-constraints-overlap
    """
    there = set(unmet)
    if not there or frozenset() in there:
        return []
    alone = frozenset.intersection(*there)
    if alone:
        return [(key,) for key in sorted(alone)]
    # One of the two keys is a key that this machine does not meet.
    for key in min(map(sorted, there), key=lambda keys: (len(keys), keys)):
        others = frozenset.intersection(
            *(keys for keys in there if key not in keys))
        if others:
            return [tuple(sorted((key, min(others))))]
    kept = frozenset.union(*there)
    for key in sorted(kept):
        if all(keys & (kept - {key}) for keys in there):
            kept -= {key}
    return [tuple(sorted(kept))]


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
    keys |= {constraints.least_key(name) for name, least in what.least.items()
             if not any(attributes.is_at_least(value, least) for value
                        in machine.attributes.get(name, ()))}
    keys |= {constraints.RESOURCE + name
             for name, least in what.resources.items()
             if machine.resources.get(name, 0) < least}
    keys |= {constraints.TRAIT + name
             for name, required in what.traits.items()
             if machine.traits is None or
             (name in machine.traits) != required}
    if what.host is not None and what.host not in machine.names:
        keys.add(constraints.HOST)
    return keys | _too_small(what, machine)


def _too_small(what: Wanted, machine: Machine) -> set[str]:
    return {key for key, least in what.minimums.items()
            if least is not None and 0 < machine.sizes[key] < least}


def fulfilled(
    sizes: Mapping[str, int | None], written: Mapping[str, str],
    resources: Mapping[str, int], traits: Iterable[str],
) -> dict[str, str]:
    """Return the constraints that a machine meets: ``key -> value``.

    =====================  =================================================
    what a machine has     constraint
    =====================  =================================================
    a size                 the size as a minimum; none for a size that the
                           machine does not report
    an attribute           the values of the machine; none for values that
                           constraints cannot name, and for ``next_reboot``,
                           which passes
    a resource class       the amount; none for the classes of the sizes
    a trait                ``required``, the operator's own traits first
    =====================  =================================================

    The last constraints are left out where a text would get too long.

    :param sizes: by `SIZES`, in cpus or MiB; None for a size not known
    :param written: ``attribute -> value``, as the value is written

    Rule: reference-constraints-fulfilled
    """
    return constraints.readable([
        *((size, constraints.written_amount(size, amount))
          for size, amount in sizes.items() if amount),
        *((name, value) for name, its_value in sorted(written.items())
          if (value := _nameable(name, its_value))),
        *((constraints.RESOURCE + name, str(amount))
          for name, amount in sorted(resources.items())
          if amount and name not in _TOLD),
        *((constraints.TRAIT + name, constraints.REQUIRED)
          for name in sorted(traits, key=lambda name: (
              not name.startswith(_CUSTOM), name)))])


def _nameable(name: str, value: str) -> str | None:
    """Return the value of an attribute for a constraint, None for none."""
    if name == attributes.REBOOT or not constraints.is_attribute(name):
        return None
    parts = value.split(',')
    if name not in attributes.KNOWN:
        # A list, of which blanks around a value are no part.
        parts = [part.strip() for part in parts if part.strip()]
    elif len(parts) > 1:
        return None
    if any(part.startswith(constraints.NOT) for part in parts):
        return None
    return ','.join(parts)


def waste(
    what: Wanted, sizes: Mapping[str, int],
    resources: Mapping[str, int],
) -> tuple[bool | int, ...]:
    """Return what would be wasted: memory first, then cpus, then storage.

    The resource classes that are asked for follow in the order of their names.
    Nothing is wasted of a size wanted as the greatest. Before all sizes stands
    whether a size or an amount is too small, or a size not reported that
    somebody has asked for: the greatest waste.

    ================================  ====================================
    a size that is not reported       waste
    ================================  ====================================
    asked for by a level              the greatest
    asked for, and a class of the     none: the class is judged
    size as well
    built in, or not asked for        none
    ================================  ====================================

    :param resources: ``resource class -> amount``, of the classes asked for

    Rule: reference-constraints-waste
    """
    def excess(key: str) -> int:
        least = what.minimums.get(key, 0)
        if least is None or not (sizes[key] or key in what.judged):
            return 0
        return sizes[key] - least

    spare = (excess(RAM), excess(CPU), excess(STORAGE), *(
        resources.get(name, 0) - least
        for name, least in what.resources.items()))
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
