# SPDX-License-Identifier: Apache-2.0

"""What the owner does with the tenants of a Pcloud."""

from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from horizon import forms

from pcloud_dashboard import api
from pcloud_dashboard.project import forms as pcloud_forms
from pcloud_dashboard.project import pages

from pcloud.client import v1


class AddForm(pcloud_forms.PcloudForm):
    """The project that becomes a tenant, by name or id."""

    project = forms.CharField(
        label=_('Project'), max_length=255,
        help_text=_('The id of a project, or the name of a project of '
                    'yours.'))

    def send(self, client: v1.Client, data: dict) -> str:
        """Let the project start servers in the Pcloud."""
        names = api.project_names(self.request)
        found = [each for each, name in names.items()
                 if name == data['project']]
        project_id = found[0] if len(found) == 1 else data['project']
        client.add_tenant(self.pcloud.id, project_id)
        return gettext('%s may launch instances in the Pcloud now.') % (
            names.get(project_id, project_id))


class AddView(pages.PcloudFormView):
    """A dialog that asks for a project."""

    tab = 'tenants'
    form_class = AddForm
    route = 'add_tenant'
    modal_header = _('Add Tenant')
    help_text = _(
        'Users of the project may then launch instances on the hosts of the '
        'Pcloud. They see its name, and nothing of its hosts.')


class RemoveForm(pcloud_forms.ForcedForm):
    """The user confirms that a project is to be removed."""

    def send(self, client: v1.Client, data: dict) -> str:
        """Let the project start no more servers in the Pcloud."""
        client.remove_tenant(self.pcloud.id, self.at['project_id'],
                             force=data['force'])
        return gettext('%s is a tenant no more.') % self.at['project_id']


class RemoveView(pages.PcloudFormView):
    """A dialog that asks whether a project is to be removed."""

    tab = 'tenants'
    form_class = RemoveForm
    route = 'remove_tenant'
    modal_header = _('Remove Tenant')
    help_text = _(
        'The project can launch no more instances in the Pcloud. Instances '
        'that it has there keep running, and its hosts are not empty while '
        'they do.')
