# SPDX-License-Identifier: Apache-2.0

"""Bodies of ``/os-pcloud-quotas``."""

from pcloud.api.schemas import types
from pcloud.rules import units

update = types.body(
    'quota',
    {'units': {
        'type': 'object',
        'properties': {
            'limit': {'type': 'integer', 'minimum': units.UNLIMITED,
                      'maximum': units.MOST_OF_LIMIT},
        },
        'required': ['limit'],
        'additionalProperties': False,
    }},
    required=['units'])
