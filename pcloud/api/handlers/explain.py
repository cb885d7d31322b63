# SPDX-License-Identifier: Apache-2.0

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
