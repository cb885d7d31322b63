# SPDX-License-Identifier: Apache-2.0

"""Calls about the policies of scopes, and the default Pcloud."""

from collections.abc import Iterable
from collections.abc import Mapping
import dataclasses
import typing

from pcloud.client.calls import base
from pcloud.client import exceptions
from pcloud.client import resources


class ScopedPolicies(base.Calls):
    """The policies of scopes, the default Pcloud among them."""

    def get_policy(self, scope: str, scope_id: str) -> resources.Policy:
        """Get the policy of a scope.

        Admin; the owner for a Pcloud, and a reader for the own project.

        :param scope: cloud, domain, project, pcloud or role
        :param scope_id: "default" for the cloud
        :raises exceptions.NotFound: when the scope has no policy
        """
        return self._resource(
            resources.Policy, 'GET', base.policy_path(scope, scope_id))

    def get_effective_policy(
            self, scope: str, scope_id: str) -> resources.Policy:
        """Get the policy of a scope with the effective constraints.

        Constraints of other levels and built-in constraints are included, so
        that a scope without a policy has an answer too. Admin; the owner for a
        Pcloud, and a reader for the own project.

        :param scope: as for :meth:`get_policy`; likewise scope_id
        """
        return self._resource(
            resources.Policy, 'GET', base.policy_path(scope, scope_id),
            params={'effective': 1})

    def update_policy(
            self, scope: str, scope_id: str, *,
            system_keys: Iterable[str] | None = None,
            customer_keys: Iterable[str] | None = None,
            constraints: str | None = None,
            default_pcloud: (
                Mapping[str, typing.Any] | None | base.Unset) = base.UNSET,
            share: float | None | base.Unset = base.UNSET,
    ) -> resources.Policy:
        """Replace the given members of a policy; None changes nothing.

        Admin; the owner for a Pcloud, and a member for the own project.

        :param system_keys: the new system keys, each as NAME=VALUE:WEIGHT.
            Admin.
        :param customer_keys: the new customer keys likewise, for domains,
            projects and Pclouds
        :param constraints: the new machine constraints, such as "ram=2G
            rack=r1"; '' removes all constraints
        :param default_pcloud: the default Pcloud as in the API, for projects,
            domains and the cloud; None for outside of Pclouds, whatever the
            scopes above have set
        :param share: the share of a project in waiting lists, from 0.001 to
            1000; None for 1. Admin.
        :raises exceptions.BadRequest: when a key or a constraint is not valid
        """
        changes: dict[str, typing.Any] = {
            name: list(keys) for name, keys in
            (('system_keys', system_keys),
             ('customer_keys', customer_keys)) if keys is not None}
        if constraints is not None:
            changes['constraints'] = constraints
        if default_pcloud is not base.UNSET:
            changes['default_pcloud'] = default_pcloud
        if share is not base.UNSET:
            changes['share'] = share
        return self._resource(
            resources.Policy, 'PUT', base.policy_path(scope, scope_id),
            json={'policy': changes})

    def delete_policy(self, scope: str, scope_id: str) -> None:
        """Delete the policy of a scope. Admin.

        :raises exceptions.NotFound: when the scope has no policy
        """
        self._transport.request('DELETE', base.policy_path(scope, scope_id))

    def get_default_pcloud(
            self, project_id: str | None = None) -> resources.DefaultPcloud:
        """Get the default Pcloud that counts for a project.

        :param project_id: by default the caller's project; admin for others
        """
        return self.get_default_of(
            'project', project_id or self._transport.own_project_id())

    def get_default_of(self, scope: str,
                       scope_id: str) -> resources.DefaultPcloud:
        """Get the default Pcloud that counts in a scope.

        Admin; a reader for the own project.

        :param scope: project, domain or cloud
        :param scope_id: "default" for the cloud
        """
        try:
            return self._default_pcloud('GET', scope, scope_id)
        except exceptions.NotFound:
            return resources.DefaultPcloud.from_body(scope, scope_id, {
                'default_pcloud': None, 'default_pcloud_source': None})

    def set_default_pcloud(
            self, pcloud_id: str | None, mode: str = 'strict',
            project_id: str | None = None, **growth: str | int | None,
    ) -> resources.DefaultPcloud:
        """Set where servers of a project go that name no Pcloud.

        :param pcloud_id: None for outside of Pclouds, whatever the domain and
            the cloud have set
        :param mode: 'strict' for the Pcloud alone, 'prefer' for the Pcloud
            while there is capacity, 'grow' for the Pcloud, which free hosts
            join while there is no capacity
        :param growth: in mode 'grow' host_flavor, max_hosts and perhaps
            availability_zone; None is left out
        :param project_id: as for :meth:`get_default_pcloud`
        :raises exceptions.NotFound: when the project is no tenant of the
            Pcloud
        """
        return self.set_default_of(
            'project', project_id or self._transport.own_project_id(),
            pcloud_id, mode, **growth)

    def set_default_of(
            self, scope: str, scope_id: str, pcloud_id: str | None,
            mode: str = 'strict', **growth: str | int | None,
    ) -> resources.DefaultPcloud:
        """Set where servers go that name no Pcloud, in a scope.

        Admin; a member for the own project.

        :param scope: as of :meth:`get_default_of`; likewise scope_id
        :param pcloud_id: as of :meth:`set_default_pcloud`; likewise mode and
            growth
        """
        default = None if pcloud_id is None else {
            'pcloud': pcloud_id, 'mode': mode, **{
                name: value for name, value in growth.items()
                if value is not None}}
        return self._default_pcloud(
            'PUT', scope, scope_id,
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

    def _default_pcloud(self, method: str, scope: str, scope_id: str,
                        **request: typing.Any) -> resources.DefaultPcloud:
        body = self._transport.member(
            'policy', method, base.policy_path(scope, scope_id), **request)
        return resources.DefaultPcloud.from_body(scope, scope_id, body)
