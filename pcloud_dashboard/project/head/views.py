# SPDX-License-Identifier: Apache-2.0

"""The head of a Pcloud's page, which is fetched after the page."""

from collections.abc import Callable
import typing

from django import http
from django import shortcuts
from django.views import generic

from pcloud_dashboard import api
from pcloud_dashboard.project.head import chips
from pcloud_dashboard.project.head import doughnuts
from pcloud_dashboard.project import pages

from pcloud.client import resources
from pcloud.client import v1

_Found = typing.TypeVar('_Found')


class HeadView(pages.OfPcloud, generic.View):
    """Doughnuts and chips.

    Four calls of the API, and one or two of Nova's own, however many hosts
    there are. Whatever the API does not answer is left out, and the head says
    so.
    """

    http_method_names = ['get']

    def get(self, request: http.HttpRequest,
            **kwargs: typing.Any) -> http.HttpResponse:
        """Answer with the head alone."""
        try:
            pcloud = api.client(request).get_pcloud(self.pcloud_id)
        except api.FAILURES as error:
            return self._drawn({'failures': [api.words(error)]})
        if pcloud.host_count is None:
            return self._drawn({})
        self.failures: list[str] = []
        hosts = self._ask(
            lambda client: client.list_hosts(pcloud.id)) or []
        quota = self._ask(lambda client: client.get_quota(pcloud.owner))
        found = [doughnuts.vcpus(hosts, pcloud),
                 doughnuts.memory(hosts, pcloud),
                 doughnuts.units(quota, pcloud) if quota else None]
        return self._drawn({
            'doughnuts': [each for each in found if each],
            'chips': self._chips(pcloud, hosts),
            'failures': list(dict.fromkeys(self.failures))})

    def _drawn(self, context: dict) -> http.HttpResponse:
        return shortcuts.render(
            self.request, 'pcloud_dashboard/project/_head.html', context)

    def _ask(self, call: Callable[[v1.Client], _Found]) -> _Found | None:
        """Return what a call of the API finds; None when the API fails."""
        try:
            return call(api.client(self.request))
        except api.FAILURES as error:
            self.failures.append(api.words(error))
            return None

    def _chips(self, pcloud: resources.Pcloud,
               hosts: list[resources.Host]) -> list[chips.Chip]:
        """Return the chips; a Pcloud without hosts has none."""
        if not hosts:
            return []
        names = api.server_names(self.request) if any(
            (host.drain or {}).get('blockers') for host in hosts) else {}
        rehearsal = self._ask(lambda client: client.rehearse(pcloud.id))
        found = [self._fits(pcloud),
                 rehearsal and chips.failures(pcloud.id, rehearsal),
                 *chips.of_hosts(pcloud.id, hosts, names)]
        return [each for each in found if each]

    def _fits(self, pcloud: resources.Pcloud) -> chips.Chip | None:
        """Return how many fit of the smallest flavor that is let in."""
        flavor = next((each for each in api.flavors(self.request)
                       if pcloud.flavors is None or each.id in pcloud.flavors),
                      None)
        if flavor is None:
            return None
        explanation = self._ask(
            lambda client: client.explain(pcloud.id, flavor.id))
        if explanation is None:
            return None
        return chips.fits(pcloud.id, explanation, flavor.name)
