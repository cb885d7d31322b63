# SPDX-License-Identifier: Apache-2.0

"""Pages of the dashboard, over answers of the API as it documents them."""

import json
import pathlib
from unittest import mock

from django import urls
from openstack_dashboard import api as horizon_api
from openstack_dashboard.api import base as horizon_base
from openstack_dashboard.test import helpers
import requests_mock

SAMPLES = pathlib.Path(__file__).parents[4] / 'doc/api_samples'


def sample(name):
    """Return a body of the reference of the API."""
    return json.loads((SAMPLES / f'{name}.json').read_text())


class PageTest(helpers.TestCase):
    """Asks Horizon for pages; the compute API answers with samples.

    :cvar panel: the dashboard and the panel of the pages
    """

    panel = 'project:pclouds'

    def setUp(self):
        super().setUp()
        self.http = self.useMocker()
        self.owner = self.tenant.id
        self.pcloud = {**sample('pclouds/show-resp')['pcloud'],
                       'owner': self.owner}
        self.pcloud_id = self.pcloud['id']
        self.at = f'/os-pclouds/{self.pcloud_id}'
        self.answer('GET', '/os-pclouds', json={'pclouds': []})
        self.answer('GET', self.at, json={'pcloud': self.pcloud})
        self.answer('GET', f'{self.at}/hosts', json=sample(
            'hosts/list-resp'))
        self.answer('GET', f'{self.at}/waiting', json={'waiting': []})
        self.answer('GET', '/servers/detail', json={'servers': []})
        self.answer('GET', f'/os-pcloud-quotas/{self.owner}',
                    json=sample('quotas/show-resp'))
        self.answer('GET', '/os-host-flavors', json=sample(
            'host-flavors/list-resp'))

    def useMocker(self):
        """Answer all requests of HTTP, and return the mocker."""
        mocker = requests_mock.Mocker()
        mocker.start()
        self.addCleanup(mocker.stop)
        return mocker

    def have_no_instances(self):
        """Let Horizon find no instances, and its flavors."""
        for name, found in (('server_list', ([], False)),
                            ('flavor_list', self.flavors.list())):
            patch = mock.patch.object(
                horizon_api.nova, name, return_value=found)
            patch.start()
            self.addCleanup(patch.stop)

    def answer(self, method, path, *answers, **answer):
        """Answer a call of the compute API.

        :param answers: lists of answers, one after the other
        """
        return self.http.register_uri(
            method, f'{self.compute}{path}', *answers, **answer)

    @property
    def compute(self):
        """The address of the compute API."""
        return horizon_base.url_for(
            self.factory.get('/'), 'compute')

    def address(self, route, *arguments):
        """Return the address of a page of the panel."""
        return urls.reverse(f'horizon:{self.panel}:{route}', args=arguments)

    def page(self, route, *arguments, **query):
        """Return the answer of Horizon for a page of the panel."""
        return self.client.get(self.address(route, *arguments), query)

    def send(self, route, *arguments, query='', **form):
        """Send a form of the panel, as JavaScript does.

        :param query: the end of the address, with a question mark
        """
        return self.client.post(
            self.address(route, *arguments) + query, form,
            HTTP_X_REQUESTED_WITH='XMLHttpRequest')

    def calls(self):
        """Return the calls of the API so far: method and path."""
        return [(request.method, request.url.removeprefix(self.compute)
                 .partition('?')[0])
                for request in self.http.request_history]


class AdminPageTest(PageTest, helpers.BaseAdminViewTests):
    """The same for an administrator."""

    panel = 'admin:host_flavors'

    def setUp(self):
        super().setUp()
        self.answer('GET', '/os-host-flavors/gpu/waiting',
                    json={'waiting': []})

    def flavor(self, *hosts, **members):
        """Return a host flavor as administrators see it.

        :param hosts: what differs of the hosts of the pool
        """
        body = sample('host-flavors/show-admin-resp')['host_flavor']
        host, = body['hosts']
        return {**body, **members,
                'hosts': [{**host, **each} for each in hosts]}
