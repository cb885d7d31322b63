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

"""``/os-pclouds/{id}/explain``."""

from pcloud.api import call as api_call
from pcloud.api import ownership
from pcloud.api import projects
from pcloud.api.views import explain as views
from pcloud.backend import flavors
from pcloud.explain import changes
from pcloud.explain import obstacles


def show(call: api_call.Call) -> dict:
    """Return how many more servers of a flavor fit, and the obstacles.

    :raises: `exception.FlavorNotFound`

    Rule: reference-room-explain
    """
    pcloud = ownership.own_pcloud(call)
    flavor, = flavors.by_ids(call.context, [call.query['flavor']])
    explanation = obstacles.explain(
        call.context, pcloud, flavor,
        projects.known_domain(call.context, pcloud.owner))
    return {'explain': views.show(
        flavor, explanation,
        changes.find(call.context, pcloud, flavor, explanation))}
