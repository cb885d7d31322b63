# SPDX-License-Identifier: Apache-2.0

"""What the forms about default Pclouds have in common."""

import typing

from django import http
from django.utils.translation import gettext_lazy as _
from horizon import forms

from pcloud_dashboard import api
from pcloud_dashboard.project import forms as pcloud_forms

from pcloud.client import resources

_GROWTH = ('host_flavor', 'availability_zone', 'max_hosts')


def _grown(label: typing.Any) -> dict[str, typing.Any]:
    """Return the attributes of a field that only growth needs."""
    return {'class': 'switched', 'data-switch-on': 'mode',
            'data-mode-grow': label}


class ModeForm(pcloud_forms.ApiForm):
    """How servers that name no Pcloud start in the default Pcloud."""

    mode = forms.ChoiceField(
        label=_('Instances that name no Pcloud start'),
        choices=[('strict', _('in the Pcloud, or not at all')),
                 ('prefer', _('in the Pcloud while there is capacity, else '
                              'outside')),
                 ('grow', _('in the Pcloud, and hosts are added for them'))],
        widget=forms.Select(attrs={
            'class': 'switchable', 'data-slug': 'mode'}))
    host_flavor = forms.ChoiceField(
        label=_('Host flavor of added hosts'), required=False,
        widget=forms.Select(attrs=_grown(_('Host flavor of added hosts'))))
    availability_zone = forms.ChoiceField(
        label=_('Zone of added hosts'), required=False,
        widget=forms.Select(attrs=_grown(_('Zone of added hosts'))))
    max_hosts = forms.IntegerField(
        label=_('Most hosts'), required=False, min_value=1,
        widget=forms.NumberInput(attrs=_grown(_('Most hosts'))))

    def __init__(self, request: http.HttpRequest, *args: typing.Any,
                 flavors: list[resources.HostFlavor],
                 **kwargs: typing.Any) -> None:
        super().__init__(request, *args, **kwargs)
        self.fields['host_flavor'].choices = [
            (each.id, each.id) for each in flavors]
        # A zone without a free host today may have one when it is needed.
        zones = {*api.zones(flavors), self.initial.get('availability_zone')}
        self.fields['availability_zone'].choices = [
            ('', _('Any zone')),
            *((zone, zone) for zone in sorted(filter(None, zones)))]

    def growth(self, data: dict) -> dict[str, typing.Any]:
        """Return which hosts are added, as the API takes it."""
        if data['mode'] != 'grow':
            return {}
        return {name: data[name] for name in _GROWTH if data[name]}
