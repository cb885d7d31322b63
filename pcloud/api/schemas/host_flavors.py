# SPDX-License-Identifier: Apache-2.0

"""Bodies and queries of ``/os-host-flavors``."""

from pcloud.api.schemas import types

create = types.body(
    'host_flavor',
    {'id': types.host_flavor_id,
     'description': types.text,
     'units': types.units,
     'price': types.price},
    required=['id', 'units'])

update = types.body(
    'host_flavor',
    {'description': types.text, 'units': types.units, 'price': types.price},
    required=[])

show_query = {
    'type': 'object',
    'properties': {'limit': types.limit, 'marker': types.compute_host},
    'additionalProperties': False,
}

# Several hosts enter in one change, which looks at each host in Placement.
_MOST_HOSTS = 100

add_host = {
    'type': 'object',
    'properties': {
        'host': {'type': 'object',
                 'properties': {'host': types.compute_host},
                 'required': ['host'],
                 'additionalProperties': False},
        'hosts': {'type': 'array', 'items': types.compute_host,
                  'minItems': 1, 'maxItems': _MOST_HOSTS,
                  'uniqueItems': True}},
    'minProperties': 1,
    'maxProperties': 1,
    'additionalProperties': False}

_maintenance = {
    'type': ['object', 'null'],
    'properties': {'from': types.moment,
                   'until': {**types.moment, 'type': ['string', 'null']},
                   'reason': types.maintenance_reason},
    'required': ['from', 'reason'],
    'additionalProperties': False}

# Each is a change of its own, so that none is made when the other fails.
update_host = {
    'type': 'object',
    'properties': {'host': {
        'type': 'object',
        'properties': {'maintenance': _maintenance,
                       'fenced': {'type': 'boolean'}},
        'minProperties': 1,
        'maxProperties': 1,
        'additionalProperties': False}},
    'required': ['host'],
    'additionalProperties': False}
