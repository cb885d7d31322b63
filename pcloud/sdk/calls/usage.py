# SPDX-License-Identifier: Apache-2.0

"""Calls about what tenants use, and what projects hold of hosts."""

from collections.abc import Iterator
import typing

from openstack import proxy

from pcloud.sdk.resources import base
from pcloud.sdk.resources import pclouds as _pclouds
from pcloud.sdk.resources import usage as _usage


class Usages(proxy.Proxy):
    """What is used of Pclouds and of hosts."""

    def get_usage(self, project: typing.Any = None,
                  month: str | None = None) -> _usage.Usage:
        """Get what a project has held of hosts in a month, up to now.

        :param project: None for the caller's project. Admin for others.
        :param month: such as "2026-11"; None for the present month
        """
        project_id = (self.get_project_id() if project is None
                      else base.id_of(project))
        return self._get_resource(_usage.Usage, project_id).fetch(
            self, **({} if month is None else {'month': month}))

    def get_usage_by_day(self, project: typing.Any = None,
                         month: str | None = None) -> _usage.Usage:
        """Get the same, and what was held in each day.

        :param project: as of :meth:`get_usage`
        :param month: the present month, or the one before
        """
        project_id = (self.get_project_id() if project is None
                      else base.id_of(project))
        return self._get_resource(_usage.Usage, project_id).fetch(
            self, by='day', **({} if month is None else {'month': month}))

    def usages(self, month: str | None = None) -> Iterator[_usage.Usage]:
        """Yield what all projects have held of hosts in a month. Admin.

        :param month: as of :meth:`get_usage`
        """
        return self._list(
            _usage.Usage, **({} if month is None else {'month': month}))

    def get_pcloud_use(
        self, pcloud: str | _pclouds.Pcloud,
    ) -> _usage.PcloudUse:
        """Get what each tenant uses of a Pcloud."""
        return self._get(_usage.PcloudUse, None, requires_id=False,
                         pcloud_id=base.id_of(pcloud))
