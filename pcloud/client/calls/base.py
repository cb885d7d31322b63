# SPDX-License-Identifier: Apache-2.0

"""The transport of the calls, and the paths and arguments that calls share."""

import enum
import typing

from pcloud.client import resources
from pcloud.client import transport


class Unset(enum.Enum):
    """The default of an argument for which None is a value."""

    UNSET = 'unset'


UNSET = Unset.UNSET

_Resource = typing.TypeVar('_Resource', bound=resources.Resource)


class Calls:
    """Calls of the API over one transport; each noun has a subclass."""

    _transport: transport.Transport

    def _resource(self, kind: type[_Resource], method: str, url_path: str,
                  **options: typing.Any) -> _Resource:
        return kind.from_body(self._transport.member(
            kind.MEMBER, method, url_path, **options))

    def _delete(self, url_path: str, force: bool) -> None:
        self._transport.request('DELETE', url_path,
                                params={'force': 1} if force else {})


def flavor_path(flavor_id: str, *below: str) -> str:
    """Return the path of a host flavor."""
    return transport.path(transport.HOST_FLAVORS, flavor_id, *below)


def pcloud_path(pcloud_id: str, *below: str) -> str:
    """Return the path of a Pcloud."""
    return transport.path(transport.PCLOUDS, pcloud_id, *below)


def host_path(pcloud_id: str, name: str) -> str:
    """Return the path of a host of a Pcloud."""
    return pcloud_path(pcloud_id, 'hosts', name)


def tenant_path(pcloud_id: str, project_id: str) -> str:
    """Return the path of a tenant of a Pcloud."""
    return pcloud_path(pcloud_id, 'tenants', project_id)


def quota_path(project_id: str) -> str:
    """Return the path of a project's quota."""
    return transport.path(transport.QUOTAS, project_id)


def attribute_path(name: str) -> str:
    """Return the path of a host attribute."""
    return transport.path(transport.ATTRIBUTES, name)


def policy_path(scope: str, scope_id: str) -> str:
    """Return the path of a scope's policy."""
    return transport.path(transport.POLICIES, scope, scope_id)
