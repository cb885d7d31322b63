# SPDX-License-Identifier: Apache-2.0

"""Host flavors, the hosts of pools, and the attributes of hosts."""

from collections.abc import Iterator
import typing

from keystoneauth1 import adapter
from openstack import resource

from pcloud.sdk.resources import base


class PoolHost(base.Resource):
    """A host in the pool of a host flavor, as administrators see the host."""

    resource_key = 'host'
    resources_key = 'hosts'
    base_path = '/os-host-flavors/%(host_flavor_id)s/hosts'

    allow_create = True
    allow_delete = True

    #: The id of the host flavor.
    host_flavor_id = resource.URI('host_flavor_id')
    #: The name of the host's compute service.
    host = resource.Body('host', alternate_id=True)
    hypervisor_hostname = resource.Body('hypervisor_hostname')
    availability_zone = resource.Body('availability_zone')
    #: The id of the host's Pcloud, or None.
    pcloud = resource.Body('pcloud')
    #: Since when the host settles, or None.
    settling = resource.Body('settling')
    #: The announced maintenance, or None.
    maintenance = resource.Body('maintenance', type=dict)
    #: Whether Nova takes the host for down, whatever the host reports.
    fenced = resource.Body('fenced', type=bool)
    #: Attribute to value, of all sources; None in lists.
    attributes = resource.Body('attributes', type=dict)
    #: "enabled" or "disabled".
    status = resource.Body('status')
    #: "up" or "down".
    state = resource.Body('state')
    vcpus = resource.Body('vcpus', type=int)
    vcpus_used = resource.Body('vcpus_used', type=int)
    #: MiB.
    memory_mb = resource.Body('memory_mb', type=int)
    #: MiB.
    memory_mb_used = resource.Body('memory_mb_used', type=int)


class HostFlavor(base.Resource):
    """A kind of host."""

    resource_key = 'host_flavor'
    resources_key = 'host_flavors'
    base_path = '/os-host-flavors'

    allow_create = True
    allow_fetch = True
    allow_commit = True
    allow_delete = True
    allow_list = True

    description = resource.Body('description')
    #: The units that a host counts against the quota of a project.
    units = resource.Body('units', type=int)
    #: What a host costs an hour, a decimal text; None for no price.
    price = resource.Body('price')
    #: The fewest among the hosts; None without hosts.
    vcpus = resource.Body('vcpus', type=int)
    #: MiB, the least among the hosts; None without hosts.
    memory_mb = resource.Body('memory_mb', type=int)
    #: GiB, the least among the hosts; None without hosts.
    disk_gb = resource.Body('disk_gb', type=int)
    #: Availability zone to the number of free hosts.
    available = resource.Body('available', type=dict)
    #: How many hosts are going to be free.
    settling = resource.Body('settling', type=int)
    #: Resource class to the least amount among the hosts.
    resources = resource.Body('resources', type=dict)
    #: The traits that all hosts have.
    traits = resource.Body('traits', type=list)
    #: The hosts of the pool, for administrators.
    hosts = resource.Body('hosts', type=list, list_type=PoolHost)

    def pool(self, session: adapter.Adapter) -> Iterator[PoolHost]:
        """Yield the hosts of the pool, from all pages. Admin.

        :raises openstack.exceptions.HttpException: when the API refuses
        """
        query: dict[str, str | int] = {'limit': 1000}
        while hosts := self.fetch(session, **query).hosts:
            yield from hosts
            query['marker'] = hosts[-1].host


class Attribute(base.Resource):
    """A value of a host attribute, with the hosts that have the value."""

    resource_key = 'attribute'
    resources_key = 'attributes'
    base_path = '/os-pcloud-attributes'

    allow_commit = True
    allow_delete = True
    allow_list = True

    _query_mapping = resource.QueryParameters('name', 'value', 'host')

    #: The name of the attribute.
    name = resource.Body('name', alternate_id=True)
    value = resource.Body('value')
    #: The names of the hosts' compute services.
    hosts = resource.Body('hosts', type=list)


class Finding(base.Resource):
    """Something in the rows of the cloud that does not fit together."""

    resources_key = 'findings'
    base_path = '/os-pcloud-audit'

    allow_list = True

    #: Such as "state-without-host".
    kind = resource.Body('kind')
    #: The name of the aggregate, or None.
    aggregate = resource.Body('aggregate')
    #: The name of the host's compute service, or None.
    host = resource.Body('host')
    text = resource.Body('text')
    #: What repairs the finding, or None.
    repair = resource.Body('repair')


class Api(base.Resource):
    """The version, the extensions and the limits of the Pcloud API."""

    resource_key = 'pcloud_api'
    base_path = '/os-pcloud'

    allow_fetch = True

    version = resource.Body('version')
    extensions = resource.Body('extensions', type=list)
    limits: dict[str, typing.Any] = resource.Body('limits', type=dict)
    #: When a worker has last looked for work, in ISO 8601, or None.
    worker_seen = resource.Body('worker_seen')
