# SPDX-License-Identifier: Apache-2.0

"""What the step of Launch Instance asks."""

import typing

from django import http
from django.views import generic
from horizon import exceptions as horizon_exceptions
from openstack_dashboard.api.rest import urls
from openstack_dashboard.api.rest import utils

from pcloud_dashboard import api
from pcloud_dashboard import shown

from pcloud.client import exceptions
from pcloud.client import resources


@urls.register
class Pclouds(generic.View):
    """The Pclouds in which the project may start servers."""

    url_regex = r'pcloud/pclouds/$'

    @utils.ajax()
    def get(self, request: http.HttpRequest) -> dict[str, typing.Any]:
        """List the Pclouds, with what is free where the API tells.

        A cloud without Pclouds has none. Where the API fails the answer has
        a "failure", in words, so that the dialog goes on without Pclouds.
        """
        try:
            found = api.client(request).list_pclouds(detail=True)
        except exceptions.ExtensionNotEnabled:
            return {'items': []}
        except api.FAILURES as error:
            return {'items': [], **_failure(error)}
        return {'items': [_item(pcloud) for pcloud in found]}


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
            'free_memory': shown.memory(free['memory_mb'])
            if free else None}


@urls.register
class Explanation(generic.View):
    """How many more servers of a flavor fit a Pcloud."""

    url_regex = r'pcloud/pclouds/(?P<pcloud_id>[0-9a-f-]{36})/explain/$'

    @utils.ajax()
    def get(self, request: http.HttpRequest,
            pcloud_id: str) -> dict[str, typing.Any]:
        """Explain the capacity for a flavor, for the owner of the Pcloud."""
        try:
            found = api.client(request).explain(
                pcloud_id, request.GET.get('flavor', ''))
        except api.FAILURES as error:
            return _failure(error)
        return {'fits': found.fits, 'refused': found.refused,
                'hosts': [{'name': host.name,
                           'reasons': [each.reason
                                       for each in host.in_the_way]}
                          for host in found.hosts if not host.fits],
                'changes': [change.text for change in found.changes]}
