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

"""The Pclouds that a caller sees, and the Pclouds that a caller manages."""

from pcloud.api import call as api_call
from pcloud import exception
from pcloud.objects import pclouds


def is_own(call: api_call.Call, pcloud: pclouds.Head) -> bool:
    """Whether the caller manages a Pcloud, as its owner or for everybody."""
    return pcloud.owner == call.project_id or call.manages_all


def visible_pcloud(call: api_call.Call) -> pclouds.Pcloud:
    """Return the Pcloud in the path, if the caller may see the Pcloud.

    :raises: `exception.PcloudNotFound`, the same for an unknown Pcloud and for
        a Pcloud that the caller may not see
    """
    return visible(call, call.parameters['id'])


def visible(call: api_call.Call, pcloud_id: str) -> pclouds.Pcloud:
    """Return a Pcloud, if the caller may see the Pcloud.

    :raises: `exception.PcloudNotFound`, as `visible_pcloud`
    """
    pcloud = pclouds.show(call.context, pcloud_id)
    _check_visible(call, pcloud)
    return pcloud


def _check_visible(call: api_call.Call, pcloud: pclouds.Head) -> None:
    if not is_own(call, pcloud) and call.project_id not in pcloud.tenants:
        raise exception.PcloudNotFound(pcloud=pcloud.id)


def own_pcloud(call: api_call.Call) -> pclouds.Pcloud:
    """Return the Pcloud in the path, for the owner and administrators only.

    :raises: as `own`
    """
    return own(call, call.parameters['id'])


def own(call: api_call.Call, pcloud_id: str) -> pclouds.Pcloud:
    """Return a Pcloud, for the owner and administrators only.

    :raises: `exception.PcloudNotFound`, `exception.PcloudForbidden` for a
        tenant that is not the owner, and for a caller who does not pass the
        route's rule for the owner's project
    """
    pcloud = visible(call, pcloud_id)
    _check_own(call, pcloud)
    return pcloud


def own_head(call: api_call.Call) -> pclouds.Head:
    """Return the Pcloud in the path without hosts, for the same callers.

    :raises: as `own`
    """
    pcloud = pclouds.head(call.context, call.parameters['id'])
    _check_visible(call, pcloud)
    _check_own(call, pcloud)
    return pcloud


def _check_own(call: api_call.Call, pcloud: pclouds.Head) -> None:
    if not is_own(call, pcloud) or not call.can(call.rule, pcloud.owner):
        raise exception.PcloudForbidden(pcloud=pcloud.id)
