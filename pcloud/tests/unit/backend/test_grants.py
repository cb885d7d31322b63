# SPDX-License-Identifier: Apache-2.0

"""What Keystone says of a user's roles in a project."""

import ddt
from keystoneauth1 import fixture as ks_fixture
from keystoneauth1 import loading as ks_loading
import nova.conf
from oslo_config import fixture as config_fixture
from oslotest import base
from requests_mock.contrib import fixture as requests_fixture

from pcloud.backend import grants
from pcloud import exception

URL = 'http://keystone.example.org/v3'
USER, PROJECT = 'u' * 32, 'a' * 32


@ddt.ddt
class GrantsTest(base.BaseTestCase):

    def setUp(self):
        super().setUp()
        self.config = self.useFixture(config_fixture.Config(nova.conf.CONF))
        self.keystone = self.useFixture(requests_fixture.Fixture())
        self.keystone.get(URL, json={
            'version': ks_fixture.V3Discovery(URL)})
        self.config.register_opts(
            ks_loading.get_auth_plugin_conf_options('password'),
            group='service_user')
        self.config.config(
            group='service_user', auth_type='password', auth_url=URL,
            username='nova', password='secret', user_domain_id='default',
            project_name='service', project_domain_name='Default')
        token = ks_fixture.V3Token(project_id='s' * 32)
        token.add_service('identity').add_standard_endpoints(
            public=URL, internal=URL, region='east')
        self.keystone.post(f'{URL}/auth/tokens', json=token,
                           headers={'X-Subject-Token': 'a-token'})
        for kind, its in (('user', USER), ('project', PROJECT),
                          ('domain', 'd1'), ('domain', 'd2')):
            self._answer(kind, its, domain_id='d1' if kind == 'user'
                         else 'd2')
        self._grant('member', 'reader', 'reader')

    def _answer(self, kind, its, status=200, enabled=True, **more):
        self.keystone.get(f'{URL}/{kind}s/{its}', status_code=status, json={
            kind: {'id': its, 'enabled': enabled, **more}})

    def _grant(self, *roles):
        self.asked = self.keystone.get(
            f'{URL}/role_assignments', json={'role_assignments': [
                {'role': {'id': role * 2, 'name': role}} for role in roles]})

    def test_roles(self):
        self.assertEqual(
            grants.Grant('d2', 'd1', ('member', 'reader')),
            grants.of_user(USER, PROJECT))
        self.assertEqual(
            {'user.id': [USER], 'scope.project.id': [PROJECT],
             'effective': ['true'], 'include_names': ['true']},
            self.asked.last_request.qs)

    def test_no_role(self):
        self._grant()
        self.assertEqual((), grants.of_user(USER, PROJECT).roles)

    @ddt.data(('user', USER), ('project', PROJECT), ('domain', 'd1'),
              ('domain', 'd2'))
    @ddt.unpack
    def test_what_is_disabled_or_gone(self, kind, its):
        self._answer(kind, its, enabled=False, domain_id='d1')
        self.assertIsNone(grants.of_user(USER, PROJECT))
        self._answer(kind, its, status=404)
        self.assertIsNone(grants.of_user(USER, PROJECT))

    def test_what_cannot_be_an_id(self):
        self.assertIsNone(grants.of_user('../projects/x', PROJECT))

    @ddt.data(401, 403, 500)
    def test_an_answer_that_tells_nothing(self, status):
        self._answer('user', USER, status=status)
        self.assertRaisesRegex(
            exception.Unavailable, 'Keystone does not tell', grants.of_user,
            USER, PROJECT)

    def test_no_credentials(self):
        self.config.config(group='service_user', auth_type=None)
        self.assertRaisesRegex(
            exception.Unavailable, 'Keystone does not tell', grants.of_user,
            USER, PROJECT)

    def test_wrong_credentials(self):
        self.keystone.post(f'{URL}/auth/tokens', status_code=401)
        self.assertRaisesRegex(
            exception.Unavailable, 'Keystone does not tell', grants.of_user,
            USER, PROJECT)
