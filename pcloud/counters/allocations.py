# SPDX-License-Identifier: Apache-2.0

"""What is counted of the allocations of hosts.

Rule: reference-metrics-counters
"""

from collections.abc import Iterator
from collections.abc import Sequence
import contextlib
import itertools
import math
import time

from pcloud.counters import counter_files
from pcloud import exception

# A host is asked for by a call, needed by a launch into a growing Pcloud, or
# stands in for another host during a maintenance, or because that has failed,
# or was waited for.
CALL, GROWTH, MAINTENANCE = 'call', 'growth', 'maintenance'
RECOVERY, WAITING = 'recovery', 'waiting'
CAUSES = (CALL, GROWTH, MAINTENANCE, RECOVERY, WAITING)

# The most special error first.
_REASONS = (
    (exception.NoFreeHost, 'no_free_host'),
    (exception.HostsSettling, 'settling'),
    (exception.HostsContended, 'contended'),
    (exception.OthersWaiting, 'others_waiting'),
    (exception.QuotaExceeded, 'quota'),
    (exception.NothingFits, 'nothing_fits'),
    (exception.HostNameInUse, 'name_in_use'),
    (exception.GrowthForbidden, 'growth_forbidden'),
    (exception.GrowthLimit, 'growth_limit'),
    (exception.GrowthUseless, 'growth_useless'),
    (exception.OutcomeUnknown, 'outcome_unknown'),
    (exception.Unavailable, 'unavailable'),
    (exception.PcloudError, 'other'),
)
_ERROR = 'error'
REASONS = (*(reason for _, reason in _REASONS), _ERROR)

ALLOCATIONS = counter_files.Counter(
    'pcloud_allocations', 'Hosts that were given to Pclouds.',
    ('host_flavor', 'cause'))
REFUSALS = counter_files.Counter(
    'pcloud_allocation_refusals', 'Requests for a host that got no host.',
    ('host_flavor', 'reason'))
RETRIES = counter_files.Counter(
    'pcloud_allocation_retries',
    'Hosts that a request chose and could not have.', ('host_flavor',))
SECONDS = counter_files.Histogram(
    'pcloud_allocation_seconds',
    'Seconds of the calls that gave a host to a Pcloud.',
    (0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, math.inf))
COUNTERS = (ALLOCATIONS, REFUSALS, RETRIES)


class Allocation:
    """A request for a host that is being counted.

    :ivar host_flavor: the id of the host flavor; '' as long as the request
        has no host flavor
    """

    def __init__(self, host_flavor: str):
        self.host_flavor = host_flavor


@contextlib.contextmanager
def allocation(host_flavor: str, count: int) -> Iterator[Allocation]:
    """Count a request for hosts, by the request's outcome.

    :param host_flavor: the id of a host flavor that there is, or '' for a
        request that finds a host flavor and sets `Allocation.host_flavor`
    :param count: how many hosts are asked for
    """
    begun = time.monotonic()
    counted = Allocation(host_flavor)
    try:
        yield counted
    except Exception as error:
        refused(counted.host_flavor, error)
        raise
    ALLOCATIONS.add([counted.host_flavor, CALL], count)
    SECONDS.observe(time.monotonic() - begun)


def refused(host_flavor: str, error: Exception) -> None:
    """Count a request for a host that ended with an error."""
    if isinstance(error, exception.HostFlavorNotFound):
        # Whoever asks for a host flavor chooses the text.
        host_flavor = ''
    REFUSALS.add([host_flavor, reason_of(error)])


def reason_of(error: Exception) -> str:
    """Return which of `REASONS` an error is.

    =======================================  ===================
    error                                    reason
    =======================================  ===================
    of `exception`, and in the table above   that of the table
    of `exception`, and not there            ``other``
    any other                                ``error``
    =======================================  ===================
    """
    return next((reason for kind, reason in _REASONS
                 if isinstance(error, kind)), _ERROR)


def zeros(
    counter: counter_files.Counter, host_flavors: Sequence[str],
) -> Iterator[tuple[str, ...]]:
    """Yield the values of the labels of all that can be counted.

    A series that begins with 0 shows the first increase too.

    :param counter: one of `COUNTERS`
    :param host_flavors: the ids of the host flavors
    """
    values = {'host_flavor': host_flavors, 'cause': CAUSES,
              'reason': REASONS}
    if counter is REFUSALS:
        values['host_flavor'] = ['', *host_flavors]
    return itertools.product(*(values[label] for label in counter.labels))
