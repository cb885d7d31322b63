# SPDX-License-Identifier: Apache-2.0

"""Co-located services through real Nova."""

from unittest import mock

from nova import exception as nova_exception
from nova.tests import fixtures as nova_fixtures

from pcloud.backend.cells import servers
from pcloud import exception
from pcloud.scheduler import candidates
from pcloud.tests.support import shared_cloud

FLAG = 'pcloud:co_located'


class ColocationTestCase(shared_cloud.SharedCloudTestCase):

    def _configure(self):
        super()._configure()
        self.flags(enabled_filters=['ComputeFilter', 'PcloudFilter',
                                    'ColocationFilter'],
                   group='filter_scheduler')

    def furnish(self):
        super().furnish()
        self.flavors = {flag: self._flavor(flag) for flag in (
            'allow', 'always', 'never')}

    def _flavor(self, flag, memory_mb=512, root_gb=1):
        return self.make_flavor(
            f'{flag}-{memory_mb}-{root_gb}', memory_mb=memory_mb,
            root_gb=root_gb, extra_specs={FLAG: flag})

    def unit(self, user=None, flag='never', expected='ACTIVE', **hints):
        return self.boot(
            user or self.alice,
            {name.rstrip('_'): values for name, values in hints.items()},
            expected=expected, flavorRef=self.flavors[flag])

    def refused(self, flag, hints, **more):
        server = self._build_server(
            flavor_id=self.flavors[flag], networks='none')
        server.update(more)
        response = self.alice.call('POST', '/servers', {
            'server': server, 'os:scheduler_hints': hints})
        self.assertEqual(400, response.status_code, response.text)
        return response.json()['badRequest']['message']

    def image(self, **properties):
        return self.glance.create(self.context, {
            'name': 'agent', 'is_public': True, 'status': 'active',
            'size': 1, 'min_ram': 0, 'min_disk': 0, 'container_format': 'raw',
            'disk_format': 'raw', 'properties': properties})['id']

    def _action(self):
        """Return the path of the actions of a new server."""
        return f'/servers/{self.unit()["id"]}/action'

    def rebuild(self, server, image, user=None):
        return (user or self.alice).call(
            'POST', f'/servers/{server["id"]}/action',
            {'rebuild': {'imageRef': image}})

    def _reserve(self, host, memory_mb):
        """Set the reserved memory of a host; return what it was before."""
        uuid = self._get_provider_uuid_by_host(host)
        found = self.placement.get(
            f'/resource_providers/{uuid}/inventories').body
        memory = found['inventories']['MEMORY_MB']
        before, memory['reserved'] = memory['reserved'], memory_mb
        self._update_inventory(uuid, found)
        return before

    def _migrate(self, server):
        self.act(server, {'migrate': None})
        self.wait_for(server, status='VERIFY_RESIZE')
        self.act(server, {'confirmResize': None})
        self.wait_for(server, status='ACTIVE')


class ColocationTest(ColocationTestCase):

    def test_in_a_service(self):
        units = [self.unit(service='web') for _ in range(2)]
        hosts = {self.host_of(each) for each in units}
        for flag in ('allow', 'always') * 2:
            self.assertIn(self.host_of(self.unit(
                flag=flag, service='log', in_='web')), hosts)
        # A unit of the one that is co-located is one as any other.
        self.assertIn(self.host_of(self.unit(flag='allow', in_='log')), hosts)
        with mock.patch.object(servers, 'units',
                               wraps=servers.units) as asked:
            self.unit()
            self.unit(service='other')
            asked.assert_not_called()

    def test_in_a_server(self):
        parent = self.unit()
        self.assertEqual(
            [self.host_of(parent)] * 2,
            [self.host_of(self.unit(flag='allow', in_=parent['id']))
             for _ in range(2)])

    def test_in_a_service_that_may_go_back(self):
        """Nobody knows where a unit is in the end before it has come there."""
        parent = self.unit(service='web')
        self.act(parent, {'migrate': None})
        self.wait_for(parent, status='VERIFY_RESIZE')
        server = self.unit(flag='allow', in_='web', expected='ERROR')
        self.assertIn('is still being built or moved', self.fault(server))
        self.act(parent, {'revertResize': None})
        self.wait_for(parent, status='ACTIVE')
        self.assertEqual(self.host_of(parent),
                         self.host_of(self.unit(flag='allow', in_='web')))

    def test_of_the_same_project_only(self):
        theirs = self.unit(user=self.bob, service='web')
        for parent in ('web', theirs['id']):
            server = self.unit(flag='allow', in_=parent, expected='ERROR')
            self.assertIn(f"known as '{parent}' is on a host",
                          self.fault(server))
        mine = self.unit(service='web')
        self.assertEqual(self.host_of(mine), self.host_of(
            self.unit(flag='allow', in_='web')))

    def test_permission(self):
        self.unit(service='web')
        self.assertIn('pcloud_co_located=allow', self.refused(
            'never', {'in': 'web'}))
        self.assertIn('pcloud_co_located=allow', self.refused(
            'never', {'with': 'web'}))
        self.assertIn('can only be co-located', self.refused('always', {}))
        image = self.image(pcloud_co_located='always')
        self.boot(self.alice, {'in': 'web'}, imageRef=image)
        response = self.alice.call('POST', '/servers', {'server': {
            **self._build_server(flavor_id='1', networks='none'),
            'imageRef': image}})
        self.assertEqual(400, response.status_code)
        # The flavor counts before the image.
        self.boot(self.alice, flavorRef=self.flavors['never'], imageRef=image)
        response = self.admin.call(
            'POST', f'/flavors/{self.flavors["never"]}/os-extra_specs',
            {'extra_specs': {FLAG: 'sometimes'}})
        self.assertIn(
            f"{FLAG}: Co-located flag: 'sometimes' is not right; it has to "
            f'be one of allow, always, never', response.text)

    def test_a_rebuild_gets_no_image_that_a_launch_refuses(self):
        plain, never, allow, always = self.image(), *(
            self.image(pcloud_co_located=flag)
            for flag in ('never', 'allow', 'always'))
        self.unit(service='web')
        alone = self.boot(self.alice, imageRef=allow)
        inside = self.boot(self.alice, {'in': 'web'}, imageRef=allow)
        for server, image, message in (
                (alone, always, 'can only be co-located'),
                (inside, plain, 'may not be co-located'),
                (inside, never, 'may not be co-located')):
            for version in ('2.1', '2.54', '2.90', 'latest'):
                self.alice.microversion = version
                response = self.rebuild(server, image)
                self.assertEqual(400, response.status_code, response.text)
                self.assertIn(message, response.text)
            self.assertEqual(allow, self.admin.get_server(
                server['id'])['image']['id'])
        # Whom Nova does not show the server learns nothing.
        self.assertEqual(
            404, self.rebuild(alone, always, self.bob).status_code)
        for server, image in (
                (alone, plain), (alone, never), (inside, always),
                # The flavor counts before the image.
                (self.unit(), always)):
            response = self.rebuild(server, image)
            self.assertEqual(202, response.status_code, response.text)
            self.wait_for(server, status='ACTIVE')

    def test_a_flag_of_an_image_is_refused_where_nova_sets_the_flag(self):
        """The image's metadata, and images that are made of servers."""
        key, image = 'pcloud_co_located', self.image()
        metadata = f'/images/{image}/metadata'
        # Later versions do not set the metadata of images.
        self.admin.microversion = '2.38'
        self.addCleanup(setattr, self.admin, 'microversion', 'latest')
        for method, path, body in (
                ('POST', metadata, lambda items: {'metadata': items}),
                ('PUT', metadata, lambda items: {'metadata': items}),
                ('PUT', f'{metadata}/{key}', lambda items: {'meta': items}),
                ('POST', self._action(), lambda items: {
                    'createImage': {'name': 'copy', 'metadata': items}}),
                ('POST', self._action(), lambda items: {
                    'createBackup': {'name': 'copy', 'backup_type': 'daily',
                                     'rotation': 1, 'metadata': items}})):
            response = self.admin.call(
                method, path, body({key: 'Always'}))
            self.assertEqual(400, response.status_code, (path, response.text))
            self.assertIn(f"{key}: Co-located flag: 'Always' is not right",
                          response.text)
            response = self.admin.call(
                method, path, body({key: 'always'}))
            self.assertLess(response.status_code, 300, response.text)

    def test_hints_that_are_not_right(self):
        uuid = 'a' * 8 + '-' + '-'.join(['b' * 4] * 3) + '-' + 'c' * 12
        for hints, expected in (
                ({'service': 'a b'}, '1 to 64 letters'),
                ({'service': uuid}, 'no uuid'),
                ({'service': ['a', 'b']}, 'given once'),
                ({'service': []}, 'given once'),
                ({'service': uuid.upper()}, 'no uuid'),
                ({'with': uuid.upper()}, 'no uuid'),
                ({'in': uuid.upper()}, 'in small letters'),
                ({'beside': uuid.upper()}, 'the id of a server'),
                ({'in': 7}, 'texts'), ({'in': ['web', 'db']}, 'given once'),
                ({'beside': 'web'}, 'the id of a server'),
                ({'room_for': 'nothing'}, 'the id of a flavor'),
                ({'room_for': '\ud800'}, 'surrogate'),
                ({'room_for': [{}]}, 'texts'), ({'in': None}, 'texts')):
            self.assertIn(expected, self.refused('allow', hints), hints)

        self.assertIn('one server at a time', self.refused(
            'allow', {'room_for': ['1']}, min_count=2))
        for reference in ('\U0001f600', 7, None):
            response = self.alice.call('POST', '/servers', {
                'server': {**self._build_server(
                    flavor_id='1', networks='none'), 'flavorRef': reference}})
            self.assertEqual(400, response.status_code, response.text)

    def test_the_flavor_as_nova_reads_it(self):
        for more in ('?x', '#x'):
            self.assertIn('can only be co-located', self.refused(
                'always', {}, flavorRef=self.flavors['always'] + more))

    def test_deleted_for_the_moment(self):
        self.flags(reclaim_instance_interval=3600)
        parent = self.unit(service='web')
        self.alice.delete_server(parent['id'])
        self.wait_for(parent, status='SOFT_DELETED')
        for named in ('web', parent['id']):
            server = self.unit(flag='allow', in_=named, expected='ERROR')
            self.assertIn('is on a host', self.fault(server))

    def test_a_group(self):
        """Those of --with first, on a host with capacity for all."""
        large = self._flavor('never', 6656)
        for host in ('node-1', 'node-2', 'node-3'):
            self.boot(self.admin, host=host)
        y = self.unit(flag='always', service='y', with_='x',
                      room_for=[large, self.flavors['allow']])
        self.assertEqual('node-4', self.host_of(y))

    def test_a_group_beside_a_service(self):
        """Of a service's hosts it is that with capacity for all."""
        hosts = {self.host_of(self.unit(service='x')) for _ in range(6)}
        self.assertGreater(len(hosts), 1)
        *full, free = sorted(hosts)
        large = self._flavor('allow', 4096)
        others = [self.boot(self.admin, host=host, flavorRef=large)
                  for host in full]
        z = self.unit(flag='always', service='z', in_='x', with_='y',
                      room_for=large)
        self.assertEqual(free, self.host_of(z))
        y = self.boot(self.alice, {
            'service': 'y', 'in': 'x', 'beside': z['id']}, flavorRef=large)
        self.assertEqual(free, self.host_of(y))
        # When it is moved it follows the one that it was started for.
        self._delete_server(others[0])
        self._migrate(y)
        self._migrate(z)
        self.assertEqual([full[0]] * 2, [self.host_of(y), self.host_of(z)])

    def test_no_room_for_a_group(self):
        large = self._flavor('never', 7168)
        server = self.unit(flag='always', service='y', with_='x',
                           room_for=[large, large], expected='ERROR')
        self.assertIn('no host has capacity for all of its group (3 GiB of '
                      'disk, '
                      '14848 MiB of memory, 3 cpus)', self.fault(server))

    def test_the_root_disk_on_a_volume(self):
        large = self._flavor('never', root_gb=5000)
        volume = {'boot_index': 0, 'source_type': 'volume',
                  'destination_type': 'volume', 'uuid':
                  nova_fixtures.CinderFixture.IMAGE_BACKED_VOL}
        self.boot(self.alice, {'room_for': self.flavors['never']},
                  flavorRef=large, imageRef='',
                  block_device_mapping_v2=[volume])
        self.unit(room_for=[f'{large}:volume'] * 2)
        server = self.unit(room_for=large, expected='ERROR')
        self.assertIn('(5001 GiB of disk,', self.fault(server))

    def test_room_is_what_placement_says(self):
        """Extra specs, and servers that are about to come, count too."""
        nowhere = self.make_flavor('nowhere', root_gb=5000, extra_specs={
            'resources:DISK_GB': '0'})
        self.unit(room_for=nowhere)
        large = self._flavor('never', 5120)
        for host in self.hosts:
            before = self._reserve(host, 4096)
            self.addCleanup(self._reserve, host, before)
        server = self.unit(room_for=large, expected='ERROR')
        self.assertIn('no host has capacity', self.fault(server))

    def test_room_while_placement_is_away(self):
        with mock.patch.object(candidates, 'offered',
                               side_effect=exception.PlacementSilent):
            server = self.unit(room_for='1', expected='ERROR')
        self.assertIn('Placement does not report', self.fault(server))

    def test_beside(self):
        y = self.unit(flag='allow', service='y', with_='x')
        z = self.unit(flag='allow', service='z', with_='x', beside=y['id'])
        x = self.unit(service='x', beside=[y['id'], z['id']])
        self.assertEqual(1, len({self.host_of(each) for each in (x, y, z)}))
        apart = next(each for each in (
            self.unit() for _ in range(4))
            if self.host_of(each) != self.host_of(y))
        server = self.unit(beside=[y['id'], apart['id']], expected='ERROR')
        self.assertIn('can take it', self.fault(server))

    def test_moves(self):
        """What is co-located follows its parent, which moves as it likes."""
        parent = self.unit(service='x')
        follower = self.unit(flag='allow', service='y', in_='x')
        started = self.unit(flag='allow', service='z', with_='x',
                            beside=parent['id'], room_for=['1'])
        for server in (follower, started):
            response = self.admin.call(
                'POST', f'/servers/{server["id"]}/action', {'migrate': None})
            self.assertEqual(202, response.status_code)
            self.wait_for(server, status='ACTIVE')
            self.assertEqual(self.host_of(parent), self.host_of(server))
        self._migrate(parent)
        for server in (follower, started):
            self._migrate(server)
            self.assertEqual(self.host_of(parent), self.host_of(server))
        self._delete_server(parent)
        before = self.host_of(follower)
        self._migrate(follower)
        self.assertNotEqual(before, self.host_of(follower))

    def test_a_cell_that_does_not_answer(self):
        self.unit(service='web')
        with mock.patch.object(servers, '_hosts_of_servers',
                               side_effect=nova_exception.CellTimeout):
            server = self.unit(flag='allow', in_='web', expected='ERROR')
        self.assertIn('does not report where servers are', self.fault(server))
