# SPDX-License-Identifier: Apache-2.0

"""Machine constraints through real Nova, for servers and for hosts."""

from unittest import mock

import fixtures

from pcloud import exception
from pcloud.objects.changing_hands import allocation
from pcloud.tests.support import base
from pcloud.tests.support import counting
from pcloud.tests.support import driver
from pcloud.tests.support import outages
from pcloud.tests.support import shared_cloud

POLICIES = '/os-pcloud-policies'
ATTRIBUTES = '/os-pcloud-attributes'


class ConstraintsTestCase(shared_cloud.SharedCloudTestCase):

    hosts = dict.fromkeys(driver.SizedDriver.sizes, 'az1') | {
        'node-5': 'az2'}
    compute_driver = 'fake.SizedDriver'

    def _configure(self):
        super()._configure()
        self.useFixture(fixtures.MonkeyPatch(
            'nova.virt.fake.SizedDriver', driver.SizedDriver))
        self.flags(enabled_filters=['ComputeFilter', 'PcloudFilter',
                                    'ConstraintsFilter'],
                   ram_weight_multiplier=0.0, cpu_weight_multiplier=0.0,
                   disk_weight_multiplier=0.0, io_ops_weight_multiplier=0.0,
                   group='filter_scheduler')
        self.flags(waste_weight_multiplier=1.0, group='pcloud')

    def set_policy(self, scope, scope_id, written, user=None):
        (user or self.admin).call_json(
            'PUT', f'{POLICIES}/{scope}/{scope_id}',
            {'policy': {'constraints': written}})

    def set_attribute(self, name, value, *hosts):
        self.admin.call_json('PUT', f'{ATTRIBUTES}/{name}', {
            'attribute': {'value': value, 'hosts': list(hosts)}})

    def started(self, written=None, **more):
        """Boot a server with constraints; return its host."""
        hints = {} if written is None else {'constraints': written}
        return self.host_of(self.boot(more.pop('user', self.alice), {
            **hints, **more.pop('hints', {})}, **more))

    def refused(self, status, call, *args):
        response = call(*args)
        self.assertEqual(status, response.status_code, response.text)
        return next(iter(response.json().values()))['message']


class UnknownScopesTest(ConstraintsTestCase):

    def setUp(self):
        super().setUp()
        self.useFixture(outages.SmallKeystone('/domains/d1', '/projects/p1'))

    def _set(self, scope, scope_id):
        return self.admin.call, 'PUT', f'{POLICIES}/{scope}/{scope_id}', {
            'policy': {'constraints': 'ram=2G'}}

    def test_what_keystone_does_not_know(self):
        self.assertEqual(
            "Domain: 'd2' is not right; it has to be the id of a domain that "
            'exists, which openstack domain list shows.',
            self.refused(400, *self._set('domain', 'd2')))
        self.assertEqual(
            "There is no project with the id 'p2'. If that is a name, you may "
            'not look it up: a member of the project reads the id with '
            'openstack token issue -f value -c project_id.',
            self.refused(400, *self._set('project', 'p2')))
        for scope, scope_id in (('domain', 'd2'), ('project', 'p2')):
            self.refused(404, self.admin.call, 'GET',
                         f'{POLICIES}/{scope}/{scope_id}')

    def test_what_keystone_has_deleted_meanwhile(self):
        for scope, scope_id in (('domain', 'd1'), ('project', 'p1')):
            self.set_policy(scope, scope_id, 'ram=2G')
        self.useFixture(outages.SmallKeystone())
        for scope, scope_id in (('domain', 'd1'), ('project', 'p1')):
            self.refused(400, *self._set(scope, scope_id))
            response = self.admin.call(
                'DELETE', f'{POLICIES}/{scope}/{scope_id}')
            self.assertEqual(204, response.status_code)

    def test_a_silent_keystone_lets_pass(self):
        self.useFixture(outages.SilentKeystone())
        self.set_policy('domain', 'd2', 'ram=2G')


class ServersTest(ConstraintsTestCase):

    def test_least_waste(self):
        """ram=3G, and machines of 2G, 4G, 6G and 8G."""
        self.assertEqual('node-2', self.started('ram=3G'))
        self.assertEqual('node-1', self.started('ram=0.5M'))
        self.assertEqual('node-3', self.started('cpu=4.5'))
        self.assertIn(self.started('storage=150G'), ('node-4', 'node-5'))
        # Its size counts, not its capacity.
        self.assertEqual('node-1', self.started())

    def test_the_greatest(self):
        self.assertEqual('node-3', self.started('cpu=max'))
        self.assertIn(self.started('ram=max'), ('node-4', 'node-5'))
        server = self.boot(
            self.alice, {'constraints': 'cpu=max ram=max'}, expected='ERROR')
        self.assertIn('meets the machine constraints cpu=max and ram=max '
                      'together, although each alone is met.',
                      self.fault(server))
        self.set_attribute('rack', 'r 1', 'node-1', 'node-2')
        self.assertEqual('node-2', self.started('cpu=max rack=r\\ 1'))

    def test_what_cannot_be_had_together(self):
        """The machines are 2, 4, 6 and 8 G, and have 2 to 8 cpus."""
        self.set_attribute('rack', 'r1', 'node-1')
        for written, expected in (
                ('ram=6G cpu=99', 'the machine constraints cpu=99.'),
                ('cpu=99 ram=1T storage=1G',
                 'any of the machine constraints cpu=99, ram=1T.'),
                ('ram=8G rack=r1 storage=0',
                 'the machine constraints rack=r1 and ram=8G together, '
                 'although each alone is met.')):
            server = self.boot(self.alice, {'constraints': written},
                               expected='ERROR')
            self.assertIn(f'meets {expected}', self.fault(server))
        # What the operator wishes keeps its value.
        self.set_policy('cloud', 'default', 'rack=r1')
        server = self.boot(self.alice, {'constraints': 'ram=8G'},
                           expected='ERROR')
        self.assertIn('constraints rack (cloud) and ram=8G together',
                      self.fault(server))

    def test_of_one_request_all(self):
        known = {each['id'] for each in self.alice.get_servers()}
        self.boot(self.alice, {'constraints': 'ram=max'}, min_count=4)

        def hosts():
            found = {self.host_of(each) for each in self.alice.get_servers()
                     if each['id'] not in known}
            self.assertNotIn(None, found)
            return found

        self.assertLessEqual(self.wait_until(hosts), {'node-4', 'node-5'})

    def test_levels(self):
        self.set_policy('cloud', 'default', 'ram=8G')
        self.assertIn(self.started(), ('node-4', 'node-5'))
        self.set_policy('project', base.ALICE, 'ram=6G')
        self.assertEqual('node-3', self.started())
        self.assertEqual('node-2', self.started('ram=4096'))
        # What is built in, and not what the project wishes.
        self.assertEqual('node-1', self.started('ram='))
        # Each key falls back on its own.
        self.assertEqual('node-3', self.started('storage=5G'))
        self.admin.call_json('DELETE', f'{POLICIES}/project/{base.ALICE}')
        self.assertIn(self.started(), ('node-4', 'node-5'))
        # Nothing that has been placed is moved, not even rebuilt elsewhere.
        server = self.boot(self.alice, {'constraints': 'ram=0'})
        self.assertEqual('node-1', self.host_of(server))
        self.set_policy('cloud', 'default', 'host=node-2')
        self.act(server, {'rebuild': {'imageRef': server['image']['id']}})
        self.wait_for(server, status='ACTIVE')
        self.assertEqual('node-1', self.host_of(server))

    def test_of_ones_own_project(self):
        path = f'{POLICIES}/project/{base.ALICE}'
        self.set_policy('cloud', 'default', 'rack=^secret storage=1G')
        self.set_policy('project', base.ALICE, 'host=node-3 gpu=a')
        self.set_policy('project', base.ALICE, 'gpu=^b ram=8G', self.alice)
        # The real host is not shown, and stays.
        shown = self.alice.get_json(f'{path}?effective=1')['policy']
        self.assertEqual('gpu=^b ram=8G', shown['constraints'])
        self.assertEqual(
            {'cpu': '1', 'gpu': '^b', 'host': None, 'rack': None,
             'ram': '8G', 'storage': '1G'},
            {row['key']: row['value'] for row in shown['effective']})
        self.assertEqual('gpu=^b host=node-3 ram=8G', self.admin.get_json(
            path)['policy']['constraints'])
        self.assertIn('for administrators', self._policy(
            403, 'project', base.ALICE, 'host=node-4', self.alice))
        self.set_policy('project', base.ALICE, '')
        self.set_policy('project', base.ALICE, 'ram=6G', self.alice)
        self.assertEqual('node-3', self.started())
        self.assertEqual('node-1', self.started(user=self.bob))
        reader = self.client_of('reader', base.ALICE, ('reader',))
        self._policy(403, 'project', base.ALICE, '', reader)
        self._policy(403, 'project', base.ALICE, '', self.bob)
        self.assertEqual('ram=6G', reader.get_json(path)['policy'][
            'constraints'])
        for query in ('', '?effective=1'):
            self.assertEqual(
                403, self.bob.call('GET', path + query).status_code)

    def test_of_a_pcloud(self):
        self.make_pool('any', 'node-1', 'node-3')
        pcloud = self.make_pcloud(self.alice)
        for name in ('a', 'b'):
            self.add_host(self.alice, pcloud, name, 'any')
        hints = {'pcloud': pcloud}
        self.assertEqual('node-1', self.started(hints=hints))
        self.set_policy('pcloud', pcloud, 'cpu=3', self.alice)
        self.assertEqual('node-3', self.started(hints=hints))
        self.assertEqual('node-2', self.started())

    def test_attributes(self):
        self.set_attribute('classes', 'a,c', 'node-3')
        self.set_attribute('classes', 'a,b', 'node-2')
        self.assertEqual('node-3', self.started('classes=a,^b'))
        self.assertEqual('node-2', self.started('classes=a'))
        self.assertEqual('node-1', self.started('classes=^a'))
        server = self.boot(self.alice, {'constraints': 'cpu=1 classes=d'},
                           expected='ERROR')
        self.assertIn('constraints classes=d.', self.fault(server))
        self.set_policy('cloud', 'default', 'rack=secret')
        server = self.boot(self.alice, expected='ERROR')
        self.assertIn('constraints rack (cloud).', self.fault(server))
        self.set_policy('cloud', 'default', '')
        # Those of other providers are not for us.
        self.assertEqual('node-1', self.started('ec2-zone=a'))

    def test_roles(self):
        self.set_attribute('rack', 'switch', 'node-4')
        self.set_policy('role', 'fast-network', 'rack=switch cpu=3')
        self.assertEqual('node-4', self.started('role=fast-network'))
        self.set_policy('project', base.ALICE, 'role=fast-network')
        self.assertEqual('node-4', self.started())
        self.assertEqual('node-2', self.started('rack='))
        self.assertEqual('node-1', self.started('role='))
        for message in (
                self.refused(409, self.admin.call, 'DELETE',
                             f'{POLICIES}/role/fast-network'),
                self._policy(409, 'role', 'fast-network', '')):
            self.assertIn(f'in the constraints of project:{base.ALICE};',
                          message)
        self.assertIn('1 to 64 letters, digits, "_" and "-"', self._policy(
            404, 'role', 'fast.network', 'cpu=1'))
        self.set_policy('project', base.ALICE, '')
        self.admin.call_json('DELETE', f'{POLICIES}/role/fast-network')
        self.assertIn("Role 'fast-network' is not defined", self._hint(
            400, 'role=fast-network'))
        self.set_policy('role', 'one', 'cpu=1')
        self.assertIn('write out', self._policy(
            400, 'role', 'two', 'role=one'))
        self.assertIn('not defined', self._policy(
            400, 'cloud', 'default', 'role=three'))

    def _hint(self, status, written):
        return self.refused(status, self.alice.call, 'POST', '/servers', {
            'server': self._build_server(flavor_id='1', networks='none'),
            'os:scheduler_hints': {'constraints': written}})

    def _policy(self, status, scope, scope_id, written, user=None):
        return self.refused(
            status, (user or self.admin).call, 'PUT',
            f'{POLICIES}/{scope}/{scope_id}',
            {'policy': {'constraints': written}})

    def test_hosts_are_for_administrators(self):
        self.assertEqual('node-3', self.started(
            'host=node-3', user=self.admin))
        self.assertEqual('node-2', self.started(
            'host=node-2.hv.example.org', user=self.admin))
        self.assertIn('for administrators', self._hint(403, 'host=node-3'))
        pcloud = self.make_pcloud(self.alice)
        self.assertIn('for administrators', self._policy(
            403, 'pcloud', pcloud, 'host=node-3', self.alice))
        self.set_policy('pcloud', pcloud, 'host=node-3 ram=1G')
        # The owner does not see it, and does not take it away.
        path = f'{POLICIES}/pcloud/{pcloud}'
        for query in ('', '?effective=1'):
            text = self.alice.call('GET', path + query).text
            self.assertIn('ram', text)
            self.assertNotIn('node-3', text)
        self.set_policy('pcloud', pcloud, 'cpu=1', self.alice)
        self.assertEqual('cpu=1 host=node-3', self.admin.get_json(
            path)['policy']['constraints'])
        server = self.boot(self.admin, {'constraints': 'host=node-3 ram=1G'})
        reader = self.client_of('rosa', base.CAROL)
        for path in (f'/servers/{server["id"]}', '/servers/detail'):
            self.assertIn('host=node-3', self.admin.call('GET', path).text)
            text = reader.call('GET', path).text
            self.assertNotIn('host=', text)
            self.assertIn('ram=1G', text)

    def test_what_a_tenant_is_told(self):
        self.make_pool('any', 'node-1')
        pcloud = self.make_pcloud(self.alice)
        self.add_host(self.alice, pcloud, 'a', 'any')
        self.alice.call_json(
            'PUT', f'/os-pclouds/{pcloud}/tenants/{base.BOB}')
        self.set_policy('pcloud', pcloud, 'rack=r7 ram=64G', self.alice)
        server = self.boot(self.bob, {'pcloud': pcloud}, expected='ERROR')
        self.assertIn('constraints rack (pcloud), ram (pcloud).',
                      self.fault(server))

    def test_refused(self):
        for written, expected in (
                ('ram=-1', 'at character 1'), ('cpu=2 ram=1X', 'character 7'),
                ('cpu', 'KEY=VALUE'), ('cpu=1 cpu=1', 'the only one')):
            self.assertIn(expected, self._hint(400, written))
            self.assertIn(expected, self._policy(
                400, 'cloud', 'default', written))
        self.assertIn('give it once', self._hint(400, ['cpu=1'] * 2))
        self.assertIn('give it once', self._hint(400, 7))
        self.assertIn('give it once', self._hint(400, None))

    def test_attributes_that_no_host_has(self):
        self.set_attribute('GPU', 'h100', 'node-1')
        for written, expected in (
                ('mem=4G', "has an attribute 'mem'; it has to be ram=4G."),
                ('cpu=1 vcpus=2', 'it has to be cpu=2.'),
                ('stroage=10G', 'it has to be storage=10G.'),
                ('hardware-class=2', 'it has to be hardware_class=2.'),
                ('gpu=h100', 'or an attribute that the hosts have.'),
                (r'two\ words=a\ b', r"constraint 'two\ words=a\ b'"),
                ('classes=^b', "no host has an attribute 'classes'")):
            self.assertIn(expected, self._hint(400, written))
        self.assertIn('it has to be cpu, ram', self._hint(400, 'rack=r1'))
        self.assertEqual('node-1', self.started('GPU=h100'))
        # What asks for nothing, or is for other clouds.
        self.started('gpu= ec2-zone=a')

    def test_attributes_of_an_empty_aggregate(self):
        """A rack that gets its hosts later."""
        aggregate = self.admin.call_json('POST', '/os-aggregates', {
            'aggregate': {'name': 'r1', 'availability_zone': None}})
        self.admin.call_json(
            'POST', f"/os-aggregates/{aggregate['aggregate']['id']}/action",
            {'set_metadata': {'metadata': {'pcloud:attr:rack': 'r1'}}})
        server = self.boot(
            self.alice, {'constraints': 'rack=r1'}, expected='ERROR')
        self.assertIn('rack=r1', self.fault(server))

    def test_what_is_not_valid_opens_nothing(self):
        """A request that Pcloud has not seen in nova-api."""
        self.useFixture(fixtures.MonkeyPatch(
            'pcloud.api.nova_calls.servers._check_constraints',
            lambda *args: None))
        server = self.boot(
            self.alice, {'constraints': 'ram=x'}, expected='ERROR')
        self.assertIn("at character 1: 'ram=x'", self.fault(server))


class HostsTest(ConstraintsTestCase):

    def furnish(self):
        super().furnish()
        self.make_pool('small', 'node-1', 'node-2')
        self.make_pool('medium', 'node-3', units=2)
        self.pcloud = self.make_pcloud(self.alice)
        self.admin.call_json('PUT', f'/os-pcloud-quotas/{base.ALICE}', {
            'quota': {'units': {'limit': -1}}})

    def _call(self, name, written, user=None, **more):
        return (user or self.alice).call(
            'POST', f'/os-pclouds/{self.pcloud}/hosts', {
                'host': {'name': name, 'constraints': written, **more}})

    def added(self, name, written, **more):
        response = self._call(name, written, **more)
        self.assertEqual(201, response.status_code, response.text)
        return response.json()['host']['host_flavor']

    def test_least_waste(self):
        self.make_pool('large', 'node-4', 'node-5', units=4)
        # A flavor is as large as the smallest of its hosts.
        self.assertEqual('medium', self.added('a', 'ram=3G'))
        self.assertEqual('large', self.added('b', 'ram=3G'))
        self.assertEqual('small', self.added('c', ''))
        self.assertEqual('large', self.added('d', 'cpu=max'))
        message = self.refused(409, self._call, 'e', 'cpu=3 storage=1T')
        self.assertIn('2 of 3 have no free host', message)
        self.assertIn('; cpu=3 rules out 1 of 3', message)
        self.assertIn('; storage=1T rules out 1 of 3', message)
        # The only free host lacks each of them.
        self.assertNotIn('together', message)
        self.assertNotIn('node-', message)

    def test_what_no_host_can_meet(self):
        for written, meant in (('mem=4G', 'ram=4G'), ('vcpus=2', 'cpu=2')):
            self.assertIn(f'it has to be {meant}.',
                          self.refused(400, self._call, 'a', written))
        self.assertIn('an attribute that the hosts have',
                      self.refused(400, self._call, 'a', 'colour=red'))
        for more in ({'constraints': 'cpu=1'}, {'host_flavor': 'small'}):
            self.assertIn(
                "There is no availability zone 'az9'; it has to be one of "
                'az1, ', self.refused(
                    404, self.alice.call, 'POST',
                    f'/os-pclouds/{self.pcloud}/hosts', {'host': {
                        'name': 'a', 'availability_zone': 'az9', **more}}))

    def test_fewest_units(self):
        self.make_pool('dear', 'node-4', units=4)
        self.make_pool('cheap', 'node-5', units=3)
        self.assertEqual('cheap', self.added('a', 'ram=8G'))

    def test_others_take_the_last_hosts(self):
        """One flavor after the other, until nothing is left."""
        gone = exception.NoFreeHost(host_flavor='small', zone='')
        add = allocation._add
        with mock.patch.object(allocation, '_add', side_effect=[
                *[gone] * 7, exception.HostFlavorNotFound(host_flavor='x'),
                mock.DEFAULT], wraps=add):
            self.assertEqual('small', self.added('a', ''))

    def test_zones_and_attributes(self):
        self.make_pool('large', 'node-4', 'node-5', units=4)
        self.set_attribute('classes', 'a', 'node-4')
        self.set_attribute('rack', 'r2', 'node-5', 'node-2')
        message = self.refused(
            409, self._call, 'a', 'classes=a rack=r2')
        self.assertIn('all together rule out 1 of 3', message)
        self.assertIn('classes=a rules out 2 of 3', message)
        self.assertIn('; no free host meets classes=a and rack=r2 together, '
                      'although each alone is met.', message)
        self.assertNotIn('node-', message)
        message = self.refused(409, lambda: self._call(
            'a', 'classes=a', availability_zone='az2'))
        self.assertIn("in availability zone 'az2'", message)
        self.assertEqual('large', self.added('a', 'classes=a'))
        self.assertEqual('small', self.added('b', 'rack=r2'))
        shown = self.admin.get_json(
            f'/os-pclouds/{self.pcloud}/hosts/b')['host']
        self.assertEqual('node-2.hv.example.org',
                         shown['hypervisor_hostname'])

    def test_levels(self):
        self.set_policy('pcloud', self.pcloud, 'ram=6G', self.alice)
        self.set_policy('cloud', 'default', 'cpu=9 rack=secret')
        message = self.refused(409, self._call, 'a', '')
        self.assertIn('rack (cloud) rules out 2 of 2', message)
        self.assertNotIn('secret', message)
        path = f'{POLICIES}/pcloud/{self.pcloud}?effective=1'
        expected = [('cpu', '9', 'cloud'), ('rack', None, 'cloud'),
                    ('ram', '6G', 'pcloud'), ('storage', '4G', 'built-in')]
        for user, rack in ((self.alice, None), (self.admin, 'secret')):
            shown = user.get_json(path)['policy']
            self.assertEqual('ram=6G', shown['constraints'])
            expected[1] = ('rack', rack, 'cloud')
            self.assertEqual(expected, [
                (each['key'], each['value'], each['source'])
                for each in shown['effective']])
        self.assertEqual(404, self.bob.call('GET', path).status_code)
        self.assertEqual('medium', self.added('a', 'cpu= rack='))
        self.set_policy('pcloud', self.pcloud, '', self.alice)
        self.assertEqual([('cpu', '9', 'cloud')], [
            (each['key'], each['value'], each['source']) for each in
            self.alice.get_json(path)['policy']['effective'][:1]])

    def test_hosts_are_for_administrators(self):
        self.assertIn('for administrators', self.refused(
            403, self._call, 'a', 'host=node-2'))
        self.assertEqual('medium', self.added(
            'a', 'host=node-3', user=self.admin))
        self.assertEqual(409, self._call(
            'b', 'host=node-3', user=self.admin).status_code)

    def test_either_or(self):
        self.assertIn('either', self.refused(400, lambda: self._call(
            'a', 'cpu=1', host_flavor='small')))
        self.assertIn('either', self.refused(
            400, self.alice.call, 'POST',
            f'/os-pclouds/{self.pcloud}/hosts', {'host': {'name': 'a'}}))
        self.assertIn('not negative', self.refused(
            400, self._call, 'a', 'cpu=x'))

    def test_queries_do_not_grow(self):
        """Choosing costs the same, however many flavors and hosts."""
        def refused():
            self.assertEqual(409, self._call('a', 'rack=x').status_code)

        self.make_aggregate('rack', **{'pcloud:attr:rack': 'r1'})
        few = counting.least(refused)
        self.make_pool('large', 'node-4', 'node-5')
        self.assertEqual(few, counting.least(refused))
