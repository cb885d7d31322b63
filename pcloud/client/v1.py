# SPDX-License-Identifier: Apache-2.0

"""The Python client of the Pcloud API.

A client is made from clouds.yaml or the OS_* variables, from a session, from
an openstacksdk connection, or from a novaclient::

    client = v1.connect()
    client = v1.Client(session=session, region_name='east')
    client = v1.Client.from_adapter(connection.compute)
    client = v1.Client.from_adapter(nova.client)

    pcloud = client.create_pcloud('render farm')
    host = client.add_host(pcloud.id, 'web-1', host_flavor='gold')

Every method raises :class:`pcloud.client.exceptions.ClientError` or a
subclass when the API refuses the call: BadRequest for a value that the API
does not accept, Forbidden where a policy or a quota does not allow the call,
NotFound for a resource that is unknown or not visible to the caller, Conflict
where the present state does not allow the call, ExtensionNotEnabled in a
cloud without Pclouds. When a request is not answered at all (no such host, no
endpoint, a wrong password), the method raises an exception of keystoneauth1.
"""

import typing

from keystoneauth1 import adapter as ksa_adapter
from keystoneauth1 import session as ksa_session

from pcloud.client.calls import host_flavors
from pcloud.client.calls import hosts
from pcloud.client.calls import pclouds
from pcloud.client.calls import planning
from pcloud.client.calls import scoped_policies
from pcloud.client.calls import usage
from pcloud.client.calls import waiting
from pcloud.client import node_keys
from pcloud.client import server_places
from pcloud.client import servers
from pcloud.client import transport


def connect(cloud: str | None = None, **options: typing.Any) -> 'Client':
    """Make a client as the commands do, from clouds.yaml and OS_* variables.

    :param cloud: a cloud of clouds.yaml; None for the cloud of ``OS_CLOUD`` or
        the other variables
    :param options: further arguments of openstacksdk's configuration, such as
        region_name
    :raises openstack.exceptions.ConfigException: when there is no such cloud
    """
    # openstacksdk takes longer to be imported than all the rest of a "nova"
    # command, and no such command connects by itself.
    from openstack import config
    region = config.OpenStackConfig().get_one(cloud=cloud, **options)
    return Client(
        region.get_session(), region_name=region.get_region_name('compute'),
        interface=region.get_interface('compute'),
        endpoint_override=region.get_endpoint('compute'))


class Client(
        host_flavors.HostFlavors, pclouds.Pclouds, hosts.Hosts,
        planning.Planning, scoped_policies.ScopedPolicies, usage.Usages,
        waiting.WaitingLists):
    """All calls of the API, over a keystoneauth adapter.

    :param session: an authenticated session
    :param adapter_options: arguments of keystoneauth1.adapter.Adapter, such as
        region_name, interface or endpoint_override
    """

    def __init__(self, session: ksa_session.Session,
                 **adapter_options: typing.Any) -> None:
        options = {'service_type': 'compute', 'min_version': '2.1',
                   'max_version': '2.latest', **adapter_options}
        self._transport = transport.Transport(
            ksa_adapter.Adapter(session, **options))

    @classmethod
    def from_adapter(cls, adapter: ksa_adapter.Adapter) -> typing.Self:
        """Make a client over an adapter of the compute service.

        :param adapter: such as an openstacksdk connection's "compute" or a
            novaclient's "client"
        """
        client = cls(adapter.session)
        client._transport = transport.Transport(adapter)
        return client

    @property
    def servers(self) -> servers.Servers:
        """Nova's own calls about servers, over the same adapter."""
        return servers.Servers(self._transport)

    @property
    def node_keys(self) -> node_keys.NodeKeys:
        """The placement keys of hosts and aggregates, for administrators."""
        return node_keys.NodeKeys(self._transport)

    def list_servers(
        self, pcloud_id: str | None = None,
    ) -> list[server_places.ServerPlace]:
        """List the servers of the caller's project, with Pcloud and host.

        The servers are in order of the names. Nova is asked for the servers,
        Pcloud for the places of a hundred servers at once, and for the names
        of Pclouds where a server with a hint is on no host.

        :param pcloud_id: only servers in this Pcloud, None for all servers
        """
        listed = self.servers.list_all()
        places = {place.server: place for place in self.list_placed_servers(
            server.id for server in listed)}
        names: dict[str, str] = {}
        if any(server.id not in places and server_places.hinted(server)
               for server in listed):
            names = {pcloud.id: pcloud.name for pcloud in self.list_pclouds()}
        joined = [server_places.join(server, places, names)
                  for server in listed]
        return server_places.by_name(
            server for server in joined
            if pcloud_id in (None, server.pcloud_id))

    def own_project_id(self) -> str:
        """Return the project that the caller is logged in to.

        :raises exceptions.BadRequest: when the caller is logged in to no
            project
        """
        return self._transport.own_project_id()

    def check_enabled(self) -> None:
        """Check that the cloud has Pclouds.

        :raises exceptions.ExtensionNotEnabled: when the cloud has no Pclouds
        """
        self._transport.request(
            'GET', transport.PCLOUDS, params={'limit': 1})
