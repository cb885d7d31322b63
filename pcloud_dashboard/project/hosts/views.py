# SPDX-License-Identifier: Apache-2.0

"""What the owner does with the hosts of a Pcloud."""

import typing

from django import http
from django.template import loader
from django.utils.functional import cached_property
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from django.views import generic
from horizon import messages
from horizon.utils import http as horizon_http

from pcloud_dashboard import api
from pcloud_dashboard import policies
from pcloud_dashboard.project.hosts import forms as host_forms
from pcloud_dashboard.project.hosts import names as host_names
from pcloud_dashboard.project.hosts import sizes
from pcloud_dashboard.project import pages
from pcloud_dashboard.project.planning import changes
from pcloud_dashboard.project import tabs
from pcloud_dashboard import shown

from pcloud.client import resources
from pcloud.client import v1


# The states that a switch sets, and what the user is told then.
_STATES = {
    'enabled': _('%s is enabled: new instances may start there.'),
    'disabled': _('%s is disabled: no new instances start there.'),
    'spare': _('%s is a spare: no instances start there until another host '
               'of its kind is away.')}


class AddHostsView(pages.PcloudFormView):
    """A dialog with the kinds of hosts as cards. Four calls of the API."""

    form_class = host_forms.AddHostsForm
    template_name = 'pcloud_dashboard/project/add_hosts.html'
    route = 'add_hosts'
    modal_header = _('Add Hosts')

    @cached_property
    def flavors(self) -> list[resources.HostFlavor]:
        """The host flavors; none, with a message, when the API fails."""
        return sorted(
            api.ask_all(self.request, v1.Client.list_host_flavors),
            key=lambda flavor: (flavor.units, flavor.id))

    @cached_property
    def taken(self) -> list[str]:
        """The names of the hosts of the Pcloud."""
        return [host.name for host in api.ask_all(
            self.request,
            lambda client: client.list_hosts(self.pcloud_id))]

    def get_initial(self) -> dict:
        """Return what the address asks for, else the first free kind."""
        asked = self.request.GET.get('host_flavor')
        count = self.request.GET.get('count', '')
        free = [flavor.id for flavor in self.flavors
                if any(flavor.available.values())]
        return {**super().get_initial(),
                'host_flavor': asked or next(iter(free), ''),
                **({'count': count} if count.isdecimal() else {})}

    def get_form_kwargs(self) -> dict:
        """Return the arguments of the form."""
        return {**super().get_form_kwargs(), 'flavors': self.flavors,
                'zones': api.zones(self.flavors), 'taken': self.taken}

    def get_context_data(self, **kwargs: typing.Any) -> dict:
        """Return what the template shows."""
        return super().get_context_data(
            cards=[{'flavor': flavor,
                    'free': sum(flavor.available.values()),
                    'zones': ' '.join(f'{zone}:{free}' for zone, free
                                      in flavor.available.items() if free),
                    'memory': shown.memory(flavor.memory_mb)
                    if flavor.memory_mb else None}
                   for flavor in self.flavors],
            quota=self._quota(), taken=self.taken, pcloud=self.pcloud,
            **kwargs)

    def _quota(self) -> resources.Quota | None:
        """Return the quota of the owner, which counts the hosts."""
        return api.ask(
            self.request,
            lambda client: client.get_quota(self.pcloud.owner))


class ProgressView(pages.OfPcloud, generic.View):
    """How many hosts there are, for a page that waits for more."""

    http_method_names = ['get']

    def get(self, request: http.HttpRequest,
            **kwargs: typing.Any) -> http.HttpResponse:
        """Answer with numbers. One call of the API."""
        try:
            hosts = api.client(request).list_hosts(self.pcloud_id)
        except api.FAILURES as error:
            return http.JsonResponse({'failure': api.words(error)})
        return http.JsonResponse({
            'hosts': len(hosts),
            'enabled': sum(host.state == 'enabled' for host in hosts)})


class StateView(pages.OfPcloud, generic.View):
    """Enables or disables a host, for a switch on the page."""

    http_method_names = ['post']

    def post(self, request: http.HttpRequest,
             **kwargs: typing.Any) -> http.HttpResponse:
        """Set the state; answer with the row of the host, or the page."""
        asked = request.POST.get('state', '')
        wanted = asked if asked in _STATES else 'disabled'
        try:
            host = api.client(request).set_host_state(
                self.pcloud_id, kwargs['name'], wanted)
        except api.FAILURES as error:
            return self._failed(api.words(error))
        words = _STATES[wanted] % host.name
        if horizon_http.is_ajax(request):
            return http.JsonResponse(
                {'message': words, 'row': self._row(host)})
        messages.success(request, words)
        return http.HttpResponseRedirect(self.page)

    def _failed(self, words: str) -> http.HttpResponse:
        if horizon_http.is_ajax(self.request):
            # The browser's console counts an answer of 4xx as an error.
            return http.JsonResponse({'failure': words})
        messages.error(self.request, words)
        return http.HttpResponseRedirect(self.page)

    def _row(self, changed: resources.Host) -> str:
        # The answer to a change does not tell what the host is.
        host = api.ask(self.request, lambda client: client.get_host(
            self.pcloud_id, changed.name)) or changed
        own = tabs.scale(self.request, [host])
        row = shown.host(host, self.pcloud, {
            server: each.name for server, each in own.items()})
        return loader.render_to_string(
            'pcloud_dashboard/project/_host.html', {
                'host': sizes.to_scale(row, own),
                'pcloud': self.pcloud,
                **tabs.host_rights(self.request, self.pcloud)},
            self.request)


class HostFormView(pages.PcloudFormView):
    """A form about one host."""

    @cached_property
    def host(self) -> shown.ShownHost:
        """The host; the user is sent to the page when there is none."""
        host = api.require(
            self.request, lambda client: client.get_host(
                self.pcloud_id, self.kwargs['name']), self.page)
        return shown.host(host, self.pcloud, {})

    def get_context_data(self, **kwargs: typing.Any) -> dict:
        """Return what the template shows."""
        return super().get_context_data(host=self.host, **kwargs)


class RemoveView(HostFormView):
    """A dialog that tells what stands in the way, and asks."""

    form_class = host_forms.RemoveForm
    template_name = 'pcloud_dashboard/project/remove_host.html'
    route = 'remove_host'
    submit_label = _('Remove Host')

    @property
    def modal_header(self) -> str:
        """The title, with the host's name."""
        return gettext('Remove %s') % self.kwargs['name']


class DrainView(HostFormView):
    """A dialog that asks how a host is to be emptied, and tells the outcome.

    Two calls of the API, three where the outcome is asked for.
    """

    form_class = host_forms.DrainForm
    template_name = 'pcloud_dashboard/project/drain_host.html'
    route = 'drain'
    submit_label = _('Drain Host')
    help_text = _(
        'No new instances start on the host. It is empty when the last '
        'instance has moved or has been deleted; enabling or disabling the '
        'host ends the drain.')

    @property
    def modal_header(self) -> str:
        """The title, with the host's name."""
        return gettext('Drain %s') % self.kwargs['name']

    @property
    def moves(self) -> list[str]:
        """What the user may have done to the servers, best first."""
        return host_forms.moves(self.allows(policies.MOVE))

    def get_form_kwargs(self) -> dict:
        """Return the arguments of the form."""
        return {**super().get_form_kwargs(), 'moves': self.moves}

    def get_initial(self) -> dict:
        """Return the present drain."""
        drain = self.host.drain or {}
        return {'move': drain.get('move', self.moves[0]),
                'release': drain.get('release', False),
                'deadline': self.host.drain_deadline}


class ChangeView(pages.OfPcloud, generic.View):
    """Does a change that would help, for a button on a tab."""

    tab = 'fit'
    http_method_names = ['post']

    def post(self, request: http.HttpRequest,
             **kwargs: typing.Any) -> http.HttpResponse:
        """Make the change, and show the tab again."""
        subject = request.POST.get('subject', '')
        try:
            if request.POST.get('change') == changes.ADD_HOST:
                name = self._add(subject)
            else:
                name = subject
            api.client(request).set_host_state(
                self.pcloud_id, name, 'enabled')
            messages.success(request, gettext(
                '%s is enabled: new instances may start there.') % name)
        except api.FAILURES as error:
            messages.error(request, api.words(error))
        return http.HttpResponseRedirect(self.page)

    def _add(self, host_flavor: str) -> str:
        client = api.client(self.request)
        taken = [host.name for host in client.list_hosts(self.pcloud_id)]
        name = f'{host_flavor}-{host_names.first(host_flavor, taken)}'
        return client.add_host(self.pcloud_id, name, host_flavor).name
