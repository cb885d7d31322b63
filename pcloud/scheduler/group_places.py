# SPDX-License-Identifier: Apache-2.0

"""Where the servers of a server group are, or may be soon.

Rule: reference-locality-strict-groups
"""

from __future__ import annotations

import collections

from nova import context as nova_context
from nova import exception as nova_exception
from nova import objects

from pcloud.backend.cells import expected_places


def full_hosts(spec: objects.RequestSpec) -> frozenset[str]:
    """Return the service hosts that take no more servers of a group.

    The members of the group are read anew: the group of the request was read
    before the request got its turn. The queries of Nova's group, and those of
    `expected_places.find`.

    :param spec: a request for which `request.is_apart`
    """
    context = nova_context.get_admin_context()
    try:
        group = objects.InstanceGroup.get_by_uuid(
            context, spec.instance_group.uuid)
    except nova_exception.InstanceGroupNotFound:
        return frozenset()
    own = spec.instance_uuid
    found = expected_places.find(
        context, spec.project_id, frozenset(group.members) - {own}, (), own)
    counts = collections.Counter(
        host for member, host in found.servers.items()
        for host in {host, *found.expected.get(member, ())} - {None})
    most = (group.rules or {}).get('max_server_per_host', 1)
    return frozenset(host for host, count in counts.items() if count >= most)
