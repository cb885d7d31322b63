# SPDX-License-Identifier: Apache-2.0

"""The metrics read from rows.

Rule: reference-metrics-gauges
"""

from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Sequence

from nova import context as nova_context
from prometheus_client import metrics_core

from pcloud.metrics import inventory
from pcloud.objects import looks


def gauge(
    name: str, documentation: str, labels: Sequence[str],
    values: Iterable[tuple[tuple[str, ...], float]],
) -> metrics_core.Metric:
    """Return a metric that goes up and down.

    :param values: the values of the labels, and the value
    """
    family = metrics_core.GaugeMetricFamily(name, documentation, labels=labels)
    for key, value in sorted(values):
        family.add_metric(key, value)
    return family


def of_inventory(
    taken: inventory.Inventory,
) -> Iterator[metrics_core.Metric]:
    """Yield the metrics of the hosts of all pools."""
    yield gauge(
        'pcloud_hosts', 'Hosts of pools by state.',
        ('host_flavor', 'availability_zone', 'state'), taken.hosts.items())
    yield gauge(
        'pcloud_oldest_settling_seconds',
        'Seconds since the first of the settling hosts began to settle.',
        (), [((), taken.oldest)])
    yield gauge(
        'pcloud_cell_up', 'Whether a cell with hosts of pools answers.',
        ('cell', 'uuid'), taken.cells.items())


def of_drains(
    context: nova_context.RequestContext,
) -> Iterator[metrics_core.Metric]:
    """Yield the metrics of drained hosts (one query)."""
    yield gauge(
        'pcloud_drains',
        'Drained hosts, before and after the deadline of the drain.',
        ('state',), [((state,), count) for state, count
                     in inventory.drains(context).items()])


def of_recoveries(
    context: nova_context.RequestContext,
) -> Iterator[metrics_core.Metric]:
    """Yield the metrics of hosts that have failed (one query)."""
    yield gauge(
        'pcloud_recoveries',
        'Hosts of Pclouds that have failed and are fenced, by the state of '
        'their recovery.',
        ('state',), [((state,), count) for state, count
                     in inventory.recoveries(context).items()])


def of_waiting(
    context: nova_context.RequestContext, host_flavors: Iterable[str],
) -> Iterator[metrics_core.Metric]:
    """Yield who waits for hosts (one query).

    :param host_flavors: the ids of all host flavors
    """
    yield gauge(
        'pcloud_waiting', 'Entries of waiting lists by host flavor.',
        ('host_flavor',), [((flavor,), count) for flavor, count
                           in inventory.waiting(
                               context, host_flavors).items()])


def of_worker(
    context: nova_context.RequestContext,
) -> Iterator[metrics_core.Metric]:
    """Yield when a worker has looked, 0 for never (one query)."""
    yield gauge(
        'pcloud_worker_seen_timestamp_seconds',
        'When a worker has looked at what is due.', (),
        [((), looks.seen(context) or 0)])


def of_projects(
    context: nova_context.RequestContext, most: int,
) -> Iterator[metrics_core.Metric]:
    """Yield units and hosts of the projects with the most units.

    Two queries.

    :param most: the number of projects; all others count together as the
        project ''. 0 yields nothing and asks nothing.
    """
    if not most:
        return
    named, others = inventory.units(context, most)
    yield gauge(
        'pcloud_units_in_use', 'Units of the hosts in Pclouds by owner.',
        ('project_id',),
        [*(((project,), used) for project, used in named.items()),
         (('',), others)])
    yield gauge(
        'pcloud_hosts_held', 'Hosts in Pclouds by owner and host flavor.',
        ('project_id', 'host_flavor'), inventory.held(context, named).items())
