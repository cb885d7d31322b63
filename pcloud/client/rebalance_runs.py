# SPDX-License-Identifier: Apache-2.0

"""Wait for a rebalance of a Pcloud."""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Mapping
import time
import typing

from pcloud.client import exceptions

if typing.TYPE_CHECKING:
    from pcloud.client import v1

# Seconds between two looks. A look has the cloud make a plan.
POLL_INTERVAL = 5


class NotRebalanced(exceptions.ClientError):
    """A rebalance has ended before its end."""


def wait(
    client: v1.Client, pcloud_id: str, goal: Mapping[str, typing.Any],
    report: Callable[[str], object],
) -> None:
    """Wait until all servers of a rebalance have been moved.

    The end of the wait ends no rebalance.

    :param goal: as for :meth:`v1.Client.plan_rebalance`
    :param report: called with a line whenever fewer servers are left
    :raises NotRebalanced: when the rebalance has ended before its end
    :raises exceptions.Interrupted: on Ctrl-C
    """
    left = -1
    try:
        while True:
            found = client.plan_rebalance(pcloud_id, **goal)
            if not found.under_way:
                break
            if len(found.under_way) != left:
                left = len(found.under_way)
                report(f'Waiting for servers to be moved: {left} left')
            time.sleep(POLL_INTERVAL)
    except KeyboardInterrupt:
        raise exceptions.Interrupted(
            f'Interrupted. The servers are still moved: {left} left') from None
    if found.stopped:
        raise NotRebalanced(
            'The rebalance has stopped before its end: '
            f"{found.stopped['reason']}")
