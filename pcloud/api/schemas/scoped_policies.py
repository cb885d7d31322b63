# SPDX-License-Identifier: Apache-2.0

"""Bodies of ``/os-pcloud-policies``."""

from pcloud.api.schemas import types
from pcloud.objects.placing import scoped_policies
from pcloud.rules import forms
from pcloud.rules.placing import default_pcloud
from pcloud.rules import waiting

scope = {'type': 'string', 'enum': list(scoped_policies.SCOPES),
         'description': f'one of {", ".join(scoped_policies.SCOPES)}'}

# NAME=VALUE:WEIGHT; what is right of that is said with the error.
_KEYS = {'type': 'array', 'items': types.text, 'minItems': 0,
         'maxItems': 100, 'uniqueItems': True}

_CONSTRAINTS = {
    **types.constraints,
    'description': f'{types.constraints["description"]}; "" unsets the '
                   'constraints'}

_DEFAULT_PCLOUD = {
    'type': ['object', 'null'],
    'properties': {
        'pcloud': {'type': 'string', 'pattern': rf'^{forms.UUID}\Z',
                   'description': 'the id of a Pcloud'},
        'mode': {'type': 'string', 'enum': list(default_pcloud.MODES)},
        'host_flavor': types.host_flavor_id,
        'max_hosts': {'type': 'integer', 'minimum': 1,
                      'maximum': default_pcloud.LARGEST},
        'availability_zone': types.display_name},
    'required': ['pcloud', 'mode'],
    'additionalProperties': False,
}

_SHARE = {'type': ['number', 'null'], 'minimum': waiting.LEAST_SHARE,
          'maximum': waiting.MOST_SHARE}

update = types.body(
    'policy', {'constraints': _CONSTRAINTS, 'system_keys': _KEYS,
               'customer_keys': _KEYS, 'default_pcloud': _DEFAULT_PCLOUD,
               'share': _SHARE},
    required=[])

show_query = {
    'type': 'object',
    'properties': {'effective': types.query_flag},
    'additionalProperties': False,
}
