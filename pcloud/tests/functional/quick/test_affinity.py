# SPDX-License-Identifier: Apache-2.0

"""Placement keys through real Nova: the use cases of the algorithm."""

from fractions import Fraction
import re
from unittest import mock

import fixtures
from nova import context as nova_context
from nova.image import glance
from nova import objects
from nova.scheduler import host_manager
from nova.tests import fixtures as nova_fixtures
from nova.volume import cinder
from oslo_serialization import jsonutils
from oslo_utils.fixture import uuidsentinel as uuids

from pcloud.api import enforcer
from pcloud.api.nova_calls import images
from pcloud.api.policies import scoped_policies as policies
from pcloud.objects.placing import affinity_keys
from pcloud.rules.placing import affinity
from pcloud.scheduler import affinity_scores
from pcloud.scheduler.filters import affinity as filters_affinity
from pcloud.scheduler import memo
from pcloud.tests.support import base
from pcloud.tests.support import shared_cloud

IMAGE = '5e6d7c8b-1a2b-4c3d-8e9f-0a1b2c3d4e5f'
POLICIES = '/os-pcloud-policies'
TOGETHER, APART = 'Group1=1:100', 'Repel1=1:-100'


class AffinityTestCase(shared_cloud.SharedCloudTestCase):

    def _configure(self):
        super()._configure()
        self.flags(enabled_filters=['ComputeFilter', 'PcloudFilter',
                                    'AffinityFilter'],
                   group='filter_scheduler')

    def set_policy(self, scope, scope_id='default', user=None, **keys):
        (user or self.admin).call_json(
            'PUT', f'{POLICIES}/{scope}/{scope_id}', {'policy': keys})

    def node_keys(self, host, **metadata):
        """Give a host keys, in an aggregate as an administrator makes it."""
        made = self.admin.post_aggregate({'aggregate': {
            'name': f'keys of {host} {len(self.dump()["aggregates"])}'}})
        self.admin.add_host_to_aggregate(made['id'], host)
        self.admin.api_post(f'/os-aggregates/{made["id"]}/action', {
            'set_metadata': {'metadata': {
                f'pcloud:{key}': value for key, value in metadata.items()}}})

    def flavor(self, **extra_specs):
        """Make a flavor with extra specs, and return its id."""
        return self.make_flavor(
            f'f-{sorted(extra_specs)}'[:60],
            name=f'f{len(extra_specs)}{self.id()[-9:]}',
            extra_specs={key.replace('__', ':'): value
                         for key, value in extra_specs.items()})

    def started(self, *keys, user=None, **more):
        """Boot a server with customer keys in hints; return its host."""
        hints = {'placement_key': list(keys)} if keys else {}
        return self.host_of(self.boot(user or self.alice, hints, **more))

    def several(self, count, *keys, flavor='1'):
        """Boot several servers at once, and return their hosts, sorted."""
        known = {each['id'] for each in self.alice.get_servers()}
        self.boot(self.alice, {'placement_key': list(keys)} if keys else {},
                  min_count=count, flavorRef=flavor)

        def hosts():
            found = [self.host_of(each) for each in self.alice.get_servers()
                     if each['id'] not in known]
            self.assertNotIn(None, found)
            return sorted(found)

        return self.wait_until(hosts)


class SecondSchedulerTest(AffinityTestCase):
    """A scheduler that has seen no request yet."""

    own_cloud = True

    def test_keys_are_those_it_was_started_with(self):
        flavor = self.flavor(**{'pcloud__customer_key__Group1': '1:100'})
        first = self.started(flavorRef=flavor)
        found = objects.Flavor.get_by_flavor_id(self.context, flavor)
        found.extra_specs = {'pcloud:customer_key:Group1': '9:100'}
        found.save()
        self.set_policy('project', base.ALICE, customer_keys=['Group1=5:1'])
        self.assertEqual(first, self.started(TOGETHER))
        # In another scheduler too.
        self.scheduler.stop()
        self.useFixture(fixtures.MonkeyPatch(
            'pcloud.scheduler.affinity_scores._memory',
            affinity_keys.Memory()))
        self.scheduler = self.start_service('scheduler')
        self.assertEqual(first, self.started(TOGETHER))


class SystemTest(AffinityTestCase):

    def test_premium_hosts(self):
        """0 on the cloud, 1 on the premium hosts and offers."""
        self.set_policy('cloud', system_keys=['premium=0:100'])
        for host in self.hosts:
            self.node_keys(host, **{
                'key:premium': '1' if host == 'node-4' else '0'})
        flavor = self.flavor(**{'pcloud__system_key__premium': '1:100'})
        self.assertEqual('node-4', self.started(flavorRef=flavor))
        for _ in range(3):
            self.assertNotEqual('node-4', self.started())

    def test_a_policy_of_the_domain(self):
        self._check_domain('d1', {'_pcloud_domain': ['d1']})

    def test_a_policy_of_the_default_domain(self):
        self._check_domain('default', {})

    def _check_domain(self, domain, recorded):
        """Policies count for servers that are older, whoever moves them."""
        begin = nova_context.RequestContext.__init__

        def with_domain(context, *args, **options):
            # Nova's fixture for tests knows no domains.
            begin(context, *args, **{**options, 'project_domain_id': domain})

        with mock.patch.object(
                nova_context.RequestContext, '__init__', with_domain):
            server = self.boot(self.alice)
        self.assertEqual(recorded, objects.RequestSpec.get_by_instance_uuid(
            self.context, server['id']).scheduler_hints or {})
        target = next(iter(set(self.hosts) - {self.host_of(server)}))
        self.node_keys(target, **{'key:A': '1'})
        for other in {'d1', 'default'} - {domain}:
            self.set_policy('domain', other, system_keys=['A=1:-100'])
        self.set_policy('domain', domain, system_keys=['A=1:100'])
        self.act(server, {'migrate': None})
        self.wait_for(server, status='VERIFY_RESIZE')
        self.assertEqual(target, self.host_of(server))

    def test_chance_decides_among_equals(self):
        hosts = [host_manager.HostState(f'h{number}', 'n', 'cell')
                 for number in range(5)]
        for each in hosts:
            each.aggregates = []
        spec = objects.RequestSpec(
            project_id=base.ALICE, instance_uuid=uuids.server,
            scheduler_hints={'placement_key': ['A=1:1']})
        first = {next(filters_affinity.AffinityFilter().filter_all(
            hosts, spec)).host for _ in range(200)}
        # 5 * 0.8 ** 200: once in 4e18 runs one of them is never the first.
        self.assertEqual({each.host for each in hosts}, first)

    def test_what_is_in_no_round(self):
        self.set_policy('cloud', system_keys=['bad=1:-100'])
        for host in self.hosts:
            self.node_keys(host, **{'key:bad': '1'})
        server = self.boot(self.alice, expected='ERROR')
        self.assertIn('No valid host', self.fault(server))
        self.set_policy('cloud', system_keys=[])
        self.started()

    def test_later_servers_reach_the_next_round(self):
        """All of one request, on hosts that were kept for the first.

        A host has 8192 MiB, of which 512 are its own, and a server takes
        2048: 1 - share is 0.9375, 0.6875, 0.4375. The first thresholds are
        120, 105.6 and 91.1.

        =======  ======  ======  ======
        servers  node-1  others  round
        =======  ======  ======  ======
        0        143.75  93.75   1st, 3rd
        1        118.75  68.75   2nd
        2        93.75           3rd
        =======  ======  ======  ======
        """
        self.flags(initial_msav=120.0, group='pcloud')
        self.set_policy('cloud', system_keys=['first=1:50',
                                              'special.RAM=0:100'])
        self.node_keys('node-1', **{'key:first': '1'})
        # From the third on they are in one round, and the emptiest is taken.
        self.assertEqual(['node-1', 'node-1', 'node-2', 'node-3', 'node-4'],
                         self.several(5, flavor='2'))

    def test_spread_and_pack_by_memory(self):
        self.flags(ram_weight_multiplier=0.0, cpu_weight_multiplier=0.0,
                   disk_weight_multiplier=0.0, group='filter_scheduler')
        self.set_policy('cloud', system_keys=['special.RAM=1:1000'])
        self.flags(initial_msav=200.0, final_msav=-10.0, msav_steps=50,
                   group='pcloud')
        first = self.started()
        self.assertEqual([first] * 3, [self.started() for _ in range(3)])
        self.set_policy('cloud', system_keys=['special.RAM=0:1000'])
        self.assertNotEqual(first, self.started())
        self.flags(initial_msav=0.0, group='pcloud')
        self.set_policy('cloud', system_keys=['special.RAM=1:-10'])
        self.assertNotIn(first, [self.started() for _ in range(2)])

    def test_sticky_keys(self):
        for host, kept in (('node-1', '1'), ('node-2', '2'),
                           ('node-3', '1'), ('node-4', '2')):
            self.node_keys(host, **{'key:store': kept, 'sticky:store': '60'})
        server = self.boot(self.alice)
        same = {'node-1': 'node-3', 'node-3': 'node-1',
                'node-2': 'node-4', 'node-4': 'node-2'}
        for _ in range(2):
            before = self.host_of(server)
            self.act(server, {'migrate': None})
            self.wait_for(server, status='VERIFY_RESIZE')
            self.assertEqual(same[before], self.host_of(server))
            self.act(server, {'confirmResize': None})
            self.wait_for(server, status='ACTIVE')
        before = self.host_of(server)
        self.act(server, {'shelve': None})
        self.wait_for(server, status='SHELVED_OFFLOADED')
        self.disable_service(before)
        self.act(server, {'unshelve': None})
        self.wait_for(server, status='ACTIVE')
        self.assertEqual(same[before], self.host_of(server))


class LoadTest(AffinityTestCase):
    """Computed keys, from hosts as the scheduler has them."""

    def test_load(self):
        # As nova-compute writes it, and as Nova's hosts read it.
        listed = objects.MonitorMetricList.from_json(jsonutils.dumps([
            {'name': 'cpu.percent', 'value': 0.05, 'source': 'libvirt',
             'timestamp': '2026-12-01T00:00:00'}]))
        host = host_manager.HostState('h', 'h', 'cell')
        for known, expected in ((listed, '0.05'), (None, '0'), ([], '0')):
            host.metrics = known
            self.assertEqual([Fraction(expected)], affinity_scores.system(
                [host], memo.CompiledKeys({'#LOAD': affinity.Key(
                    '#LOAD', Fraction(1), Fraction(1))}, {})))


class KeysTest(AffinityTestCase):
    """Who may set what, and what becomes of keys that are not right."""

    def _refused(self, hints, status=400):
        response = self.alice.call('POST', '/servers', {
            'server': self._build_server(flavor_id='1', networks='none'),
            'os:scheduler_hints': hints})
        self.assertEqual(status, response.status_code, response.text)
        return response.json()['badRequest']['message']

    def test_hints(self):
        for keys in ('A', ['A=1:1', 'A=2:1'], 'A=1:', '#RAM=0:100',
                     ['A=1:1', 'x'], 7, ['A=1:1', 'a=2:1'],
                     [f'A{number}=1:1' for number in range(101)]):
            self.assertIn('has to be', self._refused({'placement_key': keys}))
        self.assertIn('not for users', self._refused(
            {'_pcloud_image_keys': ['premium=1:1000']}))

    def test_policies(self):
        def put(user, scope, scope_id, **keys):
            return user.call('PUT', f'{POLICIES}/{scope}/{scope_id}',
                             {'policy': keys}).status_code

        mine = self.make_pcloud(self.alice)
        self.assertEqual(200, put(self.alice, 'pcloud', mine,
                                  customer_keys=['A=1:1']))
        self.assertEqual(403, put(self.alice, 'pcloud', mine,
                                  system_keys=['A=1:1']))
        self.assertEqual(200, put(self.admin, 'pcloud', mine,
                                  system_keys=['special.RAM=1:1']))
        self.assertEqual(
            {'policy': {'scope': 'pcloud', 'id': mine, 'constraints': '',
                        'customer_keys': ['A=1:1']}},
            self.alice.get_json(f'{POLICIES}/pcloud/{mine}'))
        self.assertEqual(['#RAM=1:1'], self.admin.get_json(
            f'{POLICIES}/pcloud/{mine}')['policy']['system_keys'])
        for user, scope, scope_id, status in (
                (self.bob, 'pcloud', mine, 404),
                (self.alice, 'project', base.BOB, 403),
                (self.alice, 'cloud', 'default', 403),
                (self.admin, 'cloud', 'other', 404),
                (self.admin, 'planet', 'default', 404),
                (self.admin, 'cloud', 'default', 400)):
            self.assertEqual(status, put(
                user, scope, scope_id, customer_keys=['A=1:1']))
            self.assertEqual(
                404 if status in (404, 400) else 403, user.call(
                    'GET', f'{POLICIES}/{scope}/{scope_id}').status_code)
        for scope, scope_id, expected in (
                ('cloud', 'other', "the only id of cloud is 'default'"),
                ('planet', 'default', 'cloud, domain, project, pcloud, role'
                 )):
            self.assertIn(expected, self.admin.call(
                'GET', f'{POLICIES}/{scope}/{scope_id}').text)
        for keys in (['A'], ['A=1:1', 'a=2:1'], ['#RAM=1:1'], ['A=x:1']):
            self.assertEqual(400, put(self.alice, 'pcloud', mine,
                                      customer_keys=keys))
        self.assertEqual(400, put(self.admin, 'cloud', 'default',
                                  system_keys=['_A=1:1']))
        self.assertEqual(403, self.alice.call(
            'DELETE', f'{POLICIES}/pcloud/{mine}').status_code)
        self.admin.call_json('DELETE', f'{POLICIES}/pcloud/{mine}')
        self.assertEqual(404, self.alice.call(
            'GET', f'{POLICIES}/pcloud/{mine}').status_code)
        put(self.admin, 'pcloud', mine, system_keys=['A=1:1'])
        # Whether the administrator has set something is not for the owner.
        self.assertEqual(404, self.alice.call(
            'GET', f'{POLICIES}/pcloud/{mine}').status_code)
        self.alice.call_json('DELETE', f'/os-pclouds/{mine}')
        self.assertEqual(200, put(self.admin, 'cloud', 'default',
                                  system_keys=[]))
        self.assertNotIn('Pcloud:policy', str(self.dump()['aggregates']))

    def test_keys_of_ones_own_project(self):
        path = f'{POLICIES}/project/{base.ALICE}'
        reader = self.client_of('reader', base.ALICE, ('reader',))
        self.assertEqual(404, self.alice.call('GET', path).status_code)
        self.set_policy('project', base.ALICE, system_keys=['B=1:1'])
        # Whether the administrator has set something is not for the project.
        self.assertEqual(404, self.alice.call('GET', path).status_code)
        self.set_policy('project', base.ALICE, self.alice,
                        customer_keys=[TOGETHER, '_gpus=4:1'])
        for user in (self.alice, reader):
            self.assertEqual(
                {'scope': 'project', 'id': base.ALICE, 'constraints': '',
                 'customer_keys': [TOGETHER, '_gpus=4:1'],
                 'default_pcloud': None, 'default_pcloud_source': None},
                user.get_json(path)['policy'])
        for user, status, keys in (
                (reader, 403, {'customer_keys': []}),
                (self.bob, 403, {'customer_keys': []}),
                (self.alice, 403, {'system_keys': []}),
                (self.alice, 403, {'customer_keys': [], 'system_keys': []}),
                (self.alice, 400, {'quota': {'units': -1}}),
                (self.alice, 403, {'share': 5}),
                (self.alice, 400, {'shares': 5}),
                (self.alice, 400, {'customer_keys': ['#RAM=1:1']})):
            self.assertEqual(status, user.call(
                'PUT', path, {'policy': keys}).status_code, keys)
        self.assertEqual(403, self.alice.call('DELETE', path).status_code)
        self.assertEqual(403, self.bob.call('GET', path).status_code)
        self.assertEqual(['B=1:1'], self.admin.get_json(path)['policy'][
            'system_keys'])
        # They count for all servers of the project.
        first = self.started()
        self.assertEqual([first] * 2, [self.started() for _ in range(2)])
        self.set_policy('project', base.ALICE, self.alice, customer_keys=[])
        self.assertEqual(404, self.alice.call('GET', path).status_code)

    def test_customer_keys_of_a_domain(self):
        """For administrators, or whom the operator trusts of the domain."""
        path = f'{POLICIES}/domain/d1'
        begin = nova_context.RequestContext.__init__

        def with_domain(context, *args, **options):
            begin(context, *args, **{**options, 'project_domain_id': 'd1'})

        self.set_policy('domain', 'd1', constraints='rack=r1',
                        system_keys=['B=1:1'])
        with mock.patch.object(
                nova_context.RequestContext, '__init__', with_domain):
            self._put_keys(403, self.alice, path, customer_keys=[TOGETHER])
            self.assertEqual(403, self.alice.call('GET', path).status_code)
            with self._rule(policies.DOMAIN):
                self._put_keys(200, self.alice, path,
                               customer_keys=[TOGETHER, '_gpus=4:1'])
                self.assertEqual(
                    {'scope': 'domain', 'id': 'd1',
                     'customer_keys': [TOGETHER, '_gpus=4:1'],
                     'default_pcloud': None, 'default_pcloud_source': None},
                    self.alice.get_json(path)['policy'])
                for more in ({'constraints': ''}, {'system_keys': []},
                             {'default_pcloud': None}):
                    self._put_keys(403, self.alice, path, **more)
                for other in ('d2', 'default'):
                    other_path = f'{POLICIES}/domain/{other}'
                    self._put_keys(403, self.alice, other_path,
                                   customer_keys=[])
                    self.assertEqual(403, self.alice.call(
                        'GET', other_path).status_code)
                self.assertEqual(403, self.alice.call(
                    'GET', f'{path}?effective=1').status_code)
            first = self.started()
            self.assertEqual([first] * 2, [self.started() for _ in range(2)])
            # Lower levels count.
            self.set_policy('project', base.ALICE, self.alice,
                            customer_keys=['Group1=9:1'])
            server = self.boot(self.alice)
        self.assertEqual(
            ['Group1=9:1', '_gpus=4:1'],
            objects.RequestSpec.get_by_instance_uuid(
                self.context, server['id']).scheduler_hints[
                    '_pcloud_customer_keys'])
        # A token of no domain is of no domain.
        with self._rule(policies.DOMAIN):
            self._put_keys(403, self.alice, path, customer_keys=[])
        self._put_keys(200, self.admin, path, customer_keys=[])

    def _put_keys(self, status, user, path, **members):
        response = user.call('PUT', path, {'policy': members})
        self.assertEqual(status, response.status_code, response.text)

    def _rule(self, rule):
        """Let everybody pass a rule."""
        allow = enforcer.Enforcer.allow
        return mock.patch.object(
            enforcer.Enforcer, 'allow',
            lambda self, context, asked, project_id: asked == rule or allow(
                self, context, asked, project_id))

    def test_normal_keys(self):
        """Keys of weight 0 are kept and shown, and place nothing."""
        premium = ['Else=1:0', 'premium=1:100']
        self.set_policy('cloud', system_keys=premium)
        self.assertEqual(premium, self.admin.get_json(
            f'{POLICIES}/cloud/default')['policy']['system_keys'])
        self.node_keys('node-3', **{'key:premium': '1', 'key:Else': '1'})
        self.node_keys('node-4', **{'key:premium': '0', 'key:Else': '1'})
        flavor = self.flavor(pcloud__system_key__premium='0:0')
        # The key of the cloud counts: nothing of weight 0 hides it.
        self.assertEqual(['node-3'] * 2, [
            self.started(flavorRef=flavor) for _ in range(2)])

    def test_hints_of_weight_zero(self):
        boss = self.client_of('boss', base.ALICE,
                              ['reader', 'member', 'admin'])
        first = self.boot(boss, {'placement_key': 'Group1=1:0'},
                          zone='az1:node-1')
        self.assertEqual(['Group1=1:0'], self._hints_of(first))
        self.started('Group1=1.5:1', user=boss, zone='az1:node-3')
        self.assertEqual(['node-3'] * 2, [
            self.started(TOGETHER) for _ in range(2)])

    def _hints_of(self, server):
        return self.alice.get_server(server['id'])[
            'scheduler_hints']['placement_key']

    def test_paths_with_control_characters(self):
        body = {'server': self._build_server(flavor_id='1', networks='none'),
                'os:scheduler_hints': {
                    '_pcloud_image_keys': ['premium=1:1000']}}
        for path in ('/servers%0A', '/servers%00',
                     f'/{base.ALICE}/servers%0A'):
            response = self.alice.call('POST', path, body)
            self.assertEqual(400, response.status_code)
            self.assertIn('control character', response.text)

    def test_what_is_recorded_is_not_shown(self):
        self.set_policy('project', base.ALICE, customer_keys=['A=1:1'])
        server = self.boot(self.alice, {'placement_key': 'B=1:1'})
        spec = objects.RequestSpec.get_by_instance_uuid(
            self.context, server['id'])
        self.assertEqual(['A=1:1'],
                         spec.scheduler_hints['_pcloud_customer_keys'])
        for method, path, body in (
                ('GET', f'/servers/{server["id"]}', None),
                ('GET', '/servers/detail', None),
                ('PUT', f'/servers/{server["id"]}', {
                    'server': {'description': 'd'}})):
            text = self.alice.call(method, path, body).text
            self.assertNotIn('_pcloud', text)
            self.assertIn('B=1:1', text)

    def test_quota_stays(self):
        self.admin.call_json('PUT', f'/os-pcloud-quotas/{base.ALICE}', {
            'quota': {'units': {'limit': 3}}})
        self.set_policy('project', base.ALICE, system_keys=['A=1:1'])
        self.admin.call_json('DELETE', f'{POLICIES}/project/{base.ALICE}')
        self.assertEqual(3, self.admin.get_json(
            f'/os-pcloud-quotas/{base.ALICE}')['quota']['units']['limit'])

    def _image(self, **properties):
        """Make a private image of a project 'image-project'."""
        return self.glance.create(self.context, {
            'id': IMAGE, 'name': 'own', 'is_public': False,
            'owner': 'image-project', 'status': 'active', 'size': 1,
            'min_ram': 0, 'min_disk': 0, 'container_format': 'raw',
            'disk_format': 'raw', 'properties': properties})['id']

    def test_software_groups(self):
        image = self._image(pcloud_customer_key_Group1='1:100',
                            pcloud_customer_key_odd='x')
        first = self.started(imageRef=image)
        self.assertEqual([first] * 2, [self.started(imageRef=image)
                                       for _ in range(2)])
        self.assertEqual(first, self.started(TOGETHER))

    def test_images(self):
        self.set_policy('cloud', system_keys=['premium=0:100'])
        for host in self.hosts:
            self.node_keys(host, **{
                'key:premium': '1' if host == 'node-4' else '0'})
        image = self._image(pcloud_system_key_premium='1:100')
        self.assertNotEqual('node-4', self.started(imageRef=image))
        self.flags(system_key_image_projects=['image-project'],
                   group='pcloud')
        self.assertEqual('node-4', self.started(imageRef=image))
        device = {'boot_index': 0, 'delete_on_termination': True}
        self.assertEqual('node-4', self.started(
            imageRef='', block_device_mapping_v2=[{
                **device, 'source_type': 'volume',
                'destination_type': 'volume', 'uuid': self._volume(image)}]))

    def test_image_of_an_older_mapping(self):
        image = self._image(pcloud_customer_key_a='1:1')
        volume = {'device_name': 'vda', 'volume_id': self._volume(image)}
        for devices in ([volume], [{'no_device': True, **volume}, volume]):
            found = images.source(self.context, {
                'imageRef': '', 'block_device_mapping': devices})
            self.assertEqual('1:1', found.properties['pcloud_customer_key_a'])

    def test_keys_of_the_volume(self):
        """They are the lowest level, customer keys alone, and for free."""
        self.node_keys('node-4', **{'key:premium': '1'})
        volume = self._volume(self._image(), {
            'pcloud_customer_key_Group1': '7:100',
            'pcloud_customer_key_odd': 'x', 'other': 'thing',
            'pcloud_system_key_premium': '1:-100'})
        device = {'boot_index': 0, 'source_type': 'volume',
                  'destination_type': 'volume', 'uuid': volume}
        server = self.boot(self.alice, {'placement_key': 'Group1=1:100'},
                           imageRef='', block_device_mapping_v2=[device])
        spec = objects.RequestSpec.get_by_instance_uuid(
            self.context, server['id'])
        self.assertEqual({
            'placement_key': ['Group1=1:100'],
            '_pcloud_device_keys': ['Group1=7:100']}, spec.scheduler_hints)
        # Others meet the server by the volume's key.
        host = self.host_of(server)
        self.assertEqual([host] * 2, [
            self.started('Group1=7:100') for _ in range(2)])
        # What is made of a snapshot is another volume.
        self.useFixture(fixtures.MonkeyPatch(
            'nova.volume.cinder.API.get_snapshot',
            lambda *_: {'volume_id': volume}))
        found = images.source(self.context, {
            'imageRef': '', 'block_device_mapping_v2': [{
                **device, 'source_type': 'snapshot'}]})
        self.assertEqual({}, found.volume)
        self.assertEqual({}, images.source(self.context, {
            'imageRef': IMAGE, 'block_device_mapping_v2': [device]}).volume)
        # The volume is read for its image, with and without keys.
        with mock.patch.object(images.cinder.API, 'get', return_value={
                'volume_metadata': {'pcloud_customer_key_a': '1:1'}}) as get:
            self.assertEqual({'pcloud_customer_key_a': '1:1'}, images.source(
                self.context, {'block_device_mapping_v2': [device]}).volume)
        self.assertEqual(1, get.call_count)

    def test_a_root_device_that_is_none(self):
        server = self._build_server(flavor_id='1', networks='none')
        del server['imageRef']
        for boot_index in (float('inf'), float('-inf'), float('nan')):
            server['block_device_mapping_v2'] = [{'boot_index': boot_index}]
            self.assertEqual(400, self.alice.call(
                'POST', '/servers', {'server': server}).status_code)

    def _volume(self, image, metadata=None):
        """Return the id of a volume that was made of an image."""
        show = cinder.API.get

        def get(api, context, volume_id, **options):
            volume = show(context, volume_id, **options)
            return {**volume, 'volume_image_metadata': {'image_id': image},
                    'volume_metadata': metadata or {}}

        self.useFixture(fixtures.MonkeyPatch(
            'nova.volume.cinder.API.get', get))
        return nova_fixtures.CinderFixture.IMAGE_BACKED_VOL

    def test_refused_where_they_are_set(self):
        flavor = self.flavor()
        made = self.admin.post_aggregate({'aggregate': {'name': 'odd'}})
        specs = f'/flavors/{flavor}/os-extra_specs'
        action = f'/os-aggregates/{made["id"]}/action'
        for method, path, body in (
                ('POST', specs, {'extra_specs': {
                    'pcloud:system_key:A': '1'}}),
                ('POST', specs, {'extra_specs': {
                    'pcloud:system_key:A': 1}}),
                ('POST', specs, {'extra_specs': {
                    'pcloud:customer_key:special.RAM': '1:1'}}),
                ('PUT', f'{specs}/pcloud:system_key:_A', {
                    'pcloud:system_key:_A': '1:1'}),
                ('POST', action, {'set_metadata': {'metadata': {
                    'pcloud:key:A': 'x'}}}),
                ('POST', action, {'set_metadata': {'metadata': {
                    'pcloud:sticky:A': 'x'}}}),
                ('POST', action, {'set_metadata': {'metadata': {
                    'pcloud:key:special.RAM': '1'}}}),
                ('POST', action, {'set_metadata': {'metadata': {
                    'pcloud:attr:next_reboot': 'soon'}}})):
            response = self.admin.call(method, path, body)
            self.assertEqual(400, response.status_code, body)
            self.assertIn('has to be', response.text)
            key = re.search('pcloud:[A-Za-z:_.]+', str(body)).group()
            self.assertIn(key, response.text)
        self.admin.call_json('POST', specs, {'extra_specs': {
            'pcloud:system_key:special.RAM': '0:-1', 'other': 'x'}})
        self.admin.call_json('PUT', f'{specs}/pcloud:system_key:A', {
            'pcloud:system_key:A': '1:1'})

    def test_an_address_is_no_image(self):
        """Nobody is called there, with the user's token."""
        body = {'server': self._build_server(flavor_id='1', networks='none')}
        body['server']['imageRef'] = f'http://203.0.113.1/images/{IMAGE}'
        with mock.patch.object(glance.API, 'get') as get:
            self.assertEqual(400, self.alice.call(
                'POST', '/servers', body).status_code)
        get.assert_not_called()

    def test_what_is_not_valid_breaks_nothing(self):
        self.node_keys('node-1', **{'key:B': '1'})
        odd = next(each for each in objects.AggregateList.get_all(
            self.context) if each.name.startswith('keys of'))
        odd.update_metadata({
            'pcloud:key:A': 'x', 'pcloud:key:special.RAM': '1',
            'pcloud:sticky:A': 'much'})
        self.scheduler.manager.host_manager.update_aggregates([odd])
        flavor = self.flavor(**{'pcloud__system_key__A': 'x',
                                'pcloud__customer_key__A': '1',
                                'pcloud__system_key__B': '1:100'})
        self.assertEqual('node-1', self.started(flavorRef=flavor))
        self.assertIn('counts nowhere', self.stdlog.logger.output)
