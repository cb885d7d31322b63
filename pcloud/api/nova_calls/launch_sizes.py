# SPDX-License-Identifier: Apache-2.0

"""How many servers a call is for, and what they use.

Rule: reference-usage-caps
"""

# Nova's objects are registered when its services start, perhaps after us.
from __future__ import annotations

from collections.abc import Mapping

from nova import context as nova_context
from nova import exception as nova_exception
from nova import objects

from pcloud.api.nova_calls import dispatch
from pcloud.rules.usage import caps

_COUNTS = 'min_count', 'max_count'


def of_launch(
    context: nova_context.RequestContext, server: Mapping,
) -> caps.Amounts | None:
    """Return what all servers of a launch use together (one query).

    :param server: the server in the body of the call
    :returns: None for a launch that Nova refuses in any case
    """
    one = of_flavor(context, server.get('flavorRef'))
    try:
        return None if one is None else one.times(count(server))
    except (ValueError, TypeError):
        return None


def of_flavor(
    context: nova_context.RequestContext, reference: object,
) -> caps.Amounts | None:
    """Return what a server of a flavor uses (one query).

    :param reference: the flavor as in the body of a call
    :returns: None for a flavor that is unknown, or not visible to the caller
    """
    try:
        flavor = objects.Flavor.get_by_flavor_id(
            context, dispatch.flavor_id(reference), 'no')
    except nova_exception.FlavorNotFound:
        return None
    return caps.Amounts(1, flavor.vcpus, flavor.memory_mb)


def count(server: Mapping) -> int:
    """Return how many servers a launch is for, at most.

    :param server: the server in the body of the call
    :raises: `ValueError`, `TypeError`
    """
    return max(int(server.get(name) or 1) for name in _COUNTS)
