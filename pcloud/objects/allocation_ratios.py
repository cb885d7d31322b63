# SPDX-License-Identifier: Apache-2.0
"""Allocation ratios of a Pcloud, in Placement, where Nova takes ratios from.

The journal keeps a host's own ratios, in one key, from the first
ratio that the Pcloud gives the host until the host leaves. Then the own ratios
are part of what is due for the host.

Several reconciliations may write a host's ratios at once, and any of the
reconciliations may be late. Each reconciliation reads the generation of the
inventories first, and only then the rows that decide the ratios. The
reconciliation writes with the generation, even ratios that are there already,
and begins again when the generation is not the newest any more. So no decision
is ever written after the write of a later decision.

Rule: reference-ratios-target
"""

from collections.abc import Collection
from collections.abc import Mapping
import math

from nova import context as nova_context

from pcloud.backend.aggregates import closed_rows
from pcloud.backend.aggregates import pcloud_rows
from pcloud.backend.aggregates import readings
from pcloud.backend.aggregates import rows
from pcloud.backend.calls import placement
from pcloud.backend.cells import computes
from pcloud.backend.changes import change
from pcloud.backend.changes import due
from pcloud.backend.changes import journal
from pcloud.backend.changes import writes
from pcloud import names

# Metadata key of the Pcloud -> inventory with the ratio.
RESOURCES = {names.CPU_RATIO: 'VCPU', names.RAM_RATIO: 'MEMORY_MB'}

# Placement keeps ratios with six digits on MariaDB.
_PRECISION = 1e-5


class HostChanged(Exception):
    """What is due for a host has changed since the last read."""


def wanted(metadata: Mapping[str, str]) -> dict[str, float]:
    """Return the ratios that are set in a Pcloud's metadata."""
    ratios = {key: readings.ratio(metadata, key) for key in RESOURCES}
    return {key: value for key, value in ratios.items() if value is not None}


def target(metadata: Mapping[str, str], host: str) -> dict[str, float]:
    """Return the ratios that a host of a Pcloud should have.

    A ratio without a value in the Pcloud and without a kept own value is left
    alone.

    :param metadata: the metadata of the Pcloud, with what is kept of the host
    :param host: the service host
    """
    return readings.own_ratios(metadata, host) | wanted(metadata)


@placement.until_newest
def settle(
    context: nova_context.RequestContext, provider: str, host: str,
    text: str, there: Collection[rows.Aggregate],
) -> None:
    """Give a host the ratios that the rows of the host ask for.

    :param provider: the uuid of the host's resource provider
    :param text: what is due for the host, as written
    :param there: the pools and Pclouds of the host, from
        `closed_rows.closed_of`, as read after `text`: a later change of ratios
        changes what is due
    :raises: `HostChanged`, `exception.Unavailable` when Placement does not
        answer
    """
    # Most hosts never get a ratio, and cost no call.
    if not _asked_for(context, host, text, there):
        return
    inventory = placement.read(context, provider)
    if inventory is None:
        # Nova has deleted the node, and Placement the node's inventories.
        return
    own = {key: inventory['inventories'][name]['allocation_ratio']
           for key, name in RESOURCES.items()
           if name in inventory['inventories']}
    asked_for = _asked_for(
        context, host, text, closed_rows.closed_of(context, host), own)
    ratios = {key: value for key, value in asked_for.items() if key in own}
    if not ratios:
        return
    for key, value in ratios.items():
        inventory['inventories'][RESOURCES[key]]['allocation_ratio'] = value
    if not placement.write(context, provider, inventory):
        raise placement.Outdated()


def _asked_for(
    context: nova_context.RequestContext, host: str, text: str,
    there: Collection[rows.Aggregate],
    own: Mapping[str, float] | None = None,
) -> Mapping[str, float]:
    """Return the ratios that the rows of a host ask for.

    :param own: the ratios that the host has, to be kept where the Pcloud sets
        a ratio and has not kept the host's own ratio
    """
    pclouds = pcloud_rows.whole(there)
    if not pclouds:
        if own is not None and journal.dues(context, [host]).get(
                host) != text:
            raise HostChanged()
        return due.parse(text).ratios
    if len(pclouds) > 1:
        return {}
    metadata = pclouds[0].metadata
    if own is not None:
        kept = readings.own_ratios(metadata, host)
        missing = {key: value for key, value in own.items()
                   if key in wanted(metadata) and key not in kept}
        if missing:
            _keep(context, pclouds[0], host, text, missing)
    return target(metadata, host)


def _keep(
    context: nova_context.RequestContext, pcloud: rows.Aggregate,
    host: str, text: str, own: Mapping[str, float],
) -> None:
    """Keep a host's own ratios in the Pcloud, at the first read of the ratios.

    An unreadable value is left as it is: a ratio that the host has by now may
    be the Pcloud's.

    :raises: `HostChanged`
    """
    def work(written: writes.Rows) -> None:
        if written.due_of(host) != text:
            raise HostChanged()
        key = names.own_ratios_key(host)
        there = written.values(pcloud.id, [key])
        kept = readings.own_ratios(there, host)
        if there and not kept:
            return
        if there:
            written.drop(pcloud.id, there)
        written.insert(pcloud.id, {
            key: readings.own_ratios_text({**own, **kept})})

    change.run(context, [journal.pcloud_anchor(pcloud.metadata[names.ID])],
               work)


def differs(
    context: nova_context.RequestContext, metadata: Mapping[str, str],
    host: str, node: computes.Node,
) -> bool:
    """Whether a host of a Pcloud has other ratios than the rows ask for.

    :param metadata: the metadata of the Pcloud, with what is kept of the host
    :param host: the service host
    :raises: `exception.Unavailable` when Placement does not answer
    """
    ratios = target(metadata, host)
    inventory = placement.read(context, node.uuid) if ratios else None
    if inventory is None:
        return False
    there = inventory['inventories']
    return any(not math.isclose(
        value, there[RESOURCES[key]]['allocation_ratio'],
        rel_tol=_PRECISION, abs_tol=_PRECISION)
        for key, value in ratios.items() if RESOURCES[key] in there)
