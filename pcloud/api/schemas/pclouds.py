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

"""Bodies and queries of ``/os-pclouds``."""

from pcloud.api.schemas import types

create = types.body('pcloud', {'name': types.display_name},
                    required=['name'])

create_query = {
    'type': 'object',
    'properties': {'if_absent': types.query_flag},
    'additionalProperties': False,
}

update = types.body(
    'pcloud',
    {'name': types.display_name,
     'cpu_allocation_ratio': types.ratio,
     'ram_allocation_ratio': types.ratio,
     'maintenance_policy': types.maintenance_policy},
    required=[])

index_query = {
    'type': 'object',
    'properties': {
        'all_tenants': types.query_flag,
        'detail': types.query_flag,
        'name': {'type': 'string'},
        'limit': types.limit,
        'marker': {'type': 'string'},
    },
    'additionalProperties': False,
}

delete_query = types.force
