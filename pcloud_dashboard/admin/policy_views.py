# SPDX-License-Identifier: Apache-2.0

"""The policies of the cloud, domains, projects, Pclouds and roles."""

import re
import typing

from django import http
from django import urls
from django.utils.functional import cached_property
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from horizon import forms
from horizon import views

from pcloud_dashboard.admin import default_views
from pcloud_dashboard.admin import scopes
from pcloud_dashboard import api
from pcloud_dashboard import policies
from pcloud_dashboard.project import settings
from pcloud_dashboard import shown

from pcloud.client import resources
from pcloud.client import v1

# The scopes whose policies may have system keys; likewise customer keys.
_SYSTEM_KEYS = ('cloud', 'domain', 'project', 'pcloud')
_CUSTOMER_KEYS = ('project', 'pcloud')
# A blank inside of a value has a backslash before.
_SETTING = re.compile(r'(?:\\.|[^\s\\])+')


class IndexView(scopes.OfScope, views.HorizonTemplateView):
    """The policy of a scope, and what counts there.

    Up to three calls of the API, and one for the names of the scopes.
    """

    template_name = 'pcloud_dashboard/admin/policies.html'
    page_title = _('Policies')

    def get_context_data(self, **kwargs: typing.Any) -> dict:
        """Return what the template shows."""
        policy = self._policy()
        return super().get_context_data(
            scope=self.scope, scopes=scopes.SCOPES, scope_id=self.scope_id,
            names=self._names(), query=self.query, policy=policy,
            default=policy and default_views.find(
                self.request, self.scope, self.scope_id),
            settings=_SETTING.findall(policy.constraints) if policy else (),
            effective=[(each, settings.level(each.source))
                       for each in (policy and policy.effective) or ()],
            may_set=policies.allows(self.request, policies.UPDATE_POLICY),
            may_delete=policies.allows(
                self.request, policies.DELETE_POLICY), **kwargs)

    def _policy(self) -> resources.Policy | None:
        if not self.scope_id:
            return None
        return api.ask(
            self.request, lambda client: client.get_effective_policy(
                self.scope, self.scope_id))

    def _names(self) -> list[tuple[str, str]] | None:
        """Return ids and names, by name; None where any text is an id."""
        found = self._names_by_id()
        if found is None:
            return None
        return shown.choices(found)

    def _names_by_id(self) -> dict[str, str] | None:
        if self.scope == 'domain':
            return api.domain_names(self.request)
        if self.scope == 'project':
            return api.project_names(self.request)
        if self.scope == 'pcloud':
            return api.pcloud_names(self.request)
        return None


class PolicyForm(scopes.ScopeForm):
    """Requirements and keys, one a line."""

    constraints = forms.CharField(
        label=_('Requirements'), required=False,
        widget=forms.Textarea(attrs={'rows': 4, 'placeholder': 'ram=2G'}),
        help_text=_('One a line, each as key=value. A blank inside of a '
                    'value has a backslash before.'))
    system_keys = forms.CharField(
        label=_('System Keys'), required=False,
        widget=forms.Textarea(attrs={'rows': 3}),
        help_text=_('One a line, each as NAME=VALUE:WEIGHT.'))
    customer_keys = forms.CharField(
        label=_('Placement Keys'), required=False,
        widget=forms.Textarea(attrs={'rows': 3}),
        help_text=_('One a line, each as NAME=VALUE:WEIGHT.'))

    def __init__(self, request: http.HttpRequest, *args: typing.Any,
                 **kwargs: typing.Any) -> None:
        super().__init__(request, *args, **kwargs)
        if self.scope not in _SYSTEM_KEYS:
            del self.fields['system_keys']
        if self.scope not in _CUSTOMER_KEYS:
            del self.fields['customer_keys']

    def send(self, client: v1.Client, data: dict) -> str:
        """Replace the requirements and the keys."""
        keys: dict[str, typing.Any] = {
            member: _lines(data[member]) for member
            in ('system_keys', 'customer_keys') if member in data}
        client.update_policy(
            self.scope, self.scope_id,
            constraints=' '.join(_lines(data['constraints'])), **keys)
        return gettext('The policy was saved.')


def _lines(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines() if line.strip()]


class SetView(scopes.ScopeFormView):
    """A dialog with requirements and keys."""

    form_class = PolicyForm
    route = 'set_policy'
    modal_header = _('Set Policy')
    submit_label = _('Save')

    @cached_property
    def policy(self) -> resources.Policy:
        """The policy, an empty one where there is none yet."""
        return api.require(
            self.request, lambda client: client.get_effective_policy(
                self.scope, self.scope_id), urls.reverse(scopes.INDEX))

    def get_initial(self) -> dict:
        """Return the present policy."""
        return {
            'constraints': '\n'.join(
                _SETTING.findall(self.policy.constraints)),
            'system_keys': '\n'.join(self.policy.system_keys or ()),
            'customer_keys': '\n'.join(self.policy.customer_keys)}


class DeleteForm(scopes.ScopeForm):
    """Nothing to fill in: the administrator confirms."""

    def send(self, client: v1.Client, data: dict) -> str:
        """Remove the policy."""
        client.delete_policy(self.scope, self.scope_id)
        return gettext('The policy was removed.')


class DeleteView(scopes.ScopeFormView):
    """A dialog that asks whether a policy is to be removed."""

    form_class = DeleteForm
    route = 'delete_policy'
    modal_header = _('Remove Policy')
    help_text = _('Requirements, keys and the default Pcloud of the scope '
                  'are removed.')
