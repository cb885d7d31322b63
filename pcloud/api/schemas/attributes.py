# SPDX-License-Identifier: Apache-2.0

"""Bodies and queries of ``/os-pcloud-attributes``."""

from pcloud.api.schemas import types

update = types.body(
    'attribute',
    {'value': types.trimmed,
     'hosts': {'type': 'array', 'items': types.compute_host, 'minItems': 1,
               'maxItems': 1000, 'uniqueItems': True}},
    required=['value', 'hosts'])

delete_query = {
    'type': 'object',
    'properties': {
        'host': {'anyOf': [types.compute_host, {
            'type': 'array', 'items': types.compute_host}],
            'description': types.compute_host['description']},
    },
    'additionalProperties': False,
}
