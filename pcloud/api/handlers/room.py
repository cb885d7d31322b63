# SPDX-License-Identifier: Apache-2.0

"""``/os-pcloud-room``."""

from pcloud.api import call as api_call
from pcloud.api.policies import others
from pcloud.api.schemas import shown
from pcloud.api.schemas import types
from pcloud.api.views import reasons
from pcloud.backend import flavors
from pcloud import exception
from pcloud.explain import group_room
from pcloud.objects import pclouds
from pcloud.rules.placing import colocation

# Of one request.
MOST_FLAVORS, MOST_SERVERS = 100, 1000

_GROUP = {'type': 'array', 'items': types.companion, 'minItems': 1,
          'maxItems': MOST_FLAVORS}

SHOW_QUERY = {
    'type': 'object',
    'properties': {
        'flavor': {'anyOf': [types.companion, _GROUP],
                   'description': f'{types.companion["description"]}, given '
                                  f'at most {MOST_FLAVORS} times'},
        'count': {'type': 'string', 'pattern': (
            rf'^([1-9][0-9]{{0,2}}|{MOST_SERVERS})\Z'),
            'description': f'a whole number from 1 to {MOST_SERVERS}'},
        'pcloud': {'type': 'string'},
        'in': types.service_or_server,
    },
    'required': ['flavor'],
    'additionalProperties': False,
}

ANSWER = shown.named('room', shown.members({
    'groups': shown.COUNT, **reasons.members('reason')}))


def show(call: api_call.Call) -> dict:
    """Return the number of groups of servers that there is capacity for now.

    A group is a server of every flavor, together on a single host. Inside of a
    Pcloud the host is open to the owner of the Pcloud, outside of Pclouds to
    the caller's project.

    :raises: `exception.FlavorNotFound`, `exception.PcloudNotFound`,
        `exception.InvalidValue` when ``in`` names neither a service nor
        a server, `exception.Denied` for a tenant that is not the
        owner, `exception.PolicyForbids`

    Rule: reference-room-groups
    """
    pcloud = _pcloud(call)
    named = call.query['flavor']
    group = [colocation.companion(text) for text in (
        named if isinstance(named, list) else [named])]
    wanted = flavors.by_ids(
        call.context, [companion.flavor for companion in group])
    room = group_room.find(
        call.context, pcloud.owner if pcloud else call.project_id,
        list(zip(wanted, (companion.on_volume for companion in group))),
        int(call.query.get('count', 1)), pcloud.id if pcloud else None,
        _parent(call))
    return {'room': {'groups': room.groups,
                     **reasons.show('reason', room.reason)}}


def _parent(call: api_call.Call) -> str | None:
    """Return the service, or the id of the server, in the query, or None."""
    if 'in' not in call.query:
        return None
    return colocation.check_parent(call.query['in'])


def _pcloud(call: api_call.Call) -> pclouds.Head | None:
    """Return the Pcloud in the query, None for outside of Pclouds."""
    if 'pcloud' in call.query:
        return api_call.own(call, call.query['pcloud'])
    if not call.can(others.ROOM_SHOW_OUTSIDE):
        raise exception.PolicyForbids(rule=others.ROOM_SHOW_OUTSIDE)
    return None
