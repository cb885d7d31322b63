# SPDX-License-Identifier: Apache-2.0

"""Attributes of hosts: the values, and the hosts that have them."""

import typing

from django import http
from django import urls
from django.utils.functional import cached_property
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from horizon import forms
from horizon import views

from pcloud_dashboard import api
from pcloud_dashboard import policies
from pcloud_dashboard.project import forms as pcloud_forms
from pcloud_dashboard.project import pages
from pcloud_dashboard import shown

from pcloud.client import resources
from pcloud.client import v1

INDEX = 'horizon:admin:host_flavors:attributes'
# What Pcloud itself reads; other names are free for requirements.
_KNOWN = ('hardware_class', 'next_reboot', 'platform_version', 'rack')


def _read(request: http.HttpRequest) -> list[resources.Attribute]:
    """Return all attributes, by name and value."""
    return sorted(
        api.ask_all(request, v1.Client.list_attributes),
        key=lambda each: (each.name, shown.natural(each.value)))


class IndexView(views.HorizonTemplateView):
    """All attributes that are set. One call of the API."""

    template_name = 'pcloud_dashboard/admin/attributes.html'
    page_title = _('Attributes of Hosts')

    def get_context_data(self, **kwargs: typing.Any) -> dict:
        """Return what the template shows."""
        return super().get_context_data(
            attributes=[{
                'name': each.name, 'value': each.value,
                'hosts': sorted(each.hosts, key=shown.natural),
                'query': _query(each)} for each in _read(self.request)],
            may_set=policies.allows(self.request, policies.SET_ATTRIBUTE),
            may_unset=policies.allows(
                self.request, policies.UNSET_ATTRIBUTE), **kwargs)


def _query(attribute: resources.Attribute) -> str:
    """Return the part of an address that tells an attribute."""
    # A value may have any character, which a path may not.
    query = http.QueryDict(mutable=True)
    query['name'], query['value'] = attribute.name, attribute.value
    return query.urlencode()


class AttributeForm(pcloud_forms.ApiForm):
    """A form about an attribute and a value."""

    def __init__(self, request: http.HttpRequest, *args: typing.Any,
                 attribute: resources.Attribute,
                 **kwargs: typing.Any) -> None:
        super().__init__(request, *args, **kwargs)
        self.attribute = attribute


class SetForm(AttributeForm):
    """An attribute, the value, and the hosts that are to have the value."""

    name = forms.CharField(
        label=_('Attribute'), max_length=255,
        widget=forms.TextInput(attrs={'list': 'pcloud-known-attributes'}))
    value = forms.CharField(label=_('Value'), max_length=255)
    hosts = forms.MultipleChoiceField(
        label=_('Hosts'), widget=forms.SelectMultiple(attrs={'size': 10}),
        help_text=_('Keep Ctrl pressed to choose several.'))

    def __init__(self, request: http.HttpRequest, *args: typing.Any,
                 hosts: list[str], **kwargs: typing.Any) -> None:
        super().__init__(request, *args, **kwargs)
        self.fields['hosts'].choices = [(each, each) for each in hosts]

    def send(self, client: v1.Client, data: dict) -> str:
        """Set the value, and remove it from hosts that are chosen no more."""
        client.set_attribute(data['name'], data['value'], data['hosts'])
        left = sorted(set(self.attribute.hosts) - set(data['hosts']))
        if left and data['name'] == self.attribute.name:
            client.unset_attribute(data['name'], left)
        return gettext('The attribute was saved.')


class AttributeFormView(pages.FormView):
    """A form about an attribute and a value, which the address tells."""

    page = urls.reverse_lazy(INDEX)

    @cached_property
    def attribute(self) -> resources.Attribute:
        """The attribute; one without hosts where no host has the value."""
        name, value = (self.request.GET.get(part, '')
                       for part in ('name', 'value'))
        return next(
            (each for each in _read(self.request)
             if (each.name, each.value) == (name, value)),
            resources.Attribute(name, value))

    def get_form_kwargs(self) -> dict:
        """Return the arguments of the form, with the attribute."""
        return {**super().get_form_kwargs(), 'attribute': self.attribute}


class SetView(AttributeFormView):
    """A dialog with all compute hosts.

    One call of the API, and one of Nova's own.
    """

    form_class = SetForm
    template_name = 'pcloud_dashboard/admin/set_attribute.html'
    route = 'set_attribute'
    modal_header = _('Attribute of Hosts')
    submit_label = _('Save')
    help_text = _(
        'rack is a name, hardware_class a number, next_reboot a moment such '
        'as 2026-12-31T23:59:59Z, platform_version a version such as 2.10.1. '
        'Any other name is free for requirements.')

    def get_initial(self) -> dict:
        """Return the present values."""
        return {'name': self.attribute.name, 'value': self.attribute.value,
                'hosts': list(self.attribute.hosts)}

    def get_form_kwargs(self) -> dict:
        """Return the arguments of the form, with all hosts."""
        hosts = {each.host for each in api.compute_services(self.request)}
        return {**super().get_form_kwargs(), 'hosts': sorted(
            hosts.union(self.attribute.hosts), key=shown.natural)}

    def get_context_data(self, **kwargs: typing.Any) -> dict:
        """Return what the template shows."""
        return super().get_context_data(known=_KNOWN, **kwargs)


class UnsetForm(AttributeForm):
    """Nothing to fill in: the administrator confirms."""

    def send(self, client: v1.Client, data: dict) -> str:
        """Remove the value from all its hosts."""
        # Without hosts, other values would go too.
        if self.attribute.hosts:
            client.unset_attribute(self.attribute.name, self.attribute.hosts)
        return gettext('The attribute was removed.')


class UnsetView(AttributeFormView):
    """A dialog that asks whether hosts are to lose a value."""

    form_class = UnsetForm
    route = 'unset_attribute'
    modal_header = _('Remove Attribute')

    @property
    def help_text(self) -> str:
        """Return what is going to happen."""
        return gettext('%(name)s=%(value)s is removed from: %(hosts)s.') % {
            'name': self.attribute.name, 'value': self.attribute.value,
            'hosts': ', '.join(self.attribute.hosts) or '-'}
