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

"""Room for servers under way, and the launches that wait for room.

A server is under way from the decision that there is room until Placement has
the server's allocation.

Rule: reference-default-pcloud-grow
"""

from collections.abc import Iterable
from collections.abc import Mapping
import dataclasses
import re

from pcloud import exception
from pcloud.rules import capacity
from pcloud.rules import uuids

# A value in Nova's metadata has 255 characters.
_LIMIT = 255
_NUMBER = '[0-9]{1,18}'
_POSITIVE = '[1-9][0-9]{0,17}'
_AMOUNT = f'[A-Z0-9_]+:{_POSITIVE}'
_KEPT = re.compile(
    rf'(?P<until>{_NUMBER}) (?P<count>{_POSITIVE}) '
    rf'(?P<group>-|{uuids.FORM}) (?P<amounts>(?:{_AMOUNT}(?:,{_AMOUNT})*)?)')


@dataclasses.dataclass(frozen=True)
class Demand:
    """Equal servers that have no allocation yet.

    :ivar need: what each of the servers needs
    :ivar count: the number of the servers
    :ivar group: the id of the servers' group, None for no group
    """

    need: capacity.Need
    count: int
    group: str | None = None


@dataclasses.dataclass(frozen=True)
class Reservation:
    """Room that is kept for a launch until Nova has answered.

    :ivar until: when the reservation lapses, in seconds since the epoch
    """

    until: int
    demand: Demand

    def __str__(self) -> str:
        """Return the reservation as stored, in at most 255 characters."""
        demand = self.demand
        amounts = ','.join(f'{name}:{amount}' for name, amount
                           in sorted(demand.need.amounts.items()))
        text = f'{self.until} {demand.count} {demand.group or "-"} {amounts}'
        if len(text) > _LIMIT:
            # Many resource classes; what every server has is kept.
            return str(dataclasses.replace(self, demand=dataclasses.replace(
                demand, need=_common(demand.need))))
        return text


_COMMON = capacity.VCPU, capacity.MEMORY, capacity.DISK


def _common(need: capacity.Need) -> capacity.Need:
    return capacity.Need({name: need.amounts[name] for name in _COMMON
                          if name in need.amounts})


def parse(text: str) -> Reservation:
    """Return a reservation as stored.

    :raises: `exception.InvalidReservation`
    """
    match = _KEPT.fullmatch(text)
    if match is None:
        raise exception.InvalidReservation(value=text)
    pairs = [pair.split(':') for pair in match['amounts'].split(',') if pair]
    return Reservation(int(match['until']), Demand(
        capacity.Need({name: int(amount) for name, amount in pairs}),
        int(match['count']),
        None if match['group'] == '-' else match['group']))


def smallest(needs: Iterable[capacity.Need]) -> capacity.Need:
    """Return what every one of some needs includes.

    A host without room for the smallest need has no room for any of the needs.
    Traits are left out.
    """
    amounts = [need.amounts for need in needs]
    common = frozenset.intersection(*map(frozenset, amounts))
    return capacity.Need({name: min(each[name] for each in amounts)
                          for name in common})


def left(
    hosts: Mapping[str, capacity.Host], demands: Iterable[Demand],
) -> tuple[dict[str, capacity.Host], int]:
    """Return what is free on hosts once servers under way have been placed.

    Large servers are placed first, each on the first host with room. Where a
    scheduler places the servers otherwise, less or more may be left.

    :param hosts: ``service host -> host``
    :returns: the hosts, and the number of servers that no host has room for
    """
    free = {name: host for name, host in sorted(hosts.items())}
    homeless = 0
    for demand in sorted(
            demands, key=lambda each: capacity.size(each.need), reverse=True):
        waiting = demand.count
        for name, host in free.items():
            placed = min(waiting, capacity.fits(demand.need, host))
            for _ in range(placed):
                host = capacity.without(host, demand.need)
            free[name] = host
            waiting -= placed
            if not waiting:
                break
        homeless += waiting
    return free, homeless
