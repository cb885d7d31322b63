# SPDX-License-Identifier: Apache-2.0

"""Calls about Pclouds and their tenants."""

from collections.abc import Mapping
from collections.abc import Sequence
import typing

from pcloud.client.calls import base
from pcloud.client import exceptions
from pcloud.client import resources
from pcloud.client import transport
from pcloud.rules import forms


class Pclouds(base.Calls):
    """Pclouds, their tenants, and quotas."""

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
        return self._resource(
            resources.Pcloud, 'GET', base.pcloud_path(pcloud_id))

    def find_pcloud(self, name_or_id: str) -> resources.Pcloud:
        """Find a Pcloud by id or, where the name is unique, by name.

        An id is written in small letters; any other text is a name. The
        Pclouds that the caller's project owns or is a tenant of are searched
        first; for an admin the Pclouds of all projects come next.

        :raises exceptions.AmbiguousName: with the ids, where several Pclouds
            have the name
        :raises exceptions.NotFound: when there is no such Pcloud
        """
        if forms.is_uuid(name_or_id):
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
            self, pcloud_id: str, *, name: str | base.Unset = base.UNSET,
            cpu_allocation_ratio: float | None | base.Unset = base.UNSET,
            ram_allocation_ratio: float | None | base.Unset = base.UNSET,
            maintenance_policy: str | None | base.Unset = base.UNSET,
            host_recovery: str | None | base.Unset = base.UNSET,
            pin_by_tenants: bool | base.Unset = base.UNSET,
            placement: str | base.Unset = base.UNSET,
            flavors: Sequence[str] | None | base.Unset = base.UNSET,
            images: Sequence[str] | None | base.Unset = base.UNSET,
            shrink: Mapping[str, int] | None | base.Unset = base.UNSET,
    ) -> resources.Pcloud:
        """Change the given members of a Pcloud.

        None removes a ratio, has servers stay during a maintenance and on a
        host that has failed, allows all flavors or images, and has no empty
        host leave.

        :param host_recovery: "off", "in_place" or "replace"
        :param placement: "default", "pack" or "spread"
        :param flavors: the ids of the flavors that the Pcloud takes, at most
            100; likewise images
        :param pin_by_tenants: whether tenants other than the owner may name
            the host of a server
        :param shrink: "after_hours", after how many hours an empty host
            leaves; "min_hosts", how many hosts stay; "keep_spare", how many
            empty hosts stay
        """
        given = {'name': name, 'cpu_allocation_ratio': cpu_allocation_ratio,
                 'ram_allocation_ratio': ram_allocation_ratio,
                 'maintenance_policy': maintenance_policy,
                 'host_recovery': host_recovery,
                 'pin_by_tenants': pin_by_tenants,
                 'placement': placement,
                 'flavors': flavors, 'images': images, 'shrink': shrink}
        changes = {member: value for member, value in given.items()
                   if value is not base.UNSET}
        return self._resource(
            resources.Pcloud, 'PUT', base.pcloud_path(pcloud_id),
            json={'pcloud': changes})

    def delete_pcloud(self, pcloud_id: str, *, force: bool = False) -> None:
        """Delete a Pcloud.

        :param force: also when shelved servers have no other home
        :raises exceptions.Conflict: while the Pcloud has hosts, or is the only
            home of shelved servers, which the error names
        """
        self._delete(base.pcloud_path(pcloud_id), force)

    def list_tenants(self, pcloud_id: str) -> list[resources.Tenant]:
        """List the projects that may start servers in a Pcloud."""
        return [resources.Tenant.from_body(body)
                for body in self._transport.member(
                    'tenants', 'GET', base.pcloud_path(pcloud_id, 'tenants'))]

    def add_tenant(self, pcloud_id: str, project_id: str) -> None:
        """Let a project start servers in a Pcloud; a tenant stays a tenant."""
        self._transport.request('PUT', base.tenant_path(pcloud_id, project_id))

    def add_tenant_by_name(
            self, pcloud_id: str, name: str, domain: str | None = None,
    ) -> resources.Tenant:
        """Let the project of a name start servers in a Pcloud.

        :param domain: the name or id of the project's domain, None for the
            domain of the caller's project
        :raises exceptions.NotFound: when there is no such project, or none
            that the caller may find
        """
        given = {'name': name} if domain is None else {
            'name': name, 'domain': domain}
        return self._resource(
            resources.Tenant, 'POST', base.pcloud_path(pcloud_id, 'tenants'),
            json={'tenant': given})

    def let_in(self, pcloud_id: str, project: str,
               domain: str | None = None) -> None:
        """Let a project start servers in a Pcloud, by id or by name.

        :param project: an id, 32 hexadecimal digits in small letters; any
            other text is a name
        :param domain: as of :meth:`add_tenant_by_name`; an id needs no domain
        """
        if forms.is_project_id(project):
            self.add_tenant(pcloud_id, project)
        else:
            self.add_tenant_by_name(pcloud_id, project, domain)

    def remove_tenant(self, pcloud_id: str, project_id: str, *,
                      force: bool = False) -> None:
        """Let a project no longer start servers in a Pcloud.

        :param force: also when shelved servers of it have no other home
        :raises exceptions.NotFound: when the project is not a tenant
        :raises exceptions.Conflict: while the Pcloud is the only home of
            shelved servers of the project, which the error names
        """
        self._delete(base.tenant_path(pcloud_id, project_id), force)

    def let_out(self, pcloud_id: str, project: str, *,
                force: bool = False) -> None:
        """Let a project no longer start servers in a Pcloud.

        :param project: an id, or a name as :meth:`list_tenants` has names
        :param force: as of :meth:`remove_tenant`
        :raises exceptions.AmbiguousName: with the ids, where tenants of
            several domains have the name
        :raises: as :meth:`remove_tenant`
        """
        ids = [project] if forms.is_project_id(project) else [
            tenant.project_id for tenant in self.list_tenants(pcloud_id)
            if project in (tenant.project_id, tenant.name)]
        if len(ids) > 1:
            raise exceptions.AmbiguousName(project, ids)
        if not ids:
            raise exceptions.NotFound(
                f"No tenant of Pcloud '{pcloud_id}' is shown with the id or "
                f"name '{project}'; list the tenants to see which there are")
        self.remove_tenant(pcloud_id, ids[0], force=force)

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
        self._transport.request('DELETE', base.quota_path(project_id))

    def _named(self, name: str, **scope: bool) -> list[resources.Pcloud]:
        # The server may match loosely; a name is given exactly.
        return [pcloud for pcloud in self.list_pclouds(name=name, **scope)
                if pcloud.name == name]

    def _named_anywhere(self, name: str) -> list[resources.Pcloud]:
        try:
            return self._named(name, all_tenants=True)
        except exceptions.Forbidden:
            return []

    def _quota(self, method: str, project_id: str,
               **options: typing.Any) -> resources.Quota:
        body = self._transport.member(
            'quota', method, base.quota_path(project_id), **options)
        return resources.Quota.from_body(project_id, body)
