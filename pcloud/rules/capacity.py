# SPDX-License-Identifier: Apache-2.0

"""How much of a host is free, and for how many more servers."""

from collections.abc import Iterable
from collections.abc import Mapping
import dataclasses

from pcloud.rules import coded
from pcloud import text

VCPU, MEMORY, DISK = 'VCPU', 'MEMORY_MB', 'DISK_GB'


@dataclasses.dataclass(frozen=True)
class Need:
    """What the servers on one host need together.

    :ivar amounts: ``resource class -> amount``, without amounts of 0
    :ivar required: traits required of the host
    :ivar forbidden: traits forbidden to the host
    """

    amounts: Mapping[str, int]
    required: frozenset[str] = frozenset()
    forbidden: frozenset[str] = frozenset()


@dataclasses.dataclass(frozen=True)
class Provider:
    """A resource provider of a host.

    :ivar free: ``resource class -> free amount``, allocation ratios counted
    """

    uuid: str
    free: Mapping[str, int]


@dataclasses.dataclass(frozen=True)
class Host:
    """What is free on a host.

    :ivar free: ``resource class -> free amounts`` with an amount for each
        resource provider of the host, allocation ratios counted. A missing
        class is not provided by the host; a provider shared with other
        hosts may provide the class.
    :ivar traits: the traits of all resource providers of the host
    :ivar providers: the same amounts, provider by provider; empty where only
        the amounts are known
    """

    free: Mapping[str, tuple[int, ...]]
    traits: frozenset[str]
    providers: tuple[Provider, ...] = ()


def total(needs: Iterable[Need]) -> Need:
    """Return the sum of needs, on one host."""
    amounts: dict[str, int] = {}
    required: frozenset[str] = frozenset()
    forbidden: frozenset[str] = frozenset()
    for need in needs:
        for name, amount in need.amounts.items():
            amounts[name] = amounts.get(name, 0) + amount
        required |= need.required
        forbidden |= need.forbidden
    return Need(amounts, required, forbidden)


def largest(needs: Iterable[Need]) -> Need:
    """Return the largest need, resource class by resource class."""
    amounts: dict[str, int] = {}
    needs = list(needs)
    for need in needs:
        for name, amount in need.amounts.items():
            amounts[name] = max(amounts.get(name, 0), amount)
    return dataclasses.replace(total(needs), amounts=amounts)


def smallest(needs: Iterable[Need]) -> Need:
    """Return what every one of some needs includes.

    A host without room for the smallest need has no room for any of the needs.
    Traits are left out.
    """
    amounts = [need.amounts for need in needs]
    common = frozenset.intersection(*map(frozenset, amounts))
    return Need({name: min(each[name] for each in amounts)
                 for name in common})


def words(need: Need) -> list[str]:
    """Return the amounts of a need, in words."""
    return [text.amount(amount, name)
            for name, amount in sorted(need.amounts.items())]


def fits(need: Need, host: Host) -> int:
    """Return how many times a host has room for a need."""
    if wrong_traits(need, host):
        return 0
    # A need for nothing but traits is met once.
    return min((sum(max(free, 0) // amount for free in host.free[name])
                for name, amount in need.amounts.items()
                if name in host.free), default=1)


def size(need: Need) -> tuple[int, ...]:
    """Return memory, cpus and disk of a need, to compare needs with."""
    return tuple(need.amounts.get(name, 0) for name in (MEMORY, VCPU, DISK))


def without(host: Host, need: Need) -> Host:
    """Return what is free on a host after one more server."""
    return dataclasses.replace(host, free={
        name: _taken(amounts, need.amounts.get(name, 0))
        for name, amounts in host.free.items()})


def _taken(amounts: tuple[int, ...], amount: int) -> tuple[int, ...]:
    """Take an amount from the first resource provider that has enough."""
    for place, free in enumerate(amounts):
        if free >= amount:
            return (*amounts[:place], free - amount, *amounts[place + 1:])
    return amounts


def shortages(need: Need, host: Host) -> list[coded.Reason]:
    """Return every shortage of a host; empty when the need fits.

    ==================  =============================================
    on the host         in words
    ==================  =============================================
    less than needed    ``3 cpus are left, 4 are needed``
    a trait is missing  ``it has not trait HW_CPU_X86_AVX``
    a trait is          ``it has trait HW_CPU_X86_AVX``
    forbidden
    ==================  =============================================
    """
    return [
        *(coded.Reason('too_little', resource=name, left=remainder,
                       needed=need.amounts[name])
          for name, remainder in too_little(need, host).items()),
        *wrong_traits(need, host)]


def too_little(need: Need, host: Host) -> dict[str, int]:
    """Return the free amount of each resource class in shortage.

    :returns: ``resource class -> free amount``, in the order of the classes
    """
    remainders = {}
    for name, amount in sorted(need.amounts.items()):
        remainder = max(host.free.get(name, (amount,)), default=0)
        if remainder < amount:
            remainders[name] = max(remainder, 0)
    return remainders


def left(name: str, amount: int) -> str:
    """Return, in words, how much of a resource class is left."""
    return f'{text.amount(amount, name)} {"is" if amount == 1 else "are"} left'


def wrong_traits(need: Need, host: Host) -> list[coded.Reason]:
    """Return the traits missing or forbidden on a host."""
    return [
        *(coded.Reason('trait_missing', trait=trait)
          for trait in sorted(need.required - host.traits)),
        *(coded.Reason('trait_forbidden', trait=trait)
          for trait in sorted(need.forbidden & host.traits))]
