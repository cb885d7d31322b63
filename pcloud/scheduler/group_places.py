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

"""Where the servers of a server group are, or may be soon.

Rule: reference-locality-strict-groups
"""

from __future__ import annotations

import collections

from nova import context as nova_context
from nova import exception as nova_exception
from nova import objects

from pcloud.backend import expected_places


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
