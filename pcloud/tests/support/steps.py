# SPDX-License-Identifier: Apache-2.0
"""The steps of a request of Pcloud at databases and Placement."""

from nova.compute import api as compute_api
from nova.scheduler.client import report

from pcloud.backend.changes import change
from pcloud.backend.changes import journal
from pcloud.backend.changes import writes
from pcloud.objects import emptiness

# Between two steps other requests may make any change. A step is (holder, name
# of the holder's attribute).
STEPS = [
    (emptiness, 'occupants'), (change, 'run'), (journal, 'settle'),
    (report.SchedulerReportClient, 'put'),
    (compute_api.HostAPI, 'service_update_by_host_and_binary'),
]

# All steps that write; the writes of a change are a single transaction.
WRITES = [
    *((writes.Rows, name) for name in (
        'create', 'delete', 'touch', 'join', 'leave', 'insert', 'exchange',
        'drop', 'drop_if', 'drop_prefixes')),
    (journal, 'mark'), *STEPS[1:],
]
