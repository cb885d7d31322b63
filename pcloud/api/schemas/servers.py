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
