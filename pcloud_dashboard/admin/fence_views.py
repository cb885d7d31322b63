# SPDX-License-Identifier: Apache-2.0

"""Fences of the hosts of a pool."""

from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from pcloud_dashboard.admin import host_flavor_views

from pcloud.client import v1


class FenceForm(host_flavor_views.OneFlavorForm):
    """Nothing to fill in: the administrator promises."""

    def send(self, client: v1.Client, data: dict) -> str:
        """Say that the host is fenced."""
        client.set_fenced(self.flavor_id, self.at['host'], True)
        return gettext('%s is fenced.') % self.at['host']


class FenceView(host_flavor_views.FlavorFormView):
    """A dialog that asks for the promise that no instance runs any more."""

    form_class = FenceForm
    route = 'fence'
    modal_header = _('Fence Host')
    help_text = _(
        'You promise that no instance runs on the host: it is switched off, '
        'or cut off from networks and disks. Nova takes the host for down, '
        'and its instances start on other hosts where the owner of the Pcloud '
        'wishes so. Said again, a recovery that is held goes on.')


class UnfenceForm(host_flavor_views.OneFlavorForm):
    """Nothing to fill in: the administrator confirms."""

    def send(self, client: v1.Client, data: dict) -> str:
        """Say that the host is fenced no more."""
        client.set_fenced(self.flavor_id, self.at['host'], False)
        return gettext('%s is fenced no more.') % self.at['host']


class UnfenceView(host_flavor_views.FlavorFormView):
    """A dialog that asks whether a host is fenced no more."""

    form_class = UnfenceForm
    route = 'unfence'
    modal_header = _('End Fence')
    help_text = _('Nova judges the host by its reports again.')
