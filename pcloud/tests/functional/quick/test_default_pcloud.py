# SPDX-License-Identifier: Apache-2.0

"""Servers that name no Pcloud and go to one all the same, in real Nova."""

from unittest import mock

from nova import objects

from pcloud.api.nova_calls import servers
from pcloud.audit import all_checks
from pcloud.tests.support import base
from pcloud.tests.support import counting
from pcloud.tests.support import shared_cloud

POLICIES = '/os-pcloud-policies'
GONE = 'ffffffff-0000-4000-8000-000000000000'


class DefaultTestCase(shared_cloud.SharedCloudTestCase):
    """A Pcloud of alice's with two hosts, and two public hosts.

    A host has capacity for three servers of flavor 'big'.
    """

    hosts = {'node-1': 'az1', 'node-2': 'az1', 'node-3': 'az1',
             'node-4': 'az2'}

    def furnish(self):
        super().furnish()
        self.make_flavor('big', memory_mb=2048)
        self.make_pool('gpu', 'node-1', 'node-2')
        self.pcloud = self.make_pcloud(self.alice)
        self.inside = [self.add_host(
            self.alice, self.pcloud, name, 'gpu') for name in 'ab']
        for name in 'ab':
            self.enable(name)

    def enable(self, name, state='enabled'):
        self.alice.call_json(
            'PUT', f'/os-pclouds/{self.pcloud}/hosts/{name}',
            {'host': {'state': state}})

    def set_default(self, mode='strict', pcloud=None, scope='project',
                    scope_id=base.ALICE, user=None):
        return (user or self.admin).call_json(
            'PUT', f'{POLICIES}/{scope}/{scope_id}', {'policy': {
                'default_pcloud': None if mode is None else {
                    'pcloud': pcloud or self.pcloud, 'mode': mode}}})['policy']

    def write_by_hand(self, name, **members):
        made = self.make_aggregate(name, **{
            f'pcloud:default:{key}': value for key, value in members.items()})
        return made

    def place(self, user=None, hints=None, **server):
        """Return where a server starts: 'inside', 'outside' or an error."""
        server = {'flavorRef': 'big', **server}
        body = {'server': self._build_server(
            flavor_id=server.pop('flavorRef'), networks='none') | server}
        if hints:
            body['os:scheduler_hints'] = hints
        response = (user or self.alice).call('POST', '/servers', body)
        if response.status_code != 202:
            return response.status_code, response.text
        return self.where(self.ended(response.json()['server']))

    def ended(self, server):
        """Return a server whose start has ended, in whatever state."""
        def over():
            found = self.admin.get_server(server['id'])
            self.assertIn(found['status'], ('ACTIVE', 'ERROR'))
            self.assertIsNone(found['OS-EXT-STS:task_state'])
            return found
        return self.wait_until(over)

    def where(self, server):
        if server['status'] == 'ERROR':
            return 'error', self.fault(server)
        return 'inside' if self.host_of(server) in self.inside else 'outside'

    def hints_of(self, server):
        spec = objects.RequestSpec.get_by_instance_uuid(
            self.context, server['id'])
        return spec.scheduler_hints


class PolicyTest(DefaultTestCase):
    """Who sets a default, what is refused, and what is shown."""

    def put(self, user, value, scope='project', scope_id=base.ALICE):
        return user.call('PUT', f'{POLICIES}/{scope}/{scope_id}', {
            'policy': {'default_pcloud': value}}).status_code

    def test_bodies(self):
        right = {'pcloud': self.pcloud, 'mode': 'strict'}
        for wrong in (
                'x', {}, {'pcloud': self.pcloud}, {**right, 'mode': 'never'},
                {**right, 'pcloud': self.pcloud.upper()}, {**right, 'x': 1},
                {**right, 'pcloud': 'none'}, [right]):
            self.assertEqual(400, self.put(self.admin, wrong), wrong)
        self.assertEqual(200, self.put(self.admin, right))
        for scope, scope_id in (('pcloud', self.pcloud), ('role', 'r')):
            answer = self.admin.call('PUT', f'{POLICIES}/{scope}/{scope_id}', {
                'policy': {'default_pcloud': right}})
            self.assertEqual(400, answer.status_code)
            self.assertEqual(
                f"'default_pcloud' cannot be set in scope {scope}; the scopes "
                "of 'default_pcloud' are project, domain, cloud.",
                answer.json()['badRequest']['message'])

    def test_who_may_set_it(self):
        right = {'pcloud': self.pcloud, 'mode': 'prefer'}
        reader = self.client_of('reader', base.ALICE, ('reader',))
        self.assertEqual(200, self.put(self.alice, right))
        self.assertEqual(200, self.put(self.alice, None))
        self.assertEqual(403, self.put(reader, right))
        self.assertEqual((None, 'project'), self.shown(reader))
        self.assertEqual(403, self.shown(reader, scope_id=base.BOB))
        for scope, scope_id in (('project', base.BOB), ('cloud', 'default'),
                                ('domain', 'default')):
            self.assertEqual(403, self.put(
                self.alice, right, scope, scope_id))
        # Not its Pcloud, and no Pcloud, in the same words but for the id.
        refused = [self.bob.call('PUT', f'{POLICIES}/project/{base.BOB}', {
            'policy': {'default_pcloud': {**right, 'pcloud': pcloud}}})
            for pcloud in (self.pcloud, GONE)]
        self.assertEqual([404, 404], [each.status_code for each in refused])
        self.assertEqual(*(
            each.text.replace(pcloud, '') for each, pcloud
            in zip(refused, (self.pcloud, GONE))))
        self.alice.call_json(
            'PUT', f'/os-pclouds/{self.pcloud}/tenants/{base.BOB}')
        self.assertEqual(200, self.put(self.bob, right, scope_id=base.BOB))
        self.assertEqual(404, self.put(
            self.admin, {**right, 'pcloud': GONE}))

    def test_members_touch_nothing_else(self):
        path = f'{POLICIES}/project/{base.ALICE}'
        self.admin.call_json('PUT', path, {
            'policy': {'constraints': 'cpu=1', 'customer_keys': ['A=1:1'],
                       'system_keys': ['B=1:1']}})
        self.assertEqual(403, self.alice.call('PUT', path, {
            'policy': {'system_keys': []}}).status_code)
        self.assertEqual(403, self.alice.call('DELETE', path).status_code)
        self.set_default(user=self.alice)
        self.assertEqual(
            {'id', 'scope', 'constraints', 'customer_keys', 'default_pcloud',
             'default_pcloud_source'},
            self.alice.get_json(path)['policy'].keys())
        shown = self.admin.get_json(path)
        self.assertEqual('cpu=1', shown['policy']['constraints'])
        self.assertEqual(['A=1:1'], shown['policy']['customer_keys'])
        self.assertEqual(['B=1:1'], shown['policy']['system_keys'])

    def shown(self, user=None, scope='project', scope_id=base.ALICE):
        response = (user or self.alice).call(
            'GET', f'{POLICIES}/{scope}/{scope_id}')
        if response.status_code != 200:
            return response.status_code
        policy = response.json()['policy']
        return policy['default_pcloud'], policy['default_pcloud_source']

    def test_what_counts_and_where_it_is_from(self):
        def value(mode):
            return {'pcloud': self.pcloud, 'mode': mode}

        self.assertEqual(404, self.shown())
        self.set_default('prefer', scope='cloud', scope_id='default')
        self.assertEqual((value('prefer'), 'cloud'), self.shown())
        self.assertEqual((value('prefer'), 'cloud'), self.shown(
            self.admin, 'cloud', 'default'))
        self.set_default(None, scope='domain', scope_id='default')
        self.assertEqual((None, 'domain'), self.shown(
            self.admin, 'domain', 'default'))
        self.set_default('strict')
        self.assertEqual((value('strict'), 'project'), self.shown())
        self.set_default(None)
        self.assertEqual((None, 'project'), self.shown())
        self.admin.call_json('DELETE', f'{POLICIES}/project/{base.ALICE}')
        self.admin.call_json('DELETE', f'{POLICIES}/cloud/default')
        self.admin.call_json('DELETE', f'{POLICIES}/domain/default')
        self.assertEqual(404, self.shown())

    def test_warning(self):
        def put(scope, scope_id, mode, user=None):
            return (user or self.admin).call_json(
                'PUT', f'{POLICIES}/{scope}/{scope_id}', {
                    'policy': {'default_pcloud': mode and {
                        'pcloud': self.pcloud, 'mode': mode}}})[
                            'policy'].get('warning')

        every = ('Servers without a hint of every project but the tenants (1) '
                 f'of Pcloud {self.pcloud} ')
        self.assertEqual(f'{every}are refused.',
                         put('domain', 'default', 'strict'))
        self.assertEqual(f'{every}start outside of Pclouds.',
                         put('cloud', 'default', 'prefer'))
        self.assertIn(f'of project {base.BOB}, which is no tenant of ',
                      put('project', base.BOB, 'strict'))
        for scope, scope_id, mode, user in (
                ('project', base.ALICE, 'strict', None),
                ('project', base.ALICE, 'strict', self.alice),
                ('cloud', 'default', None, None)):
            self.assertIsNone(put(scope, scope_id, mode, user))

    def test_values_written_by_hand(self):
        self.write_by_hand(f'Pcloud:policy:project:{base.ALICE}',
                           mode='never', pcloud='x' * 255)
        self.assertEqual(
            ({'mode': 'never', 'pcloud': 'x' * 255}, 'project'), self.shown())
        findings = [each.message for each in all_checks.find(self.context)
                    if each.kind == 'value-not-valid']
        self.assertEqual(2, len(findings), findings)
        self.assertIn('not started', findings[0])
        aggregate = self.aggregate(f'Pcloud:policy:project:{base.ALICE}')
        response = self.admin.call(
            'POST', f'/os-aggregates/{aggregate.id}/action', {
                'set_metadata': {'metadata': {
                    'pcloud:default:mode': 'often'}}})
        self.assertEqual(400, response.status_code)


class LaunchTest(DefaultTestCase):
    """Where servers start, and what their request specs keep."""

    def test_strict(self):
        self.assertEqual('outside', self.place())
        self.set_default()
        self.assertEqual('inside', self.place())
        self.assertEqual('outside', self.place(self.bob))
        self.assertEqual('outside', self.place(hints={'pcloud': 'none'}))
        server = self.boot(self.alice)
        self.assertEqual([self.pcloud], self.hints_of(server)['pcloud'])

    def test_strict_when_it_is_full(self):
        self.set_default()
        self.enable('a', 'disabled')
        self.enable('b', 'disabled')
        where, fault = self.place()
        self.assertEqual('error', where)
        self.assertIn('no enabled host', fault)

    def test_levels(self):
        self.set_default(scope='cloud', scope_id='default')
        self.assertEqual('inside', self.place())
        # Bob is no tenant.
        status, text = self.place(self.bob)
        self.assertEqual(409, status)
        self.assertIn(self.pcloud, text)
        self.set_default(None, scope_id=base.BOB)
        self.assertEqual('outside', self.place(self.bob))

    def test_a_default_that_is_gone_or_closed(self):
        other = self.make_pcloud(self.bob, 'theirs')
        gone = self.make_pcloud(self.alice, 'gone')
        texts = []
        for pcloud in (other, gone):
            self.set_default(pcloud=pcloud)
            if pcloud == gone:
                self.alice.call_json('DELETE', f'/os-pclouds/{gone}')
            status, text = self.place()
            self.assertEqual(409, status)
            texts.append(text.replace(pcloud, ''))
            self.set_default('prefer', pcloud=other)
            self.assertEqual('outside', self.place())
        self.assertEqual(*texts)
        self.assertEqual('outside', self.place(hints={'pcloud': 'none'}))

    def test_a_default_that_cannot_be_read(self):
        for number, members in enumerate((
                {'mode': 'sometimes', 'pcloud': self.pcloud},
                {'mode': 'strict'}, {'pcloud': self.pcloud}, {'x': 'y'},
                {'mode': 'none', 'pcloud': self.pcloud},
                {'mode': 'strict', 'pcloud': self.pcloud.upper()})):
            made = self.write_by_hand(
                f'Pcloud:policy:project:{base.ALICE}', **members)
            status, text = self.place()
            self.assertEqual(409, status, members)
            self.assertIn('cannot be read', text)
            self.assertEqual('outside', self.place(self.bob))
            objects.Aggregate.get_by_id(self.context, made).destroy()

    def test_what_names_a_place_itself(self):
        self.set_default()
        for host, expected in (('node-3', 'outside'),
                               (self.inside[0], 'error')):
            found = self.place(self.in_project(), **{
                'availability_zone': f'az1:{host}'})
            self.assertEqual(expected, found if isinstance(found, str)
                             else found[0])
        # Only a zone.
        for zone in ('az1', 'az1:', 'az1::'):
            self.assertEqual('inside', self.place(
                availability_zone=zone, flavorRef='1'), zone)
        self.assertEqual('outside', self.place(
            self.in_project(), host='node-3'))
        # Nobody else may name a host.
        for server in ({'availability_zone': 'az1:node-3'},
                       {'host': 'node-3'}):
            self.assertEqual(403, self.place(**server)[0])

    def in_project(self):
        """Return an administrator in alice's project."""
        return self.client_of('boss', base.ALICE, (
            'reader', 'member', 'admin'))

    def test_a_host_below_the_version_that_knows_it(self):
        """Nova refuses or ignores it, so the default counts."""
        self.set_default()
        self.alice.microversion = '2.73'
        self.assertEqual(400, self.place(host='node-3')[0])

    def test_a_zone_that_the_pcloud_does_not_have(self):
        self.set_default()
        where, fault = self.place(availability_zone='az2')
        self.assertEqual('error', where)
        self.assertIn('zone', fault)
        self.set_default('prefer')
        self.assertEqual('outside', self.place(availability_zone='az2'))
        self.assertEqual('inside', self.place(availability_zone='az1'))

    def test_every_version(self):
        self.set_default()
        for version in ('2.1', '2.36', '2.37', '2.63', '2.74', '2.100'):
            self.alice.microversion = version
            server = self._build_server(flavor_id='1', networks='none')
            if version in ('2.1', '2.36'):
                del server['networks']
            made = self.alice.call('POST', '/servers', {'server': server})
            self.assertEqual(202, made.status_code, version)
            self.alice.microversion = 'latest'
            self.assertEqual('inside', self.where(
                self.ended(made.json()['server'])), version)

    def test_the_policy_of_the_pcloud_counts(self):
        self.alice.call_json('PUT', f'{POLICIES}/pcloud/{self.pcloud}', {
            'policy': {'customer_keys': ['A=1:1']}})
        for mode in ('strict', 'prefer'):
            self.set_default(mode)
            self.assertEqual(['A=1:1'], self.hints_of(self.boot(self.alice))[
                '_pcloud_customer_keys'])

    def test_what_it_costs(self):
        """One statement without a default, shared with what is read anyway."""
        costs = {'none': self.cost()}
        self.set_default(None)
        costs['nothing'] = self.cost()
        self.set_default('prefer')
        costs['prefer'] = self.cost()
        self.set_default('strict')
        costs['strict'] = self.cost()
        self.assertEqual(
            {'none': 1, 'nothing': 1, 'prefer': 4, 'strict': 6}, costs)

    def cost(self):
        found = []
        prepare = servers.prepare

        def counted(call, rbac):
            cost = counting.count(lambda: prepare(call, rbac)).sql
            if call.action == 'create':
                found.append(cost)

        with mock.patch.object(servers, 'prepare', counted):
            for _ in range(3):
                self.boot(self.alice)
        return min(found)
