# SPDX-License-Identifier: Apache-2.0

"""Tenants, quota and changes to a Pcloud."""

from unittest import mock

from pcloud.api import enforcer
from pcloud.api.policies import others as policies
from pcloud.tests.functional.quick import test_api
from pcloud.tests.support import base
from pcloud.tests.support import outages


class TenantTest(test_api.ApiTestCase):

    def furnish(self):
        super().furnish()
        self.pcloud = self.make_pcloud(self.alice)
        self.path = f'/os-pclouds/{self.pcloud}/tenants'

    def _tenants(self):
        return [each['id'] for each in self.check(
            200, self.alice, 'GET', self.path)['tenants']]

    def test_life(self):
        self.assertEqual([base.ALICE], self._tenants())
        for _ in range(2):
            self.check(204, self.alice, 'PUT', f'{self.path}/{base.BOB}')
        self.assertEqual([base.ALICE, base.BOB], self._tenants())
        self.check(200, self.bob, 'GET', f'/os-pclouds/{self.pcloud}')
        self.check(204, self.alice, 'DELETE', f'{self.path}/{base.BOB}')
        self.check(404, self.alice, 'DELETE', f'{self.path}/{base.BOB}')
        self.check(404, self.bob, 'GET', f'/os-pclouds/{self.pcloud}')
        self.check(204, self.alice, 'DELETE', f'{self.path}/{base.ALICE}')
        self.assertEqual([], self._tenants())

    def test_ids_that_mean_something_else(self):
        before = self.aggregate(f'Pcloud:{self.pcloud}').metadata
        for tenant in ('owner', 'OWNER', 'name', 'id', 'type', '%00'):
            self.check(400, self.alice, 'PUT', f'{self.path}/{tenant}')
        for tenant in ('a:b', 'host:web', 'a%20b', '%2e%2e', 'x' * 65, '%3fa',
                       '%f0%9f%98%80'):
            self.check(404, self.alice, 'PUT', f'{self.path}/{tenant}')
        for tenant in ('owner', 'id', 'type', 'host:web', 'a%20b', 'x' * 300):
            self.check(404, self.alice, 'DELETE', f'{self.path}/{tenant}')
        self.assertEqual(
            before, self.aggregate(f'Pcloud:{self.pcloud}').metadata)

    def test_only_the_owner(self):
        self.check(404, self.bob, 'GET', self.path)
        self.check(404, self.bob, 'PUT', f'{self.path}/{base.BOB}')
        self.check(204, self.alice, 'PUT', f'{self.path}/{base.BOB}')
        self.check(403, self.bob, 'PUT', f'{self.path}/{base.CAROL}')
        self.check(403, self.bob, 'GET', self.path)
        self.check(403, self.bob, 'DELETE', f'{self.path}/{base.ALICE}')


class NamedTenantTest(test_api.ApiTestCase):
    """Alice's project is in the domain that Nova takes without another."""

    film, farm, abroad = 'd' * 32, 'e' * 32, 'f' * 32

    def furnish(self):
        super().furnish()
        self.pcloud = self.make_pcloud(self.alice)
        self.path = f'/os-pclouds/{self.pcloud}/tenants'

    def setUp(self):
        super().setUp()
        self.keystone = self.useFixture(outages.NamingKeystone())
        self.keystone.projects = {
            ('default', 'render'): base.ALICE, ('default', 'film'): self.film,
            ('default', 'Film'): self.farm, ('d2', 'film'): self.abroad}
        self.keystone.domains = {'Default': 'default', 'Studio': 'd2'}

    def _add(self, code, name, user=None, **domain):
        self.keystone.asked.clear()
        return self.check(code, user or self.alice, 'POST', self.path,
                          {'tenant': {'name': name, **domain}})

    def _shown(self, user=None):
        self.keystone.asked.clear()
        return {each['id']: each['name'] for each in self.check(
            200, user or self.alice, 'GET', self.path)['tenants']}

    def test_life(self):
        for domain in ({}, {'domain': 'default'}):
            made = self._add(201, 'film', **domain)
            self.assertEqual(
                {'tenant': {'id': self.film, 'name': 'film'}}, made)
            self.assertEqual(
                ['/projects?domain_id=default&name=film&limit=1000'],
                self.keystone.asked)
        made = self.aggregate(f'Pcloud:{self.pcloud}').metadata
        self.check(204, self.alice, 'PUT', f'{self.path}/{self.film}')
        self._add(201, 'film')
        self.assertEqual(
            made, self.aggregate(f'Pcloud:{self.pcloud}').metadata)
        self.assertEqual({base.ALICE: 'render', self.film: 'film'},
                         self._shown())
        self.assertEqual(['/projects?domain_id=default&limit=1000'],
                         self.keystone.asked)
        self.check(204, self.alice, 'DELETE', f'{self.path}/{self.film}')
        self.assertEqual({base.ALICE: 'render'}, self._shown())

    def test_letter_case(self):
        self.assertEqual(self.farm, self._add(201, 'Film')['tenant']['id'])
        self._add(404, 'FILM')

    def test_odd_names(self):
        for name in ('a&name=film', 'a b+c', '100%', '../x?', 'Ünï ☃', '#'):
            self.keystone.projects['default', name] = self.farm
            self.assertEqual(name, self._add(201, name)['tenant']['name'])
        before = self.dump()
        for name in ('', ' ', 'x' * 65, 'a\nb', 7, None, '\U0001f600'):
            self._add(400, name)
        for body in ({}, {'tenant': {}}, {'tenant': {'domain': 'default'}},
                     {'tenant': {'name': 'film', 'id': self.film}},
                     {'tenant': {'name': 'film', 'domain': None}}):
            self.check(400, self.alice, 'POST', self.path, body)
        # The key would mean something else.
        self.keystone.projects['default', 'odd'] = 'owner'
        self._add(400, 'odd')
        self.assertEqual(before, self.dump())

    def test_nobody_learns_what_may_not_be_found(self):
        """Names abroad, domains that are none: one answer, nothing asked."""
        before = self.dump()
        answers = set()
        for name, domain in (('film', 'd2'), ('none', 'd2'),
                             ('film', 'Studio'), ('film', 'none')):
            answers.add(self._add(404, name, domain=domain)
                        .replace(name, 'N').replace(domain, 'D'))
            self.assertEqual([], self.keystone.asked)
        self.assertEqual(1, len(answers))
        self.assertIn("No project named 'N' can be found in domain 'D'",
                      answers.pop())
        self._add(404, 'none')
        self.assertEqual(before, self.dump())

    def test_administrators_find_names_anywhere(self):
        self._add(404, 'none', self.admin, domain='Studio')
        calls = len(self.keystone.asked)
        self._add(404, 'none', self.admin, domain='none')
        self.assertEqual(calls, len(self.keystone.asked))
        for domain in ('Studio', 'd2'):
            self.assertEqual(self.abroad, self._add(
                201, 'film', self.admin, domain=domain)['tenant']['id'])
        self.assertEqual({base.ALICE: 'render', self.abroad: 'film'},
                         self._shown(self.admin))
        # The owner has not been told the name.
        self.assertEqual({base.ALICE: 'render', self.abroad: None},
                         self._shown())

    def test_an_operator_lets_names_be_found(self):
        allow = enforcer.Enforcer.allow
        with mock.patch.object(
                enforcer.Enforcer, 'allow', lambda each, context, rule, *more:
                rule == policies.TENANTS_FIND_ANYWHERE or
                allow(each, context, rule, *more)):
            self._add(201, 'film', domain='Studio')
            self.assertEqual('film', self._shown()[self.abroad])

    def test_pages(self):
        self._add(201, 'film')
        self.keystone.page = 1
        self.assertEqual({base.ALICE: 'render', self.film: 'film'},
                         self._shown())
        # No page is asked for when all names are known.
        self.assertEqual(2, len(self.keystone.asked))

    def test_only_the_owner(self):
        self._add(404, 'film', self.bob)
        self._add(201, 'film')
        self.check(204, self.alice, 'PUT', f'{self.path}/{base.BOB}')
        self._add(403, 'film', self.bob)

    def test_keystone_is_silent(self):
        self._add(201, 'film')
        before = self.dump()
        for status in (500, 403, 401):
            self.keystone.status = status
            self.assertIn('nothing was changed', self._add(503, 'film'))
            self.assertEqual({base.ALICE: None, self.film: None},
                             self._shown())
        self.useFixture(outages.SilentKeystone())
        self._add(503, 'film')
        self._add(503, 'film', self.admin, domain='Studio')
        self.assertEqual({base.ALICE: None, self.film: None}, self._shown())
        self.assertEqual(before, self.dump())

    def test_names_that_keystone_refuses(self):
        self.keystone.status = 400
        self._add(404, 'film')


class UnknownProjectTest(test_api.ApiTestCase):

    def test_quota(self):
        quotas = '/os-pcloud-quotas'
        body = {'quota': {'units': {'limit': 3}}}
        # Keystone is not there by now.
        self.check(200, self.admin, 'PUT', f'{quotas}/p3', body)
        self.useFixture(outages.SmallKeystone('/projects/p1'))
        self.check(200, self.admin, 'GET', f'{quotas}/p1')
        self.check(400, self.admin, 'GET', f'{quotas}/p2')
        # What is kept for a project that is gone can be seen, and removed.
        self.check(200, self.admin, 'GET', f'{quotas}/p3')
        self.check(204, self.admin, 'DELETE', f'{quotas}/p3')
        self.check(400, self.admin, 'GET', f'{quotas}/p3')


class QuotaTest(test_api.ApiTestCase):

    path = f'/os-pcloud-quotas/{base.ALICE}'

    def _limit(self, code, limit, user=None):
        return self.check(code, user or self.admin, 'PUT', self.path,
                          {'quota': {'units': {'limit': limit}}})

    def _show(self, user=None):
        units = self.check(200, user or self.alice, 'GET',
                           self.path)['quota']['units']
        return units['limit'], units['in_use']

    def test_life(self):
        self.make_pool('gpu', 'node-1', 'node-2', units=3)
        self.assertEqual((10, 0), self._show())
        pcloud = self.make_pcloud(self.alice)
        self.add_host(self.alice, pcloud, 'a', 'gpu')
        self.assertEqual((10, 3), self._show())
        self.assertEqual({'quota': {'units': {'limit': 5, 'in_use': 3}}},
                         self._limit(200, 5))
        body = {'host': {'name': 'b', 'host_flavor': 'gpu'}}
        hosts = f'/os-pclouds/{pcloud}/hosts'
        self.check(403, self.alice, 'POST', hosts, body)
        self._limit(200, -1)
        self.check(201, self.alice, 'POST', hosts, body)
        self.assertEqual((-1, 6), self._show())
        for _ in range(2):
            self.check(204, self.admin, 'DELETE', self.path)
        self.assertEqual((10, 6), self._show())

    def test_zero_is_a_limit(self):
        self._limit(200, 0)
        self.assertEqual((0, 0), self._show())

    def test_who(self):
        self._limit(403, 5, user=self.alice)
        self.check(403, self.alice, 'DELETE', self.path)
        self.check(403, self.bob, 'GET', self.path)
        self.assertEqual((10, 0), self._show(self.admin))

    def test_bad_bodies(self):
        for limit in (-2, 1.5, '1', None, True, 2 ** 31):
            self._limit(400, limit)
        for body in ({}, {'quota': {}}, {'quota': {'units': {}}},
                     {'quota': {'units': 1}},
                     {'quota': {'units': {'limit': 1, 'in_use': 0}}}):
            self.check(400, self.admin, 'PUT', self.path, body)
        for project in ('a b', '%f0%9f%98%80', 'x' * 65):
            self.check(404, self.admin, 'GET',
                       f'/os-pcloud-quotas/{project}')


class UpdateTest(test_api.ApiTestCase):

    def furnish(self):
        super().furnish()
        self.make_pool('gpu', 'node-1', 'node-2')
        self.pcloud = self.make_pcloud(self.alice)

    def _update(self, code=200, user=None, **changes):
        return self.check(code, user or self.alice, 'PUT',
                          f'/os-pclouds/{self.pcloud}', {'pcloud': changes})

    def _ratio(self, host, resource_class='VCPU'):
        return self._get_provider_inventory(self._get_provider_uuid_by_name(
            f'{host}.hv.example.org'))[resource_class]['allocation_ratio']

    def test_name(self):
        self.assertEqual('new', self._update(name='new')['pcloud']['name'])
        self._update(400, name='')
        self._update(404, user=self.bob, name='x')
        self.assertEqual('new', self._update()['pcloud']['name'])

    def test_bad_ratios(self):
        for ratio in (0, -1, '4', True, 1025, [1]):
            self._update(400, cpu_allocation_ratio=ratio)
        response = self.alice.api_request(
            f'os-pclouds/{self.pcloud}', method='PUT',
            body='{"pcloud": {"cpu_allocation_ratio": NaN}}')
        self.assertEqual(400, response.status_code)

    def test_ratios_reach_hosts_and_go_back(self):
        host = self.add_host(self.alice, self.pcloud, 'a', 'gpu')
        before = self._ratio(host), self._ratio(host, 'MEMORY_MB')
        shown = self._update(cpu_allocation_ratio=7, ram_allocation_ratio=2.5)
        self.assertEqual(7, shown['pcloud']['cpu_allocation_ratio'])
        self.assertEqual((7, 2.5), (
            self._ratio(host), self._ratio(host, 'MEMORY_MB')))
        second = self.add_host(self.alice, self.pcloud, 'b', 'gpu')
        self.assertEqual(7, self._ratio(second))
        self._update(cpu_allocation_ratio=8)
        shown = self._update(cpu_allocation_ratio=None)
        self.assertIsNone(shown['pcloud']['cpu_allocation_ratio'])
        self.assertEqual(2.5, shown['pcloud']['ram_allocation_ratio'])
        self.assertEqual((before[0], 2.5), (
            self._ratio(host), self._ratio(host, 'MEMORY_MB')))
        path = f'/os-pclouds/{self.pcloud}/hosts/a'
        self.check(200, self.alice, 'PUT', path,
                   {'host': {'state': 'disabled'}})
        self.check(204, self.alice, 'DELETE', path)
        self.assertEqual(before, (
            self._ratio(host), self._ratio(host, 'MEMORY_MB')))
        keys = self.aggregate(f'Pcloud:{self.pcloud}').metadata
        self.assertEqual([], [key for key in keys if host in key])

    def test_ratio_decides_how_many_servers_fit(self):
        self.add_host(self.alice, self.pcloud, 'a', 'gpu')
        flavor = self._create_flavor(vcpu=10, memory_mb=16, disk=1)
        self._update(cpu_allocation_ratio=1)
        hint = {'pcloud': self.pcloud}
        self.boot(self.alice, hint, flavorRef=flavor)
        self.boot(self.alice, hint, 'ERROR', flavorRef=flavor)
        self._update(cpu_allocation_ratio=4)
        for _ in range(3):
            self.boot(self.alice, hint, flavorRef=flavor)
        self.boot(self.alice, hint, 'ERROR', flavorRef=flavor)

    def test_the_computes_own_report_leaves_it_alone(self):
        host = self.add_host(self.alice, self.pcloud, 'a', 'gpu')
        self._update(cpu_allocation_ratio=7)
        self._run_periodics()
        self.assertEqual(7, self._ratio(host))
