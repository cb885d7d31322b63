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

"""Whether a host is empty, and so can change hands.

Rule: reference-states-empty
"""

from nova import context as nova_context

from pcloud.backend import computes
from pcloud.backend import inventories
from pcloud import exception


def reasons(
    context: nova_context.RequestContext, compute: computes.Compute,
) -> list[str]:
    """Return why a host is not empty; an empty host has no reasons.

    Servers in any state count, and migrations, resizes and evacuations that
    can still end on the host, and allocations in Placement, which alone show
    the latest choices of the scheduler.

    :raises: `exception.Unavailable` when a cell or Placement does not answer
    """
    servers = len(computes.instances(context, [compute.host])[compute.host])
    moves = len(computes.migrations(context, compute.host))
    consumers = inventories.consumers(context, compute.node.uuid)
    counts = [(servers, 'servers are on it'),
              (moves, 'migrations from or to it are not over'),
              (consumers, 'consumers have allocations on it in Placement')]
    return [f'{count} {what}' for count, what in counts if count]


def check(
    context: nova_context.RequestContext, compute: computes.Compute,
    shown_as: str,
) -> None:
    """Refuse a host that is not empty.

    :param shown_as: the name under which the caller knows the host
    :raises: `exception.HostNotEmpty`, `exception.Unavailable`
    """
    causes = reasons(context, compute)
    if causes:
        raise exception.HostNotEmpty(host=shown_as, reasons=', '.join(causes))
