# SPDX-License-Identifier: Apache-2.0

"""The drains that maintenances begin and end.

Rule: reference-maintenance-policy
"""

from collections.abc import Mapping
import dataclasses

from pcloud.backend.changes import writes
from pcloud import exception
from pcloud import names
from pcloud.rules.moving import draining
from pcloud.rules.placing import access


def begin(
    written: writes.Rows, aggregate_id: int, host: str, node: str,
    values: Mapping[str, str], wish: draining.Drain,
) -> None:
    """Drain a host, unless the owner drains it, or its state is unknown.

    :param host: the service host
    :param node: the hypervisor hostname
    :param values: the present values of the state and the drain
    """
    state_key, drain_key = names.state_key(node), names.drain_key(host)
    there = draining.of(values.get(state_key), values.get(drain_key))
    chosen = access.state(values.get(state_key, ''))
    if there is not None:
        chosen = there.chosen
    if chosen is None:
        return
    since = wish.since if there is None else there.since
    written.exchange(aggregate_id, state_key, access.DISABLED)
    if drain_key in values:
        written.drop(aggregate_id, [drain_key])
    written.insert(aggregate_id, {drain_key: dataclasses.replace(
        wish, since=since, chosen=chosen).text()})


def end(
    written: writes.Rows, aggregate_id: int, host: str, node: str,
    values: Mapping[str, str],
) -> None:
    """End the drain that a maintenance has begun, if it has not ended.

    :param host: the service host
    :param node: the hypervisor hostname
    :param values: the present values of the state and the drain
    :raises: `exception.HostBusy` when the host is to be enabled while
        something is due for the host
    """
    state_key, drain_key = names.state_key(node), names.drain_key(host)
    there = draining.of(values.get(state_key), values.get(drain_key))
    if there is None or there.chosen is None:
        return
    written.drop(aggregate_id, [drain_key])
    written.exchange(aggregate_id, state_key, there.chosen)
    if there.chosen == access.ENABLED and not written.open(host):
        raise exception.HostBusy(name=host)
