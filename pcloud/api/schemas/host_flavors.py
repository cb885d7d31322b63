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

"""Bodies of ``/os-host-flavors``."""

from pcloud.api.schemas import types

create = types.body(
    'host_flavor',
    {'id': types.host_flavor_id,
     'description': types.text,
     'units': types.units},
    required=['id', 'units'])

update = types.body(
    'host_flavor',
    {'description': types.text, 'units': types.units},
    required=[])

add_host = types.body('host', {'host': types.compute_host},
                      required=['host'])

maintain_host = types.body(
    'host',
    {'maintenance': {
        'type': ['object', 'null'],
        'properties': {'from': types.moment,
                       'until': {**types.moment, 'type': ['string', 'null']},
                       'reason': types.maintenance_reason},
        'required': ['from', 'reason'],
        'additionalProperties': False}},
    required=['maintenance'])
