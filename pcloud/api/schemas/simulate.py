# SPDX-License-Identifier: Apache-2.0

"""Bodies of ``/os-pclouds/{id}/simulate``."""

from pcloud.api.schemas import types

MOST_FLAVORS, MOST_SERVERS = 20, 1000

_SERVERS = {
    'type': 'object',
    'properties': {
        'flavor': types.flavor_id,
        'count': {'type': 'integer', 'minimum': 1, 'maximum': MOST_SERVERS},
        'apart': {'type': 'boolean'},
    },
    'required': ['flavor', 'count'],
    'additionalProperties': False,
}

ask = types.body(
    'simulate',
    {'servers': {'type': 'array', 'items': _SERVERS, 'minItems': 1,
                 'maxItems': MOST_FLAVORS},
     'include_disabled': {'type': 'boolean'},
     'without': {'type': 'array', 'items': types.host_name,
                 'maxItems': MOST_SERVERS}},
    required=['servers'])
