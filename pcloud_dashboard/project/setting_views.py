# SPDX-License-Identifier: Apache-2.0

"""What the owner sets for a Pcloud."""

import typing

from django.core import exceptions
from django.utils.functional import cached_property
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from horizon import forms

from pcloud_dashboard import api
from pcloud_dashboard import fields
from pcloud_dashboard.project import default_forms
from pcloud_dashboard.project import forms as pcloud_forms
from pcloud_dashboard.project import pages
from pcloud_dashboard import shown

from pcloud.client import exceptions as client_exceptions
from pcloud.client import resources
from pcloud.client import v1


SHRINK = ('after_hours', 'min_hosts', 'keep_spare')


class EditForm(pcloud_forms.PcloudForm):
    """Name, ratios, and what happens to hosts and servers."""

    name = fields.NameField(label=_('Name'))
    cpu_allocation_ratio = fields.RatioField(
        label=_('vCPU Ratio'), required=False, help_text=_(
            'How many vCPUs instances may have for each vCPU of a host. '
            'Empty: as the cloud has it.'))
    ram_allocation_ratio = fields.RatioField(
        label=_('Memory Ratio'), required=False, help_text=_(
            'The same for memory. Empty: as the cloud has it.'))
    maintenance_policy = forms.ChoiceField(
        label=_('At a Maintenance'), required=False, choices=[
            (value or '', words)
            for value, words in shown.MAINTENANCE.items()])
    host_recovery = forms.ChoiceField(
        label=_('When a Host Fails'), required=False, choices=[
            (value or '', words) for value, words in shown.RECOVERY.items()])
    after_hours = forms.IntegerField(
        label=_('Empty Hosts Leave After (Hours)'), min_value=1,
        required=False, help_text=_('Empty: no host leaves by itself.'))
    min_hosts = forms.IntegerField(
        label=_('Hosts That Stay'), min_value=0, required=False)
    keep_spare = forms.IntegerField(
        label=_('Empty Hosts That Stay'), min_value=0, required=False)
    # The ratio of which the user has been told what it leaves.
    seen = forms.CharField(required=False, widget=forms.HiddenInput)

    data: typing.Any

    def clean(self) -> dict:
        """Tell, before anything is saved, of a ratio that leaves nothing.

        Who saves the same ratio once more has read that.
        """
        data = super().clean()
        ratio = data.get('cpu_allocation_ratio')
        if (ratio and ratio < 1 and data.pop('seen', '') != str(ratio)
                and ratio != self.pcloud.cpu_allocation_ratio):
            useless = self._useless(ratio)
            if useless:
                self.data = {**self.data.dict(), 'seen': str(ratio)}
                raise exceptions.ValidationError(gettext(
                    'With this vCPU ratio less than one vCPU is left on '
                    '%s, so no instance starts there. Save again to save it '
                    'all the same.') % ', '.join(useless))
        data.pop('seen', None)
        return data

    def _useless(self, ratio: float) -> list[str]:
        """Return the hosts that have less than one vCPU by a ratio."""
        return sorted(
            (host.name for host in api.ask_all(
                self.request, lambda client: client.list_hosts(
                    self.pcloud.id))
             if host.vcpus is not None and host.vcpus * ratio < 1),
            key=shown.natural)

    def send(self, client: v1.Client, data: dict) -> str:
        """Change what differs."""
        shrink = {name: data[name] or 0 for name in SHRINK}
        wanted = {
            **{name: value for name, value in data.items()
               if name not in SHRINK},
            'maintenance_policy': data['maintenance_policy'] or None,
            'host_recovery': data['host_recovery'] or None,
            'shrink': shrink if shrink['after_hours'] else None}
        changes = {name: value for name, value in wanted.items()
                   if value != getattr(self.pcloud, name)}
        if changes:
            client.update_pcloud(self.pcloud.id, **changes)
        return gettext('The settings were saved.')


class EditView(pages.PcloudFormView):
    """A dialog with the settings of the Pcloud itself."""

    tab = 'settings'
    form_class = EditForm
    route = 'edit'
    modal_header = _('Edit Pcloud')
    submit_label = _('Save')

    def get_initial(self) -> dict:
        """Return the present settings."""
        return {**(self.pcloud.shrink or {}),
                **{name: getattr(self.pcloud, name) for name in (
                    'name', 'cpu_allocation_ratio', 'ram_allocation_ratio',
                    'maintenance_policy', 'host_recovery')}}


class RequirementsForm(pcloud_forms.PcloudForm):
    """Requirements and keys of the servers of a Pcloud."""

    constraints = forms.CharField(
        label=_('Requirements'), required=False,
        widget=forms.TextInput(attrs={'placeholder': 'ram=2G'}),
        help_text=_('What a host must have for an instance, as key=value, '
                    'with blanks between.'))
    customer_keys = forms.CharField(
        label=_('Placement Keys'), required=False,
        widget=forms.Textarea(attrs={'rows': 3}),
        help_text=_('One a line, each as NAME=VALUE:WEIGHT.'))

    def send(self, client: v1.Client, data: dict) -> str:
        """Replace the requirements and the keys."""
        client.update_policy(
            'pcloud', self.pcloud.id, constraints=data['constraints'],
            customer_keys=data['customer_keys'].split())
        return gettext('The settings were saved.')


class RequirementsView(pages.PcloudFormView):
    """A dialog with the requirements of the servers of a Pcloud."""

    tab = 'settings'
    form_class = RequirementsForm
    route = 'requirements'
    modal_header = _('Requirements of Instances')
    submit_label = _('Save')

    @cached_property
    def policy(self) -> resources.Policy | None:
        """The policy of the Pcloud; None where there is none yet."""
        try:
            return api.client(self.request).get_policy(
                'pcloud', self.pcloud_id)
        except client_exceptions.NotFound:
            return None
        except api.FAILURES as error:
            api.tell(self.request, error, redirect=self.page)
            raise

    def get_initial(self) -> dict:
        """Return the present values."""
        if self.policy is None:
            return {}
        return {'constraints': self.policy.constraints,
                'customer_keys': '\n'.join(self.policy.customer_keys)}


class DefaultForm(default_forms.ModeForm, pcloud_forms.PcloudForm):
    """How the Pcloud is the default of the user's project."""

    def send(self, client: v1.Client, data: dict) -> str:
        """Make the Pcloud the default of the project."""
        client.set_default_pcloud(
            self.pcloud.id, data['mode'], self.request.user.project_id,
            **self.growth(data))
        return gettext('The Pcloud is the default of the project now.')


class DefaultView(pages.PcloudFormView):
    """A dialog that makes the Pcloud the default of the project."""

    tab = 'settings'
    form_class = DefaultForm
    route = 'default'
    modal_header = _('Default Pcloud of the Project')
    submit_label = _('Make Default')

    def get_form_kwargs(self) -> dict:
        """Return the arguments of the form, with the host flavors."""
        return {**super().get_form_kwargs(), 'flavors': api.ask_all(
            self.request, v1.Client.list_host_flavors)}

    def get_initial(self) -> dict:
        """Return the present default, if the Pcloud is the default."""
        present = api.ask(
            self.request, lambda client: client.get_default_pcloud(
                self.request.user.project_id))
        if present is None or present.pcloud != self.pcloud_id:
            return {}
        return {name: getattr(present, name) for name in (
            'mode', 'host_flavor', 'availability_zone', 'max_hosts')}


class NoDefaultForm(pcloud_forms.PcloudForm):
    """Nothing to fill in: the user confirms."""

    def send(self, client: v1.Client, data: dict) -> str:
        """Remove what the project has set."""
        client.set_default_pcloud(None, project_id=(
            self.request.user.project_id))
        return gettext('The project has no default Pcloud now.')


class NoDefaultView(pages.PcloudFormView):
    """A dialog that asks whether the project is to have no default."""

    tab = 'settings'
    form_class = NoDefaultForm
    route = 'no_default'
    modal_header = _('No Default Pcloud')
    submit_label = _('Remove Default')
    help_text = _('Instances of the project that name no Pcloud start '
                  'outside of Pclouds then.')
