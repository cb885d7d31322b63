# SPDX-License-Identifier: Apache-2.0

"""Bodies and queries of ``/os-pclouds``."""

from pcloud.api.schemas import types
from pcloud.rules.placing import filling

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
     'maintenance_policy': types.maintenance_policy,
     'host_recovery': types.host_recovery,
     'pin_by_tenants': {'type': 'boolean'},
     'placement': {'enum': [*filling.CHOICES]},
     'flavors': types.ids(types.flavor_id),
     'images': types.ids(types.image_id),
     'shrink': types.shrink},
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
