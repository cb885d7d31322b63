# SPDX-License-Identifier: Apache-2.0

"""How long plans take.

500 servers of up to 20 flavors on 100 hosts, each of which has something else
free, at random: how many worlds are decided, and the seconds of processor time
until the advice is there too. Then, for hosts that are filled more and more,
whether each host may fail alone; and which moves make hosts empty, and whether
no plan is better.
"""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Iterator
import dataclasses
import functools
import random
import statistics
import time

from pcloud.planning.programs import filling
from pcloud.planning.programs import fitting
from pcloud.planning.programs import losses
from pcloud.planning.programs import packing
from pcloud.planning.programs import relocation
from pcloud.planning.programs import relocation_search
from pcloud.planning.programs import shortages
from pcloud.planning.programs import solvers
from pcloud.rules import capacity
from pcloud.tests.benchmarks import results

_HOSTS, _SERVERS, _WORLDS = 100, 500, 20
FULL, SMALL = {'worlds': _WORLDS}, {'worlds': 2}

# The most time for an answer, as a multiple of the solver's time: what is
# left is for reading and writing the programs.
_MOST = 1.8
_FEW_MOVES, _ALL_MOVES = 20, 1000
_NEW = fitting.TargetHost({capacity.VCPU: 64, capacity.MEMORY: 256 * 1024,
                           capacity.DISK: 1000})


def _host(chance: random.Random) -> fitting.TargetHost:
    used = chance.random() * 0.7 if chance.random() < 0.6 else 0
    size = {capacity.VCPU: chance.choice([64, 96, 128]),
            capacity.MEMORY: chance.choice([256, 384, 512]) * 1024 - 512,
            capacity.DISK: chance.choice([1000, 2000])}
    return fitting.TargetHost({name: int(amount * (1 - used * chance.random()))
                               for name, amount in size.items()}, size)


def _kinds(chance: random.Random) -> list[fitting.ServerKind]:
    number = chance.randint(3, 20)
    cuts = sorted(chance.sample(range(1, _SERVERS), number - 1))
    return [fitting.ServerKind(
        {capacity.VCPU: chance.randint(1, 32),
         capacity.MEMORY: chance.choice([2, 4, 8, 16, 24, 32, 48]) * 1024,
         capacity.DISK: chance.randint(10, 400)}, end - begin,
        chance.random() < 0.1 and end - begin < _HOSTS)
        for begin, end in zip([0, *cuts], [*cuts, _SERVERS])]


def _pack(seed: int) -> tuple[bool, float]:
    """Return whether a world is decided, and the seconds with the advice."""
    chance = random.Random(seed)
    hosts = [_host(chance) for _ in range(_HOSTS)]
    kinds = _kinds(chance)
    began = time.process_time()
    made = packing.plan(kinds, hosts, solvers.Solver(solvers.DECIDING))
    is_decided = made.least == made.most
    if made.least < _SERVERS:
        solve = solvers.Solver(solvers.TELLING).within(solvers.EACH)
        shortages.of_hosts(kinds, hosts, _NEW, solve)
        for name in fitting.classes(kinds):
            shortages.of_class(kinds, hosts, name, solve)
        made = packing.fuller(kinds, hosts, made, solve)
    return is_decided, time.process_time() - began


def _filled(
    chance: random.Random, kinds: list[fitting.ServerKind], share: float,
) -> tuple[fitting.TargetHost, tuple[int, ...]]:
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


def _rehearse(seed: int) -> tuple[bool, float]:
    """Return whether all hosts of a world are decided, and the seconds."""
    chance = random.Random(seed)
    kinds = [dataclasses.replace(kind, apart=False)
             for kind in _kinds(chance)]
    share = 0.3 + 0.7 * seed / _WORLDS
    hosts, numbers = zip(*(
        _filled(chance, kinds, share) for _ in range(_HOSTS)))
    began = time.process_time()
    made = losses.cases(kinds, hosts, [
        losses.Loss(its, frozenset([place]))
        for place, its in enumerate(numbers)],
        solvers.Solver(solvers.DECIDING))
    losses.more_hosts(sorted(
        (each for each in made if each.survives is not True),
        key=lambda each: each.left, reverse=True), _NEW,
        solvers.Solver(solvers.TELLING).within(solvers.EACH))
    return (all(each.survives is not None for each in made),
            time.process_time() - began)


def _rebalance(most: int, seed: int) -> tuple[bool, float]:
    """Return whether no plan of moves is better, and the seconds.

    :param most: the largest number of moves
    """
    chance = random.Random(seed)
    kinds = [dataclasses.replace(kind, apart=False)
             for kind in _kinds(chance)]
    hosts, numbers = zip(*(
        _filled(chance, kinds, 0.3 + 0.5 * seed / _WORLDS)
        for _ in range(_HOSTS)))
    world = relocation.World(
        [relocation.MovingHost(host.free, host.most, can_be_freed=any(its))
         for host, its in zip(hosts, numbers)],
        [relocation.MovableKind(kind.amounts, its)
         for kind, its in zip(kinds, zip(*numbers))])
    began = time.process_time()
    found = relocation_search.best(
        world, relocation.Goal(most),
        solvers.Solver(solvers.MOVES).within(solvers.EACH_OF_MOVES))
    return found.exact, time.process_time() - began


def _rows(name: str, work: Callable[[int], tuple[bool, float]], worlds: int,
          limit: float, most: float | None) -> Iterator[results.Row]:
    """Yield what a kind of plan takes in each world.

    :param limit: the seconds that the solver has
    :param most: the most time that is wanted, as a multiple of `limit`
    """
    found = [work(seed) for seed in range(worlds)]
    seconds = [each for _, each in found]
    table = f'{_SERVERS} servers on {_HOSTS} hosts'
    for unit, value in (
            ('worlds', worlds),
            ('proven', sum(is_proven for is_proven, _ in found)),
            ('s processor time, median', statistics.median(seconds)),
            ('s processor time, longest', max(seconds))):
        yield results.Row(table, name, unit, value)
    if most is not None:
        yield results.Row(
            table, f'{name}, longest', f"{results.TIMES}the solver's time",
            max(seconds) / limit, most,
            why='a client waits for an answer of one second')


def measure(worlds: int) -> Iterator[results.Row]:
    """Measure plans in so many worlds.

    The solver's time is most of a plan with all moves, which is not judged.
    """
    if not solvers.is_there():
        yield results.Row('Plans', 'plans, longest', 'proven', None, most=0,
                          why='highspy solves plans')
        return
    limit = solvers.DECIDING + solvers.TELLING
    yield from _rows('whether servers fit', _pack, worlds, limit, _MOST)
    yield from _rows('whether each host may fail', _rehearse, worlds, limit,
                     _MOST)
    yield from _rows(
        f'rebalance, at most {_FEW_MOVES} moves',
        functools.partial(_rebalance, _FEW_MOVES), worlds, solvers.MOVES,
        _MOST)
    yield from _rows(
        f'rebalance, at most {_ALL_MOVES:,} moves',
        functools.partial(_rebalance, _ALL_MOVES), worlds, solvers.MOVES,
        None)
