# SPDX-License-Identifier: Apache-2.0

"""The tabs of a Pcloud's page."""

from collections.abc import Iterable
import dataclasses
import typing

from django import http
from django.middleware import csrf
from django.utils.translation import gettext_lazy as _
from horizon import exceptions as horizon_exceptions
from horizon import tabs

from pcloud_dashboard import api
from pcloud_dashboard import policies
from pcloud_dashboard.project.hosts import listing
from pcloud_dashboard.project.hosts import sizes
from pcloud_dashboard.project import pages
from pcloud_dashboard.project.planning import bundles
from pcloud_dashboard.project.planning import changes
from pcloud_dashboard.project.planning import failures
from pcloud_dashboard.project.planning import fit
from pcloud_dashboard.project.planning import moves
from pcloud_dashboard.project import settings
from pcloud_dashboard.project.tenancy import shares
from pcloud_dashboard.project import waits
from pcloud_dashboard import shown
from pcloud_dashboard.words import reasons
from pcloud_dashboard.words import refusals

from pcloud.client import plan_resources
from pcloud.client import resources


class PcloudTab(tabs.Tab):
    """A tab that makes its calls when the tab is opened.

    A tenant that does not own the Pcloud is shown nothing of it.
    """

    preload = False

    @property
    def pcloud(self) -> resources.Pcloud:
        """The Pcloud of the page."""
        return self.tab_group.kwargs['pcloud']

    def allowed(self, request: http.HttpRequest) -> bool:
        """Return whether the API shows the user the hosts of the Pcloud."""
        return self.pcloud.host_count is not None

    def allows(self, rule: str) -> bool:
        """Return whether the user may do what a rule is about."""
        return policies.allows(self.request, rule, self.pcloud.owner)

    @property
    def rights(self) -> changes.Rights:
        """Which of the changes that would help the user may make."""
        return changes.Rights(self.allows(policies.UPDATE_HOST),
                              self.allows(policies.ADD_HOST))

    def get_context_data(self, request: http.HttpRequest,
                         **kwargs: typing.Any) -> dict:
        """Return what the template shows; a message when the API fails."""
        try:
            found = self.find(request)
        except api.FAILURES as error:
            return {'pcloud': self.pcloud, 'failure': api.words(error),
                    'reference': refusals.reference(error)}
        # Horizon draws a tab without the request, and so without a token.
        return {'pcloud': self.pcloud, 'csrf_token': csrf.get_token(request),
                **found}

    def find(self, request: http.HttpRequest) -> dict:
        """Return what the template shows beside the Pcloud."""
        raise NotImplementedError


class HostsTab(PcloudTab):
    """The hosts: states, what is used, servers, and what can be done."""

    name = _('Hosts')
    slug = 'hosts'
    template_name = 'pcloud_dashboard/project/_hosts.html'

    def find(self, request: http.HttpRequest) -> dict:
        """Return the hosts, and what the Pcloud waits for.

        Two calls of the API, and three of Nova's own.
        """
        found = api.client(request).list_hosts(self.pcloud.id)
        own = scale(request, found)
        hosts = [sizes.to_scale(host, own) for host in shown.hosts(
            found, self.pcloud,
            {server: each.name for server, each in own.items()})]
        wanted = listing.asked(request.GET)
        listed = [host for host in hosts if wanted.takes(host)]
        servers = listing.unplaced(api.unplaced_servers(
            request, self.pcloud.id), self.pcloud)
        return {
            'hosts': hosts, 'filter': wanted,
            'choices': listing.choices(hosts), 'listed': listed,
            'groups': listing.by_place(listed, lambda host: (
                host.availability_zone, host.rack)),
            'unplaced': servers,
            'is_pending': listing.is_pending(hosts, servers),
            'asked': pages.question('hosts', **{
                f'host_{member}': value for member, value
                in dataclasses.asdict(wanted).items() if value}),
            'may_add': self.allows(policies.ADD_HOST),
            **self._waiting(request), **host_rights(request, self.pcloud)}

    def _waiting(self, request: http.HttpRequest) -> dict:
        """Return what the Pcloud waits for; a message when the API fails."""
        if not self.allows(policies.WAITING):
            return {}
        try:
            found = api.client(request).list_waiting(self.pcloud.id)
        except api.FAILURES as error:
            return {'waiting_failure': api.words(error)}
        return {'waiting': waits.entries(found, {}, {}),
                'may_cancel': self.allows(policies.CANCEL_WAITING)}


def scale(request: http.HttpRequest, hosts: Iterable[resources.Host],
          ) -> dict[str, sizes.ServerSize]:
    """Return the servers of the project with their sizes, by id.

    Two calls of Nova's own, none where the hosts have no servers.
    """
    if not any(host.instances for host in hosts):
        return {}
    return sizes.sizes(api.own_servers(request), api.flavors(request))


def host_rights(request: http.HttpRequest,
                pcloud: resources.Pcloud) -> dict[str, bool]:
    """Return which buttons of a host the user sees."""
    return {
        'may_update': policies.allows(
            request, policies.UPDATE_HOST, pcloud.owner),
        'may_remove': policies.allows(
            request, policies.REMOVE_HOST, pcloud.owner)}


class FitTab(PcloudTab):
    """How many more servers fit, and what stands in the way."""

    name = _('Fit')
    slug = 'fit'
    template_name = 'pcloud_dashboard/project/_fit.html'

    def find(self, request: http.HttpRequest) -> dict:
        """Return the pictures for a flavor.

        Two calls of the API, one more for a bundle, and two of Nova's own.
        """
        flavors = api.flavors(request)
        wanted = request.GET.get('flavor')
        flavor = next((each for each in flavors if each.id == wanted),
                      flavors[0] if flavors else None)
        if flavor is None:
            return {'flavors': []}
        client = api.client(request)
        explanation = client.explain(self.pcloud.id, flavor.id)
        hosts = client.list_hosts(self.pcloud.id)
        return {
            **self._bundle(request, {each.id: each.name
                                     for each in flavors}),
            'flavors': flavors, 'flavor': flavor,
            'explanation': explanation,
            'silent': [
                each.params.get('filter') or reasons.spoken(each, 'text')
                for each in explanation.not_explained],
            'refused': explanation.refused and reasons.spoken(
                explanation, 'refused'),
            'groups': self._groups(request, flavors, flavor, explanation,
                                   hosts),
            'changes': changes.of_explanation(
                explanation, self.rights,
                {each.id: each.name for each in flavors}),
            'back': pages.question('fit', flavor=flavor.id)}

    def _groups(
        self, request: http.HttpRequest, flavors: list, flavor: typing.Any,
        explanation: plan_resources.Explanation, hosts: list[resources.Host],
    ) -> list[fit.Group]:
        """Return the pictures of the hosts, in groups where there are many."""
        own = sizes.sizes(api.own_servers(request), flavors) if any(
            host.instances for host in hosts) else {}
        pictures = fit.pictures(
            explanation, hosts, self.pcloud, sizes.needs(flavor), own)
        return [fit.Group(title, group) for title, group in listing.by_place(
            pictures, lambda picture: (picture.zone, picture.rack))]

    def _bundle(self, request: http.HttpRequest,
                names: dict[str, str]) -> dict:
        """Return the lines of the bundle, and the answer to a question."""
        lines = bundles.lines(request.GET)
        hosts = bundles.hosts(request.GET)
        found = {'bundle': lines, 'bundle_hosts': hosts}
        asked = bundles.asked(lines)
        if not asked:
            return found
        try:
            simulation = api.client(request).simulate(
                self.pcloud.id, asked, **hosts)
        except api.FAILURES as error:
            return {**found, 'bundle_failure': api.words(error)}
        return {**found,
                'bundle_answer': bundles.answer(simulation, names),
                'bundle_changes': changes.of_simulation(
                    simulation, self.rights),
                'bundle_back': pages.question('fit', **{
                    name: request.GET.getlist(name)
                    for name in ('flavor', *bundles.MEMBERS)})}


class FailuresTab(PcloudTab):
    """Which hosts or racks may fail, and what would help."""

    name = _('Failures')
    slug = 'failures'
    template_name = 'pcloud_dashboard/project/_failures.html'

    def find(self, request: http.HttpRequest) -> dict:
        """Return the answer, and who takes over.

        Two calls of the API, one more for each of a few hosts, and perhaps
        one of Nova's own.
        """
        client = api.client(request)
        lose = request.GET.get('lose', 'host')
        rehearsal = client.rehearse(self.pcloud.id, lose)
        hosts = client.list_hosts(self.pcloud.id)
        names = api.server_names(
            request) if rehearsal.refused_servers else {}
        return {'lose': lose, 'losable': failures.LOSABLE.items(),
                'answer': failures.answer(rehearsal, lose, names),
                'matrix': failures.matrix(
                    rehearsal, [host.name for host in hosts],
                    self._drains(request, rehearsal)),
                'changes': changes.of_rehearsal(
                    rehearsal, hosts, self.rights),
                'back': pages.question('failures', lose=lose)}

    def _drains(self, request: http.HttpRequest,
                rehearsal: plan_resources.Rehearsal) -> dict[str, typing.Any]:
        """Return where the servers of hosts would go; nothing is changed."""
        found: dict[str, typing.Any] = {}
        if not self.allows(policies.UPDATE_HOST):
            return found
        asked = failures.to_ask(rehearsal, request.GET.get('of', ''))
        try:
            for name in asked:
                found[name] = api.client(request).drain_host(
                    self.pcloud.id, name, dry_run=True, move='any',
                ).drain or {}
        except api.FAILURES as error:
            horizon_exceptions.handle(request, api.words(error), ignore=True)
        return found


class MovesTab(PcloudTab):
    """Which servers to move so that hosts become empty, or others fit."""

    name = _('Moves')
    slug = 'moves'
    template_name = 'pcloud_dashboard/project/_moves.html'

    def get_context_data(self, request: http.HttpRequest,
                         **kwargs: typing.Any) -> dict:
        """Return what the template shows, with the form if the API fails."""
        question = moves.question(request.GET)
        return {**super().get_context_data(request, **kwargs),
                'flavors': api.flavors(request), 'question': question,
                'asked': pages.question(
                    'moves', **dataclasses.asdict(question))}

    def find(self, request: http.HttpRequest) -> dict:
        """Return a plan; two calls of the API, and two of Nova's own."""
        rebalance = api.client(request).plan_rebalance(
            self.pcloud.id, **moves.question(request.GET).wish)
        names = api.server_names(request) if (
            rebalance.moves or rebalance.under_way or rebalance.pinned
        ) else {}
        hosts = api.client(request).list_hosts(
            self.pcloud.id) if rebalance.moves else []
        return {'plan': moves.plan(rebalance, names),
                'stacks': moves.stacks(rebalance, hosts, names),
                'may_move': self.allows(policies.MOVE)}


class TenantsTab(PcloudTab):
    """The projects that may start servers in the Pcloud."""

    name = _('Tenants')
    slug = 'tenants'
    template_name = 'pcloud_dashboard/project/_tenants.html'

    def find(self, request: http.HttpRequest) -> dict:
        """Return the tenants by name, with what they use.

        Two calls of the API, and one of Keystone. What is used is left out
        while a part of the cloud does not answer.
        """
        client = api.client(request)
        tenants = client.list_tenants(self.pcloud.id)
        found: dict[str, typing.Any] = {}
        use = None
        if self.allows(policies.PCLOUD_USAGE):
            try:
                use = client.get_pcloud_use(self.pcloud.id)
            except api.FAILURES as error:
                found['use_failure'] = api.words(error)
        return {
            **found,
            'tenants': shares.tenants(self.pcloud, tenants, use,
                                      api.project_names(request)),
            'may_add': self.allows(policies.ADD_TENANT),
            'may_remove': self.allows(policies.REMOVE_TENANT)}


class SettingsTab(PcloudTab):
    """Name, ratios, requirements, keys and the default Pcloud."""

    name = _('Settings')
    slug = 'settings'
    template_name = 'pcloud_dashboard/project/_settings.html'

    def find(self, request: http.HttpRequest) -> dict:
        """Return the settings; two calls of the API, or three."""
        client = api.client(request)
        policy = client.get_effective_policy('pcloud', self.pcloud.id)
        return {
            'policy': policy,
            'requirements': [(each, settings.level(each.source))
                             for each in policy.effective or ()],
            'default': self._default(request.user.project_id),
            'at_maintenance': shown.at_maintenance(self.pcloud),
            'at_failure': shown.RECOVERY.get(
                self.pcloud.host_recovery, shown.RECOVERY[None]),
            'may_update': self.allows(policies.UPDATE),
            'may_update_policy': self.allows(policies.UPDATE_POLICY),
            'may_set_default': policies.allows(
                request, policies.SET_DEFAULT)}

    def _default(self, project_id: str) -> settings.Default:
        client = api.client(self.request)
        found = client.get_default_pcloud(project_id)
        others = client.list_pclouds() if found.pcloud not in (
            None, self.pcloud.id) else ()
        return settings.default(
            found, self.pcloud, {each.id: each.name for each in others})


class PcloudTabs(tabs.TabGroup):
    """The tabs of a Pcloud's page."""

    slug = 'pcloud'
    tabs = (HostsTab, FitTab, FailuresTab, MovesTab, TenantsTab, SettingsTab)
    sticky = True
    show_single_tab = True
