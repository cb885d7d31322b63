# SPDX-License-Identifier: Apache-2.0

"""Pcloud and host of servers, on Horizon's own pages of instances."""

import typing

from django import http
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from horizon import tables
from horizon import tabs
from openstack_dashboard.dashboards.project.instances import views

from pcloud_dashboard import api
from pcloud_dashboard import policies
from pcloud_dashboard.project import pages
from pcloud_dashboard.project import wishes

from pcloud.client import resources

# Nova's status of a server that has failed to start.
_FAILED = 'ERROR'


def _allowed(request: http.HttpRequest) -> bool:
    return api.has_pclouds(request) and policies.allows(
        request, policies.PLACED_SERVERS)


class PcloudColumn(tables.Column):
    """The Pcloud of each server of the page; the owner sees the host too.

    One call of the API for all servers of the page.
    """

    def allowed(self, request: http.HttpRequest) -> bool:
        """Return whether the cloud has Pclouds, and the user may know."""
        return super().allowed(request) and _allowed(request)

    def get_raw_data(self, datum: typing.Any) -> str | None:
        """Return the Pcloud, and the host where the API tells."""
        place = self._place(datum)
        if place is None:
            return None
        if place.host is None:
            return place.pcloud['name']
        return gettext('%(pcloud)s / %(host)s') % {
            'pcloud': place.pcloud['name'], 'host': place.host}

    def get_link_url(self, datum: typing.Any) -> str | None:
        """Return the page of the Pcloud."""
        place = self._place(datum)
        return pages.address(place.pcloud['id']) if place else None

    def _place(self, datum: typing.Any) -> resources.PlacedServer | None:
        ids = tuple(each.id for each in self.table.data or ())
        # A row that is drawn anew is drawn without the table's data.
        if datum.id not in ids:
            ids = (datum.id,)
        return api.placed_servers(self.table.request, ids).get(datum.id)


class InstancesTable(views.IndexView.table_class):
    """The table of Project > Compute > Instances, with a column more."""

    pcloud = PcloudColumn(
        'pcloud', verbose_name=_('Pcloud'), link=pages.DETAIL)

    class Meta(views.IndexView.table_class.Meta):
        pass


class PcloudTab(tabs.Tab):
    """The tab of an instance that is on a host of a Pcloud, or was to be."""

    name = _('Pcloud')
    slug = 'pcloud'
    template_name = 'pcloud_dashboard/project/_instance.html'
    preload = False

    def allowed(self, request: http.HttpRequest) -> bool:
        """Return whether the instance is on a host of a Pcloud.

        An instance that has failed was perhaps to be on such a host.
        """
        return _allowed(request) and (
            self._place() is not None or self._instance.status == _FAILED)

    def get_context_data(self, request: http.HttpRequest,
                         **kwargs: typing.Any) -> dict:
        """Return what the template shows."""
        place = self._place()
        return {'place': place,
                'page': place and pages.address(place.pcloud['id']),
                'wishes': wishes.read(request, self._instance.id, place)}

    @property
    def _instance(self) -> typing.Any:
        return self.tab_group.kwargs['instance']

    def _place(self) -> resources.PlacedServer | None:
        server = self._instance.id
        return api.placed_servers(self.request, (server,)).get(server)
