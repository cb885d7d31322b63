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
