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

Several requests may want to write a host's ratios at once, and one of them
may be late. So each reads the generation of the inventories first and only
then what they should be, writes with that generation, and begins again when
it is not the newest any more; and each writes even what is there already.
Then what was decided before somebody else's write is never written after it.

Source: CONTRACT section 3, "A ratio takes effect where Nova takes it from";
whole-host-allocation, "Scheduler Configuration".
"""

from collections.abc import Callable
from collections.abc import Mapping
import math

from nova import context as nova_context
import tenacity

from pcloud.aggregates import computes
from pcloud.aggregates import inventories
from pcloud.aggregates import names
from pcloud.aggregates import snapshot
from pcloud.aggregates import store
from pcloud import exception

# Metadata key of the Pcloud to the inventory it is about.
RESOURCES = {names.CPU_RATIO: 'VCPU', names.RAM_RATIO: 'MEMORY_MB'}

# Placement keeps ratios with six digits on MariaDB.
_PRECISION = 1e-5


class _Outdated(Exception):
    """Somebody wrote the inventories after we had read them."""


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
    found = inventories.read(context, node.uuid)['inventories']
    store.set_metadata(context, aggregate_id, {
        names.saved_ratio_key(key, node.hypervisor_hostname):
        repr(found[resource_class]['allocation_ratio'])
        for key, resource_class in RESOURCES.items()
        if resource_class in found})


def introduce(
    context: nova_context.RequestContext, aggregate: snapshot.Aggregate,
    compute: computes.Compute,
) -> None:
    """Give a host that comes into a Pcloud the ratios of the Pcloud.

    :raises: `exception.Unavailable` when Placement cannot be told
    """
    def target() -> Mapping[str, float]:
        own = [aggregate.metadata[names.ID]]
        if snapshot.pclouds_of(context, [compute.host]).get(
                compute.host) != own:
            return {}
        return _target(snapshot.metadata(context, aggregate.id),
                       compute.node)

    _write(context, compute.node.uuid, target)


def settle(
    context: nova_context.RequestContext, aggregate_id: int,
    node: computes.Node,
) -> None:
    """Give a host of a Pcloud the ratios that the Pcloud has by now.

    One without a state is on its way in or out, and left to whoever is
    bringing or removing it.

    :raises: `exception.Unavailable` when Placement cannot be told; doing it
        again is harmless
    """
    def target() -> Mapping[str, float]:
        metadata = snapshot.metadata(context, aggregate_id)
        if names.state_key(node.hypervisor_hostname) not in metadata:
            return {}
        return _target(metadata, node)

    _write(context, node.uuid, target)


def restore(
    context: nova_context.RequestContext, metadata: Mapping[str, str],
    node: computes.Node,
) -> None:
    """Give a host back the ratios that it came with, where they are known.

    For whoever has made sure that nobody else gives it any.

    :param metadata: those of the Pcloud
    :raises: `exception.Unavailable` when Placement cannot be told
    """
    kept = {key: value for key, value in metadata.items()
            if key not in RESOURCES}
    _write(context, node.uuid, lambda: _target(kept, node))


def give_back(
    context: nova_context.RequestContext, node: str, key: str, value: float,
) -> None:
    """Set one ratio of a host that has left, unless a Pcloud has it by now.

    :param node: the hypervisor hostname; nothing is done when it is gone
    :param key: the ratio's metadata key
    :raises: `exception.Unavailable` when Placement cannot be told
    """
    def target() -> Mapping[str, float]:
        if snapshot.has_key(context, names.state_key(node)):
            return {}
        return {RESOURCES[key]: value}

    provider = inventories.provider(context, node)
    if provider is not None:
        _write(context, provider, target)


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
    found = inventories.read(context, node.uuid)['inventories']
    return any(not math.isclose(value, found[name]['allocation_ratio'],
                                rel_tol=_PRECISION, abs_tol=_PRECISION)
               for name, value in _target(metadata, node).items()
               if name in found)


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


@tenacity.retry(
    retry=tenacity.retry_if_exception_type(_Outdated),
    wait=tenacity.wait_random(0, 0.2), stop=tenacity.stop_after_attempt(20),
    retry_error_callback=lambda state: _give_up())
def _write(
    context: nova_context.RequestContext, provider_uuid: str,
    target: Callable[[], Mapping[str, float]],
) -> None:
    """Write the ratios that `target` tells once the generation is known."""
    found = inventories.read(context, provider_uuid)
    # A host whose cpus are all dedicated has no VCPU, for one.
    ratios = {name: value for name, value in target().items()
              if name in found['inventories']}
    if not ratios:
        return
    for resource_class, value in ratios.items():
        found['inventories'][resource_class]['allocation_ratio'] = value
    if not inventories.write(context, provider_uuid, found):
        raise _Outdated()


def _give_up():
    raise exception.Unavailable()
