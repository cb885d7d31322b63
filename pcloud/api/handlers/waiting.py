# SPDX-License-Identifier: Apache-2.0

"""``/os-pclouds/{id}/waiting`` and ``/os-host-flavors/{id}/waiting``.

Rule: reference-waiting-calls
"""

from pcloud.api import call as api_call
from pcloud.api.views import waiting as views
from pcloud.objects.changing_hands import waiting_entries
from pcloud.objects.changing_hands import waiting_lists
from pcloud.objects import host_flavors


def index(call: api_call.Call) -> dict:
    """List what a Pcloud waits for, the oldest first."""
    pcloud = api_call.own_head(call)
    lists = waiting_lists.all_(call.context)
    return {'waiting': list(map(views.show, lists.places_in(pcloud.id)))}


def cancel(call: api_call.Call) -> None:
    """End an entry of a Pcloud."""
    waiting_entries.cancel(
        call.context, api_call.own_head(call), call.parameters['entry'])


def index_of_flavor(call: api_call.Call) -> dict:
    """List who waits for hosts of a host flavor, in order.

    :raises: `exception.HostFlavorNotFound`
    """
    flavor_id = call.parameters['id']
    host_flavors.units(call.context, flavor_id)
    places = waiting_lists.of(call.context, flavor_id).places(flavor_id)
    return {'waiting': list(map(views.detail, places))}
