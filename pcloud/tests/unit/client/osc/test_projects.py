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

"""The commands of openstack that name projects, through its real shell."""

from pcloud.tests.unit.client import base

FARM = f'/os-pclouds/{base.PCLOUD_ID}'


class TestTenants(base.CloudTestCase):
    """How projects are looked up, and what is sent then."""

    TENANTS = f'{FARM}/tenants'

    def setUp(self):
        super().setUp()
        self.answer_farm()

    def _projects(self, by_id, by_name):
        self.http.get(f'{base.KEYSTONE}/projects/animation', **by_id)
        self.http.get(f'{base.KEYSTONE}/projects', **by_name)

    def _nobody(self):
        self._projects({'status_code': 404, 'json': {}},
                       {'json': {'projects': []}})

    def _change(self, verb, method, project_id, status=204):
        path = f'{self.TENANTS}/{project_id}'
        self.answer(method, path, status_code=status)
        result = self.openstack(
            'pcloud', 'tenant', verb, 'farm', 'animation')
        self.assertEqual((0, '', ''), result)
        self.assertEqual([(method, path)], self.changes()[-1:])

    def test_add_by_name(self):
        self._projects({'status_code': 404, 'json': {}}, {'json': {
            'projects': [{'id': base.OTHER_PROJECT, 'name': 'animation'}]}})

        self._change('add', 'PUT', base.OTHER_PROJECT)

    def test_add_where_looking_up_is_forbidden(self):
        forbidden = {'status_code': 403, 'json': {
            'error': {'code': 403, 'message': 'no'}}}
        self._projects(forbidden, forbidden)

        self._change('add', 'PUT', 'animation')

    def test_add_of_an_unknown_project(self):
        self._nobody()

        result = self.openstack('pcloud', 'tenant', 'add', 'farm',
                                'animation')

        self.assert_one_line(
            "No project with a name or ID of 'animation' exists", result)
        self.assertEqual([], self.changes())

    def test_remove_of_a_project_that_was_deleted(self):
        self._nobody()

        self._change('remove', 'DELETE', 'animation')

    def test_list(self):
        self.answer('GET', self.TENANTS, json={
            'tenants': [base.PROJECT, base.OTHER_PROJECT]})

        result = self.openstack('pcloud', 'tenant', 'list', 'farm')

        self.assertEqual(
            [['Project ID'], [base.PROJECT], [base.OTHER_PROJECT]],
            base.table(result.out))


class TestQuota(base.CloudTestCase):
    """The quota of one's own and of other projects."""

    QUOTA = '/os-pcloud-quotas/{}'

    def setUp(self):
        super().setUp()
        self.http.get(f'{base.KEYSTONE}/projects/animation', json={
            'project': {'id': base.OTHER_PROJECT, 'name': 'animation'}})

    def test_show_of_the_own_project(self):
        path = self.QUOTA.format(base.PROJECT)
        self.answer('GET', path, json={'quota': base.QUOTA})

        result = self.openstack('pcloud', 'quota', 'show', '-f', 'json')

        self.assertEqual({'project_id': base.PROJECT, 'units_limit': 10,
                          'units_in_use': 4}, result.json)

    def test_show_of_another_without_limit(self):
        path = self.QUOTA.format(base.OTHER_PROJECT)
        self.answer('GET', path, json={
            'quota': {'units': {'limit': -1, 'in_use': 4}}})

        shown = base.properties(
            self.openstack('pcloud', 'quota', 'show', 'animation').out)

        self.assertEqual((base.OTHER_PROJECT, 'unlimited', '4'), (
            shown['project_id'], shown['units_limit'],
            shown['units_in_use']))

    def test_set_without_limit(self):
        path = self.QUOTA.format(base.OTHER_PROJECT)
        self.answer('PUT', path, json={'quota': base.QUOTA})

        result = self.openstack(
            'pcloud', 'quota', 'set', 'animation', '--units', '-1')

        self.assertEqual((0, '', ''), result)
        self.assertEqual(
            ('PUT', path, {'quota': {'units': {'limit': -1}}}),
            self.last_call())

    def test_set_to_the_default(self):
        path = self.QUOTA.format(base.OTHER_PROJECT)
        self.answer('DELETE', path, status_code=204)

        result = self.openstack(
            'pcloud', 'quota', 'set', 'animation', '--default')

        self.assertEqual((0, '', ''), result)
        self.assertEqual([('DELETE', path)], self.changes())

    def test_set_wants_a_limit_or_the_default(self):
        result = self.openstack('pcloud', 'quota', 'set', 'animation')

        self.assertEqual(2, result.status)
