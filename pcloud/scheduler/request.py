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

"""What a request to the scheduler asks of Pcloud."""

# Nova's objects are registered when its services start, perhaps after us.
from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Sequence

from nova import context as nova_context
from nova import objects

from pcloud.aggregates import snapshot
from pcloud import exception
from pcloud.rules import access
from pcloud.rules import hints


def scheduler_hints(
    spec: objects.RequestSpec,
) -> Mapping[str, Sequence[str]]:
    """Return the hints of a request, each a list of values."""
    return (spec.scheduler_hints if 'scheduler_hints' in spec else None) or {}


def pcloud_id(spec: objects.RequestSpec) -> str | None:
    """Return the id of the Pcloud that a request asks for, None if none.

    :raises: `exception.InvalidHint` when the hint cannot be understood
    """
    return hints.pcloud_id(scheduler_hints(spec))


def pcloud(
    context: nova_context.RequestContext, spec: objects.RequestSpec,
    wanted: str,
) -> tuple[str, access.Pcloud]:
    """Return the Pcloud that a request asks for.

    :param wanted: its id, from `pcloud_id`
    :returns: the aggregate's uuid and what access to the Pcloud depends on
    :raises: `exception.PcloudUnusable` when it is not there or not for the
        project that the server belongs to, in the same words
    """
    found = snapshot.pcloud_access(context, wanted)
    verdict = access.project_verdict(
        found[1] if found else None, spec.project_id)
    if not verdict:
        raise exception.PcloudUnusable(pcloud=wanted, reason=verdict.reason)
    return found
