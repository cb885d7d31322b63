# SPDX-License-Identifier: Apache-2.0

"""The list of Pclouds, and the page of one Pcloud."""

import typing

from django.core import paginator
from django import http
from django import urls
from django.utils.functional import cached_property
from django.utils.translation import gettext_lazy as _
from horizon import tables
from horizon import tabs

from pcloud_dashboard import api
from pcloud_dashboard.launch import links
from pcloud_dashboard import paging
from pcloud_dashboard import policies
from pcloud_dashboard.project import forms
from pcloud_dashboard.project import pages
from pcloud_dashboard.project import tables as pcloud_tables
from pcloud_dashboard.project import tabs as pcloud_tabs
from pcloud_dashboard import shown

from pcloud.client import resources


class IndexView(tables.DataTableView):
    """All Pclouds that the project owns or is a tenant of, and its quota.

    Two calls of the API, however many Pclouds there are.
    """

    table_class = pcloud_tables.PcloudsTable
    template_name = 'pcloud_dashboard/project/index.html'
    page_title = _('Pclouds')

    def get_data(self) -> list[resources.Pcloud]:
        """Return a page of Pclouds; none, with a message, on a failure."""
        return list(self.pclouds)

    @cached_property
    def found(self) -> list[resources.Pcloud]:
        """All Pclouds of the project, its own first."""
        found = api.ask_all(
            self.request, lambda client: client.list_pclouds(detail=True))
        return sorted(found, key=lambda pcloud: (
            pcloud.owner != self.request.user.project_id,
            shown.natural(pcloud.name)))

    @property
    def text(self) -> str:
        """What the names or ids of the Pclouds are to have."""
        return self.request.GET.get('text', '').strip()

    @cached_property
    def pclouds(self) -> paginator.Page:
        """The page that is asked for, of the Pclouds that have the text."""
        wanted = self.text.casefold()
        return paging.page(self.request, [
            pcloud for pcloud in self.found
            if wanted in pcloud.name.casefold() or wanted in pcloud.id])

    def get_table(self) -> tables.DataTable:
        """Return the table, which tells twins apart."""
        table = super().get_table()
        table.tell_apart(pcloud_tables.twins(self.found))
        return table

    def get_context_data(self, **kwargs: typing.Any) -> dict:
        """Return what the template shows."""
        return super().get_context_data(
            quota=self._quota(), page=self.pclouds, text=self.text,
            query=paging.query(self.request),
            can_filter=len(self.found) > paging.SIZE, **kwargs)

    def _quota(self) -> shown.Bar | None:
        return api.ask(self.request, lambda client: shown.quota_bar(
            client.get_quota(self.request.user.project_id)))


class CreateView(pages.FormView):
    """A dialog that asks for a name, and leads to the Pcloud's page."""

    form_class = forms.CreateForm
    route = 'create'
    modal_header = _('Create Pcloud')
    page = urls.reverse_lazy(pages.INDEX)
    help_text = _(
        'A Pcloud is a set of whole hosts that run instances of your project '
        'alone. It has no hosts at first; you add them on its page.')

    def get_success_url_from_handled(self, pcloud: resources.Pcloud) -> str:
        """Return the page of the new Pcloud."""
        return pages.address(pcloud.id)


class DetailView(pages.OfPcloud, tabs.TabView):
    """The page of a Pcloud."""

    tab_group_class = pcloud_tabs.PcloudTabs
    template_name = 'pcloud_dashboard/project/detail.html'
    page_title = '{{ pcloud.name }}'

    def get_tabs(self, request: http.HttpRequest,
                 **kwargs: typing.Any) -> tabs.TabGroup:
        """Return the tabs, which know the Pcloud."""
        return super().get_tabs(
            request, **{**kwargs, 'pcloud': self.pcloud})

    def get_context_data(self, **kwargs: typing.Any) -> dict:
        """Return what the template shows."""
        return super().get_context_data(
            pcloud=self.pcloud,
            is_own=self.pcloud.host_count is not None,
            lent=shown.lent(self.pcloud),
            may_add=self.allows(policies.ADD_HOST),
            may_delete=self.allows(policies.DELETE),
            launch=links.attributes(self.pcloud),
            may_launch=policies.allows(self.request, policies.LAUNCH),
            **kwargs)


class DeleteView(pages.PcloudFormView):
    """A dialog that asks whether a Pcloud is to be deleted."""

    form_class = forms.DeleteForm
    route = 'delete'
    modal_header = _('Delete Pcloud')

    @property
    def subject(self) -> str:
        """The name of the Pcloud."""
        return self.pcloud.name

    @property
    def help_text(self) -> typing.Any:
        """Return what is going to happen."""
        if self.pcloud.host_count:
            return _('The Pcloud has hosts. Remove them first: a Pcloud '
                     'with hosts is not deleted.')
        return _('The Pcloud is empty, and is deleted for all its tenants.')

    def get_success_url(self) -> str:
        """Return the list: the page is gone."""
        return urls.reverse(pages.INDEX)
