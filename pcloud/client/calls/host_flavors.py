# SPDX-License-Identifier: Apache-2.0

"""Calls about host flavors, and about the hosts of their pools."""

from collections.abc import Iterable
from collections.abc import Mapping
import typing

from pcloud.client.calls import base
from pcloud.client import resources
from pcloud.client import transport


class HostFlavors(base.Calls):
    """Host flavors, the hosts of pools, and the attributes of hosts."""

    def list_host_flavors(self) -> list[resources.HostFlavor]:
        """List the host flavors of the cloud."""
        bodies = self._transport.member(
            'host_flavors', 'GET', transport.HOST_FLAVORS)
        return [resources.HostFlavor.from_body(body) for body in bodies]

    def get_host_flavor(self, flavor_id: str) -> resources.HostFlavor:
        """Get a host flavor by id."""
        return self._resource(
            resources.HostFlavor, 'GET', base.flavor_path(flavor_id))

    def create_host_flavor(self, flavor_id: str, units: int,
                           description: str = '', price: str | None = None,
                           ) -> resources.HostFlavor:
        """Create a host flavor without hosts. Admin.

        :param flavor_id: 1 to 64 of letters, digits, ".", "_" and "-"
        :param units: the units that a host counts against a quota, 0 or more
        :param price: what a host costs an hour, a decimal text; None for no
            price
        """
        wanted = {'id': flavor_id, 'description': description, 'units': units,
                  **({} if price is None else {'price': price})}
        return self._resource(
            resources.HostFlavor, 'POST', transport.HOST_FLAVORS,
            json={'host_flavor': wanted})

    def update_host_flavor(
            self, flavor_id: str, *, description: str | None = None,
            units: int | None = None,
            price: str | None | base.Unset = base.UNSET,
    ) -> resources.HostFlavor:
        """Change the given members of a host flavor. Admin.

        None changes nothing, but that a price of None is no price.
        """
        changes: dict[str, str | int | None] = {
            name: value for name, value in
            (('description', description), ('units', units))
            if value is not None}
        if price is not base.UNSET:
            changes['price'] = price
        return self._resource(
            resources.HostFlavor, 'PUT', base.flavor_path(flavor_id),
            json={'host_flavor': changes})

    def delete_host_flavor(self, flavor_id: str) -> None:
        """Delete a host flavor. Admin.

        :raises exceptions.Conflict: while the host flavor has hosts
        """
        self._transport.request('DELETE', base.flavor_path(flavor_id))

    def add_pool_host(self, flavor_id: str, host: str) -> None:
        """Put a compute host into the pool of a host flavor. Admin.

        :param host: the name of the host's compute service, which must be
            disabled and is enabled by the call
        :raises exceptions.Conflict: when the host is not empty, not disabled,
            or in a pool already
        """
        self._transport.request(
            'POST', base.flavor_path(flavor_id, 'hosts'),
            json={'host': {'host': host}})

    def add_pool_hosts(self, flavor_id: str, hosts: Iterable[str]) -> None:
        """Put compute hosts into the pool of a host flavor. Admin.

        All hosts are put there, or none.

        :param hosts: at least one name of a compute service, as in
            :meth:`add_pool_host`
        :raises exceptions.Conflict: with the reason for each host that cannot
            be added
        """
        self._transport.request(
            'POST', base.flavor_path(flavor_id, 'hosts'),
            json={'hosts': list(hosts)})

    def remove_pool_host(self, flavor_id: str, host: str) -> None:
        """Take a host out of a pool, and disable the compute service. Admin.

        :raises exceptions.Conflict: while the host is in a Pcloud or not empty
        """
        self._transport.request(
            'DELETE', base.flavor_path(flavor_id, 'hosts', host))

    def set_maintenance(
            self, flavor_id: str, host: str, begin: str, reason: str = '',
            end: str | None = None) -> resources.PoolHost:
        """Announce the maintenance of a host of a pool. Admin.

        The compute service is disabled from then on, until the maintenance is
        withdrawn. An earlier announcement of the host is replaced.

        :param begin: ISO 8601; a moment that has passed begins it immediately
        :param reason: shown to the owner of the Pcloud with the host
        :param end: when it is expected to be over; nothing happens then
        """
        return self._put_host(flavor_id, host, {'maintenance': {
            'from': begin, 'until': end, 'reason': reason}})

    def unset_maintenance(
            self, flavor_id: str, host: str) -> resources.PoolHost:
        """Withdraw the maintenance of a host of a pool. Admin.

        The compute service is enabled, if the maintenance has disabled it.
        """
        return self._put_host(flavor_id, host, {'maintenance': None})

    def set_fenced(
            self, flavor_id: str, host: str,
            fenced: bool) -> resources.PoolHost:
        """Say whether a host of a pool is fenced. Admin.

        Who says that a host is fenced promises that none of its servers runs:
        they are started on other hosts, where owners wish so. Said again, the
        recovery of the host goes on if it is held.
        """
        return self._put_host(flavor_id, host, {'fenced': fenced})

    def _put_host(
            self, flavor_id: str, host: str,
            changes: Mapping[str, typing.Any],
    ) -> resources.PoolHost:
        return self._resource(
            resources.PoolHost, 'PUT',
            base.flavor_path(flavor_id, 'hosts', host),
            json={'host': changes})

    def list_attributes(
            self, *, name: str | None = None, value: str | None = None,
            host: str | None = None) -> list[resources.Attribute]:
        """List the attributes that were set for hosts. Admin.

        Attributes that hosts inherit from other aggregates are not listed.

        :param name: only the attribute of this name
        :param value: only attributes with this value
        :param host: only attributes of this host of the compute service
        :returns: each with all hosts that have it
        """
        query = {'name': name, 'value': value, 'host': host}
        bodies = self._transport.member(
            'attributes', 'GET', transport.ATTRIBUTES,
            params={member: wanted for member, wanted in query.items()
                    if wanted is not None})
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
            resources.Attribute, 'PUT', base.attribute_path(name),
            json={'attribute': {'value': value, 'hosts': list(hosts)}})

    def unset_attribute(self, name: str,
                        hosts: Iterable[str] | None = None) -> None:
        """Remove an attribute from hosts. Admin.

        :param hosts: the names of compute services; None for all hosts
        :raises exceptions.NotFound: when no host has the attribute
        """
        query = {} if hosts is None else {'host': list(hosts)}
        self._transport.request(
            'DELETE', base.attribute_path(name), params=query)

    def audit(self) -> list[resources.Finding]:
        """List what does not fit together in the cloud. Admin."""
        bodies = self._transport.member('findings', 'GET', transport.AUDIT)
        return [resources.Finding.from_body(body) for body in bodies]
