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

"""Pclouds: who owns them, who may use them, what they cost.

Source: CONTRACT section 3, "Pclouds"; whole-host-allocation, "Pclouds".
"""

from collections.abc import Collection
from collections.abc import Mapping
import contextlib
import dataclasses

from nova import context as nova_context
from oslo_utils import excutils
from oslo_utils import uuidutils

from pcloud.aggregates import computes
from pcloud.aggregates import names
from pcloud.aggregates import notifications
from pcloud.aggregates import ratios
from pcloud.aggregates import scoped_policies
from pcloud.aggregates import snapshot
from pcloud.aggregates import store
from pcloud import exception


_KEYS = {'name': names.NAME, 'cpu_allocation_ratio': names.CPU_RATIO,
         'ram_allocation_ratio': names.RAM_RATIO}


@dataclasses.dataclass(frozen=True)
class Pcloud:
    """A Pcloud as its aggregate tells.

    :ivar tenants: ids of the projects that may start servers in it
    :ivar units: what its hosts cost together
    :ivar cpu_allocation_ratio: None where it is not set; so is
        `ram_allocation_ratio`
    """

    aggregate: snapshot.Aggregate
    id: str
    name: str
    owner: str
    tenants: frozenset[str]
    units: int
    cpu_allocation_ratio: float | None
    ram_allocation_ratio: float | None


def create(
    context: nova_context.RequestContext, name: str, owner: str,
) -> Pcloud:
    """Make a Pcloud without hosts; its owner is its first tenant.

    :raises: `exception.ReservedProject` when the owner's id cannot be kept
        as a tenant's
    """
    pcloud_id = uuidutils.generate_uuid()
    store.create(context, names.pcloud(pcloud_id), {
        names.TYPE: names.TYPE_PCLOUD,
        names.ID: pcloud_id,
        names.NAME: name,
        names.OWNER: owner,
        names.tenant_key(owner): names.TENANT_VALUE})
    made = show(context, pcloud_id)
    notifications.pcloud(context, 'create', made)
    return made


def show(context: nova_context.RequestContext, pcloud_id: str) -> Pcloud:
    """Return one Pcloud.

    :raises: `exception.PcloudNotFound`
    """
    aggregate = snapshot.pcloud(context, pcloud_id)
    if aggregate is None:
        raise exception.PcloudNotFound(pcloud=pcloud_id)
    return _build(context, [aggregate])[0]


def index(
    context: nova_context.RequestContext, project_id: str | None,
) -> dict[str, str]:
    """Return the ids of Pclouds to their names, in order of the ids.

    :param project_id: only those that this project owns or is a tenant of;
        None for all
    """
    return snapshot.pcloud_names(context, project_id)


def several(
    context: nova_context.RequestContext, ids: Collection[str],
    project_id: str | None,
) -> list[Pcloud]:
    """Return some Pclouds in order of their ids.

    Those that were deleted meanwhile are left out.

    :param project_id: as `index`; also those that are not this project's any
        more are left out
    """
    return _build(context, snapshot.pclouds_by_id(context, ids, project_id))


def update(
    context: nova_context.RequestContext, pcloud: Pcloud,
    changes: Mapping[str, str | float | None],
) -> Pcloud:
    """Change a Pcloud's 'name' or its allocation ratios.

    Ratios reach the hosts' inventories one by one. When one cannot be
    reached, all get back what they had.

    :param changes: new values; None unsets a ratio
    :raises: `exception.PcloudNotFound` when it is deleted meanwhile,
        `exception.Unavailable`
    """
    metadata = {_KEYS[name]: None if value is None else str(value)
                for name, value in changes.items()}
    before = {key: pcloud.aggregate.metadata.get(key) for key in metadata}
    try:
        store.set_metadata(context, pcloud.aggregate.id, metadata)
        if metadata.keys() & ratios.RESOURCES.keys():
            _apply_ratios(context, pcloud.id)
    except exception.AggregateGone:
        raise exception.PcloudNotFound(pcloud=pcloud.id)
    except exception.Unavailable:
        with excutils.save_and_reraise_exception():
            store.set_metadata(context, pcloud.aggregate.id, before)
            _apply_ratios(context, pcloud.id)
    changed = show(context, pcloud.id)
    notifications.pcloud(context, 'update', changed)
    return changed


def delete(context: nova_context.RequestContext, pcloud: Pcloud) -> None:
    """Delete a Pcloud.

    :raises: `exception.PcloudInUse` when it has hosts
    """
    if pcloud.aggregate.hosts or not store.delete(
            context, pcloud.aggregate.id):
        raise exception.PcloudInUse(pcloud=pcloud.id)
    with contextlib.suppress(exception.ScopedPolicyNotFound):
        scoped_policies.delete(context, scoped_policies.PCLOUD, pcloud.id)
    notifications.pcloud(context, 'delete', pcloud)


def _apply_ratios(
    context: nova_context.RequestContext, pcloud_id: str,
) -> None:
    aggregate = show(context, pcloud_id).aggregate
    nodes = computes.nodes(context, aggregate.hosts)
    for _, node in sorted(nodes.items()):
        ratios.settle(context, aggregate.id, node)


def units_of(
    context: nova_context.RequestContext, hosts: Collection[str],
) -> dict[str, int]:
    """Return what each of `hosts` costs; one in no pool costs nothing."""
    return {host: int(pool.metadata[names.UNITS])
            for pool in snapshot.pools_of(context, hosts)
            for host in pool.hosts}


def _build(
    context: nova_context.RequestContext,
    aggregates: list[snapshot.Aggregate],
) -> list[Pcloud]:
    hosts = frozenset().union(*(each.hosts for each in aggregates))
    units = units_of(context, hosts)
    return [_pcloud(aggregate, units) for aggregate in aggregates]


def _pcloud(
    aggregate: snapshot.Aggregate, units: Mapping[str, int],
) -> Pcloud:
    metadata = aggregate.metadata
    return Pcloud(
        aggregate=aggregate,
        id=metadata[names.ID],
        name=metadata.get(names.NAME, ''),
        owner=metadata.get(names.OWNER, ''),
        tenants=names.tenants(metadata),
        units=sum(units.get(host, 0) for host in aggregate.hosts),
        cpu_allocation_ratio=_ratio(metadata.get(names.CPU_RATIO)),
        ram_allocation_ratio=_ratio(metadata.get(names.RAM_RATIO)))


def _ratio(value: str | None) -> float | None:
    return None if value is None else float(value)
