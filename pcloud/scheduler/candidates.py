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

"""The hosts which Placement would offer to a request.

Names of HTTP calls are the names in the Placement API reference.
"""

# Nova's objects are registered when its services start, perhaps after us.
from __future__ import annotations

from collections.abc import Iterable
import urllib.parse

from nova import context as nova_context
from nova import exception as nova_exception
from nova import objects
from nova.scheduler import utils

from pcloud.backend import inventories
from pcloud import exception
from pcloud.rules import capacity

# Nova's errors about a flavor.
_NOT_RIGHT = (nova_exception.Invalid, nova_exception.FlavorImageConflict)


def need(spec: objects.RequestSpec) -> capacity.Need:
    """Return the resources and traits that the server of a request needs.

    Resources of numbered groups count as the host's own.
    """
    wanted = utils.ResourceRequest.from_request_spec(spec)
    return capacity.Need(
        wanted.merged_resources(),
        frozenset(wanted.all_required_traits | spec.root_required),
        frozenset(wanted.get_request_group(None).forbidden_traits |
                  spec.root_forbidden))


def need_of(flavor: objects.Flavor, on_volume: bool) -> capacity.Need:
    """Return the resources and traits that a server of a flavor needs.

    :param on_volume: the root disk is a volume, and needs no disk of the host
    :raises: `exception.FlavorUnusable`
    """
    spec = objects.RequestSpec(
        flavor=flavor, image=None, is_bfv=on_volume, requested_resources=[])
    try:
        return need(spec)
    except _NOT_RIGHT as error:
        raise exception.FlavorUnusable(
            flavor=flavor.flavorid, reason=error.format_message())


def offered(
    context: nova_context.RequestContext, wanted: capacity.Need,
    destination: objects.Destination | None, limit: int | None = None,
) -> dict[str, capacity.Host]:
    """Return ``uuid of the node -> host`` for the hosts with room for a need.

    Placement is called once.

    :param destination: the required and the forbidden aggregates
    :param limit: the most candidates to return, None for all
    :raises: `exception.Unavailable` when Placement does not answer
    """
    resources = ','.join(f'{name}:{amount}' for name, amount
                         in sorted(wanted.amounts.items()))
    query = [('resources', resources), *_member_of(destination)]
    traits = [*sorted(wanted.required),
              *(f'!{trait}' for trait in sorted(wanted.forbidden))]
    if traits:
        query.append(('required', ','.join(traits)))
    if limit is not None:
        query.append(('limit', str(limit)))
    return inventories.candidates(context, urllib.parse.urlencode(query))


def free(
    context: nova_context.RequestContext, classes: Iterable[str],
    destination: objects.Destination | None,
) -> dict[str, capacity.Host]:
    """Return ``uuid of the node -> host``, with what is free on each host.

    Placement is called once for each resource class. A host without any free
    resource of the classes has no entry.

    :raises: `exception.Unavailable` when Placement does not answer
    """
    hosts: dict[str, capacity.Host] = {}
    for name in sorted(classes):
        hosts.update(offered(context, capacity.Need({name: 1}), destination))
    return hosts


def _member_of(
    destination: objects.Destination | None,
) -> list[tuple[str, str]]:
    if destination is None:
        return []
    parameters = [('member_of', f'in:{aggregate}')
                  for aggregate in destination.aggregates or ()]
    if destination.forbidden_aggregates:
        forbidden = ','.join(sorted(destination.forbidden_aggregates))
        parameters.append(('member_of', f'!in:{forbidden}'))
    return parameters
