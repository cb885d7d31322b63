# SPDX-License-Identifier: Apache-2.0

"""The page with what the project has held of hosts."""

import datetime
import typing

from django import http
from django.utils.translation import gettext_lazy as _
from horizon import views

from pcloud_dashboard import api
from pcloud_dashboard.project.usage import months
from pcloud_dashboard import shown

from pcloud.client import usage_resources

# How many months are compared.
_COMPARED = 6


def chosen(request: http.HttpRequest, kept: list[str]) -> str:
    """Return the month that the address names, else the present one."""
    asked = request.GET.get('month', '')
    return asked if asked in kept else kept[0]


def today() -> datetime.date:
    """Return the day in UTC, which the API counts in."""
    return datetime.datetime.now(datetime.UTC).date()


class UsageView(views.HorizonTemplateView):
    """Hours and costs of a month, and bars of its days and of months before.

    A call of the API for each month that is compared, at most six.
    """

    template_name = 'pcloud_dashboard/project/usage.html'
    page_title = _('Usage')

    def get_context_data(self, **kwargs: typing.Any) -> dict:
        """Return what the template shows."""
        kept = months.kept(today())
        month = chosen(self.request, kept)
        start = kept.index(month)
        found = self._usages(
            kept[start:start + _COMPARED], months.kept_by_day(kept))
        return super().get_context_data(
            month=month, title=months.title(month),
            months=[(each, months.title(each)) for each in kept],
            rows=[_row(each, found[0].currency)
                  for each in found[0].host_flavors] if found else [],
            cost=months.cost(found[0]) if found else None,
            bars=months.bars(found), days=months.daily(found), **kwargs)

    def _usages(
        self, asked: list[str], by_day: list[str],
    ) -> list[usage_resources.Usage]:
        """Return the usage of each month; none, with a message, on failures.

        All months are there, or none; the first one with its days.

        :param by_day: the months that have days
        """
        project = self.request.user.project_id
        return api.ask_all(self.request, lambda client: [
            (client.get_usage_by_day if month == asked[0] and month in by_day
             else client.get_usage)(project, month) for month in asked])


def _row(held: usage_resources.HeldFlavor, currency: str | None) -> dict:
    return {'host_flavor': held.id, 'hosts': held.hosts,
            'host_hours': shown.amount(held.host_hours),
            'unit_hours': shown.amount(held.unit_hours),
            'cost': held.cost and months.money(held.cost, currency)}
