# SPDX-License-Identifier: Apache-2.0

"""What the views of one Pcloud have in common."""

import typing
from urllib import parse

from django import http
from django import urls
from django.utils.functional import cached_property
from django.utils.translation import gettext
from horizon import forms
from horizon import messages

from pcloud_dashboard import api
from pcloud_dashboard import policies

from pcloud.client import resources

INDEX = 'horizon:project:pclouds:index'
DETAIL = 'horizon:project:pclouds:detail'
# Tab of a Pcloud's page -> the part of the page's address.
TABS = {name: f'?tab=pcloud__{name}'
        for name in ('hosts', 'fit', 'failures', 'moves', 'tenants',
                     'settings')}


def address(pcloud_id: str, tab: str = 'hosts') -> str:
    """Return the address of a tab of a Pcloud's page."""
    return urls.reverse(DETAIL, args=[pcloud_id]) + TABS[tab]


def question(tab: str, **asked: str | list[str]) -> str:
    """Return the part of an address that asks something on a tab."""
    return parse.urlencode({'tab': f'pcloud__{tab}', **asked}, doseq=True)


def own_address(name: str, *arguments: str) -> str:
    """Return the address of a view of the panel."""
    return urls.reverse(f'horizon:project:pclouds:{name}', args=arguments)


class OfPcloud:
    """A view of one Pcloud, with what the views need.

    :cvar tab: the tab of the Pcloud's page that the view belongs to
    """

    tab = 'hosts'
    request: http.HttpRequest
    kwargs: dict[str, typing.Any]

    @property
    def pcloud_id(self) -> str:
        """The id of the Pcloud, from the address."""
        return str(self.kwargs['pcloud_id'])

    @cached_property
    def pcloud(self) -> resources.Pcloud:
        """The Pcloud.

        The user is sent to the list, with the API's words, when the API does
        not show the Pcloud.
        """
        return api.require(
            self.request, lambda client: client.get_pcloud(self.pcloud_id),
            urls.reverse(INDEX))

    @property
    def page(self) -> str:
        """The address of the tab of the Pcloud's page that led here.

        It is the tab of the view where the address does not tell.
        """
        back = parse.parse_qsl(self.request.GET.get('back', ''))
        if not back:
            return address(self.pcloud_id, self.tab)
        return own_address('detail', self.pcloud_id) + (
            f'?{parse.urlencode(back)}')

    def allows(self, rule: str) -> bool:
        """Return whether the user may do what a rule is about."""
        return policies.allows(self.request, rule, self.pcloud.owner)


class FormView(forms.ModalFormView):
    """A form in a dialog, or on a page of its own without JavaScript.

    :cvar route: the name of the view's own address
    :cvar page: the address of the page that the form belongs to, where the
        user is led when all went well, and after Cancel
    :cvar help_text: what the user reads beside the fields
    """

    template_name = 'pcloud_dashboard/project/form.html'
    route: str
    page: typing.Any
    help_text: typing.Any = ''

    @property
    def success_url(self) -> typing.Any:
        """The address of the form's page."""
        return self.page

    @property
    def submit_url(self) -> str:
        """The own address, with what was asked for."""
        return self.request.get_full_path()

    @property
    def form_id(self) -> str:
        """The id of the form in the page."""
        return f'pcloud_{self.route}_form'

    @property
    def modal_id(self) -> str:
        """The id of the dialog in the page."""
        return f'pcloud_{self.route}_modal'

    @property
    def subject(self) -> str:
        """The name of what the form is about; '' for a form without one."""
        return ''

    @property
    def page_title(self) -> typing.Any:
        """The title of the dialog, and of the page with the form alone."""
        if not self.subject:
            return self.modal_header
        return gettext('%(title)s: %(name)s') % {
            'title': self.modal_header, 'name': self.subject}

    @property
    def submit_label(self) -> typing.Any:
        """The words of the button, those of the title where not set."""
        return self.modal_header

    def get_form_kwargs(self) -> dict:
        """Return the arguments of the form, with what the address names."""
        return {**super().get_form_kwargs(), 'at': self.kwargs}

    def get_context_data(self, **kwargs: typing.Any) -> dict:
        """Return what the template shows."""
        return {**super().get_context_data(
            help_text=self.help_text, **kwargs),
            'modal_header': self.page_title}


class PcloudFormView(OfPcloud, FormView):
    """A form about one Pcloud, for those whom the API shows its hosts.

    Others are sent to the list before anything is said about the Pcloud.
    """

    def dispatch(self, request: http.HttpRequest, *args: typing.Any,
                 **kwargs: typing.Any) -> http.HttpResponseBase:
        """Answer a request of the owner, or of an administrator."""
        if self.pcloud.host_count is None:
            messages.error(request, gettext(
                'The Pcloud belongs to another project.'))
            return http.HttpResponseRedirect(urls.reverse(INDEX))
        return super().dispatch(request, *args, **kwargs)

    def get_form_kwargs(self) -> dict:
        """Return the arguments of the form, with the Pcloud."""
        return {**super().get_form_kwargs(), 'pcloud': self.pcloud}
