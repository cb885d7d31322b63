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

"""Repair what `audit` finds; each returns what it did.

Whatever is done here may have been done by somebody else meanwhile: every
step looks at what is there now, and finding it done is as good.
"""

from nova import context as nova_context

from pcloud.aggregates import computes
from pcloud.aggregates import emptiness
from pcloud.aggregates import names
from pcloud.aggregates import ratios
from pcloud.aggregates import snapshot
from pcloud.aggregates import store
from pcloud.rules import access


def finish_half_made(
    context: nova_context.RequestContext, aggregate: snapshot.Aggregate,
    compute: computes.Compute,
) -> str:
    """Let an empty host go, and give one with servers back as disabled.

    Both ways it has been half added or half removed: if it is empty nobody
    has got it yet, or nobody needs it any more.
    """
    node = compute.node
    state_key = names.state_key(node.hypervisor_hostname)
    if emptiness.reasons(context, compute):
        store.insert_metadata(
            context, aggregate.id, state_key, access.DISABLED)
        store.publish(context, aggregate.id)
        return 'it is not empty; it is disabled in the Pcloud now'
    ratios.restore(context, aggregate.metadata, node)
    store.remove_host(context, aggregate.id, compute.host)
    ratios.forget(context, aggregate.id, node)
    for name, named in names.hosts(aggregate.metadata).items():
        if named == node.hypervisor_hostname:
            store.delete_metadata(
                context, aggregate.id, names.host_key(name), named)
    store.publish(context, aggregate.id)
    return 'it is empty and has left the Pcloud'


def drop_key(
    context: nova_context.RequestContext, aggregate: snapshot.Aggregate,
    key: str,
) -> str:
    """Delete a metadata key, if it still has the value that was found."""
    store.delete_metadata(
        context, aggregate.id, key, aggregate.metadata[key])
    store.publish(context, aggregate.id)
    return 'the key is deleted'


def give_back_ratio(
    context: nova_context.RequestContext, aggregate: snapshot.Aggregate,
    key: str,
) -> str:
    """Set the ratio of a host that has left to what it was."""
    ratio, node = names.saved_ratios(aggregate.metadata)[key]
    ratios.give_back(context, node, ratio, float(aggregate.metadata[key]))
    store.delete_metadata(context, aggregate.id, key)
    return 'the host has its own ratio again'


def apply_ratios(
    context: nova_context.RequestContext, aggregate: snapshot.Aggregate,
    node: computes.Node,
) -> str:
    """Give a host the ratios of its Pcloud again."""
    ratios.settle(context, aggregate.id, node)
    return 'its inventory has the ratios of the Pcloud'


def tell_placement(
    context: nova_context.RequestContext, aggregate: snapshot.Aggregate,
    node: computes.Node,
) -> str:
    """Tell Placement of a membership."""
    store.mirror(context, aggregate.uuid, node.hypervisor_hostname)
    return 'Placement knows now'


def have_placement_forget(
    context: nova_context.RequestContext, aggregate: snapshot.Aggregate,
    node: str,
) -> str:
    """Have Placement forget a membership that Nova does not know of."""
    store.unmirror(context, aggregate.uuid, node)
    return 'Placement has forgotten it'


def drop_attribute(
    context: nova_context.RequestContext, aggregate: snapshot.Aggregate,
) -> str:
    """Delete the aggregate of a value that no host has."""
    if store.delete(context, aggregate.id):
        return 'the aggregate is deleted'
    return 'a host has it now'
