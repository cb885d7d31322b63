# SPDX-License-Identifier: Apache-2.0

"""What tenants use of a Pcloud, and what projects hold of hosts."""

from openstack import resource

from pcloud.sdk.resources import base


class Usage(base.Paged):
    """What a project has held of hosts in a month."""

    resource_key = 'usage'
    resources_key = 'usages'
    base_path = '/os-pcloud-usage'

    allow_fetch = True
    allow_list = True

    _query_mapping = resource.QueryParameters('month')

    #: The id of the project.
    project_id = resource.Body('project', alternate_id=True)
    #: Such as "2026-11".
    month = resource.Body('month')
    #: Whether the month is over.
    complete = resource.Body('complete', type=bool)
    #: Each with "id", "hosts", "host_hours", "unit_hours" and perhaps "cost".
    host_flavors = resource.Body('host_flavors', type=list)
    #: Each with "day" and "host_flavors", or None.
    days = resource.Body('days', type=list)
    #: The currency of the costs, or None.
    currency = resource.Body('currency')


class PcloudUse(base.Resource):
    """What the tenants use of a Pcloud, and since when hosts are there."""

    resource_key = 'usage'
    base_path = '/os-pclouds/%(pcloud_id)s/usage'
    requires_id = False

    allow_fetch = True

    #: The id of the Pcloud.
    pcloud_id = resource.URI('pcloud_id')
    #: Each with "project", "servers", "vcpus", "memory_mb" and "share".
    tenants = resource.Body('tenants', type=list)
    #: Each with "name", "since" and "empty_since".
    hosts = resource.Body('hosts', type=list)
