# SPDX-License-Identifier: Apache-2.0

"""``/os-pclouds/{id}/rehearsal``."""

from pcloud.api import call as api_call
from pcloud.api import ownership
from pcloud.api.views import rehearsal as views
from pcloud.explain import rehearsals


def show(call: api_call.Call) -> dict:
    """Return which hosts or racks may fail with room for their servers.

    Rule: reference-planning-rehearsal
    """
    pcloud = ownership.own_pcloud(call)
    return {'rehearsal': views.show(rehearsals.rehearse(
        call.context, pcloud, call.query.get('lose', rehearsals.HOST)))}
