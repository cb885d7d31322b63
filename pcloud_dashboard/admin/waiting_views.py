# SPDX-License-Identifier: Apache-2.0

"""Who waits for hosts, of all host flavors."""

import typing

from django.utils.translation import gettext_lazy as _
from horizon import views

from pcloud_dashboard import api
from pcloud_dashboard.project import waits
from pcloud_dashboard import shown

from pcloud.client import v1
from pcloud.client import waiting_resources


class WaitingView(views.HorizonTemplateView):
    """The waiting lists, one after the other.

    Two calls of the API, one more for each host flavor, and one of Keystone
    where somebody waits.
    """

    template_name = 'pcloud_dashboard/admin/waiting.html'
    page_title = _('Waiting List')

    def get_context_data(self, **kwargs: typing.Any) -> dict:
        """Return what the template shows."""
        found = api.ask_all(self.request, self._entries)
        projects = api.project_names(self.request) if found else {}
        pclouds = api.pcloud_names(self.request) if found else {}
        return super().get_context_data(
            waiting=waits.entries(found, projects, pclouds), **kwargs)

    def _entries(self, client: v1.Client) -> list[waiting_resources.Waiting]:
        return [entry for flavor in sorted(
            api.host_flavors(self.request),
            key=lambda each: shown.natural(each.id))
            for entry in client.list_waiting_for(flavor.id)]
