# SPDX-License-Identifier: Apache-2.0

"""Pclouds, the tenants of Pclouds, and quotas."""

from collections.abc import Mapping
import typing

from keystoneauth1 import adapter
from openstack.common import quota_set
from openstack import exceptions
from openstack import resource

from pcloud.sdk.resources import base


class Pcloud(base.Paged):
    """A private cloud: hosts that only the tenants of the Pcloud can use.

    A tenant that is not the owner sees id, name and owner only.
    """

    resource_key = 'pcloud'
    resources_key = 'pclouds'
    base_path = '/os-pclouds'

    allow_create = True
    allow_fetch = True
    allow_commit = True
    allow_delete = True
    allow_list = True

    _query_mapping = resource.QueryParameters(
        'name', all_projects='all_tenants', details='detail')

    #: The id of the project that has created the Pcloud.
    owner = resource.Body('owner')
    #: The ids of the projects that may start servers in the Pcloud.
    tenants = resource.Body('tenants', type=list)
    #: How many hosts the Pcloud has.
    host_count = resource.Body('host_count', type=int)
    #: The sum of the units of the hosts.
    units = resource.Body('units', type=int)
    #: None where the cloud's own ratio holds.
    cpu_allocation_ratio = resource.Body('cpu_allocation_ratio', type=float)
    #: None where the cloud's own ratio holds.
    ram_allocation_ratio = resource.Body('ram_allocation_ratio', type=float)
    #: "stay", "migrate" or "replace"; None as "stay".
    maintenance_policy = resource.Body('maintenance_policy')
    #: "off", "in_place" or "replace"; None as "off".
    host_recovery = resource.Body('host_recovery')
    #: Whether tenants other than the owner may name the host of a server.
    pin_by_tenants = resource.Body('pin_by_tenants', type=bool)
    #: "pack", "spread" or "default"; None as "default".
    placement = resource.Body('placement')
    #: The ids of the flavors that the Pcloud takes; None for all.
    flavors = resource.Body('flavors', type=list)
    #: The ids of the images that the Pcloud takes; None for all.
    images = resource.Body('images', type=list)
    #: "after_hours", "min_hosts" and "keep_spare", by which empty hosts leave.
    shrink = resource.Body('shrink', type=dict)
    #: "hosts", "vcpus" and "memory_mb" that are free; in detailed lists alone.
    free = resource.Body('free', type=dict)
    #: How many servers run in the Pcloud; in detailed lists alone.
    servers = resource.Body('servers', type=int)


class Tenant(base.Resource):
    """A project that may start servers in a Pcloud."""

    resource_key = 'tenant'
    resources_key = 'tenants'
    base_path = '/os-pclouds/%(pcloud_id)s/tenants'

    allow_create = True
    allow_delete = True
    allow_list = True

    #: The id of the Pcloud.
    pcloud_id = resource.URI('pcloud_id')
    #: The name or id of the project's domain, in requests alone.
    domain = resource.Body('domain')
    #: The most servers that the project may use; None for any number.
    max_servers = resource.Body('max_servers', type=int)
    #: The most vcpus that the project may use; None for any number.
    max_vcpus = resource.Body('max_vcpus', type=int)
    #: The most memory in MiB that the project may use; None for any.
    max_memory_mb = resource.Body('max_memory_mb', type=int)

    def put(self, session: adapter.Adapter,
            caps: Mapping[str, int | None] | None) -> typing.Self:
        """Make the project a tenant.

        :param caps: what the project may use, in place of the caps before;
            None for the caps before
        :raises openstack.exceptions.HttpException: when the API refuses
        """
        request = self._prepare_request(requires_id=True)
        body = {} if caps is None else {'json': {self.resource_key: {**caps}}}
        exceptions.raise_from_response(session.put(request.url, **body))
        self._update_from_body_attrs({**(caps or {})})
        return self


class Quota(base.Resource, quota_set.QuotaSet):
    """The quota of a project.

    What is in use is ``usage['units']``.
    """

    resource_key = 'quota'
    base_path = '/os-pcloud-quotas/%(project_id)s'

    #: The most units of the hosts in the project's Pclouds; -1 is unlimited.
    units = resource.Body('units', type=int)

    def limit(self, session: adapter.Adapter, units: int) -> typing.Self:
        """Set the limit.

        :raises openstack.exceptions.HttpException: when the API refuses
        """
        request = self._prepare_request(requires_id=False)
        self._translate_response(session.put(
            request.url, json={'quota': {'units': {'limit': units}}}))
        return self
