# SPDX-License-Identifier: Apache-2.0

"""Calls about the policies of scopes, and the default Pcloud."""

import typing

from openstack import exceptions
from openstack import proxy

from pcloud.sdk.resources import base
from pcloud.sdk.resources import pclouds as _pclouds
from pcloud.sdk.resources import policies as _policies


class Policies(proxy.Proxy):
    """The policies of scopes, the default Pcloud among them.

    A scope is "cloud" (with the id "default"), "domain", "project", "pcloud"
    or "role".
    """

    def get_policy(self, scope: str, scope_id: str) -> _policies.Policy:
        """Get the policy of a scope.

        :raises openstack.exceptions.NotFoundException: when the scope has no
            policy
        """
        return self._get(_policies.Policy, scope_id, scope=scope)

    def get_effective_policy(
        self, scope: str, scope_id: str,
    ) -> _policies.Policy:
        """Get the policy of a scope with the constraints of all levels."""
        return self._get_resource(
            _policies.Policy, scope_id, scope=scope).fetch(self, effective=1)

    def update_policy(self, scope: str, scope_id: str,
                      **attrs: typing.Any) -> _policies.Policy:
        """Replace members of the policy of a scope.

        :param attrs: "constraints", "customer_keys", "system_keys",
            "default_pcloud" or "share"
        """
        return self._get_resource(
            _policies.Policy, scope_id, scope=scope).change(self, attrs)

    def delete_policy(self, scope: str, scope_id: str,
                      ignore_missing: bool = True) -> None:
        """Delete the policy of a scope. Admin."""
        self._delete(_policies.Policy, scope_id, scope=scope,
                     ignore_missing=ignore_missing)

    def get_default_pcloud(
        self, scope: str = 'project', scope_id: str | None = None,
    ) -> _policies.Policy:
        """Get the default Pcloud that counts in a scope.

        :param scope: "project", "domain" or "cloud"
        :param scope_id: None for the caller's project, and for the cloud
        :returns: a policy, with "default_pcloud" and "default_pcloud_source"
        :raises ValueError: for a domain without an id
        """
        scope_id = scope_id or self._scope_id(scope)
        try:
            return self.get_policy(scope, scope_id)
        except exceptions.NotFoundException:
            return _policies.Policy.existing(
                connection=self._get_connection(), id=scope_id, scope=scope)

    def set_default_pcloud(
        self, pcloud: str | _pclouds.Pcloud | None, mode: str = 'strict', *,
        scope: str = 'project', scope_id: str | None = None,
        **growth: typing.Any,
    ) -> _policies.Policy:
        """Set where servers go that name no Pcloud.

        :param pcloud: None for outside of Pclouds, whatever wider scopes have
            set
        :param mode: "strict", "prefer" or "grow"
        :param scope: as of :meth:`get_default_pcloud`; likewise scope_id
        :param growth: for the mode "grow" host_flavor, max_hosts and perhaps
            availability_zone
        """
        default = None if pcloud is None else {
            'pcloud': base.id_of(pcloud), 'mode': mode, **growth}
        return self.update_policy(
            scope, scope_id or self._scope_id(scope), default_pcloud=default)

    def _scope_id(self, scope: str) -> str:
        if scope == 'cloud':
            return 'default'
        if scope == 'project':
            return typing.cast(str, self.get_project_id())
        raise ValueError(f'Name the {scope}')
