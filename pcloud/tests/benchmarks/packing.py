# SPDX-License-Identifier: Apache-2.0

"""How long plans take: ``python -m pcloud.tests.benchmarks.packing``.

500 servers of up to 20 flavors on 100 hosts, each of which has something else
free, at random. Printed for each world: how many servers have room, and the
seconds until that was decided, and until the advice was there too. Then, for
hosts that are filled more and more: how many of the hosts may fail alone, and
the seconds until that was known, and until the advice was there too; and how
many hosts a rebalance makes empty, with which moves, whether that is proven to
be the best, and the seconds that the plan took.
"""

import dataclasses
import random
import sys
import time

from pcloud import planner
from pcloud.rules import capacity
from pcloud.rules import filling
from pcloud.rules import fitting
from pcloud.rules import losses
from pcloud.rules import packing
from pcloud.rules import rebalance_plans
from pcloud.rules import rebalancing
from pcloud.rules import shortages

_HOSTS, _SERVERS, _WORLDS = 100, 500, 20
_NEW = fitting.Host({capacity.VCPU: 64, capacity.MEMORY: 256 * 1024,
                     capacity.DISK: 1000})


def _host(chance: random.Random) -> fitting.Host:
    used = chance.random() * 0.7 if chance.random() < 0.6 else 0
    size = {capacity.VCPU: chance.choice([64, 96, 128]),
            capacity.MEMORY: chance.choice([256, 384, 512]) * 1024 - 512,
            capacity.DISK: chance.choice([1000, 2000])}
    return fitting.Host({name: int(amount * (1 - used * chance.random()))
                         for name, amount in size.items()}, size)


def _kinds(chance: random.Random) -> list[fitting.Kind]:
    number = chance.randint(3, 20)
    cuts = sorted(chance.sample(range(1, _SERVERS), number - 1))
    return [fitting.Kind(
        {capacity.VCPU: chance.randint(1, 32),
         capacity.MEMORY: chance.choice([2, 4, 8, 16, 24, 32, 48]) * 1024,
         capacity.DISK: chance.randint(10, 400)}, end - begin,
        chance.random() < 0.1 and end - begin < _HOSTS)
        for begin, end in zip([0, *cuts], [*cuts, _SERVERS])]


def _measure(seed: int) -> float:
    """Print a line about a world, and return the seconds for all."""
    chance = random.Random(seed)
    hosts = [_host(chance) for _ in range(_HOSTS)]
    kinds = _kinds(chance)
    began = time.perf_counter()
    made = packing.plan(kinds, hosts, planner.Solver(planner.DECIDING))
    decided = time.perf_counter() - began
    if made.least < _SERVERS:
        solve = planner.Solver(planner.TELLING).within(planner.EACH)
        shortages.of_hosts(kinds, hosts, _NEW, solve)
        for name in fitting.classes(kinds):
            shortages.of_class(kinds, hosts, name, solve)
        made = packing.fuller(kinds, hosts, made, solve)
    taken = time.perf_counter() - began
    print(f'{made.least} to {made.most} of {_SERVERS} fit; decided in '
          f'{decided:.2f} s, all in {taken:.2f} s')
    return taken


def _filled(
    chance: random.Random, kinds: list[fitting.Kind], share: float,
) -> tuple[fitting.Host, tuple[int, ...]]:
    """Return what is left on a host, and the servers on the host.

    :param share: how much of the host is filled, roughly
    """
    host = _host(chance)
    order = chance.sample(range(len(kinds)), len(kinds))
    numbers = filling.filled([dataclasses.replace(
        kind, count=chance.randint(0, 3)) for kind in kinds],
        dataclasses.replace(host, free={
            name: int(amount * share) for name, amount in host.free.items()}),
        order)
    return dataclasses.replace(host, free={
        name: amount - fitting.amount(kinds, numbers, name)
        for name, amount in host.free.items()}), numbers


def _rehearse(seed: int) -> float:
    """Print a line about a world, and return the seconds for all."""
    chance = random.Random(seed)
    kinds = [dataclasses.replace(kind, apart=False)
             for kind in _kinds(chance)]
    share = 0.3 + 0.7 * seed / _WORLDS
    hosts, numbers = zip(*(
        _filled(chance, kinds, share) for _ in range(_HOSTS)))
    began = time.perf_counter()
    made = losses.cases(kinds, hosts, [
        losses.Loss(its, frozenset([place]))
        for place, its in enumerate(numbers)],
        planner.Solver(planner.DECIDING))
    decided = time.perf_counter() - began
    losses.more_hosts(sorted(
        (each for each in made if each.survives is not True),
        key=lambda each: each.left, reverse=True), _NEW,
        planner.Solver(planner.TELLING).within(planner.EACH))
    taken = time.perf_counter() - began
    verdicts = [each.survives for each in made]
    print(f'{sum(map(sum, numbers))} servers: {verdicts.count(True)} hosts '
          f'may fail, {verdicts.count(None)} are undecided; decided in '
          f'{decided:.2f} s, all in {taken:.2f} s')
    return taken


def _rebalance(seed: int, most: int) -> float:
    """Print a line about a world, and return the seconds for a plan.

    :param most: the largest number of moves
    """
    chance = random.Random(seed)
    kinds = [dataclasses.replace(kind, apart=False)
             for kind in _kinds(chance)]
    hosts, numbers = zip(*(
        _filled(chance, kinds, 0.3 + 0.5 * seed / _WORLDS)
        for _ in range(_HOSTS)))
    world = rebalancing.World(
        [rebalancing.Host(host.free, host.most, can_be_freed=any(its))
         for host, its in zip(hosts, numbers)],
        [rebalancing.Kind(kind.amounts, its)
         for kind, its in zip(kinds, zip(*numbers))])
    began = time.perf_counter()
    found = rebalance_plans.best(
        world, rebalancing.Goal(most),
        planner.Solver(planner.MOVES).within(planner.EACH_OF_MOVES))
    taken = time.perf_counter() - began
    freed = len(rebalancing.freed(world, found.moves))
    print(f'{sum(map(sum, numbers))} servers, at most {most} moves: {freed} '
          f'hosts with {len(found.moves)} moves in {len(found.steps)} steps, '
          f'{"proven" if found.exact else "not proven"}, in {taken:.2f} s')
    return taken


def main() -> int:
    """Print the measurements; fail when an answer takes longer than 1 s.

    Plans of moves without a limit are not judged: the solver's time is.
    """
    if not planner.is_there():
        print('highspy is not installed')
        return 1
    longest = max(*map(_measure, range(_WORLDS)),
                  *map(_rehearse, range(_WORLDS)),
                  *(_rebalance(seed, 20) for seed in range(_WORLDS)))
    for seed in range(_WORLDS):
        _rebalance(seed, 1000)
    return int(longest > 1.0)


if __name__ == '__main__':
    sys.exit(main())
