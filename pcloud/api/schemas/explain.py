# SPDX-License-Identifier: Apache-2.0

"""Queries of ``/os-pclouds/{id}/explain``."""

from pcloud.api.schemas import types

show_query = {
    'type': 'object',
    'properties': {'flavor': types.flavor_id},
    'required': ['flavor'],
    'additionalProperties': False,
}
