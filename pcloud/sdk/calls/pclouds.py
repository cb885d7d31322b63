# SPDX-License-Identifier: Apache-2.0

"""Calls about Pclouds, the tenants of Pclouds, and quotas."""

from collections.abc import Iterator
import typing

from openstack import proxy

from pcloud.sdk.resources import base
from pcloud.sdk.resources import pclouds as _pclouds


class Pclouds(proxy.Proxy):
    """Pclouds, tenants and quotas."""

    def pclouds(
        self, *, details: bool = False, all_projects: bool = False,
        **query: typing.Any,
    ) -> Iterator[_pclouds.Pcloud]:
        """Yield the Pclouds that the project owns or is a tenant of.

        :param details: tell what is free in each Pcloud, too
        :param all_projects: the Pclouds of every project. Admin.
        :param query: "name"; any other member of a Pcloud is compared here
        """
        if details:
            query['details'] = True
        if all_projects:
            query['all_projects'] = True
        return self._list(_pclouds.Pcloud, **query)

    def get_pcloud(self, pcloud: str | _pclouds.Pcloud) -> _pclouds.Pcloud:
        """Get a Pcloud by id.

        :raises openstack.exceptions.NotFoundException: when there is no such
            Pcloud for the caller
        """
        return self._get(_pclouds.Pcloud, pcloud)

    def find_pcloud(
        self, name_or_id: str, ignore_missing: bool = True, *,
        all_projects: bool = False,
    ) -> _pclouds.Pcloud | None:
        """Find a Pcloud by id or name.

        :param ignore_missing: return None where no Pcloud is found
        :param all_projects: look at the names of every project. Admin.
        :raises openstack.exceptions.NotFoundException: where no Pcloud is
            found and the caller has asked for that
        :raises openstack.exceptions.DuplicateResource: when several Pclouds
            have the name
        """
        return self._find(
            _pclouds.Pcloud, name_or_id, ignore_missing=ignore_missing,
            all_projects=all_projects or None)

    def create_pcloud(self, **attrs: typing.Any) -> _pclouds.Pcloud:
        """Create a Pcloud without hosts, owned by the caller's project.

        :param attrs: "name", 1 to 255 characters, which need not be unique
        """
        return self._create(_pclouds.Pcloud, **attrs)

    def create_pcloud_if_absent(self, name: str) -> _pclouds.Pcloud:
        """Get the project's only Pcloud of a name, or create the Pcloud.

        :raises openstack.exceptions.ConflictException: when several Pclouds
            have the name
        """
        return self._get_resource(_pclouds.Pcloud, None, name=name).create(
            self, if_absent=1)

    def update_pcloud(self, pcloud: str | _pclouds.Pcloud,
                      **attrs: typing.Any) -> _pclouds.Pcloud:
        """Change members of a Pcloud.

        :param attrs: members of
            :class:`pcloud.sdk.resources.pclouds.Pcloud`; None unsets
        """
        return self._update(_pclouds.Pcloud, pcloud, **attrs)

    def delete_pcloud(
        self, pcloud: str | _pclouds.Pcloud, ignore_missing: bool = True, *,
        force: bool = False,
    ) -> None:
        """Delete a Pcloud.

        :param ignore_missing: raise nothing where there is no such Pcloud
        :param force: also when shelved servers have no other home
        :raises openstack.exceptions.ConflictException: while the Pcloud has
            hosts, or is the only home of shelved servers
        """
        self._delete(_pclouds.Pcloud, pcloud, ignore_missing=ignore_missing,
                     params={'force': 1} if force else None)

    def tenants(
        self, pcloud: str | _pclouds.Pcloud,
    ) -> Iterator[_pclouds.Tenant]:
        """Yield the projects that may start servers in a Pcloud."""
        return self._list(_pclouds.Tenant, pcloud_id=base.id_of(pcloud))

    def add_tenant(self, pcloud: str | _pclouds.Pcloud,
                   project: typing.Any) -> _pclouds.Tenant:
        """Let a project start servers in a Pcloud; a tenant stays a tenant.

        :param project: a project of ``conn.identity``, or an id
        """
        return self._tenant(pcloud, project).put(self, None)

    def add_tenant_by_name(self, pcloud: str | _pclouds.Pcloud, name: str,
                           domain: str | None = None) -> _pclouds.Tenant:
        """Let the project of a name start servers in a Pcloud.

        :param domain: the name or id of the project's domain, None for the
            domain of the caller's project
        """
        more = {} if domain is None else {'domain': domain}
        return self._create(_pclouds.Tenant, pcloud_id=base.id_of(pcloud),
                            name=name, **more)

    def cap_tenant(self, pcloud: str | _pclouds.Pcloud, project: typing.Any,
                   **caps: int | None) -> _pclouds.Tenant:
        """Cap what a project may use of a Pcloud, and make the tenant.

        :param caps: "max_servers", "max_vcpus" and "max_memory_mb" (MiB), in
            place of all caps before; None for no cap
        """
        return self._tenant(pcloud, project).put(self, caps)

    def remove_tenant(
        self, pcloud: str | _pclouds.Pcloud, project: typing.Any,
        ignore_missing: bool = True, *, force: bool = False,
    ) -> None:
        """Let a project no longer start servers in a Pcloud.

        :param force: also when shelved servers have no other home
        :raises openstack.exceptions.ConflictException: while the Pcloud is the
            only home of shelved servers of the project
        """
        self._delete(
            _pclouds.Tenant, base.id_of(project),
            ignore_missing=ignore_missing,
            params={'force': 1} if force else None,
            pcloud_id=base.id_of(pcloud))

    def _tenant(self, pcloud: str | _pclouds.Pcloud,
                project: typing.Any) -> _pclouds.Tenant:
        return self._get_resource(
            _pclouds.Tenant, base.id_of(project),
            pcloud_id=base.id_of(pcloud))

    def get_quota(self, project: typing.Any = None) -> _pclouds.Quota:
        """Get the quota of a project, and what is in use.

        :param project: None for the caller's project
        """
        return self._get(_pclouds.Quota, None, requires_id=False,
                         project_id=self._id_of_project(project))

    def update_quota(self, project: typing.Any, units: int) -> _pclouds.Quota:
        """Set the quota of a project. Admin.

        :param units: the limit; -1 is unlimited
        """
        return self._get_resource(
            _pclouds.Quota, None,
            project_id=base.id_of(project)).limit(self, units)

    def delete_quota(self, project: typing.Any) -> None:
        """Reset the quota of a project to the default. Admin."""
        self._delete(_pclouds.Quota, None, ignore_missing=False,
                     project_id=base.id_of(project))

    def _id_of_project(self, project: typing.Any) -> str:
        if project is None:
            return typing.cast(str, self.get_project_id())
        return base.id_of(project)
