# SPDX-License-Identifier: Apache-2.0

"""The rows of the page about performance, of what was found."""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Mapping
import functools
import random
import statistics

from pcloud.tests.benchmarks.model import costs
from pcloud.tests.benchmarks.model import limits
from pcloud.tests.benchmarks.model import operations as ops
from pcloud.tests.benchmarks.model import stream
from pcloud.tests.benchmarks import results

# What comes in a minute, and the processes of the cloud.
STREAM = ops.Stream(launches=1000, changes=100)
PLANT = ops.Plant(apis=24, schedulers=16, workers=2, placements=24, cores=16)

# Seconds of a schedule of a cloud, which the first seconds do not distort.
_SECONDS = 600.0
_RUNS = 20
# How far the model may be from real processes.
_FACTOR = 2.0
_AGREES = 'the model says what real processes do'
_FLAT = 'what is kept of hosts is not cast, and values of at most 1,000 are'
# Bytes to each scheduler for one change.
_CAST = 200_000


def cloud(hosts: int) -> limits.Cloud:
    """Return the size of a cloud with so many hosts."""
    return limits.Cloud(hosts, max(1, hosts // 10))


def of_costs(hosts: int, found: costs.Costs) -> Iterator[results.Row]:
    """Yield what the operations cost in a cloud."""
    table = f'Operations, {hosts:,} hosts, medians'
    for name, cost in found.items():
        for unit, part in (('ms of the process', 'own'),
                           ('ms Placement', 'placement'),
                           ('ms MariaDB', 'database')):
            yield results.Row(table, name, unit, 1000 * statistics.median(
                getattr(each, part) for each in cost.samples))
        for unit, number in (
                ('SQL', cost.statements), ('calls', cost.calls),
                ('locked rows', cost.locked.rows),
                ('bytes cast to each scheduler', cost.cast)):
            yield results.Row(table, name, unit, number)
        yield results.Row(table, name, 'ms that anchors are locked', 1000 * (
            cost.locked.during * cost.mean.all))
        yield results.Row(table, name, 'ms of each scheduler for the casts',
                          1000 * cost.heard)


def of_casts(found: Mapping[int, costs.Costs]) -> Iterator[results.Row]:
    """Yield the most that one change casts in the largest cloud."""
    last = found[max(found)]
    name = max(ops.CHANGES, key=lambda each: last[each].cast)
    yield results.Row('', f'largest cast of one change: {name}', 'bytes',
                      last[name].cast, _CAST, why=_FLAT)


def of_nova(found: Mapping[int, costs.Costs]) -> Iterator[results.Row]:
    """Yield what grows with the hosts of the cloud, beside what does not."""
    table = 'Seconds of an operation, by the hosts of the cloud'
    for hosts, its in found.items():
        for name in (ops.CHOOSE, ops.CHOOSE_HINTED, ops.ADD, ops.SWITCH,
                     ops.REMOVE, ops.PASS, ops.START):
            yield results.Row(table, name, f's, {hosts:,} hosts',
                              its[name].mean.all)


def of_limits(
    found: Mapping[int, costs.Costs], hosts: int,
) -> Iterator[results.Row]:
    """Yield what breaks first, and at which size and rate."""
    first = limits.loads(costs.sizes(found, hosts), cloud(hosts), PLANT,
                         STREAM)
    table = (f'Resources under {STREAM.launches:,} launches and '
             f'{STREAM.changes} changes a minute')
    for name, load in sorted(first.items(), key=lambda each: -each[1]):
        places = PLANT.places.get(name)
        yield results.Row(table, name, 'there', places or 1)
        for size in sorted({*found, hosts}):
            at = limits.loads(costs.sizes(found, size), cloud(size), PLANT,
                              STREAM)[name]
            yield results.Row(
                table, name, f'% of its time, {size:,} hosts', 100 * at)
        yield results.Row(
            table, name, f'times the rate at which it breaks, {hosts:,} hosts',
            1 / load if load else float('inf'))
        breaks = limits.largest(functools.partial(_load, found, name))
        if breaks is not None:
            yield results.Row(
                table, name, 'hosts at which it breaks', breaks)
        if places:
            yield results.Row(table, name,
                              f'wanted there for {hosts:,} hosts',
                              limits.wanted(load, places))


def _load(
    found: Mapping[int, costs.Costs], name: str, hosts: int,
    of_all: ops.Stream = STREAM, plant: ops.Plant = PLANT,
) -> float:
    return limits.loads(costs.sizes(found, hosts), cloud(hosts), plant,
                        of_all)[name]


def of_cuts(found: Mapping[int, costs.Costs]) -> Iterator[results.Row]:
    """Yield how many schedulers a cloud needs, by size and rate."""
    table = 'Processes of nova-scheduler that a cloud needs'
    for hosts in (1000, 2000, 5000, 10_000, 20_000, 50_000, 100_000):
        for launches in (100, 300, 1000):
            factor = launches / STREAM.launches
            yield results.Row(
                table, f'{hosts:,} hosts', f'{launches} launches a minute',
                limits.wanted(_load(found, ops.SCHEDULER, hosts,
                                    STREAM.times(factor)),
                              PLANT.schedulers))


def of_streams(
    found: Mapping[int, costs.Costs], hosts: int,
) -> Iterator[results.Row]:
    """Yield how long launches wait, in simulations of a cloud.

    What the cloud of today cannot bear is simulated with as many processes as
    the cloud needs.
    """
    table = ('Streams through the model: launches from nova-api to the '
             'chosen host')
    for size in sorted({*found, hosts}):
        its = costs.sizes(found, size)
        load = limits.loads(its, cloud(size), PLANT, STREAM)
        plants = [(f'{size:,} hosts', PLANT)]
        if max(load[name] for name in PLANT.places) > limits.FULL:
            plants.append((f'{size:,} hosts, as many processes as wanted',
                           _enough(load)))
        for name, plant in plants:
            outcome = stream.Simulation(
                its, cloud(size), plant, random.Random(size)).run(
                    STREAM.rates, _SECONDS)
            yield from _of_outcome(table, name, plant, outcome)


def _enough(load: Mapping[str, float]) -> ops.Plant:
    """Return the processes that a cloud needs, and no fewer than `PLANT`."""
    def count(name: str) -> int:
        return max(PLANT.places[name],
                   limits.wanted(load[name], PLANT.places[name]))

    return ops.Plant(
        apis=count(ops.NOVA_API), schedulers=count(ops.SCHEDULER),
        workers=PLANT.workers, placements=count(ops.PLACEMENT),
        cores=count(ops.DATABASE))


def _of_outcome(
    table: str, name: str, plant: ops.Plant, outcome: stream.Outcome,
) -> Iterator[results.Row]:
    yield results.Row(table, name, 'schedulers', plant.schedulers)
    for kind in (stream.LAUNCH, stream.CHANGE):
        ended = outcome.taken[kind]
        yield results.Row(table, name, f'{kind} that end, %',
                          100 * len(ended) / outcome.begun[kind])
        for word, part in (('median', 0.5), ('99th', 0.99)):
            yield results.Row(
                table, name, f's {kind}, {word}',
                stream.share(ended, part) if ended else float('inf'))
        yield results.Row(
            table, name, f's {kind} wait, 99th',
            stream.share(outcome.waited[kind], 0.99) if ended
            else float('inf'))
    busiest, load = next(iter(stream.shares(outcome).items()))
    yield results.Row(table, name, f'% of its time: {busiest}', 100 * load)


def of_check(
    found: costs.Costs, hosts: int, rates: Mapping[str, float],
    seconds: float, real: stream.Outcome, plant: ops.Plant,
    machine: stream.Machine,
) -> Iterator[results.Row]:
    """Yield a stream through real processes beside the same in the model."""
    table = (f'A stream through real processes and through the model, '
             f'{hosts:,} hosts, {seconds:g} seconds')
    runs = [stream.Simulation(
        found, cloud(hosts), plant, random.Random(seed), machine,
    ).run(rates, seconds) for seed in range(_RUNS)]
    for kind in (stream.LAUNCH, stream.CHANGE):
        for word, part in (('median', 0.5), ('90th', 0.9)):
            name = f's {kind}, {word}'
            here = stream.share(real.taken[kind], part)
            model = statistics.median(
                stream.share(run.taken[kind], part) for run in runs
                if run.taken[kind])
            yield results.Row(table, name, 'real', here)
            yield results.Row(table, name, 'model', model)
            if (kind, word) == (stream.LAUNCH, 'median'):
                yield results.Row(
                    table, f'{kind}, {word}, {hosts:,} hosts',
                    f'{results.TIMES}the model', here / model, _FACTOR,
                    1 / _FACTOR, why=_AGREES)
    for name in plant.places:
        yield results.Row(table, f'% of its time: {name}', 'real',
                          100 * real.shares[name])
        yield results.Row(
            table, f'% of its time: {name}', 'model',
            100 * statistics.fmean(run.shares[name] for run in runs))
    yield results.Row(table, '% of a processor that a process gets', 'real',
                      100 * machine.speed)
    yield results.Row(table, 'launches', 'real',
                      len(real.taken[stream.LAUNCH]))
    yield results.Row(table, 'changes', 'real',
                      len(real.taken[stream.CHANGE]))
