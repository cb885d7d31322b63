# SPDX-License-Identifier: Apache-2.0

"""The default Pclouds of the cloud, domains and projects."""

from collections.abc import Mapping
import dataclasses
import typing

from django import http
from django.utils.functional import cached_property
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from horizon import forms

from pcloud_dashboard.admin import scopes
from pcloud_dashboard import api
from pcloud_dashboard.project import default_forms
from pcloud_dashboard.project import settings
from pcloud_dashboard import shown

from pcloud.client import exceptions
from pcloud.client import resources
from pcloud.client import v1

SCOPES = ('cloud', 'domain', 'project')
NOWHERE = ''


@dataclasses.dataclass(frozen=True)
class Default:
    """Where servers of a scope go that name no Pcloud.

    :ivar text: the same in words
    :ivar source: where that is set, in words; None where nothing is set
    """

    text: str
    source: str | None


def find(request: http.HttpRequest, scope: str,
         scope_id: str) -> Default | None:
    """Return the default Pcloud that counts in a scope.

    One call of the API, and one more for the name of the Pcloud.

    :returns: None for a scope that has none, and with a message when the API
        fails
    """
    if scope not in SCOPES:
        return None
    try:
        client = api.client(request)
        policy = _policy(client, scope, scope_id)
        name = _name(client, policy.default_pcloud or {})
    except api.FAILURES as error:
        api.tell(request, error)
        return None
    return Default(_text(policy.default_pcloud, name),
                   settings.source(policy.default_pcloud_source))


def _policy(client: v1.Client, scope: str,
            scope_id: str) -> resources.Policy:
    try:
        return client.get_policy(scope, scope_id)
    except exceptions.NotFound:
        return resources.Policy(scope, scope_id)


def _name(client: v1.Client,
          default: Mapping[str, typing.Any]) -> str:
    """Return the name of a Pcloud; the id of a Pcloud that is gone."""
    pcloud_id = default.get('pcloud') or ''
    try:
        return client.get_pcloud(pcloud_id).name if pcloud_id else ''
    except exceptions.NotFound:
        return pcloud_id


def _text(default: Mapping[str, typing.Any] | None, name: str) -> str:
    if default is None:
        return gettext(
            'Instances that name no Pcloud start outside of Pclouds.')
    if default.get('mode') == 'prefer':
        return gettext(
            'Instances that name no Pcloud start in %s while there is '
            'capacity, '
            'and else outside.') % name
    if default.get('mode') == 'grow':
        return gettext(
            'Instances that name no Pcloud start in %(pcloud)s; while there '
            'is no capacity, hosts of host flavor %(flavor)s are added, up to '
            '%(most)s hosts.') % {
                'pcloud': name, 'flavor': default.get('host_flavor'),
                'most': default.get('max_hosts')}
    return gettext('Instances that name no Pcloud start in %s.') % name


class DefaultForm(default_forms.ModeForm, scopes.ScopeForm):
    """The default Pcloud of a scope."""

    field_order = ('pcloud',)

    pcloud = forms.ChoiceField(
        label=_('Default Pcloud'), required=False, help_text=_(
            'Outside of Pclouds counts too: scopes above do not count then.'))

    def __init__(self, request: http.HttpRequest, *args: typing.Any,
                 pclouds: list[tuple[str, str]],
                 **kwargs: typing.Any) -> None:
        super().__init__(request, *args, **kwargs)
        self.fields['pcloud'].choices = [
            (NOWHERE, _('Outside of Pclouds')), *pclouds]

    def send(self, client: v1.Client, data: dict) -> str:
        """Set the default Pcloud."""
        client.update_policy(self.scope, self.scope_id, default_pcloud=(
            None if data['pcloud'] == NOWHERE else {
                'pcloud': data['pcloud'], 'mode': data['mode'],
                **self.growth(data)}))
        return gettext('The default Pcloud was set.')


class SetView(scopes.ScopeFormView):
    """A dialog with all Pclouds. Three calls of the API."""

    form_class = DefaultForm
    route = 'set_default'
    modal_header = _('Default Pcloud')
    submit_label = _('Save')

    @cached_property
    def present(self) -> Mapping[str, typing.Any]:
        """The default that counts now, empty for none."""
        return api.require(
            self.request, lambda client: _policy(
                client, self.scope, self.scope_id),
            self.page).default_pcloud or {}

    def get_initial(self) -> dict:
        """Return the default that counts now."""
        return dict(self.present)

    def get_form_kwargs(self) -> dict:
        """Return the arguments of the form, with Pclouds and host flavors."""
        found = api.ask_all(
            self.request, lambda client: client.list_pclouds(
                all_tenants=True))
        return {**super().get_form_kwargs(),
                'pclouds': shown.choices({
                    each.id: f'{each.name} ({each.id})' for each in found}),
                'flavors': api.ask_all(
                    self.request, v1.Client.list_host_flavors)}
