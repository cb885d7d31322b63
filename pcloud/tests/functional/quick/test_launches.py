# SPDX-License-Identifier: Apache-2.0

"""What a launch costs in nova-api, beside what Nova does itself."""

import itertools
from unittest import mock

from pcloud.api.nova_calls import kept_requests
from pcloud.api.nova_calls import servers
from pcloud.tests.support import base
from pcloud.tests.support import counting
from pcloud.tests.support import shared_cloud

IMAGE = '0e8ae7d4-7a4c-4d2b-9a54-6d1f0b3d2c61'


class LaunchTest(shared_cloud.SharedCloudTestCase):
    """Launches that use nothing of Pcloud, and images of launches."""

    hosts = {'node-1': 'az1'}

    def counts(self, **server):
        """Return what the preparation of each of some launches costs."""
        found = []
        prepare = servers.prepare

        def counted(call, rbac):
            if not call.is_of(type(call.controller), 'create'):
                return
            found.append(counting.count(lambda: prepare(call, rbac)))

        with mock.patch.object(servers, 'prepare', counted):
            for _ in range(4):
                self.boot(self.alice, **server)
        return found

    def images_read(self):
        """Return how often nova-api reads the image of a launch."""
        # Compute services read images as well, with another context.
        return self.reads(lambda: self.boot(self.alice))

    def reads(self, call):
        """Return how often Glance is asked for an image during a call."""
        with mock.patch.object(
                self.glance, 'show', wraps=self.glance.show) as show:
            call()
        return len(show.mock_calls)

    def rebuild(self, server):
        self.act(server, {'rebuild': {'imageRef': server['image']['id']}})
        self.wait_for(server, status='ACTIVE')

    def test_a_single_statement(self):
        self.assertEqual(counting.Count(1, 0), min(self.counts()))

    def test_the_answers_of_nova_have_no_hints(self):
        """The filter does not look through the answer to a launch."""
        self.alice.microversion = 'latest'
        for more in ({}, {'min_count': 2, 'return_reservation_id': True}):
            response = self.alice.call('POST', '/servers', {
                'server': {**self._build_server(
                    flavor_id='1', networks='none'), **more},
                'os:scheduler_hints': {'placement_key': 'A=1:1'}})
            self.assertEqual(202, response.status_code, response.text)
            self.assertNotIn('hints', response.text)

    def test_no_image_is_read_twice(self):
        with mock.patch.object(servers, 'prepare'):
            stock = self.images_read()
        self.assertGreater(stock, 0)
        self.assertEqual(stock, self.images_read())

    def test_no_image_of_a_rebuild_is_read_twice(self):
        server = self.boot(self.alice)
        with mock.patch.object(kept_requests, 'check'):
            stock = self.reads(lambda: self.rebuild(server))
        self.assertGreater(stock, 0)
        self.assertEqual(stock, self.reads(lambda: self.rebuild(server)))

    def test_a_changed_image_counts_at_once(self):
        self.glance.create(self.context, {
            'id': IMAGE, 'name': 'own', 'is_public': True, 'owner': 'x',
            'status': 'active', 'size': 1, 'min_ram': 0, 'min_disk': 0,
            'container_format': 'raw', 'disk_format': 'raw',
            'properties': {}})
        self.boot(self.alice, imageRef=IMAGE)
        self.glance.images[IMAGE]['properties'] = {
            'pcloud_co_located': 'always'}
        body = {'server': self._build_server(
            flavor_id='1', networks='none', image_uuid=IMAGE)}
        self.assertEqual(400, self.alice.call(
            'POST', '/servers', body).status_code)
        self.glance.images[IMAGE].update(properties={}, min_ram=10 ** 6)
        response = self.alice.call('POST', '/servers', body)
        self.assertEqual(400, response.status_code)
        self.assertIn('memory', response.text)

    def test_values_of_the_hint_that_nova_cannot_keep(self):
        server = self._build_server(flavor_id='1', networks='none')
        for member, value in itertools.product(
                ('os:scheduler_hints', 'OS-SCH-HNT:scheduler_hints'),
                (None, {}, [None], [['x']], {'a': 'b'})):
            response = self.alice.call('POST', '/servers', {
                'server': server, member: {'pcloud': value}})
            self.assertEqual(400, response.status_code, response.text)
            self.assertIn('it takes the id of one Pcloud', response.text)

    def test_flavors_that_the_caller_does_not_see(self):
        """They tell nothing, and a flavor of the project does."""
        self.make_flavor('hidden', is_public=False)
        self.admin.call_json(
            'POST', '/flavors/hidden/os-extra_specs',
            {'extra_specs': {'pcloud:co_located': 'always'}})
        body = {'server': self._build_server(
            flavor_id='hidden', networks='none')}
        response = self.alice.call('POST', '/servers', body)
        self.assertIn('could not be found', response.text)
        self.admin.call_json('POST', '/flavors/hidden/action', {
            'addTenantAccess': {'tenant': base.ALICE}})
        for reference in ('hidden', 'http://nova/v2.1/flavors/hidden'):
            body['server']['flavorRef'] = reference
            for user in (self.alice, self.admin):
                response = user.call('POST', '/servers', body)
                self.assertEqual(400, response.status_code)
                self.assertIn('always', response.text)
