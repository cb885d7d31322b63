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

from collections.abc import Iterable
from collections.abc import Mapping
from collections.abc import Sequence
import dataclasses
import enum
import typing

from keystoneauth1 import adapter as ksa_adapter
from keystoneauth1 import session as ksa_session

from pcloud.client import exceptions
from pcloud.client import resources
from pcloud.client import servers
from pcloud.client import transport
from pcloud.rules import uuids


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


class Unset(enum.Enum):
    """The default of an argument for which None is a value."""

    UNSET = 'unset'


UNSET = Unset.UNSET

# How many servers the API takes at once.
_MOST_NAMED = 100

_Resource = typing.TypeVar('_Resource', bound=resources.Resource)


class Client:
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

    # Host flavors

    def list_host_flavors(self) -> list[resources.HostFlavor]:
        """List the host flavors of the cloud."""
        bodies = self._transport.member(
            'host_flavors', 'GET', transport.HOST_FLAVORS)
        return [resources.HostFlavor.from_body(body) for body in bodies]

    def get_host_flavor(self, flavor_id: str) -> resources.HostFlavor:
        """Get a host flavor by id."""
        return self._resource(
            resources.HostFlavor, 'GET', _flavor_path(flavor_id))

    def create_host_flavor(self, flavor_id: str, units: int,
                           description: str = '') -> resources.HostFlavor:
        """Create a host flavor without hosts. Admin.

        :param flavor_id: 1 to 64 of letters, digits, ".", "_" and "-"
        :param units: the units that a host counts against a quota, 0 or more
        """
        wanted = {'id': flavor_id, 'description': description, 'units': units}
        return self._resource(
            resources.HostFlavor, 'POST', transport.HOST_FLAVORS,
            json={'host_flavor': wanted})

    def update_host_flavor(
            self, flavor_id: str, *, description: str | None = None,
            units: int | None = None) -> resources.HostFlavor:
        """Change the given members, not None, of a host flavor. Admin."""
        changes = {name: value for name, value in
                   (('description', description), ('units', units))
                   if value is not None}
        return self._resource(
            resources.HostFlavor, 'PUT', _flavor_path(flavor_id),
            json={'host_flavor': changes})

    def delete_host_flavor(self, flavor_id: str) -> None:
        """Delete a host flavor. Admin.

        :raises exceptions.Conflict: while the host flavor has hosts
        """
        self._transport.request('DELETE', _flavor_path(flavor_id))

    def add_pool_host(self, flavor_id: str, host: str) -> None:
        """Put a compute host into the pool of a host flavor. Admin.

        :param host: the name of the host's compute service, which must be
            disabled and is enabled by the call
        :raises exceptions.Conflict: when the host is not empty, not disabled,
            or in a pool already
        """
        self._transport.request(
            'POST', _flavor_path(flavor_id, 'hosts'),
            json={'host': {'host': host}})

    def remove_pool_host(self, flavor_id: str, host: str) -> None:
        """Take a host out of a pool, and disable the compute service. Admin.

        :raises exceptions.Conflict: while the host is in a Pcloud or not empty
        """
        self._transport.request(
            'DELETE', _flavor_path(flavor_id, 'hosts', host))

    def set_maintenance(
            self, flavor_id: str, host: str, begin: str, reason: str = '',
            end: str | None = None) -> resources.PoolHost:
        """Announce the maintenance of a host of a pool. Admin.

        The compute service is disabled from then on, until the maintenance is
        withdrawn. An earlier announcement of the host is replaced.

        :param begin: ISO 8601; a moment that has passed begins it at once
        :param reason: shown to the owner of the Pcloud with the host
        :param end: when it is expected to be over; nothing happens then
        """
        return self._put_maintenance(flavor_id, host, {
            'from': begin, 'until': end, 'reason': reason})

    def unset_maintenance(
            self, flavor_id: str, host: str) -> resources.PoolHost:
        """Withdraw the maintenance of a host of a pool. Admin.

        The compute service is enabled, if the maintenance has disabled it.
        """
        return self._put_maintenance(flavor_id, host, None)

    def _put_maintenance(
            self, flavor_id: str, host: str,
            maintenance: Mapping[str, str | None] | None,
    ) -> resources.PoolHost:
        body = self._transport.request(
            'PUT', _flavor_path(flavor_id, 'hosts', host),
            json={'host': {'maintenance': maintenance}})
        return resources.PoolHost.from_body(body)

    # Pclouds

    def list_pclouds(self, *, all_tenants: bool = False,
                     name: str | None = None,
                     detail: bool = False) -> list[resources.Pcloud]:
        """List the Pclouds that a project owns or is a tenant of.

        :param all_tenants: list the Pclouds of every project instead. Admin.
        :param detail: tell what is free in each Pcloud that the caller may
            see into
        :param name: list only the Pclouds with this name
        """
        query: dict[str, typing.Any] = {}
        if all_tenants:
            query['all_tenants'] = 1
        if detail:
            query['detail'] = 1
        if name is not None:
            query['name'] = name
        return [resources.Pcloud.from_body(body) for body in
                self._transport.pages('pclouds', transport.PCLOUDS, query)]

    def get_pcloud(self, pcloud_id: str) -> resources.Pcloud:
        """Get a Pcloud by id."""
        return self._resource(resources.Pcloud, 'GET', _pcloud_path(pcloud_id))

    def find_pcloud(self, name_or_id: str) -> resources.Pcloud:
        """Find a Pcloud by id or, where the name is unique, by name.

        An id is written in small letters; any other text is a name. The
        Pclouds that the caller's project owns or is a tenant of are searched
        first; for an admin the Pclouds of all projects come next.

        :raises exceptions.AmbiguousName: with the ids, where several Pclouds
            have the name
        :raises exceptions.NotFound: when there is no such Pcloud
        """
        if uuids.is_uuid(name_or_id):
            try:
                return self.get_pcloud(name_or_id)
            except exceptions.NotFound:
                pass  # The text may still be a name.
        pclouds = self._named(name_or_id) or self._named_anywhere(name_or_id)
        if not pclouds:
            raise exceptions.NotFound(
                f"No Pcloud that you can see has the id or name "
                f"'{name_or_id}'; list the Pclouds to see which there are")
        if len(pclouds) > 1:
            raise exceptions.AmbiguousName(
                name_or_id, [pcloud.id for pcloud in pclouds])
        return pclouds[0]

    def create_pcloud(self, name: str) -> resources.Pcloud:
        """Create a Pcloud without hosts, owned by the caller's project.

        :param name: 1 to 255 characters; need not be unique
        """
        return self._resource(resources.Pcloud, 'POST', transport.PCLOUDS,
                              json={'pcloud': {'name': name}})

    def create_pcloud_if_absent(self, name: str) -> resources.Pcloud:
        """Get the project's only Pcloud of a name, or create the Pcloud.

        :raises exceptions.Conflict: when several Pclouds have the name
        """
        return self._resource(
            resources.Pcloud, 'POST', f'{transport.PCLOUDS}?if_absent=1',
            json={'pcloud': {'name': name}})

    def update_pcloud(
            self, pcloud_id: str, *, name: str | Unset = UNSET,
            cpu_allocation_ratio: float | None | Unset = UNSET,
            ram_allocation_ratio: float | None | Unset = UNSET,
            maintenance_policy: str | None | Unset = UNSET,
    ) -> resources.Pcloud:
        """Change the given members of a Pcloud.

        None removes a ratio, and has servers stay during a maintenance.
        """
        given = {'name': name, 'cpu_allocation_ratio': cpu_allocation_ratio,
                 'ram_allocation_ratio': ram_allocation_ratio,
                 'maintenance_policy': maintenance_policy}
        changes = {member: value for member, value in given.items()
                   if value is not UNSET}
        return self._resource(resources.Pcloud, 'PUT', _pcloud_path(pcloud_id),
                              json={'pcloud': changes})

    def delete_pcloud(self, pcloud_id: str, *, force: bool = False) -> None:
        """Delete a Pcloud.

        :param force: also when shelved servers have no other home
        :raises exceptions.Conflict: while the Pcloud has hosts, or is the only
            home of shelved servers, which the error names
        """
        self._delete(_pcloud_path(pcloud_id), force)

    # Hosts of a Pcloud

    def list_hosts(self, pcloud_id: str) -> list[resources.Host]:
        """List the hosts of a Pcloud."""
        bodies = self._transport.member(
            'hosts', 'GET', _pcloud_path(pcloud_id, 'hosts'))
        return [resources.Host.from_body(body) for body in bodies]

    def get_host(self, pcloud_id: str, name: str) -> resources.Host:
        """Get a host of a Pcloud by the host's name in the Pcloud."""
        return self._resource(
            resources.Host, 'GET', _host_path(pcloud_id, name))

    def add_host(self, pcloud_id: str, name: str,
                 host_flavor: str | None = None,
                 availability_zone: str | None = None,
                 constraints: str | None = None) -> resources.Host:
        """Take a free host into a Pcloud; the host is disabled at first.

        Either a host flavor or constraints must be given.

        :param name: the new name of the host, 1 to 63 of letters, digits, ".",
            "_" and "-", unique in the Pcloud whatever the letter case
        :param availability_zone: the zone of the host, or None for any zone
        :param constraints: what the host must have, such as "ram=64G cpu=16";
            the host flavor that wastes least is taken, and the returned host
            names the flavor
        :raises exceptions.BadRequest: when a constraint is not valid, or with
            both a host flavor and constraints, or neither
        :raises exceptions.Conflict: when no host is free, no free host fits,
            or the name is taken
        :raises exceptions.Forbidden: when the host would exceed the quota
        """
        wanted = {'host_flavor': host_flavor, 'constraints': constraints,
                  'availability_zone': availability_zone}
        given = {member: value for member, value in wanted.items()
                 if value is not None}
        return self._resource(
            resources.Host, 'POST', _pcloud_path(pcloud_id, 'hosts'),
            json={'host': {'name': name, **given}})

    def add_hosts(self, pcloud_id: str, name: str, count: int,
                  first: int | None = None,
                  host_flavor: str | None = None,
                  availability_zone: str | None = None,
                  constraints: str | None = None) -> list[resources.Host]:
        """Take several free hosts into a Pcloud: all of them, or none.

        :param name: the beginning of the names, which "-" and numbers follow
        :param count: how many hosts, 50 at most
        :param first: the number of the first host, or None for 1
        :raises: as :meth:`add_host`
        """
        wanted = {'host_flavor': host_flavor, 'constraints': constraints,
                  'availability_zone': availability_zone, 'first': first}
        given = {member: value for member, value in wanted.items()
                 if value is not None}
        return [resources.Host.from_body(body) for body in
                self._transport.member(
                    'hosts', 'POST', _pcloud_path(pcloud_id, 'hosts'),
                    json={'host': {'name': name, 'count': count, **given}})]

    def set_host_state(
            self, pcloud_id: str, name: str,
            state: typing.Literal['enabled', 'disabled']) -> resources.Host:
        """Enable or disable a host for new servers; a drain ends."""
        return self._resource(
            resources.Host, 'PUT', _host_path(pcloud_id, name),
            json={'host': {'state': state}})

    def drain_host(
            self, pcloud_id: str, name: str,
            **wish: typing.Any) -> resources.Host:
        """Have a host emptied: no new servers start on the host.

        Enabling or disabling the host ends the drain.

        :param wish: "move": "none", "live" for running servers, or "any" for
            stopped servers too; "release", whether the host leaves the Pcloud
            when it is empty; "deadline", ISO 8601, a moment to come;
            "dry_run", whether the answer is only to tell, with "moves" in the
            host's drain, what would happen; "together_with", the names of
            other hosts that a dry run takes for drained too. A wish of None
            counts as not given
        :raises exceptions.BadRequest: when the deadline has passed
        """
        return self._resource(
            resources.Host, 'PUT', _host_path(pcloud_id, name),
            json={'host': {'state': 'draining', 'drain': {
                member: value for member, value in wish.items()
                if value is not None}}})

    def remove_host(self, pcloud_id: str, name: str) -> None:
        """Give a host of a Pcloud back.

        :raises exceptions.Conflict: unless the host is disabled and empty
        """
        self._transport.request('DELETE', _host_path(pcloud_id, name))

    def list_placed_servers(
            self, servers: Iterable[str]) -> list[resources.PlacedServer]:
        """List which of some servers are on hosts of Pclouds.

        One request for each hundred servers. Servers that are not on a host,
        outside of Pclouds or not the caller's project's are left out.

        :param servers: ids of servers
        :raises exceptions.NotFound: when the cloud is too old for the call
        """
        ids = list(servers)
        return [resources.PlacedServer.from_body(body)
                for start in range(0, len(ids), _MOST_NAMED)
                for body in self._transport.member(
                    'servers', 'GET', transport.SERVERS,
                    params={'server': ids[start:start + _MOST_NAMED]})]

    # Tenants of a Pcloud

    def list_tenants(self, pcloud_id: str) -> list[resources.Tenant]:
        """List the projects that may start servers in a Pcloud."""
        project_ids = self._transport.member(
            'tenants', 'GET', _pcloud_path(pcloud_id, 'tenants'))
        return [resources.Tenant(project_id) for project_id in project_ids]

    def add_tenant(self, pcloud_id: str, project_id: str) -> None:
        """Let a project start servers in a Pcloud; a tenant stays a tenant."""
        self._transport.request('PUT', _tenant_path(pcloud_id, project_id))

    def remove_tenant(self, pcloud_id: str, project_id: str, *,
                      force: bool = False) -> None:
        """Let a project no longer start servers in a Pcloud.

        :param force: also when shelved servers of it have no other home
        :raises exceptions.NotFound: when the project is not a tenant
        :raises exceptions.Conflict: while the Pcloud is the only home of
            shelved servers of the project, which the error names
        """
        self._delete(_tenant_path(pcloud_id, project_id), force)

    def _delete(self, url_path: str, force: bool) -> None:
        self._transport.request('DELETE', url_path,
                                params={'force': 1} if force else {})

    # Quota

    def get_quota(self, project_id: str | None = None) -> resources.Quota:
        """Get the quota of a project, by default of the caller's project."""
        project_id = project_id or self._transport.own_project_id()
        return self._quota('GET', project_id)

    def update_quota(self, project_id: str, units: int) -> resources.Quota:
        """Set the quota of a project. Admin.

        :param units: the limit; -1 is unlimited
        """
        return self._quota('PUT', project_id, json={
            'quota': {'units': {'limit': units}}})

    def delete_quota(self, project_id: str) -> None:
        """Reset the quota of a project to the default. Admin."""
        self._transport.request('DELETE', _quota_path(project_id))

    # The default Pcloud of a project

    def get_default_pcloud(
            self, project_id: str | None = None) -> resources.DefaultPcloud:
        """Get the default Pcloud that counts for a project.

        :param project_id: by default the caller's project; admin for others
        """
        project_id = project_id or self._transport.own_project_id()
        try:
            return self._default_pcloud('GET', project_id)
        except exceptions.NotFound:
            return resources.DefaultPcloud(project_id)

    def set_default_pcloud(
            self, pcloud_id: str | None, mode: str = 'strict',
            project_id: str | None = None, **growth: str | int | None,
    ) -> resources.DefaultPcloud:
        """Set where servers of a project go that name no Pcloud.

        :param pcloud_id: None for outside of Pclouds, whatever the domain and
            the cloud have set
        :param mode: 'strict' for the Pcloud alone, 'prefer' for the Pcloud
            while there is room, 'grow' for the Pcloud, which free hosts join
            while there is no room
        :param growth: in mode 'grow' host_flavor, max_hosts and perhaps
            availability_zone; None is left out
        :param project_id: as for :meth:`get_default_pcloud`
        :raises exceptions.NotFound: when the project is no tenant of the
            Pcloud
        """
        default = None if pcloud_id is None else {
            'pcloud': pcloud_id, 'mode': mode, **{
                name: value for name, value in growth.items()
                if value is not None}}
        return self._default_pcloud(
            'PUT', project_id or self._transport.own_project_id(),
            json={'policy': {'default_pcloud': default}})

    def with_growth(
            self, pcloud: resources.Pcloud) -> resources.GrowingPcloud:
        """Get how a Pcloud grows for the servers of the owner."""
        try:
            default = self.get_default_pcloud(pcloud.owner)
        except exceptions.Forbidden:
            # Not the owner: the owner's default is not for the caller.
            default = resources.DefaultPcloud(pcloud.owner)
        is_grown = (default.pcloud, default.mode) == (pcloud.id, 'grow')
        return resources.GrowingPcloud(
            **dataclasses.asdict(pcloud), growth={
                'host_flavor': default.host_flavor,
                'max_hosts': default.max_hosts,
                'availability_zone': default.availability_zone,
            } if is_grown else None)

    def _default_pcloud(self, method: str, project_id: str,
                        **request: typing.Any) -> resources.DefaultPcloud:
        body = self._transport.member(
            'policy', method, _policy_path('project', project_id), **request)
        return resources.DefaultPcloud.from_body(project_id, body)

    # Attributes of hosts

    def list_attributes(self) -> list[resources.Attribute]:
        """List the attributes that were set for hosts. Admin.

        Attributes that hosts inherit from other aggregates are not listed.
        """
        bodies = self._transport.member(
            'attributes', 'GET', transport.ATTRIBUTES)
        return [resources.Attribute.from_body(body) for body in bodies]

    def set_attribute(self, name: str, value: str,
                      hosts: Iterable[str]) -> resources.Attribute:
        """Set the value of an attribute for hosts. Admin.

        The value takes the place of former values.

        :param hosts: the names of compute services, at least a single name
        :returns: the value with all hosts that have the value now
        :raises exceptions.BadRequest: when the attribute cannot have the value
        """
        return self._resource(
            resources.Attribute, 'PUT', _attribute_path(name),
            json={'attribute': {'value': value, 'hosts': list(hosts)}})

    def unset_attribute(self, name: str,
                        hosts: Iterable[str] | None = None) -> None:
        """Remove an attribute from hosts. Admin.

        :param hosts: the names of compute services; None for all hosts
        :raises exceptions.NotFound: when no host has the attribute
        """
        query = {} if hosts is None else {'host': list(hosts)}
        self._transport.request('DELETE', _attribute_path(name), params=query)

    def audit(self) -> list[resources.Finding]:
        """List what does not fit together in the cloud. Admin."""
        bodies = self._transport.member('findings', 'GET', transport.AUDIT)
        return [resources.Finding.from_body(body) for body in bodies]

    # Room for servers

    def room(self, group: Iterable[str], *,
             pcloud_id: str | None = None, parent: str | None = None,
             count: int = 1) -> resources.Room:
        """Return the number of groups of servers that there is room for now.

        A group is a server of each flavor, all on a single host. Cpus, memory
        and disk count, with the ratios of the cloud. Room is not reserved.

        :param group: the ids of the flavors of a group's servers; a flavor
            that is given twice stands for two servers. The root disk of a
            server with the flavor ``<id>:volume`` is a volume
        :param pcloud_id: the Pcloud of the groups; None for hosts outside of
            Pclouds
        :param parent: only hosts that run a unit of this service, or the
            server with this id, count
        :param count: the number of groups to look for, 1 to 1000
        :raises exceptions.BadRequest: when a value is not valid
        :raises exceptions.Forbidden: when the caller is neither the owner of
            the Pcloud nor an administrator; outside of Pclouds when the caller
            is not an administrator
        :raises exceptions.NotFound: when there is no such flavor, or no such
            Pcloud for the caller
        """
        query: dict[str, typing.Any] = {
            'flavor': list(group), 'count': count}
        if pcloud_id is not None:
            query['pcloud'] = pcloud_id
        if parent is not None:
            query['in'] = parent
        return self._resource(
            resources.Room, 'GET', transport.ROOM, params=query)

    def explain(self, pcloud_id: str, flavor_id: str,
                ) -> resources.Explanation:
        """Return the obstacles to servers in a Pcloud of the caller's project.

        :raises exceptions.NotFound: when there is no such flavor, or no such
            Pcloud for the caller
        :raises exceptions.Forbidden: for a tenant that is not the owner
        """
        return self._resource(
            resources.Explanation, 'GET', _pcloud_path(pcloud_id, 'explain'),
            params={'flavor': flavor_id})

    def simulate(
            self, pcloud_id: str,
            servers: Sequence[Mapping[str, typing.Any]],
            include_disabled: bool = False,
            without: Sequence[str] = ()) -> resources.Simulation:
        """Return whether servers fit a Pcloud of the caller's project.

        :param servers: entries with "flavor" (an id), "count" and perhaps
            "apart", for servers each on another host
        :param include_disabled: whether disabled hosts count
        :param without: names of hosts that do not count
        :raises exceptions.NotFound: when there is no such flavor or host, or
            no such Pcloud for the caller
        :raises exceptions.Forbidden: for a tenant that is not the owner
        """
        question: dict[str, typing.Any] = {'servers': list(servers)}
        if include_disabled:
            question['include_disabled'] = True
        if without:
            question['without'] = list(without)
        return self._resource(
            resources.Simulation, 'POST', _pcloud_path(pcloud_id, 'simulate'),
            json={'simulate': question})

    def rehearse(
            self, pcloud_id: str, lose: str | None = None,
    ) -> resources.Rehearsal:
        """Return which hosts of a Pcloud of the caller's project may fail.

        :param lose: "host" or "rack"; by default each host by itself fails
        :raises exceptions.NotFound: when there is no such Pcloud for the
            caller
        :raises exceptions.Forbidden: for a tenant that is not the owner
        """
        return self._resource(
            resources.Rehearsal, 'GET', _pcloud_path(pcloud_id, 'rehearsal'),
            params={} if lose is None else {'lose': lose})

    def plan_rebalance(
            self, pcloud_id: str, goal: str,
            **more: typing.Any) -> resources.Rebalance:
        """Return which servers of a Pcloud to move, and move nothing.

        :param goal: "free_hosts", or "fit"
        :param more: "flavor" (an id) and perhaps "count" for the goal "fit";
            perhaps "max_moves", and "move": "live", or "any" for stopped
            servers too
        :raises exceptions.NotFound: when there is no such flavor, or no such
            Pcloud for the caller
        :raises exceptions.Forbidden: for a tenant that is not the owner
        """
        return self._resource(
            resources.Rebalance, 'GET', _pcloud_path(pcloud_id, 'rebalance'),
            params={'goal': goal, **more})

    def rebalance(
            self, pcloud_id: str, valid_for: str, goal: str,
            **more: typing.Any) -> resources.Rebalance:
        """Have the servers of a plan moved; the call does not wait.

        :param valid_for: as the plan has it
        :param goal: as for :meth:`plan_rebalance`, like `more`
        :raises exceptions.Conflict: when the Pcloud has changed
        :raises exceptions.Forbidden: for a caller who may not have servers
            moved
        """
        return self._resource(
            resources.Rebalance, 'POST', _pcloud_path(pcloud_id, 'rebalance'),
            json={'rebalance': {'valid_for': valid_for, 'goal': goal, **more}})

    def end_rebalance(self, pcloud_id: str) -> None:
        """Have no more servers of a rebalance moved, if there is one.

        Servers that are on their way arrive.

        :raises exceptions.Forbidden: for a caller who may not have servers
            moved
        """
        self._transport.request(
            'DELETE', _pcloud_path(pcloud_id, 'rebalance'))

    # Policies for the servers of a scope

    def get_policy(self, scope: str, scope_id: str) -> resources.Policy:
        """Get the policy of a scope. Admin; the owner for a Pcloud.

        :param scope: cloud, domain, project, pcloud or role
        :param scope_id: "default" for the cloud
        :raises exceptions.NotFound: when the scope has no policy
        """
        return self._resource(
            resources.Policy, 'GET', _policy_path(scope, scope_id))

    def get_effective_policy(
            self, scope: str, scope_id: str) -> resources.Policy:
        """Get the policy of a scope with the effective constraints.

        Constraints of other levels and built-in constraints are included, so
        that a scope without a policy has an answer too. Admin; the owner for a
        Pcloud.

        :param scope: as for :meth:`get_policy`; likewise scope_id
        """
        return self._resource(
            resources.Policy, 'GET', _policy_path(scope, scope_id),
            params={'effective': 1})

    def update_policy(
            self, scope: str, scope_id: str, *,
            system_keys: Iterable[str] | None = None,
            customer_keys: Iterable[str] | None = None,
            constraints: str | None = None,
            default_pcloud: Mapping[str, typing.Any] | None | Unset = UNSET,
    ) -> resources.Policy:
        """Replace the given members of a policy; None changes nothing.

        Admin; the owner for a Pcloud.

        :param system_keys: the new system keys, each as NAME=VALUE:WEIGHT.
            Admin.
        :param customer_keys: the new customer keys likewise, for projects and
            Pclouds
        :param constraints: the new machine constraints, such as "ram=2G
            rack=r1"; '' removes all constraints
        :param default_pcloud: the default Pcloud as in the API, for projects,
            domains and the cloud; None for outside of Pclouds, whatever the
            scopes above have set
        :raises exceptions.BadRequest: when a key or a constraint is not valid
        """
        changes: dict[str, typing.Any] = {
            name: list(keys) for name, keys in
            (('system_keys', system_keys),
             ('customer_keys', customer_keys)) if keys is not None}
        if constraints is not None:
            changes['constraints'] = constraints
        if default_pcloud is not UNSET:
            changes['default_pcloud'] = default_pcloud
        return self._resource(
            resources.Policy, 'PUT', _policy_path(scope, scope_id),
            json={'policy': changes})

    def delete_policy(self, scope: str, scope_id: str) -> None:
        """Delete the policy of a scope. Admin.

        :raises exceptions.NotFound: when the scope has no policy
        """
        self._transport.request('DELETE', _policy_path(scope, scope_id))

    def _named(self, name: str, **scope: bool) -> list[resources.Pcloud]:
        # The server may match loosely; a name is given exactly.
        return [pcloud for pcloud in self.list_pclouds(name=name, **scope)
                if pcloud.name == name]

    def _named_anywhere(self, name: str) -> list[resources.Pcloud]:
        try:
            return self._named(name, all_tenants=True)
        except exceptions.Forbidden:
            return []

    def _resource(self, kind: type[_Resource], method: str, url_path: str,
                  **options: typing.Any) -> _Resource:
        return kind.from_body(self._transport.member(
            kind.MEMBER, method, url_path, **options))

    def _quota(self, method: str, project_id: str,
               **options: typing.Any) -> resources.Quota:
        body = self._transport.member(
            'quota', method, _quota_path(project_id), **options)
        return resources.Quota.from_body(project_id, body)


def _flavor_path(flavor_id: str, *below: str) -> str:
    return transport.path(transport.HOST_FLAVORS, flavor_id, *below)


def _pcloud_path(pcloud_id: str, *below: str) -> str:
    return transport.path(transport.PCLOUDS, pcloud_id, *below)


def _host_path(pcloud_id: str, name: str) -> str:
    return _pcloud_path(pcloud_id, 'hosts', name)


def _tenant_path(pcloud_id: str, project_id: str) -> str:
    return _pcloud_path(pcloud_id, 'tenants', project_id)


def _quota_path(project_id: str) -> str:
    return transport.path(transport.QUOTAS, project_id)


def _attribute_path(name: str) -> str:
    return transport.path(transport.ATTRIBUTES, name)


def _policy_path(scope: str, scope_id: str) -> str:
    return transport.path(transport.POLICIES, scope, scope_id)
