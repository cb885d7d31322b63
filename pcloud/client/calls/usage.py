# SPDX-License-Identifier: Apache-2.0

"""Calls about what tenants use, may use, and what projects hold."""

from collections.abc import Mapping

from pcloud.client.calls import base
from pcloud.client import transport
from pcloud.client import usage_resources


class Usages(base.Calls):
    """What is used of Pclouds and of hosts."""

    def get_usage(
        self, project_id: str | None = None, month: str | None = None,
    ) -> usage_resources.Usage:
        """Get what a project has held of hosts in a month, up to now.

        :param project_id: None for the caller's project. Admin for others.
        :param month: such as "2026-11"; None for the present month
        """
        return self._usage_of(project_id, _query(month))

    def get_usage_by_day(
        self, project_id: str | None = None, month: str | None = None,
    ) -> usage_resources.Usage:
        """Get the same, and what was held in each day.

        :param project_id: as of :meth:`get_usage`
        :param month: the present month, or the one before
        """
        return self._usage_of(project_id, {**_query(month), 'by': 'day'})

    def _usage_of(
        self, project_id: str | None, query: Mapping[str, str],
    ) -> usage_resources.Usage:
        project = project_id or self._transport.own_project_id()
        return self._resource(
            usage_resources.Usage, 'GET',
            transport.path(transport.USAGES, project), params=query)

    def list_usages(
        self, month: str | None = None,
    ) -> list[usage_resources.Usage]:
        """List what all projects have held of hosts in a month. Admin.

        :param month: as of :meth:`get_usage`
        """
        return [usage_resources.Usage.from_body(body)
                for body in self._transport.pages(
                    'usages', transport.USAGES, _query(month),
                    key='project')]

    def get_pcloud_use(self, pcloud_id: str) -> usage_resources.PcloudUse:
        """Get what each tenant uses of a Pcloud."""
        return self._resource(
            usage_resources.PcloudUse, 'GET',
            base.pcloud_path(pcloud_id, 'usage'))

    def cap_tenant(
        self, pcloud_id: str, project_id: str, *,
        max_servers: int | None = None, max_vcpus: int | None = None,
        max_memory_mb: int | None = None,
    ) -> None:
        """Cap what a project may use of a Pcloud, and make it a tenant.

        What was set before is replaced.

        :param max_servers: None for no cap; likewise the others
        """
        self._transport.request(
            'PUT', base.tenant_path(pcloud_id, project_id),
            json={'tenant': {'max_servers': max_servers,
                             'max_vcpus': max_vcpus,
                             'max_memory_mb': max_memory_mb}})


def _query(month: str | None) -> Mapping[str, str]:
    return {} if month is None else {'month': month}
