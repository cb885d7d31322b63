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

What a host's ratio was before stands in the Pcloud's metadata, one key a
host and ratio, written before Placement is told and deleted after it has
been set back; so a crash in between can be repaired.

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

# Metadata key of the Pcloud to the inventory it is about.
RESOURCES = {names.CPU_RATIO: 'VCPU', names.RAM_RATIO: 'MEMORY_MB'}


def wanted(metadata: Mapping[str, str]) -> dict[str, float]:
    """Return the ratios that a Pcloud's metadata ask for."""
    return {key: float(metadata[key]) for key in RESOURCES
            if key in metadata}


def apply(
    context: nova_context.RequestContext, aggregate: snapshot.Aggregate,
    node: computes.Node, ratios: Mapping[str, float],
) -> None:
    """Give a host the ratios of its Pcloud, and its own back for the rest.

    :param ratios: what `wanted` returned
    :raises: `exception.Unavailable` when Placement cannot be told; what was
        done until then is done, and doing all again is harmless
    """
    for key, resource_class in RESOURCES.items():
        if key in ratios:
            _set(context, aggregate, node, key, resource_class, ratios[key])
        else:
            _restore(context, aggregate, node, key, resource_class)


def restore(
    context: nova_context.RequestContext, aggregate: snapshot.Aggregate,
    node: computes.Node,
) -> None:
    """Give a host back the ratios that it had before it came.

    :raises: `exception.Unavailable` when Placement cannot be told
    """
    apply(context, aggregate, node, {})


def _set(context, aggregate, node, key, resource_class, value) -> None:
    saved_key = names.saved_ratio_key(key, node.hypervisor_hostname)
    before = inventories.ratio(context, node.uuid, resource_class)
    # Only the first time: after that it is ours, not the host's own.
    store.insert_metadata(context, aggregate.id, saved_key, repr(before))
    inventories.set_ratio(context, node.uuid, resource_class, value)


def _restore(context, aggregate, node, key, resource_class) -> None:
    saved_key = names.saved_ratio_key(key, node.hypervisor_hostname)
    saved = snapshot.metadata_value(context, aggregate.id, saved_key)
    if saved is None:
        return
    inventories.set_ratio(context, node.uuid, resource_class, float(saved))
    store.delete_metadata(context, aggregate.id, saved_key)
