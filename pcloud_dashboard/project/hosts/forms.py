# SPDX-License-Identifier: Apache-2.0

"""The forms about hosts of a Pcloud."""

import json
import typing

from django.core import exceptions
from django import http
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from horizon import forms
from horizon import messages

from pcloud_dashboard import api
from pcloud_dashboard import fields
from pcloud_dashboard.project import forms as pcloud_forms
from pcloud_dashboard.project.hosts import drains
from pcloud_dashboard.project.hosts import names as host_names
from pcloud_dashboard import shown

from pcloud.client import resources
from pcloud.client import v1

# The choice that leaves the host flavor to the API.
BY_REQUIREMENT = ''
MOST_HOSTS = 50


class AddHostsForm(pcloud_forms.PcloudForm):
    """Which hosts are to join, how many, and their names."""

    host_flavor = forms.ChoiceField(
        label=_('Kind of host'), required=False)
    constraints = forms.CharField(
        label=_('Requirement'), required=False,
        widget=forms.TextInput(attrs={'placeholder': 'cpu=16 ram=64G'}))
    availability_zone = forms.ChoiceField(
        label=_('Availability Zone'), required=False)
    count = forms.IntegerField(
        label=_('Number of Hosts'), min_value=1, max_value=MOST_HOSTS,
        initial=1)
    name = forms.CharField(
        label=_('Name'), initial='host-{n}', max_length=63,
        help_text=_('{n} at the end stands for the next free number.'))
    until = fields.MomentField(
        label=_('Keep Until'), required=False, help_text=_(
            'The hosts are drained then, and leave. Empty: no date.'))
    move = forms.ChoiceField(
        label=_('Instances Then'), required=False,
        choices=list(shown.MOVES.items()))
    wait_until = fields.MomentField(
        label=_('Wait Until'), required=False, help_text=_(
            'While no host of the kind is free, the Pcloud waits for one '
            'until then. Empty: it does not wait.'))
    enable = forms.BooleanField(
        label=_('Enable them immediately'), required=False, initial=True,
        help_text=_('Instances start on enabled hosts alone.'))

    def __init__(self, request: http.HttpRequest, *args: typing.Any,
                 flavors: list[resources.HostFlavor], zones: list[str],
                 taken: list[str], **kwargs: typing.Any) -> None:
        super().__init__(request, *args, **kwargs)
        self._taken = taken
        self.fields['host_flavor'].choices = [
            *((flavor.id, flavor.id) for flavor in flavors),
            (BY_REQUIREMENT, _('By requirement'))]
        self.fields['availability_zone'].choices = [
            ('', _('Any zone')), *((zone, zone) for zone in zones)]

    def clean(self) -> dict:
        """Require a host flavor or a requirement."""
        data = super().clean()
        if not data.get('host_flavor') and not data.get('constraints'):
            raise exceptions.ValidationError(gettext(
                'Choose a kind of host, or write what the host must have.'))
        if data.get('wait_until') and not data.get('host_flavor'):
            raise exceptions.ValidationError(gettext(
                'A Pcloud waits for a kind of host; choose one.'))
        return data

    def clean_name(self) -> str:
        """Refuse a number that is not at the end."""
        name = self.cleaned_data['name']
        if not host_names.is_pattern(name):
            raise exceptions.ValidationError(gettext(
                '{n} stands at the end, after a hyphen, as in host-{n}.'))
        beginning = host_names.beginning(name, 2) or ''
        fields.host_name(f'{beginning}-1' if name != beginning else name)
        return name

    def handle(self, request: http.HttpRequest, data: dict) -> bool:
        """Add all hosts or none, and enable the hosts.

        Where the Pcloud is to wait, hosts come one by one.
        """
        client = api.client(request)
        names: list[str] = []
        waiting: list[str] = []
        try:
            if data['wait_until']:
                self._add_or_wait(client, data, names, waiting)
            else:
                names += [host.name for host in self._add(client, data)]
        except api.FAILURES as error:
            if not names and not waiting:
                self.api_error(api.words(error))
                return False
            messages.error(request, api.words(error))
        if names:
            messages.success(
                request, gettext('Added: %s.') % ', '.join(names))
        if waiting:
            messages.info(request, gettext(
                'No host is free for %s yet. The Pcloud waits; a host that '
                'comes is disabled at first.') % ', '.join(waiting))
        try:
            for name in names if data['enable'] else ():
                client.set_host_state(self.pcloud.id, name, 'enabled')
        except api.FAILURES as error:
            messages.error(request, gettext(
                'The hosts were added. Not all are enabled: %s')
                % api.words(error))
        return True

    def _add_or_wait(self, client: v1.Client, data: dict,
                     names: list[str], waiting: list[str]) -> None:
        """Add hosts, or entries in the waiting list, one by one.

        :param names: the names of hosts that are added; grows, likewise
            waiting, the names of hosts that are waited for
        """
        beginning = host_names.beginning(data['name'], data['count'])
        wanted = [data['name']]
        if beginning is not None:
            first = host_names.first(beginning, self._taken)
            wanted = [f'{beginning}-{number}' for number
                      in range(first, first + data['count'])]
        for name in wanted:
            found = client.add_or_wait_for_host(
                self.pcloud.id, name, data['host_flavor'],
                fields.written(data['wait_until']) or '',
                data['availability_zone'] or None, **_end(data))
            (waiting if found.host is None else names).append(name)

    def _add(self, client: v1.Client, data: dict) -> list[resources.Host]:
        by_flavor = bool(data['host_flavor'])
        wanted = {
            'host_flavor': data['host_flavor'] or None,
            'constraints': None if by_flavor else data['constraints'],
            'availability_zone': data['availability_zone'] or None,
            **_end(data)}
        name = host_names.beginning(data['name'], data['count'])
        if name is None:
            return [client.add_host(self.pcloud.id, data['name'], **wanted)]
        return client.add_hosts(
            self.pcloud.id, name, data['count'],
            host_names.first(name, self._taken), **wanted)


def _end(data: dict) -> dict[str, str | None]:
    """Return when hosts are to leave, as the client takes it."""
    if not data['until']:
        return {}
    return {'until': fields.written(data['until']),
            'move': data['move'] or None}


class HostForm(pcloud_forms.PcloudForm):
    """A form about one host."""

    @property
    def host_name(self) -> str:
        """The name of the host."""
        return self.at['name']


class RemoveForm(HostForm):
    """Nothing to fill in: the user confirms."""

    def send(self, client: v1.Client, data: dict) -> str:
        """Give the host back."""
        client.remove_host(self.pcloud.id, self.host_name)
        return gettext('%s has left the Pcloud.') % self.host_name


class DrainForm(HostForm):
    """How a host is to be emptied.

    The form is sent twice: first the user is shown what would happen, and
    then the same wish begins the drain.

    :ivar preview: what would happen, in sentences; empty until it was asked
    """

    data: typing.Any

    move = forms.ChoiceField(label=_('Instances'))
    release = forms.BooleanField(
        label=_('Remove the host when it is empty'), required=False)
    deadline = fields.MomentField(
        label=_('Move until'), required=False,
        help_text=_('Instances that are left then stay on the host. Nothing '
                    'is ever stopped or deleted.'))
    # The wish whose outcome the user has seen.
    seen = forms.CharField(required=False, widget=forms.HiddenInput)

    def __init__(self, request: http.HttpRequest, *args: typing.Any,
                 moves: list[str], **kwargs: typing.Any) -> None:
        super().__init__(request, *args, **kwargs)
        self.preview: list[str] = []
        self.fields['move'].choices = [
            (each, shown.MOVES[each]) for each in moves]

    @property
    def names(self) -> list[str]:
        """The names of the hosts that are drained together."""
        return [self.host_name]

    def handle(self, request: http.HttpRequest, data: dict) -> typing.Any:
        """Show what would happen, or begin what the user has been shown."""
        mark = json.dumps(wish(data))
        if data['seen'] == mark:
            return super().handle(request, data)
        try:
            self.preview = self._forecast(request, data)
        except api.FAILURES as error:
            self.api_error(api.words(error))
            return False
        self.data = {**self.data.dict(), 'seen': mark}
        return False

    def _forecast(self, request: http.HttpRequest, data: dict) -> list[str]:
        """Return what would happen, with the host where there are several."""
        client = api.client(request)
        hosts = []
        for name in self.names:
            others = [each for each in self.names if each != name]
            hosts.append(client.drain_host(
                self.pcloud.id, name, dry_run=True,
                together_with=others or None, **wish(data)))
        names = api.server_names(request) if any(
            host.instances for host in hosts) else {}
        return [
            sentence if len(hosts) == 1 else f'{host.name}: {sentence}'
            for host in hosts
            for sentence in drains.forecast(host.drain or {}, names)]

    def send(self, client: v1.Client, data: dict) -> typing.Any:
        """Begin the drain."""
        client.drain_host(self.pcloud.id, self.host_name, **wish(data))
        return gettext('%s is being drained.') % self.host_name


def moves(may_move: bool) -> list[str]:
    """Return what the user may have done to the servers, best first.

    :param may_move: whether the policies let the user have servers moved
    """
    return ['live', 'any', 'none'] if may_move else ['none']


def wish(data: dict) -> dict[str, typing.Any]:
    """Return a drain as the client takes it."""
    return {'move': data['move'], 'release': data['release'] or None,
            'deadline': fields.written(data['deadline'])}
