# SPDX-License-Identifier: Apache-2.0

"""What the owner does with several hosts at once."""

from collections.abc import Callable
from collections.abc import Iterable
import typing
from urllib import parse

from django import http
from django.utils.functional import cached_property
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext
from django.views import generic
from horizon import messages

from pcloud_dashboard import api
from pcloud_dashboard import policies
from pcloud_dashboard.project import forms as pcloud_forms
from pcloud_dashboard.project.hosts import forms
from pcloud_dashboard.project import pages
from pcloud_dashboard import shown

from pcloud.client import v1

# The most hosts of a form: each host takes calls of the API.
MOST = 100


def each(names: Iterable[str], call: Callable[[str], typing.Any],
         ) -> tuple[list[str], list[str]]:
    """Make a call for each host.

    :returns: the names of the hosts where the call was made, and a sentence
        for each host where it was refused
    """
    done, refused = [], []
    for name in names:
        try:
            call(name)
            done.append(name)
        except api.FAILURES as error:
            refused.append(gettext('%(host)s: %(words)s') % {
                'host': name, 'words': api.words(error)})
    return done, refused


def tell(request: http.HttpRequest, words: str, refused: list[str]) -> None:
    """Show what was done, and what was refused.

    :param words: '' where nothing was done
    """
    if words:
        messages.success(request, words)
    if refused:
        messages.error(request, ' '.join(refused))


class BulkView(pages.OfPcloud, generic.View):
    """Enables or disables hosts, or leads to the question before more."""

    http_method_names = ['post']

    def post(self, request: http.HttpRequest,
             **kwargs: typing.Any) -> http.HttpResponse:
        """Do what the button that was pressed says."""
        names = request.POST.getlist('host')[:MOST]
        wanted = request.POST.get('action', '')
        if not names:
            messages.info(request, gettext('No host is chosen.'))
        elif wanted in ('drain', 'remove'):
            query = parse.urlencode({
                'host': names, 'back': request.GET.get('back', '')},
                doseq=True)
            return http.HttpResponseRedirect(pages.own_address(
                f'{wanted}_hosts', self.pcloud_id) + f'?{query}')
        else:
            self._set(names, 'enabled' if wanted == 'enable' else 'disabled')
        return http.HttpResponseRedirect(self.page)

    def _set(self, names: list[str],
             state: typing.Literal['enabled', 'disabled']) -> None:
        client = api.client(self.request)
        done, refused = each(names, lambda name: client.set_host_state(
            self.pcloud_id, name, state))
        words = ''
        if done and state == 'enabled':
            words = ngettext('%d host is enabled.', '%d hosts are enabled.',
                             len(done)) % len(done)
        elif done:
            words = ngettext('%d host is disabled.',
                             '%d hosts are disabled.', len(done)) % len(done)
        tell(self.request, words, refused)


class HostsFormView(pages.PcloudFormView):
    """A form about the hosts that the address names."""

    @property
    def names(self) -> list[str]:
        """The names of the hosts."""
        return self.request.GET.getlist('host')[:MOST]

    @cached_property
    def hosts(self) -> list[shown.ShownHost]:
        """The hosts that are still there. One call of the API."""
        found = api.require(
            self.request, lambda client: client.list_hosts(self.pcloud_id),
            self.page)
        return shown.hosts(
            [host for host in found if host.name in self.names],
            self.pcloud, {})

    def get_form_kwargs(self) -> dict:
        """Return the arguments of the form, with the hosts."""
        return {**super().get_form_kwargs(), 'hosts': self.hosts}

    def get_context_data(self, **kwargs: typing.Any) -> dict:
        """Return what the template shows."""
        return super().get_context_data(hosts=self.hosts, **kwargs)


class RemoveHostsForm(pcloud_forms.PcloudForm):
    """Nothing to fill in: the user confirms."""

    def __init__(self, *args: typing.Any, hosts: list[shown.ShownHost],
                 **kwargs: typing.Any) -> None:
        self.hosts = hosts
        super().__init__(*args, **kwargs)

    def handle(self, request: http.HttpRequest, data: dict) -> bool:
        """Give back the hosts that nothing stands in the way of."""
        client = api.client(request)
        done, refused = each(
            [host.name for host in self.hosts if not host.blockers],
            lambda name: client.remove_host(self.pcloud.id, name))
        tell(request, ngettext(
            '%d host has left the Pcloud.', '%d hosts have left the Pcloud.',
            len(done)) % len(done) if done else '', refused)
        return True


class RemoveHostsView(HostsFormView):
    """A dialog that tells which hosts can leave, and asks."""

    form_class = RemoveHostsForm
    template_name = 'pcloud_dashboard/project/remove_hosts.html'
    route = 'remove_hosts'
    modal_header = _('Remove Hosts')


class DrainHostsForm(forms.DrainForm):
    """How several hosts are to be emptied."""

    def __init__(self, *args: typing.Any, hosts: list[shown.ShownHost],
                 **kwargs: typing.Any) -> None:
        self.hosts = hosts
        super().__init__(*args, **kwargs)

    @property
    def names(self) -> list[str]:
        """The names of the hosts."""
        return [host.name for host in self.hosts]

    def send(self, client: v1.Client, data: dict) -> bool:
        """Begin the drains."""
        done, refused = each(self.names, lambda name: client.drain_host(
            self.pcloud.id, name, **forms.wish(data)))
        tell(self.request, ngettext(
            '%d host is being drained.', '%d hosts are being drained.',
            len(done)) % len(done) if done else '', refused)
        return True


class DrainHostsView(HostsFormView):
    """A dialog that asks how hosts are to be emptied, and tells the outcome.

    A call of the API for each host.
    """

    form_class = DrainHostsForm
    template_name = 'pcloud_dashboard/project/drain_host.html'
    route = 'drain_hosts'
    modal_header = _('Drain Hosts')
    help_text = _(
        'No new instances start on the hosts. A host is empty when the last '
        'instance has moved or has been deleted; enabling or disabling the '
        'host ends the drain.')

    def get_form_kwargs(self) -> dict:
        """Return the arguments of the form, with what may be moved."""
        return {**super().get_form_kwargs(),
                'moves': forms.moves(self.allows(policies.MOVE))}
