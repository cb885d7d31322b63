# SPDX-License-Identifier: Apache-2.0

"""What all projects have held of hosts in a month."""

from collections.abc import Mapping
import typing

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from horizon import views

from pcloud_dashboard import api
from pcloud_dashboard import paging
from pcloud_dashboard.project.usage import months
from pcloud_dashboard.project.usage import views as usage_views
from pcloud_dashboard import shown

from pcloud.client import usage_resources


class UsagesView(views.HorizonTemplateView):
    """The projects, those that held most first, and pages of them.

    Calls of the API by the number of projects, and one of Keystone.
    """

    template_name = 'pcloud_dashboard/admin/usages.html'
    page_title = gettext_lazy('Usage')

    def get_context_data(self, **kwargs: typing.Any) -> dict:
        """Return what the template shows."""
        kept = months.kept(usage_views.today())
        month = usage_views.chosen(self.request, kept)
        found = sorted(
            api.ask_all(self.request,
                        lambda client: client.list_usages(month)),
            key=lambda usage: (-months.unit_hours(usage), usage.project))
        page = paging.page(self.request, found)
        names = api.project_names(self.request) if found else {}
        page.object_list = [_row(each, names) for each in page.object_list]
        return super().get_context_data(
            month=month, months=[(each, months.title(each))
                                 for each in kept],
            page=page, query=paging.query(self.request), **kwargs)


def _row(usage: usage_resources.Usage, names: Mapping[str, str]) -> dict:
    return {'name': names.get(usage.project, usage.project),
            'host_hours': shown.amount(months.hours(usage)),
            'unit_hours': shown.amount(months.unit_hours(usage)),
            'cost': months.cost(usage),
            'parts': [_('%(flavor)s: %(hours)s h') % {
                'flavor': each.id, 'hours': shown.amount(each.host_hours)}
                for each in usage.host_flavors]}
