# SPDX-License-Identifier: Apache-2.0

"""The scopes of policies, as the pages of policies name them."""

import typing

from django import http
from django import urls
from django.utils.translation import gettext_lazy as _

from pcloud_dashboard.project import forms as pcloud_forms
from pcloud_dashboard.project import pages

INDEX = 'horizon:admin:pclouds:policies'
SCOPES = {'cloud': _('Cloud'), 'domain': _('Domain'),
          'project': _('Project'), 'pcloud': _('Pcloud'), 'role': _('Role')}
# The id of the only policy of the cloud.
_DEFAULT = 'default'


class OfScope:
    """A view of the policy of a scope, which the address tells."""

    request: http.HttpRequest

    @property
    def scope(self) -> str:
        """The kind of scope: cloud, domain, project, pcloud or role."""
        asked = self.request.GET.get('scope', '')
        return asked if asked in SCOPES else 'cloud'

    @property
    def scope_id(self) -> str:
        """The id of the domain, project or Pcloud, or the role's name.

        Empty where nothing has been chosen yet.
        """
        if self.scope == 'cloud':
            return _DEFAULT
        return self.request.GET.get('id', '')

    @property
    def query(self) -> str:
        """The part of an address that tells the scope."""
        query = http.QueryDict(mutable=True)
        query['scope'], query['id'] = self.scope, self.scope_id
        return query.urlencode()

    @property
    def page(self) -> str:
        """The address of the page with the policy."""
        return f'{urls.reverse(INDEX)}?{self.query}'


class ScopeForm(pcloud_forms.ApiForm):
    """A form about the policy of a scope."""

    def __init__(self, request: http.HttpRequest, *args: typing.Any,
                 scope: str, scope_id: str, **kwargs: typing.Any) -> None:
        super().__init__(request, *args, **kwargs)
        self.scope, self.scope_id = scope, scope_id


class ScopeFormView(OfScope, pages.FormView):
    """A form about the policy of a scope."""

    help_text = _('What is set here counts for the instances of the scope, '
                  'where no lower scope has a setting of its own.')

    def get_form_kwargs(self) -> dict:
        """Return the arguments of the form, with the scope."""
        return {**super().get_form_kwargs(),
                'scope': self.scope, 'scope_id': self.scope_id}
