# SPDX-License-Identifier: Apache-2.0

"""The token of a worker in the project of a tenant."""

import json

import fixtures
from keystoneauth1 import exceptions as ks_exc
from keystoneauth1 import fixture as ks_fixture
from keystoneauth1 import loading as ks_loading
import nova.conf
from nova import policy
from oslo_config import fixture as config_fixture
from oslotest import base
from requests_mock.contrib import fixture as requests_fixture

from pcloud.backend import complaints
from pcloud import exception
from pcloud.worker import credentials

URL = 'http://keystone.example.org/v3'
PROJECT = 'a' * 32


class CredentialsTest(base.BaseTestCase):

    def setUp(self):
        super().setUp()
        self.config = self.useFixture(config_fixture.Config(nova.conf.CONF))
        nova.conf.CONF([], default_config_files=[])
        self.addCleanup(policy.reset)
        policy.init(suppress_deprecation_warnings=True)
        complaints.once.cache_clear()
        credentials._own_login.cache_clear()
        self.addCleanup(credentials._own_login.cache_clear)
        self.log = self.useFixture(fixtures.FakeLogger())
        self.keystone = self.useFixture(requests_fixture.Fixture())
        self.keystone.get(URL, json={
            'version': ks_fixture.V3Discovery(URL)})
        self.config.register_opts(
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
            user_id='nova', user_domain_id='u' * 32, project_id=PROJECT,
            project_name='alice', project_domain_id='d' * 32,
            is_admin_project=False)
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
        self._answer('member', 'reader')
        context = credentials.context(PROJECT)
        values = context.to_policy_values()
        for name, value in {
                'user_id': 'nova', 'project_id': PROJECT,
                'user_domain_id': 'u' * 32, 'project_domain_id': 'd' * 32,
                'is_admin': False, 'is_admin_project': False,
                'system_scope': None, 'roles': ['member', 'reader']}.items():
            self.assertEqual(value, values[name], name)
        self.assertEqual('a-token', context.auth_token)
        self.assertEqual([{
            'type': 'image', 'name': 'glance', 'endpoints': [
                {'region': 'east', 'publicURL': 'http://public/image',
                 'internalURL': 'http://inside/image'},
                {'region': 'west', 'publicURL': 'http://west/image'}]}],
            context.service_catalog)
        self.assertEqual(
            {'project': {'id': PROJECT}},
            self.keystone.last_request.json()['auth']['scope'])

    def test_administrator(self):
        self._answer('admin', 'service')
        context = credentials.administrator()
        self.assertEqual(
            (True, None, None, 'a-token'),
            (context.is_admin, context.user_id, context.project_id,
             context.auth_token))
        self.assertEqual(
            'http://inside/image', context.get_auth_plugin().get_endpoint(
                None, service_type='image', interface='internal',
                region_name='east'))
        self.assertEqual(
            {'project': {'name': 'service', 'domain': {'name': 'Default'}}},
            self.keystone.last_request.json()['auth']['scope'])

    def test_administrator_keeps_the_token(self):
        self._answer('admin')
        credentials.administrator()
        asked = self.keystone.call_count
        self.assertEqual('a-token', credentials.administrator().auth_token)
        self.assertEqual(asked, self.keystone.call_count)

    def assert_no_token(self, told):
        context = credentials.administrator()
        self.assertEqual((True, None, []), (
            context.is_admin, context.auth_token, context.service_catalog))
        self.assertIn(told, self.log.output)

    def test_administrator_without_the_role(self):
        self._answer('service')
        self.assert_no_token('names no administrator')

    def test_administrator_without_a_user(self):
        self._configure(auth_type=None)
        self.assert_no_token('names no administrator')

    def test_administrator_by_a_plugin_without_tokens(self):
        self._configure(auth_type='none')
        self.assert_no_token('names no administrator')

    def test_administrator_without_keystone(self):
        self.keystone.post(f'{URL}/auth/tokens', status_code=503)
        self.assert_no_token('gets no token')

    def test_administrator_with_a_wrong_password(self):
        self.keystone.post(f'{URL}/auth/tokens', status_code=401)
        self.assert_no_token('gets no token')

    def test_administrator_with_a_wrong_section(self):
        self._configure(auth_type='no-such-type')
        self.assert_no_token('gets no token')

    def _set_admins(self, rule):
        """Let an operator's policy say who administers."""
        path = self.create_tempfiles([('policy', json.dumps({
            'context_is_admin': rule}))], ext='.json')[0]
        self.config.config(group='oslo_policy', policy_file=path)
        policy.reset()
        policy.init(suppress_deprecation_warnings=True)

    def test_roles_of_administrators(self):
        """Letter case does not count, as in policies."""
        for name in ('admin', 'Admin', 'ADMIN'):
            self._answer('member', name, 'reader')
            self.assertEqual(['member', 'reader'],
                             credentials.context(PROJECT).roles)
        self.assertIn(
            f'administrator in project {PROJECT}. The worker asks Nova '
            f'without the role Admin;', self.log.output)

    def test_own_rules(self):
        """Whoever is an administrator is told by the operator's policy."""
        self._set_admins('role:boss or role:first and role:second')
        self._answer('admin', 'member', 'Boss', 'first')
        self.assertEqual(['member', 'first'],
                         credentials.context(PROJECT).roles)
        self._answer('member', 'first', 'Second')
        error = self.assertRaises(
            exception.WorkerWithoutToken, credentials.context, PROJECT)
        self.assertIn(f'do not follow in project {PROJECT}', str(error))
        self.assertIn('context_is_admin', str(error))
        self._set_admins('user_id:nova')
        self._answer('member')
        self.assertRaisesRegex(
            exception.WorkerWithoutToken, 'context_is_admin',
            credentials.context, PROJECT)

    def test_catalog_that_nova_reads(self):
        self._answer('member')
        auth = credentials.context(PROJECT).get_auth_plugin()
        self.assertEqual('http://inside/image', auth.get_endpoint(
            None, service_type='image', interface='internal',
            region_name='east'))

    def test_no_role(self):
        self.keystone.post(f'{URL}/auth/tokens', status_code=401, json={
            'error': {'code': 401, 'message': 'no access', 'title': 'x'}})
        error = self.assertRaises(exception.WorkerWithoutToken,
                                  credentials.context, PROJECT)
        self.assertIn(f'do not follow in project {PROJECT}', str(error))
        self.assertIn('HTTP 401', str(error))

    def test_keystone_that_is_away(self):
        self.keystone.post(f'{URL}/auth/tokens', exc=ks_exc.ConnectFailure)
        self.assertRaises(exception.Unavailable,
                          credentials.context, PROJECT)

    def test_no_user(self):
        for options in ({'auth_type': None}, {'auth_type': 'unknown'},
                        {'auth_type': 'password', 'auth_url': None}):
            self._configure(**options)
            self.assertRaisesRegex(
                exception.WorkerWithoutToken, 'cannot log in to the projects',
                credentials.context, PROJECT)
