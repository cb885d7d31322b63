# SPDX-License-Identifier: Apache-2.0

"""``/os-pcloud-servers``."""

from oslo_config import cfg

from pcloud.api import call as api_call
from pcloud.api.policies import pclouds as policies
from pcloud.api.schemas import shown
from pcloud.api.schemas import types
from pcloud.objects import placed_servers
from pcloud.rules import forms

CONF = cfg.CONF

# Of one request.
MOST_SERVERS = 100

_SERVER = {'type': 'string', 'pattern': rf'^{forms.UUID}\Z',
           'description': 'the id of a server, a uuid in small letters'}
_SERVERS = {'type': 'array', 'items': _SERVER, 'maxItems': MOST_SERVERS}

INDEX_QUERY = {
    'type': 'object',
    'properties': {
        'server': {'anyOf': [_SERVER, _SERVERS],
                   'description': f'{_SERVER["description"]}, given at most '
                                  f'{MOST_SERVERS} times'},
        'limit': types.limit,
        'marker': _SERVER,
    },
    'additionalProperties': False,
}

SERVER = shown.members({
    'server': shown.UUID,
    'pcloud': shown.members({'id': shown.UUID, 'name': shown.TEXT}),
    # The owner of the Pcloud alone may know the host.
    'host': shown.TEXT_OR_NULL,
    'rack': shown.COUNT_OR_NULL,
}, {'rack_name': shown.TEXT_OR_NULL})


def index(call: api_call.Call) -> dict:
    """List the project's servers on hosts of Pclouds, in order of the ids.

    Servers that are named are a single page.

    Rule: reference-pclouds-servers
    """
    named = _named(call)
    most = CONF.api.max_limit if named is None else MOST_SERVERS
    limit = min(int(call.query.get('limit', most)), most)
    found = placed_servers.index(
        call.context, call.project_id, named, call.query.get('marker', ''))
    view = _named_rack if call.can(policies.RACK_NAMES) else _view
    return {'servers': [view(server) for server in found[:limit]]}


def _named(call: api_call.Call) -> list[str] | None:
    """Return the servers in the query, None for all servers."""
    named = call.query.get('server')
    return [named] if isinstance(named, str) else named


def _view(server: placed_servers.PlacedServer) -> dict:
    """Return what the project of a server sees of the server's place."""
    return {'server': server.uuid,
            'pcloud': {'id': server.pcloud_id, 'name': server.pcloud_name},
            'host': server.host,
            'rack': server.rack and server.rack.number}


def _named_rack(server: placed_servers.PlacedServer) -> dict:
    """Return the place of a server with the rack's own name."""
    return {**_view(server), 'rack_name': server.rack and server.rack.name}
