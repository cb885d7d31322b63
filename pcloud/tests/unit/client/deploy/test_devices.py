# SPDX-License-Identifier: Apache-2.0

"""Block devices of the servers of a deployment."""

import uuid

import ddt

from pcloud.client.deploy import devices
from pcloud.tests.unit.client.deploy import fake_nova
from pcloud.tests.unit.client.deploy import test_deployments
from pcloud.tests.unit.client.deploy import test_options

ONE, AGENT = test_deployments.ONE, test_deployments.AGENT
ROOT, BARE, TWIN_1, TWIN_2 = (
    str(uuid.uuid5(uuid.NAMESPACE_DNS, name))
    for name in ('root', 'bare', 'v1', 'v2'))
SNAPSHOT = str(uuid.uuid5(uuid.NAMESPACE_DNS, 'snapshot'))
SHARED = f'source_type=volume,uuid={TWIN_1}'


@ddt.ddt
class DevicesTest(test_options.OptionsTestCase):

    def setUp(self):
        super().setUp()
        self.answer_volumes(
            (ROOT, 'root', fake_nova.image_id('part')), (BARE, 'bare', None),
            (TWIN_1, 'twin', None), (TWIN_2, 'twin', None))

    def _devices(self, name):
        server = self.created_as(name)['server']
        return server['imageRef'], server['block_device_mapping_v2']

    def test_as_openstack_server_create_does(self):
        """What is left out is completed in the same way."""
        for text, device in (
                ('volume_size=1', {
                    'source_type': 'blank', 'destination_type': 'local',
                    'volume_size': 1, 'delete_on_termination': True}),
                ('source_type=blank,destination_type=volume,volume_size=2,'
                 'volume_type=fast,tag=data,delete_on_termination=Yes', {
                     'source_type': 'blank', 'destination_type': 'volume',
                     'volume_size': 2, 'volume_type': 'fast', 'tag': 'data',
                     'delete_on_termination': True}),
                (f'source_type=snapshot,uuid={SNAPSHOT},boot_index=-1', {
                    'source_type': 'snapshot', 'destination_type': 'volume',
                    'uuid': SNAPSHOT, 'boot_index': -1}),
                (f'{SHARED},disk_bus=virtio,device_type=disk', {
                    'source_type': 'volume', 'destination_type': 'volume',
                    'uuid': TWIN_1, 'disk_bus': 'virtio',
                    'device_type': 'disk'}),
                ('volume_size=512,guest_format=swap', {
                    'source_type': 'blank', 'destination_type': 'local',
                    'volume_size': 512, 'guest_format': 'swap',
                    'delete_on_termination': True})):
            self.assertEqual(device, devices.read(text))

    @ddt.data(
        ('', "'' is not <key>=<value>"),
        ('uuid', "'uuid' is not <key>=<value>"),
        ('size=1', "'size' is none of uuid, source_type,"),
        ('volume_size=1,volume_size=2', "'volume_size' is given twice"),
        ('volume_size=x', "volume_size: 'x' is not a whole number"),
        ('source_type=disk', "source_type: 'disk' is none of volume, image"),
        ('volume_size=1,destination_type=x', "'x' is none of local, volume"),
        ('volume_size=1,delete_on_termination=x', "'x' is not true or false"),
        ('boot_index=0,volume_size=1', 'is the root disk, which is given by'),
        ('source_type=blank', 'a blank device needs volume_size'),
        (f'volume_size=1,uuid={ROOT}', 'a blank device has no uuid'),
        ('source_type=volume,uuid=root', 'source_type volume needs uuid'),
        ('source_type=image', 'source_type image needs uuid'))
    @ddt.unpack
    def test_a_device_that_is_not_right(self, text, told):
        for option in (('--block-device', text), (
                '--with', f'disk=part:small,block-device={text}')):
            result = self.deploy(*ONE, *option)
            self.assertEqual(2, result.status)
            self.assertIn(told, ' '.join(result.err.split()))
        self.assertEqual([], self.done)

    def test_further_devices(self):
        """The image's root disk comes first, on the host or on a volume."""
        blank = 'destination_type=volume,volume_size=5,tag=data'
        result = self.deploy(
            *ONE, '--block-device', blank, '--block-device',
            f'source_type=snapshot,uuid={SNAPSHOT}', '--with',
            f'disk=part:small,boot-from-volume=9,block-device={blank},'
            'property=tier=1', '--count', '2')
        self.assertEqual(0, result.status, result.err)
        new = {'source_type': 'blank', 'destination_type': 'volume',
               'volume_size': 5, 'tag': 'data'}
        for number in '1', '2':
            image = fake_nova.image_id('plain')
            self.assertEqual((image, [
                {'boot_index': 0, 'uuid': image, 'source_type': 'image',
                 'destination_type': 'local', 'delete_on_termination': True},
                new, {'source_type': 'snapshot', 'destination_type': 'volume',
                      'uuid': SNAPSHOT}]), self._devices(f'web-{number}'))
            self.assertEqual(('', [
                {'boot_index': 0, 'uuid': fake_nova.image_id('part'),
                 'source_type': 'image', 'destination_type': 'volume',
                 'volume_size': 9, 'delete_on_termination': True}, new]),
                self._devices(f'disk-{number}'))
        self.assertEqual(['1:volume', '4'], self.asked_for_room()[0]['flavor'])

    @ddt.data('root', ROOT)
    def test_a_volume_in_place_of_the_image(self, named):
        """What the volume was made of says where its servers may be."""
        result = self.deploy(
            *ONE, '--with',
            f'disk=:small,volume={named},block-device={SHARED}')
        self.assertEqual(0, result.status, result.err)
        self.assertEqual(('', [
            {'boot_index': 0, 'uuid': ROOT, 'source_type': 'volume',
             'destination_type': 'volume'},
            {'uuid': TWIN_1, 'source_type': 'volume',
             'destination_type': 'volume'}]), self._devices('disk'))
        self.assertEqual(['4'], self.hints('disk')['room_for'])
        self.assertEqual(['1:volume', '4'], self.asked_for_room()[0]['flavor'])

    def test_the_main_service_on_a_volume(self):
        for name, volume in ('web', BARE), ('app', ROOT):
            result = self.deploy(
                name, '--volume', volume, '--flavor', 'large')
            self.assertEqual(0, result.status, result.err)
            self.assertEqual(('', [
                {'boot_index': 0, 'uuid': volume, 'source_type': 'volume',
                 'destination_type': 'volume'}]), self._devices(name))

    def test_a_volume_of_no_image(self):
        """Nothing lets its server be co-located."""
        self.assert_refused('disk: may not be co-located', self.deploy(
            *ONE, '--with', 'disk=:small,volume=bare'))

    @ddt.data(
        ('gone', "No volume has the id or name 'gone'"),
        ('twin', "Several volumes are named 'twin'"))
    @ddt.unpack
    def test_a_volume_that_is_not_found(self, volume, told):
        self.assert_refused(told, self.deploy(
            'web', '--volume', volume, '--flavor', 'large'))

    def test_a_cloud_without_volumes(self):
        self.http.get(f'{test_options.base.CINDER}/volumes/{ROOT}',
                      status_code=503)
        self.assert_refused(f"Volume '{ROOT}' cannot be read", self.deploy(
            'web', '--volume', ROOT, '--flavor', 'large'))

    def test_one_root_disk(self):
        for arguments in (('web', '--flavor', 'large'),
                          (*ONE, '--volume', ROOT)):
            self.assert_refused("'web' needs an image or a volume, and not "
                                'both', self.deploy(*arguments))
        self.assert_refused(
            'web: a volume that is there already and a new volume are two '
            'root disks', self.deploy(
                'web', '--volume', ROOT, '--flavor', 'large',
                '--boot-from-volume', '9'))

    def test_several_servers_have_no_volume_in_common(self):
        self.have('db', 'db', host='h1')
        for arguments in (
                ('web', '--volume', ROOT, '--flavor', 'large', '--count', '2'),
                (*ONE, '--count', '2', '--with',
                 f'disk=part:small,block-device={SHARED}'),
                (*AGENT, '--scale-with', 'db', '--block-device', SHARED)):
            self.assert_refused(
                'is of one server alone, and several are asked for',
                self.deploy(*arguments))
        self.assertEqual(0, self.deploy(
            *AGENT, '--scale-with', 'db', '--block-device',
            'destination_type=volume,volume_size=1').status)
