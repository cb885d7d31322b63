# SPDX-License-Identifier: Apache-2.0

"""How an entry of a waiting list is shown."""

from pcloud.api.schemas import shown
from pcloud.api.views import times
from pcloud.rules import waiting

_MEMBERS = {
    'id': shown.UUID, 'name': shown.TEXT, 'host_flavor': shown.TEXT,
    'availability_zone': shown.TEXT_OR_NULL, 'position': shown.COUNT,
    'since': shown.MOMENT, 'until': shown.MOMENT}
ENTRY = shown.members(_MEMBERS)
DETAIL = shown.members({
    **_MEMBERS, 'pcloud': shown.UUID, 'owner': shown.TEXT})


def show(place: waiting.Place) -> dict:
    """Return an entry with its place, for the owner of the Pcloud."""
    entry = place.waiting.entry
    return {'id': place.waiting.id, 'name': entry.name,
            'host_flavor': place.waiting.flavor,
            'availability_zone': entry.zone, 'position': place.position,
            'since': times.shown_seconds(entry.since),
            'until': times.shown_seconds(entry.until)}


def detail(place: waiting.Place) -> dict:
    """Return an entry with its Pcloud and owner, for administrators."""
    return {**show(place), 'pcloud': place.waiting.entry.pcloud,
            'owner': place.waiting.owner}
