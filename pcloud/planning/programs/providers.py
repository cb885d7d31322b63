# SPDX-License-Identifier: Apache-2.0

"""Which resource providers of a host give what a server needs.

Resources of one group come from one provider, as Placement has it.

Rule: reference-planning-parts
"""

from collections.abc import Hashable
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
import dataclasses


@dataclasses.dataclass(frozen=True)
class Group:
    """Resources that one provider gives a server.

    :ivar name: the name of the group; empty for resources that may come from
        a provider that gives other groups too
    :ivar amounts: ``resource class -> amount``
    :ivar able: the uuids of the providers that may give the amounts, as far
        as enough is free
    """

    name: str
    amounts: Mapping[str, int]
    able: frozenset[str]


@dataclasses.dataclass(frozen=True)
class Demand:
    """What a server asks of providers.

    :ivar is_isolated: whether each group that has a name comes from another
        provider
    """

    groups: Sequence[Group] = ()
    is_isolated: bool = False


@dataclasses.dataclass(frozen=True)
class Tree:
    """The providers of a host.

    :ivar free: ``uuid -> resource class -> free amount``
    :ivar labels: ``uuid -> what tells providers apart`` beside what is free
    """

    free: Mapping[str, Mapping[str, int]]
    labels: Mapping[str, tuple[Hashable, ...]]

    @property
    def key(self) -> Hashable:
        """Equal for trees that give alike."""
        return tuple(sorted(map(repr, map(self._like, self.free))))

    def _like(self, uuid: str) -> tuple:
        return self.labels[uuid], tuple(sorted(self.free[uuid].items()))

    def ways(
        self, demand: Demand,
    ) -> Iterator[tuple[dict[str, list[str]], 'Tree']]:
        """Yield how providers give all that a server needs.

        Of providers that are alike one is enough.

        :returns: pairs of ``name of a group -> uuids``, and what is left
        """
        yield from self._ways(demand, 0, {})

    def _ways(
        self, demand: Demand, number: int, mapping: dict[str, list[str]],
    ) -> Iterator[tuple[dict[str, list[str]], 'Tree']]:
        if number == len(demand.groups):
            yield mapping, self
            return
        group, tried = demand.groups[number], set()
        for uuid in self._able(group):
            users = tuple(name for name, uuids in mapping.items()
                          if uuid in uuids)
            like = (self._like(uuid), users)
            if like in tried or (
                    demand.is_isolated and group.name and any(users)):
                continue
            tried.add(like)
            yield from self._after(uuid, group)._ways(demand, number + 1, {
                **mapping, group.name: [*mapping.get(group.name, ()), uuid]})

    def _able(self, group: Group) -> list[str]:
        return [uuid for uuid, free in self.free.items()
                if uuid in group.able and all(
                    free.get(name, 0) >= amount
                    for name, amount in group.amounts.items())]

    def _after(self, uuid: str, group: Group) -> 'Tree':
        left = {name: amount - group.amounts.get(name, 0)
                for name, amount in self.free[uuid].items()}
        return dataclasses.replace(self, free={**self.free, uuid: left})
