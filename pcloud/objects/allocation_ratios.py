# Licensed under the Apache License, Version 2.0 (the "License"); you may
# not use this file except in compliance with the License. You may obtain
# a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the
# License for the specific language governing permissions and limitations
# under the License.
"""Allocation ratios of a Pcloud, where Nova takes them from: Placement.

What a host's own ratios were is kept in the Pcloud's metadata, one key a
host and ratio, from when the Pcloud first gives the host a ratio until the
host leaves; then they are part of what is due for the host.

Several reconciliations may want to write a host's ratios at once, and one of
them may be late. Each one reads the generation of the inventories first and
only then the rows that tell what the ratios should be, writes with that
generation, and begins again when the generation is not the newest any more;
and each one writes even what is there already. So no decision is ever
written after a write that was decided later.
"""

from collections.abc import Mapping
import math

from nova import context as nova_context

from pcloud.backend import change
from pcloud.backend import computes
from pcloud.backend import due
from pcloud.backend import inventories
from pcloud.backend import journal
from pcloud.backend import pcloud_rows
from pcloud.backend import readings
from pcloud.backend import rows
from pcloud.backend import writes
from pcloud import names

# Metadata key of the Pcloud to the inventory it is about.
RESOURCES = {names.CPU_RATIO: 'VCPU', names.RAM_RATIO: 'MEMORY_MB'}

# Placement keeps ratios with six digits on MariaDB.
_PRECISION = 1e-5


class HostChanged(Exception):
    """A host has been changed since what is due for it was read."""


def wanted(metadata: Mapping[str, str]) -> dict[str, float]:
    """Return the ratios that a Pcloud's metadata ask for."""
    found = {key: readings.ratio(metadata, key) for key in RESOURCES}
    return {key: value for key, value in found.items() if value is not None}


def saved(metadata: Mapping[str, str], node: str) -> dict[str, float]:
    """Return a host's own ratios, as far as the Pcloud has kept them.

    :param node: the hypervisor hostname
    """
    found = {key: readings.own_ratio(
        metadata, names.saved_ratio_key(key, node)) for key in RESOURCES}
    return {key: value for key, value in found.items() if value is not None}


def target(metadata: Mapping[str, str], node: str) -> dict[str, float]:
    """Return the ratios that a host of a Pcloud should have.

    A ratio that the Pcloud does not set, and of which nobody knows what it
    was, is left alone.

    :param metadata: those of the Pcloud
    """
    return saved(metadata, node) | wanted(metadata)


@inventories.until_newest
def settle(
    context: nova_context.RequestContext, provider: str, host: str,
    text: str,
) -> None:
    """Give a host the ratios that its rows ask for.

    :param provider: the uuid of the host's resource provider
    :param text: what is due for the host, as it is written
    :raises: `HostChanged`, `exception.Unavailable` when Placement cannot be
        told
    """
    # Most hosts never get a ratio, and cost no call.
    if not _asked_for(context, host, text):
        return
    found = inventories.read(context, provider)
    if found is None:
        # Nova has deleted the node, and Placement its inventories with it.
        return
    own = {key: found['inventories'][name]['allocation_ratio']
           for key, name in RESOURCES.items()
           if name in found['inventories']}
    asked_for = _asked_for(context, host, text, own)
    ratios = {key: value for key, value in asked_for.items() if key in own}
    if not ratios:
        return
    for key, value in ratios.items():
        found['inventories'][RESOURCES[key]]['allocation_ratio'] = value
    if not inventories.write(context, provider, found):
        raise inventories.Outdated()


def _asked_for(
    context: nova_context.RequestContext, host: str, text: str,
    own: Mapping[str, float] | None = None,
) -> Mapping[str, float]:
    """Return the ratios that the rows of a host ask for.

    :param own: the ratios that the host has, to be kept where the Pcloud
        sets one and has not kept the host's own
    """
    pclouds = pcloud_rows.with_host(context, host)
    if not pclouds:
        if own is not None and journal.dues(context, [host]).get(
                host) != text:
            raise HostChanged()
        return due.parse(text).ratios
    if len(pclouds) > 1:
        return {}
    metadata = pclouds[0].metadata
    node = names.nodes(metadata).get(host) or _node(context, host)
    if own is not None:
        missing = {key: value for key, value in own.items()
                   if key in wanted(metadata) and
                   key not in saved(metadata, node)}
        if missing:
            _keep(context, pclouds[0], host, node, text, missing)
    return target(metadata, node)


def _node(context: nova_context.RequestContext, host: str) -> str:
    return computes.one(context, host).node.hypervisor_hostname


def _keep(
    context: nova_context.RequestContext, pcloud: rows.Aggregate,
    host: str, node: str, text: str, own: Mapping[str, float],
) -> None:
    """Keep a host's own ratios in the Pcloud, the first time they are read.

    :raises: `HostChanged`
    """
    def work(written: writes.Rows) -> None:
        if written.due_of(host) != text:
            raise HostChanged()
        there = written.metadata(pcloud.id)
        written.insert(pcloud.id, {
            names.saved_ratio_key(key, node): repr(value)
            for key, value in own.items()
            if names.saved_ratio_key(key, node) not in there})

    change.run(context, [journal.pcloud_anchor(pcloud.metadata[names.ID])],
               work)


def differs(
    context: nova_context.RequestContext, metadata: Mapping[str, str],
    node: computes.Node,
) -> bool:
    """Whether a host of a Pcloud has other ratios than it should have.

    :param metadata: those of the Pcloud
    :raises: `exception.Unavailable` when Placement does not tell
    """
    ratios = target(metadata, node.hypervisor_hostname)
    found = inventories.read(context, node.uuid) if ratios else None
    if found is None:
        return False
    there = found['inventories']
    return any(not math.isclose(
        value, there[RESOURCES[key]]['allocation_ratio'],
        rel_tol=_PRECISION, abs_tol=_PRECISION)
        for key, value in ratios.items() if RESOURCES[key] in there)
