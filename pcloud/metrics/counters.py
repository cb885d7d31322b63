# SPDX-License-Identifier: Apache-2.0

"""The metrics that other processes have counted.

See `pcloud.counters.counter_files`.

Rule: reference-metrics-counters
"""

from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
import pathlib

from prometheus_client import metrics_core
from prometheus_client import multiprocess
from prometheus_client import utils

from pcloud.counters import allocations
from pcloud.counters import counter_files


def collected(
    directory: str, host_flavors: Sequence[str],
) -> Iterator[metrics_core.Metric]:
    """Yield the sums of all processes that count in a folder.

    What no process has counted yet is 0 for each host flavor.

    :param host_flavors: the ids of the host flavors
    :raises: the errors of files without counters
    """
    found = {metric.name: metric for metric in _collected(directory)}
    for counter in allocations.COUNTERS:
        yield _counter(counter, found.get(counter.name), host_flavors)
    yield _histogram(allocations.SECONDS, found.get(allocations.SECONDS.name))


def _collected(directory: str) -> Sequence[metrics_core.Metric]:
    if not pathlib.Path(directory).is_dir():
        # The first process that counts makes the folder.
        return ()
    return list(multiprocess.MultiProcessCollector(
        None, path=directory).collect())


def _counter(
    counter: counter_files.Counter, found: metrics_core.Metric | None,
    host_flavors: Sequence[str],
) -> metrics_core.Metric:
    values = dict.fromkeys(allocations.zeros(counter, host_flavors), 0.0)
    for sample in found.samples if found else ():
        values[tuple(sample.labels[label]
                     for label in counter.labels)] = sample.value
    family = metrics_core.CounterMetricFamily(
        counter.name, counter.documentation, labels=counter.labels)
    for key, value in sorted(values.items()):
        family.add_metric(key, value)
    return family


def _histogram(
    histogram: counter_files.Histogram, found: metrics_core.Metric | None,
) -> metrics_core.Metric:
    sums = {sample.name: sample.value for sample in found.samples
            if 'le' not in sample.labels} if found else {}
    counts: Mapping[str, float] = {
        sample.labels['le']: sample.value for sample in found.samples
        if 'le' in sample.labels} if found else {}
    bounds = [utils.floatToGoString(bound) for bound in histogram.bounds]
    family = metrics_core.HistogramMetricFamily(
        histogram.name, histogram.documentation)
    family.add_metric(
        (), [(bound, counts.get(bound, 0.0)) for bound in bounds],
        sums.get(f'{histogram.name}_sum', 0.0))
    return family
