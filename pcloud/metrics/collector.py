# SPDX-License-Identifier: Apache-2.0

"""All metrics of a cloud, at the moment of the question.

Rule: reference-metrics
"""

from collections.abc import Iterator
from collections.abc import Sequence
import threading

from nova import context as nova_context
from oslo_log import log as logging
import prometheus_client
from prometheus_client import metrics_core

from pcloud.metrics import audits
from pcloud.metrics import counters
from pcloud.metrics import gauges
from pcloud.metrics import inventory

LOG = logging.getLogger(__name__)


class Collector:
    """Reads the metrics anew whenever a registry collects.

    Two scrapes at the same moment are answered one after the other, so that
    the databases never do the same work twice at a time.

    :param directory: where other processes count; None when none does
    :param projects: the number of projects whose units are shown
    :param audited: the audits, None without audits
    """

    def __init__(
        self, directory: str | None, projects: int = 0,
        audited: audits.Audits | None = None,
    ) -> None:
        self._directory = directory
        self._projects = projects
        self._audited = audited
        self._reading = threading.Lock()
        self._counters_failed = False

    def collect(self) -> Sequence[metrics_core.Metric]:
        """Return all metrics, with the queries of `stocktaking`.

        :raises: `oslo_db.exception.DBError` and others when Nova's API
            database cannot be read. A silent cell raises nothing.
        """
        with self._reading:
            return list(self._read(nova_context.get_admin_context()))

    def _read(
        self, context: nova_context.RequestContext,
    ) -> Iterator[metrics_core.Metric]:
        taken = inventory.take(context)
        yield from gauges.of_inventory(taken)
        yield from gauges.of_drains(context)
        yield from gauges.of_recoveries(context)
        yield from gauges.of_waiting(context, taken.host_flavors)
        yield from gauges.of_worker(context)
        yield from gauges.of_projects(context, self._projects)
        up: dict[str, bool] = {}
        if self._directory is not None:
            counted = self._counted(self._directory, taken.host_flavors)
            up['counters'] = counted is not None
            yield from counted or ()
        if self._audited is not None:
            yield from self._audited.metrics()
            if self._audited.is_up is not None:
                up['audit'] = self._audited.is_up
        yield gauges.gauge(
            'pcloud_up', 'Whether a part of the metrics could be read.',
            ('part',), [((part,), is_up) for part, is_up in up.items()])

    def _counted(
        self, directory: str, host_flavors: Sequence[str],
    ) -> Sequence[metrics_core.Metric] | None:
        """Return what other processes have counted; None when unreadable."""
        try:
            found = list(counters.collected(directory, host_flavors))
        # The library has no error of its own for files of anything.
        except Exception as error:
            if not self._counters_failed:
                LOG.error('The counters in %(directory)s cannot be read: '
                          '%(error)r', {'directory': directory,
                                        'error': error})
            self._counters_failed = True
            return None
        self._counters_failed = False
        return found


def registry(collector: Collector) -> prometheus_client.CollectorRegistry:
    """Return a registry with nothing but the metrics of Pcloud."""
    made = prometheus_client.CollectorRegistry()
    made.register(collector)
    return made
