# SPDX-License-Identifier: Apache-2.0

"""What the step of Launch Instance asks."""

import collections
from collections.abc import Mapping
import typing

from django import http
from django.views import generic
from horizon import exceptions as horizon_exceptions
from openstack_dashboard.api.rest import urls
from openstack_dashboard.api.rest import utils

from pcloud_dashboard import api
from pcloud_dashboard.project.planning import changes
from pcloud_dashboard import shown
from pcloud_dashboard.words import reasons

from pcloud.client import exceptions
from pcloud.client import localities
from pcloud.client import plan_resources
from pcloud.client import resources
from pcloud.client import servers

# The hint for the servers with a tag.
_TAG = 'tag:'


@urls.register
class Pclouds(generic.View):
    """The Pclouds in which the project may start servers."""

    url_regex = r'pcloud/pclouds/$'

    @utils.ajax()
    def get(self, request: http.HttpRequest) -> dict[str, typing.Any]:
        """List the Pclouds, with what is free where the API tells.

        A cloud without Pclouds has none. Where the API fails the answer has
        a "failure", in words, so that the dialog goes on without Pclouds.
        The "default" of the project is null where the project has none.
        """
        client = api.client(request)
        try:
            found = client.list_pclouds(detail=True)
            default = client.get_default_pcloud(request.user.project_id)
        except exceptions.ExtensionNotEnabled:
            return {'items': [], 'default': None}
        except api.FAILURES as error:
            return {'items': [], 'default': None, **_failure(error)}
        found.sort(key=lambda each: shown.natural(each.name))
        return {'items': [_item(pcloud) for pcloud in found],
                'default': default.pcloud and {
                    'id': default.pcloud, 'mode': default.mode}}


def _failure(error: Exception) -> dict[str, str]:
    """Return a failure in words.

    :raises openstack_dashboard.api.rest.utils.AjaxError: 401, which leads to
        the login, when the session of the user is over
    """
    try:
        return {'failure': api.words(error)}
    except horizon_exceptions.NotAuthenticated:
        raise utils.AjaxError(401, str(error)) from None


def _item(pcloud: resources.Pcloud) -> dict[str, typing.Any]:
    free = pcloud.free
    return {'id': pcloud.id, 'name': pcloud.name,
            'is_own': pcloud.host_count is not None,
            'hosts': pcloud.host_count,
            'free_vcpus': free['vcpus'] if free else None,
            'free_mebibytes': free['memory_mb'] if free else None,
            'free_memory': shown.memory(free['memory_mb'])
            if free else None}


@urls.register
class Explanation(generic.View):
    """How many more servers of a flavor fit a Pcloud."""

    url_regex = r'pcloud/pclouds/(?P<pcloud_id>[0-9a-f-]{36})/explain/$'

    @utils.ajax()
    def get(self, request: http.HttpRequest,
            pcloud_id: str) -> dict[str, typing.Any]:
        """Explain the capacity for a flavor, for the owner of the Pcloud.

        One call of the API, and one of Nova's own where nothing more fits.
        """
        try:
            found = api.client(request).explain(
                pcloud_id, request.GET.get('flavor', ''))
        except api.FAILURES as error:
            return _failure(error)
        return {'fits': found.fits,
                'refused': found.refused and reasons.spoken(found, 'refused'),
                'fits_on': {host.name: host.fits for host in found.hosts},
                'hosts': [{'name': host.name,
                           'reasons': list(map(reasons.spoken,
                                               host.in_the_way))}
                          for host in found.hosts if not host.fits],
                'changes': _changes(request, found)}


def _changes(request: http.HttpRequest,
             found: plan_resources.Explanation) -> list[str]:
    """Return what would help, in the language of the user."""
    flavors = {each.id: each.name for each in api.flavors(request)
               } if found.changes else {}
    return [changes.words(each, flavors) for each in found.changes]


@urls.register
class Servers(generic.View):
    """What a new server may be near to, or far from."""

    url_regex = r'pcloud/servers/$'

    @utils.ajax()
    def get(self, request: http.HttpRequest) -> dict[str, typing.Any]:
        """List the tags and the servers of the project, as hints name them."""
        try:
            found = api.client(request).servers.list_all()
        except api.FAILURES as error:
            return {'items': [], **_failure(error)}
        tags = collections.Counter(
            tag for server in found for tag in server.tags)
        return {'items': [
            *({'hint': _TAG + tag, 'tag': tag, 'servers': tags[tag]}
              for tag in sorted(tags, key=shown.natural)),
            *({'hint': server.id, 'name': server.name or server.id}
              for server in sorted(
                  found, key=lambda each: shown.natural(each.name)))]}


@urls.register
class Places(generic.View):
    """The hosts of a Pcloud, and which servers of the project they run."""

    url_regex = r'pcloud/pclouds/(?P<pcloud_id>[0-9a-f-]{36})/places/$'

    @utils.ajax()
    def get(self, request: http.HttpRequest,
            pcloud_id: str) -> dict[str, typing.Any]:
        """List the hosts, for the owner of the Pcloud.

        The real names of hosts are no part of the answer.
        """
        client = api.client(request)
        try:
            hosts = client.list_hosts(pcloud_id)
            own = {server.id: server for server in client.servers.list_all()}
        except api.FAILURES as error:
            return {'items': [], **_failure(error)}
        return {'items': [_place(host, own) for host in sorted(
            hosts, key=lambda each: shown.natural(each.name))]}


def _place(host: resources.Host,
           own: Mapping[str, servers.Server]) -> dict[str, typing.Any]:
    """Return a host, with the hints that name servers of the project on it.

    :param own: the servers of the project, by id
    """
    running = host.instances or ()
    return {'name': host.name, 'rack': host.rack,
            'is_open': (host.state, host.status) == ('enabled', 'up'),
            'others': sum(each not in own for each in running),
            'servers': [{
                'name': own[each].name or each,
                'hints': [each, *(_TAG + tag for tag in own[each].tags)]}
                for each in running if each in own]}


@urls.register
class Locality(generic.View):
    """Where a server may go that is to be near to, or far from, others."""

    url_regex = r'pcloud/locality/$'

    @utils.ajax(data_required=True)
    def post(self, request: http.HttpRequest) -> dict[str, typing.Any]:
        """Return the names of the hosts that are kept; nothing is asked.

        The question has "near", "far", "strict", and the hosts that `Places`
        has listed, each with "takes": whether the host takes the server.

        :raises openstack_dashboard.api.rest.utils.AjaxError: 400, for any
            other form of question
        """
        question = request.DATA
        try:
            return {'hosts': localities.kept(
                [localities.Spot(
                    host['name'], host['rack'], host['takes'], frozenset(
                        hint for server in host['servers']
                        for hint in server['hints']))
                 for host in question['hosts']],
                tuple(question['near']), tuple(question['far']),
                question['strict'])}
        except (AttributeError, KeyError, TypeError) as error:
            raise utils.AjaxError(400, str(error)) from None
