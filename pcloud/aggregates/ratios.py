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

What a host's ratios were before stands in the Pcloud's metadata from when
the host comes until it goes, one key a host and ratio. Only the request that
adds the host writes it and only the one that removes the host deletes it, so
whoever changes the ratios in between finds what is to be given back.

Source: CONTRACT section 3, "A ratio takes effect where Nova takes it from";
whole-host-allocation, "Scheduler Configuration".
"""

from collections.abc import Mapping

from nova import context as nova_context

from pcloud.aggregates import computes
from pcloud.aggregates import inventories
from pcloud.aggregates import names
from pcloud.aggregates import snapshot
from pcloud.aggregates import store
from pcloud import exception

# Metadata key of the Pcloud to the inventory it is about.
RESOURCES = {names.CPU_RATIO: 'VCPU', names.RAM_RATIO: 'MEMORY_MB'}

_MOST_CHANGES = 20


def wanted(metadata: Mapping[str, str]) -> dict[str, float]:
    """Return the ratios that a Pcloud's metadata ask for."""
    return {key: float(metadata[key]) for key in RESOURCES
            if key in metadata}


def remember(
    context: nova_context.RequestContext, aggregate_id: int,
    node: computes.Node,
) -> None:
    """Write down the ratios that a host comes with.

    :raises: `exception.Unavailable` when Placement does not tell
    """
    for key, resource_class in RESOURCES.items():
        before = inventories.ratio(context, node.uuid, resource_class)
        store.set_metadata(context, aggregate_id, {
            names.saved_ratio_key(key, node.hypervisor_hostname):
            repr(before)})


def settle(
    context: nova_context.RequestContext, aggregate_id: int,
    node: computes.Node,
) -> dict[str, str]:
    """Give a host of a Pcloud the ratios that the Pcloud has by then.

    Somebody else may change them meanwhile, and may be done with this host
    before we are; so it is looked at again after it was written.

    :returns: the Pcloud's metadata as they were at the end
    :raises: `exception.Unavailable` when Placement cannot be told, or they
        do not stop changing; doing it again is harmless
    """
    for _ in range(_MOST_CHANGES):
        before = snapshot.metadata(context, aggregate_id)
        _write(context, node, _target(before, node))
        after = snapshot.metadata(context, aggregate_id)
        if wanted(after) == wanted(before):
            return after
    raise exception.Unavailable()


def restore(
    context: nova_context.RequestContext, metadata: Mapping[str, str],
    node: computes.Node,
) -> None:
    """Give a host back the ratios that it came with, where they are known.

    :param metadata: those of the Pcloud
    :raises: `exception.Unavailable` when Placement cannot be told
    """
    kept = {key: value for key, value in metadata.items()
            if key not in RESOURCES}
    _write(context, node, _target(kept, node))


def forget(
    context: nova_context.RequestContext, aggregate_id: int,
    node: computes.Node,
) -> None:
    """Delete what `remember` has written down."""
    store.set_metadata(context, aggregate_id, {
        names.saved_ratio_key(key, node.hypervisor_hostname): None
        for key in RESOURCES})


def differs(
    context: nova_context.RequestContext, metadata: Mapping[str, str],
    node: computes.Node,
) -> bool:
    """Whether a host of a Pcloud has other ratios than it should have.

    :raises: `exception.Unavailable` when Placement does not tell
    """
    return any(value != inventories.ratio(context, node.uuid, resource_class)
               for resource_class, value in _target(metadata, node).items())


def _target(
    metadata: Mapping[str, str], node: computes.Node,
) -> dict[str, float]:
    """Return the ratio that each inventory of a host should have.

    An inventory of which nobody knows what it was is left alone.
    """
    ratios = wanted(metadata)
    for key in RESOURCES:
        saved = metadata.get(
            names.saved_ratio_key(key, node.hypervisor_hostname))
        if key not in ratios and saved is not None:
            ratios[key] = float(saved)
    return {RESOURCES[key]: value for key, value in ratios.items()}


def _write(
    context: nova_context.RequestContext, node: computes.Node,
    target: Mapping[str, float],
) -> None:
    for resource_class, value in target.items():
        inventories.set_ratio(context, node.uuid, resource_class, value)
