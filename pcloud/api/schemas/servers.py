# SPDX-License-Identifier: Apache-2.0

"""The query of ``/os-pcloud-servers``."""

from pcloud.api.schemas import types
from pcloud.rules import uuids

# Of one request.
MOST_SERVERS = 100

_SERVER = {'type': 'string', 'pattern': rf'^{uuids.FORM}\Z',
           'description': 'the id of a server, a uuid in small letters'}
_SERVERS = {'type': 'array', 'items': _SERVER, 'maxItems': MOST_SERVERS}

index_query = {
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
