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

"""How much of a host is left, and how many more servers that is."""

from collections.abc import Iterable
from collections.abc import Mapping
import dataclasses

VCPU, MEMORY, DISK = 'VCPU', 'MEMORY_MB', 'DISK_GB'

# What a tenant knows them by.
_WORDS = {VCPU: 'cpus', 'PCPU': 'dedicated cpus', MEMORY: 'MiB of memory',
          DISK: 'GiB of disk'}


@dataclasses.dataclass(frozen=True)
class Need:
    """What servers on one host take together.

    :ivar amounts: by resource class, none of them 0
    :ivar required: traits that the host has to have
    :ivar forbidden: traits that it must not have
    """

    amounts: Mapping[str, int]
    required: frozenset[str] = frozenset()
    forbidden: frozenset[str] = frozenset()


@dataclasses.dataclass(frozen=True)
class Host:
    """What is left on a host.

    :ivar free: by resource class, what each of its providers has left,
        allocation ratios counted. A class that is not there is not this
        host's to give: it may share it with others.
    :ivar traits: those of all its providers
    """

    free: Mapping[str, tuple[int, ...]]
    traits: frozenset[str]


def total(needs: Iterable[Need]) -> Need:
    """Return what all of some needs come to, on one host."""
    amounts: dict[str, int] = {}
    required: frozenset[str] = frozenset()
    forbidden: frozenset[str] = frozenset()
    for each in needs:
        for name, amount in each.amounts.items():
            amounts[name] = amounts.get(name, 0) + amount
        required |= each.required
        forbidden |= each.forbidden
    return Need(amounts, required, forbidden)


def largest(needs: Iterable[Need]) -> Need:
    """Return what the largest of some needs is, class by class."""
    amounts: dict[str, int] = {}
    needs = list(needs)
    for each in needs:
        for name, amount in each.amounts.items():
            amounts[name] = max(amounts.get(name, 0), amount)
    return dataclasses.replace(total(needs), amounts=amounts)


def words(need: Need) -> list[str]:
    """Return the amounts of a need, in words."""
    return [f'{amount} {_word(name)}'
            for name, amount in sorted(need.amounts.items())]


def fits(need: Need, host: Host) -> int:
    """Return how many times a host has room for a need."""
    if wrong_traits(need, host):
        return 0
    # A need for nothing but traits is met once.
    return min((sum(max(free, 0) // amount for free in host.free[name])
                for name, amount in need.amounts.items()
                if name in host.free), default=1)


def shortages(need: Need, host: Host) -> list[str]:
    """Return, in words, all that a host has too little of; none if it fits.

    ==================  ===========================================
    on the host         in words
    ==================  ===========================================
    less than needed    3 cpus are left, 4 are needed
    a trait is missing  it has not trait HW_CPU_X86_AVX
    one is forbidden    it has trait HW_CPU_X86_AVX
    ==================  ===========================================
    """
    return [
        *(f'{left} {_word(name)} are left, {need.amounts[name]} are needed'
          for name, left in too_little(need, host).items()),
        *wrong_traits(need, host)]


def too_little(need: Need, host: Host) -> dict[str, int]:
    """Return what is left of the resource classes of which it is too little.

    In the order of their names.
    """
    found = {}
    for name, amount in sorted(need.amounts.items()):
        left = max(host.free.get(name, (amount,)), default=0)
        if left < amount:
            found[name] = max(left, 0)
    return found


def _word(name: str) -> str:
    return _WORDS.get(name, f'of {name}')


def wrong_traits(need: Need, host: Host) -> list[str]:
    """Return, in words, the traits for which a host is not right."""
    return [
        *(f'it has not trait {each}'
          for each in sorted(need.required - host.traits)),
        *(f'it has trait {each}'
          for each in sorted(need.forbidden & host.traits))]
