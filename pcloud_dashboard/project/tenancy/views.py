# SPDX-License-Identifier: Apache-2.0

"""What the owner does with the tenants of a Pcloud."""

from django.utils.functional import cached_property
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from horizon import forms

from pcloud_dashboard import api
from pcloud_dashboard.project import forms as pcloud_forms
from pcloud_dashboard.project import pages

from pcloud.client import resources
from pcloud.client import v1

CAPS = ('max_servers', 'max_vcpus', 'max_memory_mb')


class AddForm(pcloud_forms.PcloudForm):
    """The project that becomes a tenant, by name or id."""

    project = forms.CharField(
        label=_('Project'), max_length=255,
        help_text=_('The name of a project, or its id.'))
    domain = forms.CharField(
        label=_('Domain'), max_length=64, required=False,
        help_text=_('Empty: the domain of your project. The operator decides '
                    'whether projects of others are found.'))

    def send(self, client: v1.Client, data: dict) -> str:
        """Let the project start servers in the Pcloud."""
        client.let_in(self.pcloud.id, data['project'], data['domain'] or None)
        return gettext('%s may launch instances in the Pcloud now.') % (
            data['project'])


class AddView(pages.PcloudFormView):
    """A dialog that asks for a project."""

    tab = 'tenants'
    form_class = AddForm
    route = 'add_tenant'
    modal_header = _('Add Tenant')
    help_text = _(
        'Users of the project may then launch instances on the hosts of the '
        'Pcloud. They see its name, and nothing of its hosts.')


class TenantView(pages.PcloudFormView):
    """A form about a tenant of a Pcloud."""

    tab = 'tenants'

    @property
    def project_id(self) -> str:
        """The id of the project, from the address."""
        return self.kwargs['project_id']

    @cached_property
    def tenant(self) -> resources.Tenant | None:
        """The tenant; None for a project that is none."""
        found = api.require(
            self.request,
            lambda client: client.list_tenants(self.pcloud_id), self.page)
        return next((each for each in found
                     if each.project_id == self.project_id), None)

    @property
    def subject(self) -> str:
        """The name of the project; the id where the API tells no name."""
        return (self.tenant and self.tenant.name) or self.project_id


class TenantForm(pcloud_forms.PcloudForm):
    """A form about a tenant."""

    @property
    def project_id(self) -> str:
        """The id of the project."""
        return self.at['project_id']

    def title(self, client: v1.Client) -> str:
        """Return what the user calls the project. One call of the API."""
        found = [each.name for each in client.list_tenants(self.pcloud.id)
                 if each.project_id == self.project_id]
        return (found and found[0]) or self.project_id


class CapsForm(TenantForm):
    """The most that a tenant may use."""

    max_servers = forms.IntegerField(
        label=_('Most Instances'), min_value=0, required=False)
    max_vcpus = forms.IntegerField(
        label=_('Most vCPUs'), min_value=0, required=False)
    max_memory_mb = forms.IntegerField(
        label=_('Most Memory (MiB)'), min_value=0, required=False)

    def send(self, client: v1.Client, data: dict) -> str:
        """Set the caps, in place of all that were set before."""
        client.cap_tenant(self.pcloud.id, self.project_id,
                          **{name: data[name] for name in CAPS})
        return gettext('The caps of %s were saved.') % self.title(client)


class CapsView(TenantView):
    """A dialog with the caps of a tenant. Two calls of the API."""

    form_class = CapsForm
    route = 'cap_tenant'
    modal_header = _('Caps of a Tenant')
    submit_label = _('Save')
    help_text = _(
        'A launch, an unshelving or a resize beyond a cap is refused. Empty: '
        'no cap. What is used already stays, also where it is more.')

    def get_initial(self) -> dict:
        """Return the present caps."""
        tenant = self.tenant
        return {name: getattr(tenant, name) for name in CAPS} if tenant else {}


class RemoveForm(pcloud_forms.ForcedForm, TenantForm):
    """The user confirms that a project is to be removed."""

    def send(self, client: v1.Client, data: dict) -> str:
        """Let the project start no more servers in the Pcloud."""
        title = self.title(client)
        client.remove_tenant(self.pcloud.id, self.project_id,
                             force=data['force'])
        return gettext('%s is a tenant no more.') % title


class RemoveView(TenantView):
    """A dialog that asks whether a project is to be removed."""

    form_class = RemoveForm
    route = 'remove_tenant'
    modal_header = _('Remove Tenant')
    help_text = _(
        'The project can launch no more instances in the Pcloud. Instances '
        'that it has there keep running, and its hosts are not empty while '
        'they do.')
