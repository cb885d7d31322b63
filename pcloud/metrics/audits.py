# SPDX-License-Identifier: Apache-2.0

"""The findings of an audit, which is too dear for every scrape.

Rule: reference-metrics-audit
"""

import collections
from collections.abc import Iterator
import threading
import time

from nova import context as nova_context
from oslo_log import log as logging
from prometheus_client import metrics_core

from pcloud.audit import all_checks
from pcloud.metrics import gauges

LOG = logging.getLogger(__name__)


class Audits:
    """The latest audit.

    What could not be looked at is a finding, as everywhere. After a failed
    audit there are no findings, until an audit succeeds.
    """

    def __init__(self) -> None:
        self._latest: tuple[dict[str, int], float] | None = None
        self._failed = False

    def repeat(self, interval: float, stop: threading.Event) -> None:
        """Make an audit again and again.

        :param interval: seconds from the end of an audit to the next audit
        :param stop: set to end after the audit that is being made
        """
        while not stop.is_set():
            self.make()
            stop.wait(interval)

    def make(self) -> None:
        """Make an audit; an error is written to the log once, and kept."""
        try:
            context = nova_context.get_admin_context()
            found = collections.Counter(finding.kind for finding in (
                *all_checks.find(context), *all_checks.gaps(context)))
        # Whatever it is, the next audit may succeed.
        except Exception:
            self._latest = None
            if not self._failed:
                LOG.exception('The audit has failed.')
            self._failed = True
        else:
            self._latest = dict(found), time.time()
            self._failed = False

    def metrics(self) -> Iterator[metrics_core.Metric]:
        """Yield the findings, nothing before the first audit."""
        latest = self._latest
        if latest is None:
            return
        found, when = latest
        yield gauges.gauge(
            'pcloud_audit_findings', 'Findings of the latest audit by kind.',
            ('kind',), [((kind,), count) for kind, count in found.items()])
        yield gauges.gauge(
            'pcloud_audit_timestamp_seconds',
            'When the latest audit ended, in seconds since the epoch.',
            (), [((), when)])

    @property
    def is_up(self) -> bool | None:
        """Whether the latest audit succeeded; None before the first audit."""
        if self._failed:
            return False
        return None if self._latest is None else True
