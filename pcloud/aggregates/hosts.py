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

"""The hosts of a Pcloud, as its owner knows them.

Source: CONTRACT section 3, "Pclouds"; whole-host-allocation, "Host
Operations".
"""

from collections.abc import Mapping
from collections.abc import Sequence
import dataclasses
import datetime

from nova import context as nova_context
from oslo_log import log as logging
from oslo_utils import excutils

from pcloud.aggregates import attributes
from pcloud.aggregates import computes
from pcloud.aggregates import emptiness
from pcloud.aggregates import names
from pcloud.aggregates import notifications
from pcloud.aggregates import pclouds
from pcloud.aggregates import ratios
from pcloud.aggregates import snapshot
from pcloud.aggregates import store
from pcloud import exception
from pcloud.rules import access
from pcloud.rules import attributes as rules

LOG = logging.getLogger(__name__)


@dataclasses.dataclass(frozen=True)
class Host:
    """A host of a Pcloud.

    :ivar name: the owner's name for it
    :ivar node: the compute node that was given to the Pcloud
    :ivar host_flavor: the id of its host flavor; None when it is in no pool
    :ivar units: what it costs
    :ivar state: 'enabled' or 'disabled', set by the owner
    :ivar instances: uuids of the servers on it, None when that is not known
    :ivar next_reboot: when it is rebooted next, None when that is not known
    :ivar rack: its rack among those of the Pcloud's hosts, from 1; None
        when that is not known
    """

    name: str
    compute: computes.Compute
    node: computes.Node
    host_flavor: str | None
    units: int
    state: str
    instances: tuple[str, ...] | None
    next_reboot: datetime.datetime | None
    rack: int | None

    @property
    def status(self) -> str:
        """'maintenance', 'up' or 'down': the administrator's side of it."""
        if not self.compute.answered:
            return 'down'
        if not self.compute.enabled:
            return 'maintenance'
        return 'up' if self.compute.up else 'down'


def index(
    context: nova_context.RequestContext, pcloud: pclouds.Pcloud,
) -> list[Host]:
    """Return the hosts of a Pcloud, in order of their names."""
    aggregate = pcloud.aggregate
    by_node = {node.hypervisor_hostname: (compute, node)
               for compute in computes.load(context, aggregate.hosts).values()
               for node in _nodes(aggregate, compute)}
    pools = {host: pool.metadata
             for pool in snapshot.pools_of(context, aggregate.hosts)
             for host in pool.hosts}
    instances, silent = computes.known_instances(context, aggregate.hosts)
    states = names.states(aggregate.metadata)
    # A host without a state is being added or removed, or was left behind:
    # it belongs to nobody yet, or to nobody any more.
    named = {name: (*by_node[node], states[node])
             for name, node in sorted(names.hosts(aggregate.metadata).items())
             if node in by_node and node in states}
    said = attributes.effective(context, aggregate.hosts)
    racks = rules.ordinals(said.get(compute.host, {}).get(rules.RACK)
                           for compute, *_ in named.values())
    return [
        Host(name=name, compute=compute, node=node, state=state,
             **_of_pool(pools.get(compute.host)),
             **_of_place(said.get(compute.host, {}), racks),
             instances=None if compute.host in silent else tuple(
                 instances.get(compute.host, ())))
        for name, (compute, node, state) in named.items()]


def _nodes(
    aggregate: snapshot.Aggregate, compute: computes.Compute,
) -> Sequence[computes.Node]:
    """Return the nodes of a host; by name alone while its cell is silent."""
    if compute.answered:
        return compute.nodes
    name = aggregate.metadata.get(names.NODE_PREFIX + compute.host)
    return [computes.unknown_node(name)] if name else []


def _of_pool(metadata: Mapping[str, str] | None) -> dict:
    if metadata is None:
        return {'host_flavor': None, 'units': 0}
    return {'host_flavor': metadata[names.FLAVOR_ID],
            'units': int(metadata[names.UNITS])}


def _of_place(said: Mapping[str, str], racks: Mapping[str, int]) -> dict:
    date = said.get(rules.REBOOT)
    return {'next_reboot': date and rules.reboot(date),
            'rack': racks.get(said.get(rules.RACK))}


def show(
    context: nova_context.RequestContext, pcloud: pclouds.Pcloud, name: str,
) -> Host:
    """Return one host of a Pcloud; its name in any letter case.

    :raises: `exception.HostNotFound`
    """
    for host in index(context, pcloud):
        if host.name.casefold() == name.casefold():
            return host
    raise exception.HostNotFound(name=name, pcloud=pcloud.id)


def set_state(
    context: nova_context.RequestContext, pcloud: pclouds.Pcloud,
    name: str, state: str,
) -> Host:
    """Enable or disable a host for the servers of the Pcloud's tenants.

    :param state: 'enabled' or 'disabled'
    :raises: `exception.HostNotFound`, also when it is being removed
    """
    host = show(context, pcloud, name)
    key = names.state_key(host.node.hypervisor_hostname)
    if not store.change_metadata(context, pcloud.aggregate.id, key, state):
        raise exception.HostNotFound(name=name, pcloud=pcloud.id)
    store.publish(context, pcloud.aggregate.id)
    changed = dataclasses.replace(host, state=state)
    notifications.host(context, 'update', pcloud, changed)
    return changed


def remove(
    context: nova_context.RequestContext, pcloud: pclouds.Pcloud, name: str,
) -> Host:
    """Take a host out of a Pcloud; it stays in its pool, free.

    The first step takes the state away, and only if it is 'disabled': from
    then on nobody is given the host, and nobody can enable it. A scheduler
    that had chosen it before may still place a server there, so whether it
    is empty is asked again after that, and once more when it has left; then
    it is put back. A crash on the way leaves a host without a state.

    :returns: the host as it was
    :raises: `exception.HostNotFound`, `exception.HostNotDisabled`,
        `exception.HostChanged`, `exception.HostNotEmpty`,
        `exception.Unavailable`
    """
    host = show(context, pcloud, name)
    if host.state != access.DISABLED:
        raise exception.HostNotDisabled(name=host.name)
    emptiness.check(context, host.compute, host.name)
    aggregate_id = pcloud.aggregate.id
    state_key = names.state_key(host.node.hypervisor_hostname)
    if not store.delete_metadata(
            context, aggregate_id, state_key, access.DISABLED):
        raise exception.HostChanged(name=host.name)
    try:
        emptiness.check(context, host.compute, host.name)
        ratios.restore(context, pcloud.aggregate.metadata, host.node)
        store.remove_host(context, aggregate_id, host.compute.host)
        emptiness.check(context, host.compute, host.name)
    except Exception:
        with excutils.save_and_reraise_exception():
            _put_back(context, pcloud, host)
    ratios.forget(context, aggregate_id, host.node)
    store.delete_metadata(context, aggregate_id, names.host_key(host.name))
    store.publish(context, aggregate_id)
    notifications.host(context, 'remove', pcloud, host)
    return host


def _put_back(
    context: nova_context.RequestContext, pcloud: pclouds.Pcloud,
    host: Host,
) -> None:
    """Undo a removal: the host is in the Pcloud, disabled, as it was.

    The membership first, so that a Pcloud that is just taking it sees that.
    """
    node = host.node
    try:
        store.add_host(context, pcloud.aggregate.id, pcloud.aggregate.uuid,
                       host.compute.host, node.hypervisor_hostname)
    except exception.HostInAggregate:
        LOG.debug('Host %s had not left the Pcloud.', host.compute.host)
    store.insert_metadata(
        context, pcloud.aggregate.id,
        names.state_key(node.hypervisor_hostname), access.DISABLED)
    ratios.settle(context, pcloud.aggregate.id, node)
    store.publish(context, pcloud.aggregate.id)
