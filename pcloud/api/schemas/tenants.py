# SPDX-License-Identifier: Apache-2.0

"""Queries of ``/os-pclouds/{id}/tenants``."""

from pcloud.api.schemas import types

remove_query = types.force
