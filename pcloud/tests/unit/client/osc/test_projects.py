# SPDX-License-Identifier: Apache-2.0

"""The commands of openstack that name projects, through its real shell."""

import ddt

from pcloud.tests.unit.client import base

FARM = f'/os-pclouds/{base.PCLOUD_ID}'


class TestTenants(base.CloudTestCase):
    """How projects are looked up, and what is sent then."""

    TENANTS = f'{FARM}/tenants'

    def setUp(self):
        super().setUp()
        self.answer_farm()

    def _added(self, *words):
        """Add a tenant; Keystone is asked by nova-api, and not from here."""
        self.assertEqual((0, '', ''), self.openstack(
            'pcloud', 'tenant', 'add', 'farm', *words))
        self.assertEqual([], self._asked())
        return self.last_call()

    def test_add_by_name(self):
        self.answer('POST', self.TENANTS, status_code=201, json={
            'tenant': {'id': base.OTHER_PROJECT, 'name': 'animation'}})

        self.assertEqual(
            ('POST', self.TENANTS, {'tenant': {'name': 'animation'}}),
            self._added('animation'))
        self.assertEqual(
            ('POST', self.TENANTS, {'tenant': {
                'name': 'animation', 'domain': 'film'}}),
            self._added('animation', '--project-domain', 'film'))

    def test_add_by_id(self):
        path = f'{self.TENANTS}/{base.OTHER_PROJECT}'
        self.answer('PUT', path, status_code=204)

        self.assertEqual(('PUT', path, None), self._added(base.OTHER_PROJECT))

    def test_add_of_an_unknown_project(self):
        self.answer('POST', self.TENANTS, status_code=404, json={
            'itemNotFound': {'code': 404, 'message': 'No project named'}})

        result = self.openstack('pcloud', 'tenant', 'add', 'farm',
                                'animation')

        self.assert_one_line('No project named', result)

    def _removed(self, project, *tenants):
        """Remove a tenant; Keystone is asked by nova-api alone."""
        self.answer('DELETE', f'{self.TENANTS}/{base.OTHER_PROJECT}',
                    status_code=204)
        self.answer('GET', self.TENANTS, json={'tenants': [
            {'id': base.PROJECT, 'name': None}, *tenants]})
        result = self.openstack('pcloud', 'tenant', 'remove', 'farm', project)
        self.assertEqual([], self._asked())
        return result

    def test_remove(self):
        other = {'id': base.OTHER_PROJECT, 'name': 'animation'}
        # Keystone may have deleted the project that an id is of.
        for project in ('animation', base.OTHER_PROJECT):
            self.assertEqual((0, '', ''), self._removed(project, other))
        self.assertEqual(
            [('DELETE', f'{self.TENANTS}/{base.OTHER_PROJECT}')] * 2,
            self.changes())

    def test_remove_of_an_unknown_name(self):
        other = {'id': base.OTHER_PROJECT, 'name': 'animation'}
        self.assert_one_line("is shown with the id or name 'film'",
                             self._removed('film', other))
        self.assert_one_line(
            base.OTHER_PROJECT, self._removed(
                'animation', other, {**other, 'id': 'c' * 32}))
        self.assertEqual([], self.changes())

    def _asked(self):
        return [request.path for request in self.http.request_history
                if '/projects' in request.path]

    def _listed(self, *options):
        self.answer('GET', self.TENANTS, json={'tenants': [
            {'id': base.PROJECT, 'name': None},
            {'id': base.OTHER_PROJECT, 'name': 'animation'}]})
        return self.openstack('pcloud', 'tenant', 'list', 'farm', *options)

    def test_list(self):
        self.assertEqual(
            [['Project ID', 'Name'], [base.OTHER_PROJECT, 'animation'],
             [base.PROJECT, '-']],
            base.table(self._listed().out))
        self.assertEqual([], self._asked())

    def test_list_for_machines(self):
        self.assertEqual(
            [{'Project ID': base.PROJECT, 'Name': None},
             {'Project ID': base.OTHER_PROJECT, 'Name': 'animation'}],
            self._listed('-f', 'json').json)


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


@ddt.ddt
class TestPolicies(base.CloudTestCase):
    """How domains and projects of policies are looked up."""

    CHANGE = ('--constraints', 'ram=2G')

    def _keystone(self, kind, by_id, by_name):
        self.http.get(f'{base.KEYSTONE}/{kind}s/film', **by_id)
        self.http.get(f'{base.KEYSTONE}/{kind}s', **by_name)

    def _named(self, kind):
        self._keystone(kind, {'status_code': 404, 'json': {}}, {'json': {
            f'{kind}s': [{'id': base.OTHER_PROJECT, 'name': 'film'}]}})

    def _answer(self, method, kind, scope_id):
        self.answer(method, f'/os-pcloud-policies/{kind}/{scope_id}', json={
            'policy': {**base.POLICY, 'scope': kind, 'id': scope_id}})

    @ddt.data('domain', 'project')
    def test_by_name(self, kind):
        self._named(kind)
        self._answer('PUT', kind, base.OTHER_PROJECT)
        self._answer('GET', kind, base.OTHER_PROJECT)

        result = self.openstack(
            'pcloud', 'policy', 'set', kind, 'film', *self.CHANGE)
        shown = base.properties(self.openstack(
            'pcloud', 'policy', 'show', kind, 'film').out)

        self.assertEqual((0, '', ''), result)
        self.assertEqual(f'film ({base.OTHER_PROJECT})', shown['id'])

    @ddt.data('domain', 'project')
    def test_by_id_where_looking_up_is_forbidden(self, kind):
        forbidden = {'status_code': 403, 'json': {
            'error': {'code': 403, 'message': 'no'}}}
        self._keystone(kind, forbidden, forbidden)
        self._answer('PUT', kind, 'film')
        self._answer('GET', kind, 'film')

        result = self.openstack(
            'pcloud', 'policy', 'set', kind, 'film', *self.CHANGE)
        shown = base.properties(self.openstack(
            'pcloud', 'policy', 'show', kind, 'film').out)

        self.assertEqual((0, '', ''), result)
        self.assertEqual('film', shown['id'])

    def test_own_name_where_looking_up_is_forbidden(self):
        forbidden = {'status_code': 403, 'json': {
            'error': {'code': 403, 'message': 'no'}}}
        self.http.get(f'{base.KEYSTONE}/projects/own', **forbidden)
        self.http.get(f'{base.KEYSTONE}/projects', **forbidden)
        self._answer('PUT', 'project', base.PROJECT)

        self.assertEqual((0, '', ''), self.openstack(
            'pcloud', 'policy', 'set', 'project', 'own', *self.CHANGE))

    @ddt.data('domain', 'project')
    def test_unknown(self, kind):
        self._keystone(kind, {'status_code': 404, 'json': {}},
                       {'json': {f'{kind}s': []}})
        self._answer('GET', kind, 'film')
        self.answer('DELETE', f'/os-pcloud-policies/{kind}/film',
                    status_code=204)

        result = self.openstack(
            'pcloud', 'policy', 'set', kind, 'film', *self.CHANGE)

        self.assert_one_line(
            f"No {kind} with a name or ID of 'film' exists", result)
        self.assertEqual([], self.changes())
        # Keystone may have deleted what the policy was for.
        for verb in ('show', 'unset'):
            self.assertEqual(0, self.openstack(
                'pcloud', 'policy', verb, kind, 'film').status)

    @ddt.data(
        ('domain', 'Which domain? A policy of scope domain takes its name or '
                   'id; only scope cloud goes without'),
        ('project', 'Which project?'), ('pcloud', 'Which Pcloud?'),
        ('role', 'Which role? A policy of scope role takes its name; only'))
    @ddt.unpack
    def test_only_the_cloud_goes_without(self, scope, told):
        for verb, options in (('set', self.CHANGE), ('show', ()),
                              ('unset', ())):
            self.assert_one_line(told, self.openstack(
                'pcloud', 'policy', verb, scope, *options))
        self.assertEqual([], self.calls())

    def test_the_cloud_has_one(self):
        self._answer('PUT', 'cloud', 'default')

        self.assert_one_line('The cloud has one policy', self.openstack(
            'pcloud', 'policy', 'set', 'cloud', 'east', *self.CHANGE))
        self.assertEqual((0, '', ''), self.openstack(
            'pcloud', 'policy', 'set', 'cloud', 'default', *self.CHANGE))
