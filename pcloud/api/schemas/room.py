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
