# SPDX-License-Identifier: Apache-2.0

"""Hosts of Pclouds, and the servers on hosts."""

import datetime

from openstack import exceptions
from openstack import resource

from pcloud.sdk.resources import base


class Host(base.Resource):
    """A host of a Pcloud; the id is the name of the host in the Pcloud."""

    resource_key = 'host'
    resources_key = 'hosts'
    base_path = '/os-pclouds/%(pcloud_id)s/hosts'

    allow_create = True
    allow_fetch = True
    allow_commit = True
    allow_delete = True
    allow_list = True

    #: The id of the Pcloud.
    pcloud_id = resource.URI('pcloud_id')
    #: The name, unique in the Pcloud whatever the letter case.
    name = resource.Body('name', alternate_id=True)
    #: The id of the host flavor.
    host_flavor = resource.Body('host_flavor')
    #: What the host must have, in requests alone.
    constraints = resource.Body('constraints')
    availability_zone = resource.Body('availability_zone')
    #: "enabled", "disabled", "draining" or "spare".
    state = resource.Body('state')
    #: "up", "down" or "maintenance".
    status = resource.Body('status')
    #: The ids of the servers on the host; None when not known.
    instances = resource.Body('instances', type=list)
    vcpus = resource.Body('vcpus', type=int)
    vcpus_used = resource.Body('vcpus_used', type=int)
    #: MiB.
    memory_mb = resource.Body('memory_mb', type=int)
    #: MiB.
    memory_mb_used = resource.Body('memory_mb_used', type=int)
    #: ISO 8601; None where no reboot is planned.
    next_reboot = resource.Body('next_reboot')
    #: The number of the host's rack in the Pcloud.
    rack = resource.Body('rack')
    #: The name of the rack, for administrators.
    rack_name = resource.Body('rack_name')
    #: Resource class to "total" and "used".
    resources = resource.Body('resources', type=dict)
    traits = resource.Body('traits', type=list)
    #: What is left to do where the host is being drained, else None.
    drain = resource.Body('drain', type=dict)
    #: What is done where the host has failed, else None.
    recovery = resource.Body('recovery', type=dict)
    #: The announced maintenance, or None.
    maintenance = resource.Body('maintenance', type=dict)
    #: When the host leaves, in ISO 8601; None for no date.
    until = resource.Body('until')
    #: The servers that are moved then: "none", "live" or "any".
    move = resource.Body('move')
    #: The real name of the host, for administrators.
    hypervisor_hostname = resource.Body('hypervisor_hostname')

    def is_drained(self) -> bool:
        """Whether the host is as empty as the drain of the host asks for.

        A host whose drain asks for the release of the host leaves the Pcloud.

        :raises openstack.exceptions.ResourceFailure: when the drain has ended
            before, or the deadline of the drain has passed

        Rule: reference-draining
        """
        if self.drain is None:
            raise exceptions.ResourceFailure(
                f'{self.name} is not being drained any more')
        remaining = self.drain.get('remaining')
        if remaining == []:
            return not self.drain.get('release')
        deadline = self.drain.get('deadline')
        if deadline is not None and datetime.datetime.fromisoformat(
                deadline) <= datetime.datetime.now(datetime.UTC):
            raise exceptions.ResourceFailure(
                f'{self.name} was not empty by {deadline}: {remaining} remain')
        return False


class Waiting(base.Resource):
    """An entry of the waiting list of a host flavor."""

    resource_key = 'waiting'
    resources_key = 'waiting'
    base_path = '/os-pclouds/%(pcloud_id)s/waiting'

    allow_delete = True
    allow_list = True

    #: The id of the Pcloud.
    pcloud_id = resource.URI('pcloud_id')
    #: The name that the host will have.
    name = resource.Body('name')
    #: The id of the host flavor.
    host_flavor = resource.Body('host_flavor')
    #: The zone of the host; None for any zone.
    availability_zone = resource.Body('availability_zone')
    #: 1 for the next host.
    position = resource.Body('position', type=int)
    #: When the Pcloud began to wait, in ISO 8601.
    since = resource.Body('since')
    #: Until when the Pcloud waits, in ISO 8601.
    until = resource.Body('until')


class FlavorWaiting(Waiting):
    """An entry of a host flavor's list, as administrators see the entry."""

    base_path = '/os-host-flavors/%(host_flavor_id)s/waiting'

    allow_delete = False

    #: The id of the host flavor.
    host_flavor_id = resource.URI('host_flavor_id')
    #: The id of the Pcloud.
    pcloud = resource.Body('pcloud')
    #: The id of the project that owns the Pcloud.
    owner = resource.Body('owner')


class PlacedServer(base.Paged):
    """A server of the caller's project on a host of a Pcloud."""

    resources_key = 'servers'
    base_path = '/os-pcloud-servers'

    allow_list = True

    _query_mapping = resource.QueryParameters('server')

    #: The id of the server.
    server_id = resource.Body('server', alternate_id=True)
    #: "id" and "name" of the Pcloud.
    pcloud = resource.Body('pcloud', type=dict)
    #: The owner's name for the host; None for other projects.
    host = resource.Body('host')
    #: The number of the host's rack in the Pcloud.
    rack = resource.Body('rack')
    #: The name of the rack, for administrators.
    rack_name = resource.Body('rack_name')
