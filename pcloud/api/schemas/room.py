# SPDX-License-Identifier: Apache-2.0

"""Queries of ``/os-pcloud-room``."""

from pcloud.api.schemas import types

# Of one request.
MOST_FLAVORS, MOST_SERVERS = 100, 1000

_GROUP = {'type': 'array', 'items': types.companion, 'minItems': 1,
          'maxItems': MOST_FLAVORS}

show_query = {
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
