# SPDX-License-Identifier: Apache-2.0

"""Maintenances of the hosts of a pool."""

from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from horizon import forms

from pcloud_dashboard.admin import host_flavor_views
from pcloud_dashboard import fields
from pcloud_dashboard import shown

from pcloud.client import v1


class AnnounceForm(host_flavor_views.OneFlavorForm):
    """When a maintenance begins, when it is over, and why there is one."""

    begin = fields.MomentField(label=_('From'), help_text=_(
        'A moment that has passed begins the maintenance immediately.'))
    end = fields.MomentField(
        label=_('Expected Until'), required=False,
        help_text=_('Told to the owner; nothing happens then.'))
    reason = forms.CharField(
        label=_('Reason'), max_length=255, required=False,
        help_text=_('Told to the owner of the Pcloud that has the host.'))

    def send(self, client: v1.Client, data: dict) -> str:
        """Announce the maintenance."""
        client.set_maintenance(
            self.flavor_id, self.at['host'],
            fields.written(data['begin']) or '', data['reason'],
            fields.written(data['end']))
        return gettext('The maintenance of %s is announced.') % (
            self.at['host'])


class AnnounceView(host_flavor_views.FlavorFormView):
    """A dialog that announces a maintenance, or changes what is announced."""

    form_class = AnnounceForm
    route = 'announce_maintenance'
    modal_header = _('Announce Maintenance')
    submit_label = _('Announce')
    help_text = _(
        'The compute service is disabled when the maintenance begins, until '
        'the maintenance is ended here.')

    def get_initial(self) -> dict:
        """Return what is announced already."""
        announced = next(
            (host.maintenance for host in self.flavor.hosts or ()
             if host.host == self.kwargs['host']), None) or {}
        return {'begin': fields.local(shown.moment(announced.get('from'))),
                'end': fields.local(shown.moment(announced.get('until'))),
                'reason': announced.get('reason')}


class EndForm(host_flavor_views.OneFlavorForm):
    """Nothing to fill in: the administrator confirms."""

    def send(self, client: v1.Client, data: dict) -> str:
        """End the maintenance."""
        client.unset_maintenance(self.flavor_id, self.at['host'])
        return gettext('The maintenance of %s is over.') % self.at['host']


class EndView(host_flavor_views.FlavorFormView):
    """A dialog that asks whether a maintenance is over."""

    form_class = EndForm
    route = 'end_maintenance'
    modal_header = _('End Maintenance')
    help_text = _('The compute service is enabled, if the maintenance has '
                  'disabled it.')
