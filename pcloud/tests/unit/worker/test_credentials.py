# Licensed under the Apache License, Version 2.0 (the "License"); you may
# not use this file except in compliance with the License. You may obtain
# a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the
# License for the specific language governing permissions and limitations
# under the License.

"""The token of a worker in the project of a tenant."""

from keystoneauth1 import exceptions as ks_exc
from keystoneauth1 import fixture as ks_fixture
from keystoneauth1 import loading as ks_loading
import nova.conf
from oslo_config import fixture as config_fixture
from oslotest import base
from requests_mock.contrib import fixture as requests_fixture

from pcloud import exception
from pcloud.worker import credentials

URL = 'http://keystone.example.org/v3'
PROJECT = 'a' * 32


class CredentialsTest(base.BaseTestCase):

    def setUp(self):
        super().setUp()
        self.config = self.useFixture(config_fixture.Config(nova.conf.CONF))
        self.keystone = self.useFixture(requests_fixture.Fixture())
        self.keystone.get(URL, json={
            'version': ks_fixture.V3Discovery(URL)})
        nova.conf.CONF.register_opts(
            ks_loading.get_auth_plugin_conf_options('password'),
            group='service_user')
        self._configure(
            auth_type='password', auth_url=URL, username='nova',
            password='secret', user_domain_id='default',
            project_name='service', project_domain_name='Default')

    def _configure(self, **options):
        self.config.config(group='service_user', **options)

    def _token(self, *roles):
        token = ks_fixture.V3Token(
            user_id='nova', project_id=PROJECT, project_name='alice',
            project_domain_id='d' * 32)
        for role in roles:
            token.add_role(name=role)
        image = token.add_service('image', name='glance')
        image.add_standard_endpoints(
            public='http://public/image', internal='http://inside/image',
            region='east')
        image.add_endpoint('public', 'http://west/image', region='west')
        return token

    def _answer(self, *roles):
        self.keystone.post(f'{URL}/auth/tokens', json=self._token(*roles),
                           headers={'X-Subject-Token': 'a-token'})

    def test_context(self):
        self._answer('member', 'reader', 'admin')
        context = credentials.context(PROJECT, 'alice')
        self.assertEqual(
            (PROJECT, 'alice', 'a-token', 'd' * 32, ['member', 'reader'],
             False),
            (context.project_id, context.user_id, context.auth_token,
             context.project_domain_id, context.roles, context.is_admin))
        self.assertEqual([{
            'type': 'image', 'name': 'glance', 'endpoints': [
                {'region': 'east', 'publicURL': 'http://public/image',
                 'internalURL': 'http://inside/image'},
                {'region': 'west', 'publicURL': 'http://west/image'}]}],
            context.service_catalog)
        self.assertEqual(
            {'project': {'id': PROJECT}},
            self.keystone.last_request.json()['auth']['scope'])

    def test_catalog_that_nova_reads(self):
        self._answer('member')
        auth = credentials.context(PROJECT, 'alice').get_auth_plugin()
        self.assertEqual('http://inside/image', auth.get_endpoint(
            None, service_type='image', interface='internal',
            region_name='east'))

    def test_no_role(self):
        self.keystone.post(f'{URL}/auth/tokens', status_code=401, json={
            'error': {'code': 401, 'message': 'no access', 'title': 'x'}})
        error = self.assertRaises(exception.WorkerHasNoRole,
                                  credentials.context, PROJECT, 'alice')
        self.assertIn(f'project {PROJECT} are left', str(error))
        self.assertIn('HTTP 401', str(error))

    def test_keystone_that_is_away(self):
        self.keystone.post(f'{URL}/auth/tokens', exc=ks_exc.ConnectFailure)
        self.assertRaises(exception.Unavailable,
                          credentials.context, PROJECT, 'alice')

    def test_no_user(self):
        for options in ({'auth_type': None}, {'auth_type': 'unknown'},
                        {'auth_type': 'password', 'auth_url': None}):
            self._configure(**options)
            self.assertRaises(exception.WorkerWithoutUser,
                              credentials.context, PROJECT, 'alice')
