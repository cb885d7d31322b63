# SPDX-License-Identifier: Apache-2.0

"""What the owner does with the entries of a waiting list."""

from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from pcloud_dashboard.project import forms as pcloud_forms
from pcloud_dashboard.project import pages

from pcloud.client import v1


class CancelForm(pcloud_forms.PcloudForm):
    """Nothing to fill in: the user confirms."""

    def send(self, client: v1.Client, data: dict) -> str:
        """End the entry."""
        client.cancel_waiting(self.pcloud.id, str(self.at['entry_id']))
        return gettext('The Pcloud waits for that host no more.')


class CancelView(pages.PcloudFormView):
    """A dialog that asks whether a Pcloud is to wait no more."""

    form_class = CancelForm
    route = 'cancel_waiting'
    modal_header = _('Wait No More')
    help_text = _('The place in the waiting list is lost.')
