# SPDX-License-Identifier: Apache-2.0

"""The page with the heat map."""

from collections.abc import Callable
import typing

from django.utils.translation import gettext_lazy as _
from horizon import views

from pcloud_dashboard.admin import heat_map
from pcloud_dashboard import api

from pcloud.client import resources
from pcloud.client import v1

MEASURES = {heat_map.MEMORY: _('Memory'), heat_map.VCPUS: _('vCPUs')}
ROWS = {'zone': _('Availability Zone'), 'rack': _('Rack'),
        'flavor': _('Host Flavor')}
# The attribute that names the rack of a host.
_RACK = 'rack'


class MapView(views.HorizonTemplateView):
    """A square for each host. Two calls of the API, three for racks."""

    template_name = 'pcloud_dashboard/admin/map.html'
    page_title = _('Map of Hosts')

    def get_context_data(self, **kwargs: typing.Any) -> dict:
        """Return what the template shows."""
        measure = self._chosen('measure', MEASURES)
        rows = self._chosen('rows', ROWS)
        names = api.pcloud_names(self.request)
        return super().get_context_data(
            map=heat_map.make(
                api.ask_all(self.request, v1.Client.list_host_flavors),
                names, measure, self._row_of(rows)),
            measure=measure, measures=MEASURES, rows=rows, all_rows=ROWS,
            shades=heat_map.SHADES, **kwargs)

    def _chosen(self, name: str, choices: dict[str, typing.Any]) -> str:
        asked = self.request.GET.get(name, '')
        return asked if asked in choices else next(iter(choices))

    def _row_of(self, rows: str) -> Callable[
            [resources.HostFlavor, resources.PoolHost], str]:
        if rows == 'rack':
            racks = {host: attribute.value for attribute in api.ask_all(
                self.request, v1.Client.list_attributes)
                if attribute.name == _RACK for host in attribute.hosts}
            return lambda flavor, host: racks.get(host.host, '-')
        if rows == 'flavor':
            return lambda flavor, host: flavor.id
        return lambda flavor, host: host.availability_zone or '-'
