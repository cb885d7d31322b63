# SPDX-License-Identifier: Apache-2.0

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
