# SPDX-License-Identifier: Apache-2.0

"""Host flavors, and the pools of their hosts."""

import typing

from django import http
from django import urls
from django.utils.functional import cached_property
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from horizon import forms
from horizon import tables
from horizon import views

from pcloud_dashboard.admin import computes
from pcloud_dashboard import api
from pcloud_dashboard import kinds
from pcloud_dashboard import policies
from pcloud_dashboard.project import forms as pcloud_forms
from pcloud_dashboard.project import pages
from pcloud_dashboard.project import waits
from pcloud_dashboard import shown
from pcloud_dashboard import stacked

from pcloud.client import resources
from pcloud.client import v1

INDEX = 'horizon:admin:host_flavors:index'
DETAIL = 'horizon:admin:host_flavors:detail'


def _free(flavor: resources.HostFlavor) -> str:
    return ', '.join(f'{zone}: {free}' for zone, free
                     in sorted(flavor.available.items()) if free) or (
                         gettext('none'))


def _size(flavor: resources.HostFlavor) -> str | None:
    if flavor.memory_mb is None:
        return None
    return gettext('%(vcpus)s vCPUs, %(memory)s, %(disk)s GiB disk') % {
        'vcpus': flavor.vcpus, 'memory': shown.memory(flavor.memory_mb),
        'disk': flavor.disk_gb}


class CreateFlavor(tables.LinkAction):
    """The button for a new host flavor."""

    name = 'create'
    verbose_name = _('Create Host Flavor')
    url = 'horizon:admin:host_flavors:create'
    policy_rules = (('pcloud', policies.CREATE_FLAVOR),)
    classes = ('ajax-modal',)
    icon = 'plus'


class EditFlavor(tables.LinkAction):
    """The button that changes units and description."""

    name = 'edit'
    verbose_name = _('Edit Host Flavor')
    url = 'horizon:admin:host_flavors:edit'
    policy_rules = (('pcloud', policies.UPDATE_FLAVOR),)
    classes = ('ajax-modal',)


class DeleteFlavor(tables.LinkAction):
    """The button that leads to the question whether to delete."""

    name = 'delete'
    verbose_name = _('Delete Host Flavor')
    url = 'horizon:admin:host_flavors:delete'
    policy_rules = (('pcloud', policies.DELETE_FLAVOR),)
    classes = ('ajax-modal', 'btn-danger')


class HostFlavorsTable(stacked.StackedTable):
    """Host flavors, with what is free by zone."""

    id = tables.Column('id', verbose_name=_('ID'), link=DETAIL)
    description = tables.Column('description', verbose_name=_('Description'))
    units = tables.Column('units', verbose_name=_('Units'))
    size = tables.Column(_size, verbose_name=_('Size'))
    hosts = tables.Column(lambda flavor: len(flavor.hosts or ()),
                          verbose_name=_('Hosts'))
    free = tables.Column(_free, verbose_name=_('Free'))
    settling = tables.Column('settling', verbose_name=_('Settling'))

    class Meta:
        name = 'host_flavors'
        verbose_name = _('Host Flavors')
        hidden_title = True
        css_classes = stacked.CSS
        multi_select = False
        table_actions = (CreateFlavor,)
        row_actions = (EditFlavor, DeleteFlavor)

    def get_object_display(self, datum: resources.HostFlavor) -> str:
        """Return the name of a row."""
        return datum.id


class IndexView(tables.DataTableView):
    """All host flavors. One call of the API."""

    table_class = HostFlavorsTable
    template_name = 'pcloud_dashboard/admin/index.html'
    page_title = _('Host Flavors')

    def get_data(self) -> list[resources.HostFlavor]:
        """Return the host flavors; none, with a message, on a failure."""
        return sorted(
            api.ask_all(self.request, v1.Client.list_host_flavors),
            key=lambda flavor: shown.natural(flavor.id))


class OfFlavor:
    """A view of one host flavor."""

    request: http.HttpRequest
    kwargs: dict[str, typing.Any]

    @cached_property
    def flavor(self) -> resources.HostFlavor:
        """The host flavor; the user is sent to the list without one."""
        return api.require(
            self.request,
            lambda client: client.get_host_flavor(self.kwargs['flavor_id']),
            urls.reverse(INDEX))

    @property
    def page(self) -> str:
        """The address of the host flavor's page."""
        return urls.reverse(DETAIL, args=[self.kwargs['flavor_id']])


class DetailView(OfFlavor, views.HorizonTemplateView):
    """The pool of a host flavor, and who waits for its hosts.

    Three calls of the API, and one of Keystone where somebody waits.
    """

    template_name = 'pcloud_dashboard/admin/host_flavor.html'
    page_title = '{{ flavor.id }}'

    def get_context_data(self, **kwargs: typing.Any) -> dict:
        """Return what the template shows."""
        names = api.pcloud_names(self.request)
        zones: dict[str, list[dict]] = {}
        for host in sorted(self.flavor.hosts or (),
                           key=lambda each: shown.natural(each.host)):
            zones.setdefault(host.availability_zone or '-', []).append(
                _row(host, names))
        return super().get_context_data(
            flavor=self.flavor, zones=sorted(zones.items()),
            size=_size(self.flavor), kind=kinds.of_flavor(self.flavor),
            waiting=self._waiting(names),
            **self._rights(), **kwargs)

    def _rights(self) -> dict[str, bool]:
        """Return which buttons the user sees."""
        return {name: policies.allows(self.request, rule) for name, rule in (
            ('may_edit', policies.UPDATE_FLAVOR),
            ('may_add', policies.ADD_POOL_HOST),
            ('may_maintain', policies.MAINTAIN),
            ('may_fence', policies.FENCE),
            ('may_remove', policies.REMOVE_POOL_HOST))}

    def _waiting(self, names: dict[str, str]) -> list[
            waits.ShownEntry] | None:
        """Return who waits; None, with a message, when the API fails.

        :param names: id of a Pcloud -> name
        """
        if not policies.allows(self.request, policies.POOL_WAITING):
            return None
        found = api.ask(self.request, lambda client: client.list_waiting_for(
            self.flavor.id))
        if found is None:
            return None
        projects = api.project_names(self.request) if found else {}
        return waits.entries(found, projects, names)


def _row(host: resources.PoolHost, names: dict[str, str]) -> dict:
    """Return what the table says of a host.

    :param names: id of a Pcloud -> name
    """
    maintenance = host.maintenance or {}
    return {
        'host': host, 'name': names.get(host.pcloud or ''),
        'settling': shown.day_and_time(host.settling),
        'begin': shown.day_and_time(maintenance.get('from')),
        'end': shown.day_and_time(maintenance.get('until')),
        'status': {'enabled': gettext('enabled'),
                   'disabled': gettext('disabled'),
                   'unknown': gettext('not known')}.get(
                       host.status or '', host.status),
        'state': {'up': gettext('up'), 'down': gettext(
            'does not answer')}.get(host.state or '', host.state)}


class FlavorForm(pcloud_forms.ApiForm):
    """Id, units and description of a new host flavor."""

    id = forms.CharField(label=_('ID'), max_length=64)
    units = forms.IntegerField(
        label=_('Units'), min_value=0, initial=1, help_text=_(
            'What a host counts against the quota of a project.'))
    description = forms.CharField(
        label=_('Description'), max_length=255, required=False)

    def send(self, client: v1.Client, data: dict) -> str:
        """Create the host flavor."""
        client.create_host_flavor(
            data['id'], data['units'], data['description'])
        return gettext('Host flavor %s was created.') % data['id']


class CreateView(pages.FormView):
    """A dialog for a new host flavor."""

    form_class = FlavorForm
    route = 'create_host_flavor'
    modal_header = _('Create Host Flavor')
    page = urls.reverse_lazy(INDEX)


class OneFlavorForm(pcloud_forms.ApiForm):
    """A form about one host flavor."""

    @property
    def flavor_id(self) -> str:
        """The id of the host flavor."""
        return self.at['flavor_id']


class EditForm(OneFlavorForm):
    """Units and description of a host flavor."""

    units = forms.IntegerField(label=_('Units'), min_value=0)
    description = forms.CharField(
        label=_('Description'), max_length=255, required=False)

    def send(self, client: v1.Client, data: dict) -> str:
        """Change the host flavor."""
        client.update_host_flavor(
            self.flavor_id, units=data['units'],
            description=data['description'])
        return gettext('Host flavor %s was changed.') % self.flavor_id


class FlavorFormView(OfFlavor, pages.FormView):
    """A form about one host flavor, or about a host of its pool."""

    @property
    def subject(self) -> str:
        """The host, where the address names one, else the host flavor."""
        return self.kwargs.get('host') or self.kwargs['flavor_id']


class EditView(FlavorFormView):
    """A dialog with units and description."""

    form_class = EditForm
    route = 'edit_host_flavor'
    modal_header = _('Edit Host Flavor')
    submit_label = _('Save')

    def get_initial(self) -> dict:
        """Return the present values."""
        return {'units': self.flavor.units,
                'description': self.flavor.description}


class DeleteForm(OneFlavorForm):
    """Nothing to fill in: the administrator confirms."""

    def send(self, client: v1.Client, data: dict) -> str:
        """Delete the host flavor."""
        client.delete_host_flavor(self.flavor_id)
        return gettext('Host flavor %s was deleted.') % self.flavor_id


class DeleteView(FlavorFormView):
    """A dialog that asks whether a host flavor is to be deleted."""

    form_class = DeleteForm
    route = 'delete_host_flavor'
    modal_header = _('Delete Host Flavor')
    help_text = _('A host flavor with hosts in its pool is not deleted.')

    def get_success_url(self) -> str:
        """Return the list: the page is gone."""
        return urls.reverse(INDEX)


class AddHostForm(OneFlavorForm):
    """The compute host that enters the pool."""

    host = forms.CharField(label=_('Compute Host'))

    def send(self, client: v1.Client, data: dict) -> str:
        """Add the host."""
        client.add_pool_host(self.flavor_id, data['host'])
        return gettext('%(host)s is in the pool of %(flavor)s now.') % {
            'host': data['host'], 'flavor': self.flavor_id}


class AddHostView(FlavorFormView):
    """A dialog with all compute hosts. One call of the API, two of Nova."""

    form_class = AddHostForm
    template_name = 'pcloud_dashboard/admin/add_host.html'
    route = 'add_pool_host'
    modal_header = _('Add Host to the Pool')
    submit_label = _('Add Host')

    def get_context_data(self, **kwargs: typing.Any) -> dict:
        """Return what the template shows."""
        return super().get_context_data(computes=self._computes(), **kwargs)

    def _computes(self) -> list[computes.Compute]:
        flavors = api.ask(self.request, v1.Client.list_host_flavors)
        if flavors is None:
            return []
        return computes.computes(
            api.compute_services(self.request), flavors,
            computes.servers(api.hypervisors(self.request)))


class RemoveHostForm(OneFlavorForm):
    """Nothing to fill in: the administrator confirms."""

    def send(self, client: v1.Client, data: dict) -> str:
        """Take the host out of the pool."""
        client.remove_pool_host(self.flavor_id, self.at['host'])
        return gettext('%s has left the pool; its compute service is '
                       'disabled.') % self.at['host']


class RemoveHostView(FlavorFormView):
    """A dialog that asks whether a host is to leave the pool."""

    form_class = RemoveHostForm
    route = 'remove_pool_host'
    modal_header = _('Remove Host from the Pool')
    submit_label = _('Remove Host')
    help_text = _('The compute service of the host stays disabled.')
