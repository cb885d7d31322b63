# SPDX-License-Identifier: Apache-2.0

"""Calls about host flavors, pools, attributes, and the cloud as a whole."""

from collections.abc import Iterable
from collections.abc import Iterator
import typing

from openstack import proxy

from pcloud.sdk.resources import base
from pcloud.sdk.resources import host_flavors as _host_flavors
from pcloud.sdk.resources import hosts as _hosts


class HostFlavors(proxy.Proxy):
    """Host flavors, the hosts of pools, and attributes.

    A host of a pool is a resource, or the name of a compute service.
    """

    def host_flavors(self, **query: typing.Any,
                     ) -> Iterator[_host_flavors.HostFlavor]:
        """Yield the host flavors of the cloud.

        :param query: members of a host flavor, which are compared here
        """
        return self._list(_host_flavors.HostFlavor, **query)

    def get_host_flavor(
        self, host_flavor: str | _host_flavors.HostFlavor,
    ) -> _host_flavors.HostFlavor:
        """Get a host flavor by id."""
        return self._get(_host_flavors.HostFlavor, host_flavor)

    def find_host_flavor(
        self, id_: str, ignore_missing: bool = True,
    ) -> _host_flavors.HostFlavor | None:
        """Find a host flavor by id.

        :param ignore_missing: return None where there is no such host flavor
        """
        return self._find(_host_flavors.HostFlavor, id_,
                          ignore_missing=ignore_missing)

    def create_host_flavor(self, **attrs: typing.Any,
                           ) -> _host_flavors.HostFlavor:
        """Create a host flavor without hosts. Admin.

        :param attrs: "id", "units", and perhaps "description" and "price"
        """
        return self._create(_host_flavors.HostFlavor, **attrs)

    def update_host_flavor(
        self, host_flavor: str | _host_flavors.HostFlavor,
        **attrs: typing.Any,
    ) -> _host_flavors.HostFlavor:
        """Change "description", "units" or "price" of a host flavor. Admin."""
        return self._update(_host_flavors.HostFlavor, host_flavor, **attrs)

    def delete_host_flavor(
        self, host_flavor: str | _host_flavors.HostFlavor,
        ignore_missing: bool = True,
    ) -> None:
        """Delete a host flavor. Admin.

        :raises openstack.exceptions.ConflictException: while the host flavor
            has hosts
        """
        self._delete(_host_flavors.HostFlavor, host_flavor,
                     ignore_missing=ignore_missing)

    def pool_hosts(
        self, host_flavor: str | _host_flavors.HostFlavor,
    ) -> Iterator[_host_flavors.PoolHost]:
        """Yield the hosts of a pool, with attributes. Admin."""
        return self._get_resource(
            _host_flavors.HostFlavor, base.id_of(host_flavor)).pool(self)

    def add_pool_host(self, host_flavor: str | _host_flavors.HostFlavor,
                      host: str) -> _host_flavors.PoolHost:
        """Put a compute host into the pool of a host flavor. Admin.

        :param host: the name of the compute service, which is disabled, and
            is enabled by the call
        :raises openstack.exceptions.ConflictException: when the host is not
            empty, not disabled, or in a pool already
        """
        return self._create(_host_flavors.PoolHost, host=host,
                            host_flavor_id=base.id_of(host_flavor))

    def add_pool_hosts(
        self, host_flavor: str | _host_flavors.HostFlavor,
        names: Iterable[str],
    ) -> list[_host_flavors.PoolHost]:
        """Put compute hosts into a pool: all of them, or none. Admin.

        :raises: as :meth:`add_pool_host`, with the reason for each host
        """
        id_ = base.id_of(host_flavor)
        answer = self._get_resource(
            _host_flavors.PoolHost, None, host_flavor_id=id_).add(
                self, {'hosts': list(names)})
        return [_host_flavors.PoolHost.existing(
            connection=self._get_connection(), host_flavor_id=id_, **each)
            for each in answer['hosts']]

    def remove_pool_host(
        self, host_flavor: str | _host_flavors.HostFlavor,
        host: str | _host_flavors.PoolHost, ignore_missing: bool = True,
    ) -> None:
        """Take a host out of a pool, and disable the compute service. Admin.

        :raises openstack.exceptions.ConflictException: while the host is in a
            Pcloud or not empty
        """
        self._delete(_host_flavors.PoolHost, base.id_of(host),
                     ignore_missing=ignore_missing,
                     host_flavor_id=base.id_of(host_flavor))

    def set_maintenance(
        self, host_flavor: str | _host_flavors.HostFlavor,
        host: str | _host_flavors.PoolHost, begin: str, reason: str = '',
        end: str | None = None,
    ) -> _host_flavors.PoolHost:
        """Announce the maintenance of a host of a pool. Admin.

        :param begin: ISO 8601; a moment that has passed begins immediately
        :param reason: shown to the owner of the Pcloud with the host
        :param end: when the maintenance is expected to be over
        """
        return self._pool_host(host_flavor, host).change(self, {
            'maintenance': {'from': begin, 'until': end, 'reason': reason}})

    def unset_maintenance(
        self, host_flavor: str | _host_flavors.HostFlavor,
        host: str | _host_flavors.PoolHost,
    ) -> _host_flavors.PoolHost:
        """Withdraw the maintenance of a host of a pool. Admin."""
        return self._pool_host(host_flavor, host).change(
            self, {'maintenance': None})

    def set_fenced(
        self, host_flavor: str | _host_flavors.HostFlavor,
        host: str | _host_flavors.PoolHost, fenced: bool,
    ) -> _host_flavors.PoolHost:
        """Say whether a host of a pool is fenced. Admin.

        Who says that a host is fenced promises that no server runs there.
        """
        return self._pool_host(host_flavor, host).change(
            self, {'fenced': fenced})

    def waiting_for(
        self, host_flavor: str | _host_flavors.HostFlavor,
    ) -> Iterator[_hosts.FlavorWaiting]:
        """Yield who waits for hosts of a host flavor, in order. Admin."""
        return self._list(_hosts.FlavorWaiting,
                          host_flavor_id=base.id_of(host_flavor))

    def attributes(self, **query: typing.Any,
                   ) -> Iterator[_host_flavors.Attribute]:
        """Yield the attributes that were set for hosts. Admin.

        :param query: "name", "value" or "host", the name of a compute service
            that has the attribute
        """
        return self._list(_host_flavors.Attribute, **query)

    def set_attribute(self, name: str, value: str, hosts: Iterable[str],
                      ) -> _host_flavors.Attribute:
        """Set the value of an attribute for hosts. Admin.

        :param hosts: the names of compute services
        """
        return self._get_resource(_host_flavors.Attribute, name).change(
            self, {'value': value, 'hosts': list(hosts)})

    def unset_attribute(
        self, name: str, hosts: Iterable[str] | None = None,
        ignore_missing: bool = True,
    ) -> None:
        """Remove an attribute from hosts. Admin.

        :param hosts: the names of compute services; None for all hosts
        """
        named = None if hosts is None else [('host', each) for each in hosts]
        self._delete(_host_flavors.Attribute, name,
                     ignore_missing=ignore_missing, params=named)

    def audit(self) -> Iterator[_host_flavors.Finding]:
        """Yield what does not fit together in the cloud. Admin."""
        return self._list(_host_flavors.Finding)

    def get_api(self) -> _host_flavors.Api:
        """Get the version, the extensions and the limits of the API."""
        return self._get(_host_flavors.Api, None, requires_id=False)

    def _pool_host(
        self, host_flavor: str | _host_flavors.HostFlavor,
        host: str | _host_flavors.PoolHost,
    ) -> _host_flavors.PoolHost:
        return self._get_resource(
            _host_flavors.PoolHost, host,
            host_flavor_id=base.id_of(host_flavor))
