# SPDX-License-Identifier: Apache-2.0

"""Queries of ``/os-pclouds/{id}/rehearsal``."""

from pcloud.explain import rehearsals

show_query = {
    'type': 'object',
    'properties': {'lose': {
        'type': 'string', 'enum': list(rehearsals.LOSSES),
        'description': f'one of {", ".join(rehearsals.LOSSES)}'}},
    'additionalProperties': False,
}
