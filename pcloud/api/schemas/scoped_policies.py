# Licensed under the Apache License, Version 2.0 (the "License"); you may
# not use this file except in compliance with the License. You may obtain
# a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the
# License for the specific language governing permissions and limitations
# under the License.

"""Bodies of ``/os-pcloud-policies``."""

from pcloud.api.schemas import types
from pcloud.objects import scoped_policies
from pcloud.rules import default_pcloud
from pcloud.rules import uuids

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
        'pcloud': {'type': 'string', 'pattern': rf'^{uuids.FORM}\Z',
                   'description': 'the id of a Pcloud'},
        'mode': {'type': 'string', 'enum': list(default_pcloud.MODES)},
        'host_flavor': types.host_flavor_id,
        'max_hosts': {'type': 'integer', 'minimum': 1,
                      'maximum': default_pcloud.LARGEST},
        'availability_zone': types.display_name},
    'required': ['pcloud', 'mode'],
    'additionalProperties': False,
}

update = types.body(
    'policy', {'constraints': _CONSTRAINTS, 'system_keys': _KEYS,
               'customer_keys': _KEYS, 'default_pcloud': _DEFAULT_PCLOUD},
    required=[])

show_query = {
    'type': 'object',
    'properties': {'effective': types.query_flag},
    'additionalProperties': False,
}
