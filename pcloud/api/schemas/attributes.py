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
