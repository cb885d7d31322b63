# SPDX-License-Identifier: Apache-2.0

"""What nobody learns: whether there is a Pcloud of somebody else."""

import functools

from pcloud.api import routes
from pcloud.backend.aggregates import isolation
from pcloud import exception
from pcloud.tests.support import base
from pcloud.tests.support import calls
from pcloud.tests.support import counting
from pcloud.tests.support import shared_cloud

UNKNOWN = '3f1c2ab4-5d6e-4f70-8a9b-0c1d2e3f4a5b'


class ExistenceTest(shared_cloud.SharedCloudTestCase):
    """Alice's Pcloud has hosts, settings and a tenant that is not bob."""

    hosts = {'node-1': 'az1', 'node-2': 'az1', 'node-3': 'az1'}

    def furnish(self):
        super().furnish()
        self.make_pool('gpu', 'node-1', 'node-2', 'node-3')
        self.pcloud = self.make_pcloud(self.alice)
        for name in ('web', 'db'):
            self.add_host(self.alice, self.pcloud, name, 'gpu')
        self.alice.call_json('PUT', f'/os-pclouds/{self.pcloud}', {
            'pcloud': {'cpu_allocation_ratio': 2.0}})
        self.alice.call_json(
            'PUT', f'/os-pclouds/{self.pcloud}/tenants/{base.CAROL}')
        self.alice.call_json(
            'PUT', f'/os-pcloud-policies/pcloud/{self.pcloud}',
            {'policy': {'constraints': 'cpu=1'}})

    def _answer(self, pcloud, method, path, body):
        """Return an answer, without the id that was asked for."""
        answer = self.bob.call(method, path, body)
        headers = {name: value for name, value in answer.headers.items()
                   if not name.lower().endswith('request-id')}
        return (answer.status_code, headers,
                answer.text.replace(pcloud, '<id>'))

    def _check_same(self, method, path, body=None, expected=404):
        """Hold the answers about a foreign and about no Pcloud equal.

        :param path: with ``<id>`` for the id; so is the body
        """
        answers, statements = [], []
        for pcloud in (self.pcloud, UNKNOWN):
            call = functools.partial(
                self._answer, pcloud, method, path.replace('<id>', pcloud),
                None if body is None else _named(body, pcloud))
            answers.append(call())
            statements.append(counting.statements(call))
        self.assertEqual(*answers)
        self.assertEqual(expected, answers[0][0], answers)
        self.assertEqual(*statements)
        return statements[0]

    def test_every_call_about_a_pcloud(self):
        asked = [(route, route.path.format(
            id='<id>', name='web', tenant=base.BOB, scope='pcloud',
            entry=UNKNOWN))
            for route in routes.ROUTES if route.path.startswith((
                '/os-pclouds/{id}', '/os-pcloud-policies/'))]
        self.assertGreaterEqual(len(asked), 20)
        for route, path in asked:
            with self.subTest(route=route):
                # Only administrators delete policies, whatever is there.
                forbidden = (route.method == 'DELETE'
                             and '{scope}' in route.path)
                self._check_same(
                    route.method, path + calls.query(route),
                    calls.body(route), 403 if forbidden else 404)

    def test_one_statement_finds_out(self):
        path = '/os-pclouds/<id>'
        for method, path, body in (
                ('GET', path, None), ('GET', f'{path}/hosts', None),
                ('DELETE', path, None),
                ('PUT', path, {'pcloud': {'name': 'x'}}),
                ('GET', f'{path}/rehearsal', None),
                ('GET', '/os-pcloud-policies/pcloud/<id>', None)):
            self.assertEqual(1, len(self._check_same(method, path, body)))

    def test_room_in_a_pcloud(self):
        self._check_same('GET', '/os-pcloud-room?flavor=1&pcloud=<id>')
        self._check_same(
            'GET', f'/os-pcloud-room?flavor=1&pcloud=<id>&in={UNKNOWN}')

    def test_a_default_pcloud(self):
        for more in ({'mode': 'strict'}, {'mode': 'prefer'},
                     {'mode': 'grow', 'host_flavor': 'gpu', 'max_hosts': 2}):
            self._check_same(
                'PUT', f'/os-pcloud-policies/project/{base.BOB}',
                {'policy': {'default_pcloud': {'pcloud': '<id>', **more}}})

    def test_servers(self):
        """A server of somebody else costs what no server costs."""
        foreign = self.boot(self.alice, {'pcloud': self.pcloud})['id']
        for path in ('/os-pcloud-servers?server=',
                     '/os-pcloud-servers?marker='):
            self.assertEqual(*(
                self._answer(server, 'GET', path + server, None)
                for server in (foreign, UNKNOWN)))
            self.assertEqual(*(counting.statements(functools.partial(
                self.bob.get_json, path + server))
                for server in (foreign, UNKNOWN)))

    def test_quotas_and_policies_of_projects(self):
        for path in ('/os-pcloud-quotas/', '/os-pcloud-policies/project/',
                     '/os-pcloud-policies/domain/'):
            found = [self._answer(project, 'GET', path + project, None)
                     for project in (base.ALICE, 'd' * 32)]
            self.assertEqual(*found)
            self.assertEqual(403, found[0][0])

    def test_a_marker(self):
        self._check_same('GET', '/os-pclouds?marker=<id>', expected=400)

    def test_a_launch(self):
        # Nova refuses the launch after the checks of the hints.
        server = self._build_server(flavor_id='1', networks='none')
        server['flavorRef'] = 'unknown'
        for name in ('pcloud', 'pcloud_prefer'):
            self._check_same('POST', '/servers', {
                'server': server, 'os:scheduler_hints': {name: '<id>'}},
                expected=400)

    def test_a_scheduler(self):
        def usable(pcloud):
            with self.assertRaises(exception.PcloudUnusable) as caught:
                isolation.usable_pcloud(self.context, pcloud, base.BOB)
            return str(caught.exception).replace(pcloud, '<id>')

        self.assertEqual(usable(self.pcloud), usable(UNKNOWN))
        self.assertEqual(*(counting.statements(
            functools.partial(usable, pcloud))
            for pcloud in (self.pcloud, UNKNOWN)))

    def test_letter_case_of_projects(self):
        """A database that compares without case finds more projects."""
        other = self.client_of('other', base.ALICE.upper())
        self.assertEqual(404, other.call(
            'GET', f'/os-pclouds/{self.pcloud}').status_code)
        self.assertEqual(200, self.alice.call(
            'GET', f'/os-pclouds/{self.pcloud}').status_code)

    def test_those_who_may_see_it(self):
        path = f'/os-pclouds/{self.pcloud}'
        tenant = self.client_of('carl', base.CAROL)
        self.assertEqual(
            {'id', 'name', 'owner'}, set(tenant.get_json(path)['pcloud']))
        for call in (('PUT', path, {'pcloud': {'name': 'x'}}),
                     ('GET', f'{path}/hosts'), ('GET', f'{path}/rehearsal'),
                     ('GET', f'/os-pcloud-policies/pcloud/{self.pcloud}')):
            self.assertEqual(403, tenant.call(*call).status_code)
        self.assertEqual(2, self.admin.get_json(path)['pcloud']['host_count'])


def _named(body: object, pcloud: str) -> object:
    """Return a body with the id of a Pcloud in the place of ``<id>``."""
    if isinstance(body, dict):
        return {name: _named(value, pcloud) for name, value in body.items()}
    return pcloud if body == '<id>' else body
