# SPDX-License-Identifier: Apache-2.0

"""Fence hosts: the promise of an administrator that no server runs there.

Rule: reference-recovery-fence
"""

import dataclasses

from nova import context as nova_context

from pcloud.backend.aggregates import pcloud_rows
from pcloud.backend.calls import compute_calls
from pcloud.backend.changes import change
from pcloud.backend.changes import journal
from pcloud.backend.changes import writes
from pcloud import exception
from pcloud import names
from pcloud.objects import host_flavors
from pcloud.rules.moving import recovery


def put(
    context: nova_context.RequestContext, flavor_id: str, host: str,
    is_fenced: bool,
) -> host_flavors.PoolHost:
    """Write whether a host of a pool is fenced: Nova's ``forced_down``.

    Of a host fenced already nothing is written in Nova, and a held recovery of
    the host goes on.

    :returns: the host as it is now
    :raises: `exception.HostFlavorNotFound`, `exception.PoolHostNotFound`,
        `exception.Unavailable` while the host's cell is silent, and as
        `change.run`
    """
    before = host_flavors.pool_host(context, flavor_id, host)
    if not before.compute.answered:
        raise exception.Unavailable()
    if before.compute.fenced != is_fenced:
        compute_calls.force_down(context, host, is_fenced)
    elif is_fenced and before.pcloud is not None:
        _release(context, before.pcloud, host)
    return dataclasses.replace(before, compute=dataclasses.replace(
        before.compute, fenced=is_fenced,
        up=before.compute.up and not is_fenced))


def _release(
    context: nova_context.RequestContext, pcloud_id: str, host: str,
) -> None:
    """Let a held recovery of a host go on."""
    found = pcloud_rows.head(context, pcloud_id)
    if found is None:
        return
    aggregate_id, key = found[0].id, names.recovery_key(host)

    def work(written: writes.Rows) -> None:
        there = recovery.Recovery.known(
            written.values(aggregate_id, [key]).get(key))
        if there is not None and not there.has_begun:
            written.exchange(aggregate_id, key, dataclasses.replace(
                there, released=True).text())

    change.run(context, [journal.pcloud_anchor(pcloud_id)], work)
