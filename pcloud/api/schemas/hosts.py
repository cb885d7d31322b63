# SPDX-License-Identifier: Apache-2.0

"""Bodies of ``/os-pclouds/{id}/hosts``."""

from pcloud.api.schemas import types
from pcloud.rules import forms
from pcloud.rules.moving import draining
from pcloud.rules.moving import spares
from pcloud.rules.placing import access

add = types.body(
    'host',
    {'name': types.host_name,
     'host_flavor': types.host_flavor_id,
     'constraints': types.constraints,
     'availability_zone': {**types.display_name},
     'count': {'type': 'integer', 'minimum': 1, 'maximum': forms.MOST_HOSTS},
     'wait_until': types.moment,
     'until': types.moment,
     'move': {'type': 'string', 'enum': [*draining.MOVES]},
     'first': {'type': 'integer', 'minimum': 1, 'maximum': 1_000_000}},
    required=['name'])

update = types.body(
    'host',
    {'state': {'type': 'string',
               'enum': [*access.STATES, draining.DRAINING, spares.SPARE]},
     'drain': {
         'type': 'object',
         'properties': {
             'move': {'type': 'string', 'enum': [*draining.MOVES]},
             'release': {'type': 'boolean'},
             'deadline': types.moment,
             'dry_run': {'type': 'boolean'},
             'together_with': {
                 'type': 'array', 'items': types.host_name,
                 'maxItems': 1000}},
         'dependentSchemas': {'together_with': {
             'properties': {'dry_run': {'const': True}},
             'required': ['dry_run']}},
         'additionalProperties': False},
     'until': types.moment_or_null,
     'move': {'type': 'string', 'enum': [*draining.MOVES]}},
    required=[])
