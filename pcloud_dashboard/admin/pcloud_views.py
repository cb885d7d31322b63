# SPDX-License-Identifier: Apache-2.0

"""All Pclouds of the cloud, what they cost, and what does not fit."""

import typing

from django.core import paginator
from django import http
from django import shortcuts
from django.template import loader
from django import urls
from django.utils.functional import cached_property
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from django.views import generic
from horizon import forms
from horizon import tables

from pcloud_dashboard.admin import pools
from pcloud_dashboard import api
from pcloud_dashboard import paging
from pcloud_dashboard import policies
from pcloud_dashboard.project import forms as pcloud_forms
from pcloud_dashboard.project import pages
from pcloud_dashboard import shown
from pcloud_dashboard import stacked

from pcloud.client import resources
from pcloud.client import v1

INDEX = 'horizon:admin:pclouds:index'


def _empty(pcloud: resources.Pcloud) -> int | None:
    return shown.free(pcloud, 'hosts')


class EditQuota(tables.LinkAction):
    """The button that sets the quota of the owner."""

    name = 'quota'
    verbose_name = _('Edit Quota of the Owner')
    policy_rules = (('pcloud', policies.UPDATE_QUOTA),)
    classes = ('ajax-modal',)

    def get_link_url(self, datum: resources.Pcloud) -> str:
        """Return the address of the dialog."""
        return urls.reverse('horizon:admin:pclouds:quota',
                            args=[datum.owner])


class EditAnyQuota(tables.LinkAction):
    """The button that sets the quota of a project without Pclouds too."""

    name = 'any_quota'
    verbose_name = _('Quota of a Project')
    url = 'horizon:admin:pclouds:any_quota'
    policy_rules = (('pcloud', policies.UPDATE_QUOTA),)
    classes = ('ajax-modal',)


def _page(pcloud: resources.Pcloud) -> str:
    return pages.address(pcloud.id)


def _copied(pcloud: resources.Pcloud) -> str:
    return loader.render_to_string(
        'pcloud_dashboard/_copy.html', {'id': pcloud.id})


class AllPcloudsTable(stacked.StackedTable):
    """Pclouds of all projects."""

    name = tables.WrappingColumn('name', verbose_name=_('Name'), link=_page)
    id = tables.Column(_copied, verbose_name=_('ID'))
    owner = tables.Column('owner', verbose_name=_('Owner'))
    hosts = tables.Column('host_count', verbose_name=_('Hosts'))
    empty = tables.Column(_empty, verbose_name=_('Empty Hosts'))
    idle = tables.Column('id', verbose_name=_('Idle Units'))
    servers = tables.Column('servers', verbose_name=_('Instances'))
    units = tables.Column('units', verbose_name=_('Units'))

    class Meta:
        name = 'all_pclouds'
        verbose_name = _('Pclouds')
        hidden_title = True
        css_classes = stacked.CSS
        multi_select = False
        table_actions = (EditAnyQuota,)
        row_actions = (EditQuota,)

    def __init__(self, request: http.HttpRequest, *args: typing.Any,
                 **kwargs: typing.Any) -> None:
        super().__init__(request, *args, **kwargs)
        names = api.project_names(request)
        idle = pools.idle_units(api.host_flavors(request))
        self.columns['owner'].transform = lambda pcloud: names.get(
            pcloud.owner, pcloud.owner)
        self.columns['idle'].transform = lambda pcloud: idle.get(pcloud.id, 0)


class IndexView(tables.DataTableView):
    """The administrator's first page.

    The findings of the audit come first, then what becomes of the hosts, and
    the Pclouds, those with most idle units first. Three calls of the API, and
    one of Keystone.
    """

    table_class = AllPcloudsTable
    template_name = 'pcloud_dashboard/admin/pclouds.html'
    page_title = _('Pclouds')

    def get_data(self) -> list[resources.Pcloud]:
        """Return a page of Pclouds; none, with a message, on a failure."""
        return list(self.pclouds)

    @cached_property
    def found(self) -> list[resources.Pcloud]:
        """The Pclouds of all projects."""
        return api.ask_all(self.request, lambda client: client.list_pclouds(
            all_tenants=True, detail=True))

    @cached_property
    def idle(self) -> dict[str, int]:
        """The idle units of each Pcloud, by id."""
        return pools.idle_units(api.host_flavors(self.request))

    @cached_property
    def pclouds(self) -> paginator.Page:
        """The page of Pclouds that is asked for, of the owner asked for."""
        owner = self.request.GET.get('owner', '')
        return paging.page(self.request, sorted(
            (pcloud for pcloud in self.found
             if owner in ('', pcloud.owner)),
            key=lambda pcloud: (
                -self.idle.get(pcloud.id, 0), -(_empty(pcloud) or 0),
                shown.natural(pcloud.name))))

    def get_context_data(self, **kwargs: typing.Any) -> dict:
        """Return what the template shows."""
        context = super().get_context_data(**kwargs)
        owners = {pcloud.owner for pcloud in self.found}
        by_id = {pcloud.id: pcloud.name for pcloud in self.found}
        names = api.project_names(self.request) if owners else {}
        flavors = api.host_flavors(self.request)
        return {
            **context, 'page': self.pclouds,
            'query': paging.query(self.request),
            'owner': self.request.GET.get('owner', ''),
            'owners': shown.choices({
                each: names.get(each, each) for each in owners}),
            'pools': pools.pools(flavors),
            'announced': pools.announced(flavors, api.ask_all(
                self.request, v1.Client.list_attributes)),
            'failed': [(host, by_id.get(host.pcloud, host.pcloud))
                       for host in pools.failed(flavors)],
            'idle': sum(self.idle.values())}


class FindingsView(generic.View):
    """The findings of the audit, which the first page does not wait for.

    One call of the API, which looks at all that is written about Pclouds.
    """

    http_method_names = ['get']

    def get(self, request: http.HttpRequest,
            **kwargs: typing.Any) -> http.HttpResponse:
        """Answer with the table alone."""
        found: dict[str, typing.Any]
        try:
            found = {'findings': api.audit(request)}
        except api.FAILURES as error:
            found = {'failure': api.words(error)}
        return shortcuts.render(
            request, 'pcloud_dashboard/admin/_findings.html', found)


class QuotaForm(pcloud_forms.ApiForm):
    """The units that a project may have."""

    units = forms.IntegerField(
        label=_('Units'), min_value=-1, required=False, help_text=_(
            '-1 is no limit. Empty: as the cloud has it.'))

    def project(self, data: dict) -> str:
        """Return the id of the project."""
        return self.at['project_id']

    def send(self, client: v1.Client, data: dict) -> str:
        """Set the quota, or let the default of the cloud count."""
        if data['units'] is None:
            client.delete_quota(self.project(data))
        else:
            client.update_quota(self.project(data), data['units'])
        return gettext('The quota was saved.')


class AnyQuotaForm(QuotaForm):
    """The units of a project that is still to be chosen."""

    field_order = ('project_id',)

    project_id = forms.ChoiceField(label=_('Project'))

    def __init__(self, request: http.HttpRequest, *args: typing.Any,
                 **kwargs: typing.Any) -> None:
        super().__init__(request, *args, **kwargs)
        self.fields['project_id'].choices = shown.choices(
            api.project_names(request))

    def project(self, data: dict) -> str:
        """Return the id of the project that was chosen."""
        return data['project_id']


class QuotaFormView(pages.FormView):
    """A dialog with a quota."""

    modal_header = _('Quota of a Project')
    submit_label = _('Save')
    page = urls.reverse_lazy(INDEX)


class AnyQuotaView(QuotaFormView):
    """A dialog with the quota of any project. One call of Keystone."""

    form_class = AnyQuotaForm
    route = 'any_quota'


class QuotaView(QuotaFormView):
    """A dialog with the quota of a project."""

    form_class = QuotaForm
    route = 'quota'

    @property
    def subject(self) -> str:
        """The name of the project; the id where Keystone knows no name."""
        project = self.kwargs['project_id']
        return api.project_names(self.request).get(project, project)

    def get_initial(self) -> dict:
        """Return the present quota."""
        quota = api.require(
            self.request,
            lambda client: client.get_quota(self.kwargs['project_id']),
            urls.reverse(INDEX))
        return {'units': quota.units_limit}
