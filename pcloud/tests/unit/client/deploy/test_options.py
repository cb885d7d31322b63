# SPDX-License-Identifier: Apache-2.0

"""What the servers of a deployment are started with."""

import base64
import pathlib
import re

import ddt
import fixtures

from pcloud.tests.unit.client import base
from pcloud.tests.unit.client.deploy import fake_nova
from pcloud.tests.unit.client.deploy import test_deployments

ONE, AGENT = test_deployments.ONE, test_deployments.AGENT
DISK = 'disk=part:small'


class OptionsTestCase(test_deployments.DeployTestCase):

    def created_as(self, name):
        """Return the body of the request that created a server."""
        return next(body for body in self.created
                    if body['server']['name'] == name)

    def file(self, content):
        """Return the path of a file."""
        path = pathlib.Path(
            self.useFixture(fixtures.TempDir()).path, 'file.sh')
        path.write_bytes(content)
        return str(path)


@ddt.ddt
class OptionsTest(OptionsTestCase):
    """The main service and each of --with have options of their own."""

    def test_the_main_service(self):
        result = self.deploy(
            *ONE, '--key-name', 'ops', '--user-data', self.file(b'\xff#'),
            '--security-group', 'web', '--security-group', 'ssh',
            '--availability-zone', 'az1', '--property', 'tier=1',
            '--property', 'note=a=b', '--hint', 'far=tag:x', '--hint',
            'placement_key=A=1:1', '--hint', 'placement_key=B=2:1',
            '--constraints', 'cpu=2 rack=r1', '--nic', 'none')

        self.assertEqual(0, result.status, result.err)
        body = self.created_as('web')
        metadata = body['server'].pop('metadata')
        metadata.pop('pcloud_run')
        self.assertEqual({'tier': '1', 'note': 'a=b'}, metadata)
        self.assertEqual({
            'server': {
                'name': 'web', 'imageRef': fake_nova.image_id('plain'),
                'flavorRef': '4', 'networks': 'none', 'key_name': 'ops',
                'user_data': base64.b64encode(b'\xff#').decode(),
                'availability_zone': 'az1', 'security_groups': [
                    {'name': 'web'}, {'name': 'ssh'}]},
            'os:scheduler_hints': {
                'service': 'web', 'far': 'tag:x',
                'placement_key': ['A=1:1', 'B=2:1'],
                'constraints': 'cpu=2 rack=r1'}}, body)

    def test_a_part(self):
        """Only the network and the zone of the main service hold."""
        path = self.file(b'disk')
        result = self.deploy(
            *ONE, '--key-name', 'ops', '--nic', 'none', '--property', 'a=b',
            '--availability-zone', 'az1', '--with',
            f'{DISK},key-name=me,user-data={path},security-group=x,'
            'security-group=y,property=list=1,2,property=tier=2,'
            'hint=far=tag:y,constraints=classes=a,^b cpu=1',
            '--with', f'log=part:small,nic={base.OTHER_ID},'
            'availability-zone=az2')

        self.assertEqual(0, result.status, result.err)
        body = self.created_as('disk')
        metadata = body['server'].pop('metadata')
        metadata.pop('pcloud_run')
        self.assertEqual({'list': '1,2', 'tier': '2'}, metadata)
        self.assertEqual({
            'name': 'disk', 'imageRef': fake_nova.image_id('part'),
            'flavorRef': '1', 'networks': 'none', 'key_name': 'me',
            'user_data': base64.b64encode(b'disk').decode(),
            'availability_zone': 'az1', 'security_groups': [
                {'name': 'x'}, {'name': 'y'}]}, body['server'])
        self.assertEqual({
            'service': 'disk', 'with': 'web', 'room_for': ['1', '4'],
            'far': 'tag:y', 'constraints': 'classes=a,^b cpu=1'},
            body['os:scheduler_hints'])
        log = self.created_as('log')['server']
        self.assertEqual([{'uuid': base.OTHER_ID}], log['networks'])
        self.assertEqual('az2', log['availability_zone'])
        self.assertNotIn('key_name', log)
        self.assertEqual('ops', self.created_as('web')['server']['key_name'])

    def answer_neutron(self, kind, **ids):
        """Set Neutron's answers about networks or ports.

        :param kind: "networks" or "ports"
        :param ids: name -> the ids of the resources with the name
        """
        for address in (base.NEUTRON, base.NEUTRON + '/'):
            self.http.get(address, json={'versions': [{
                'id': 'v2.0', 'status': 'CURRENT', 'links': [
                    {'rel': 'self', 'href': f'{base.NEUTRON}/v2.0/'}]}]})
        self.http.get(re.compile(f'^{base.NEUTRON}/v2.0/{kind}/'),
                      status_code=404)
        self.http.get(f'{base.NEUTRON}/v2.0/{kind}', json=lambda request, _: {
            kind: [{'id': each, 'name': name} for name, found in ids.items()
                   if name in request.qs['name'] for each in found]})

    def test_networks_and_ports(self):
        """Names are looked up; ports are of the main service alone."""
        self.answer_neutron('networks', lan=[base.PCLOUD_ID])
        self.answer_neutron('ports', eth=[base.SERVER_1])
        result = self.deploy(
            *ONE, '--network', 'lan', '--network', base.OTHER_ID, '--port',
            'eth', '--with', DISK, '--with',
            f'log=part:small,port={base.SERVER_2}')

        self.assertEqual(0, result.status, result.err)
        networks = [{'uuid': base.PCLOUD_ID}, {'uuid': base.OTHER_ID}]
        self.assertEqual(
            [networks + [{'port': base.SERVER_1}], networks,
             [{'port': base.SERVER_2}]],
            [self.created_as(name)['server']['networks']
             for name in ('web', 'disk', 'log')])

    @ddt.data(
        ('--network', 'gone', "No network has the id or name 'gone'"),
        ('--network', 'twin', "Several networks are named 'twin'"),
        ('--port', 'gone', "No port has the id or name 'gone'"))
    @ddt.unpack
    def test_networks_that_are_not_found(self, option, name, told):
        ids = [base.PCLOUD_ID, base.OTHER_ID]
        self.answer_neutron('networks', twin=ids)
        self.answer_neutron('ports')
        self.assert_refused(told, self.deploy(*ONE, option, name))

    def test_a_cloud_without_networks(self):
        self.http.get(re.compile(f'^{base.NEUTRON}'), status_code=503)
        self.assert_refused("Network 'lan' cannot be read", self.deploy(
            *ONE, '--network', 'lan'))

    def test_networks_that_exclude_each_other(self):
        for options in (('--nic', 'none', '--network', 'lan'),
                        ('--nic', base.OTHER_ID, '--port', 'eth')):
            self.assert_refused("'web' has nic beside network or port",
                                self.deploy(*ONE, *options))
        self.assert_refused(
            f'port {base.OTHER_ID} is of one server alone', self.deploy(
                *ONE, '--port', base.OTHER_ID, '--count', '2'))

    def test_root_disks_on_new_volumes(self):
        """The hosts need no space for them."""
        result = self.deploy(
            *ONE, '--boot-from-volume', '30', '--with',
            f'{DISK},boot-from-volume=5')

        self.assertEqual(0, result.status, result.err)
        for name, image, size in ('disk', 'part', 5), ('web', 'plain', 30):
            server = self.created_as(name)['server']
            self.assertEqual('', server['imageRef'])
            self.assertEqual([{
                'boot_index': 0, 'uuid': fake_nova.image_id(image),
                'source_type': 'image', 'destination_type': 'volume',
                'volume_size': size, 'delete_on_termination': True,
            }], server['block_device_mapping_v2'])
        self.assertEqual(['4:volume'], self.hints('disk')['room_for'])
        self.assertEqual(['1:volume', '4:volume'],
                         self.asked_for_room()[0]['flavor'])

    def test_every_unit_of_a_scaled_service(self):
        for number in (1, 2):
            self.have(f'db-{number}', 'db', host=f'h{number}')
        self.deploy(*AGENT, '--scale-with', 'db', '--key-name', 'ops',
                    '--constraints', 'cpu=1')

        self.assertEqual([('ops', 'cpu=1')] * 2, [
            (body['server']['key_name'],
             body['os:scheduler_hints']['constraints'])
            for body in self.created])

    @ddt.data(
        ('disk=part', "'disk=part' is not <name>=<image>:<flavor>"),
        (f'{DISK},foo=1',
         f"'foo' in '{DISK},foo=1' is none of nic, network, port, ava"),
        (f'{DISK},key-name=a,key-name=b', "'key-name' is given twice in"),
        (f'{DISK},key-name=', 'the value is empty'),
        (f'{DISK},property=a', "'a' is not <key>=<value>"),
        (f'{DISK},hint==a', "'=a' is not <key>=<value>"),
        (f'{DISK},boot-from-volume=0', "'0' is not a whole number"),
        (f'{DISK},nic=x', "'x' is neither the id of a network"),
        (f'{DISK},user-data=/no/file',
         "user data cannot be read from '/no/file': No such file"))
    @ddt.unpack
    def test_a_part_that_is_not_right(self, part, told):
        result = self.deploy(*ONE, '--with', part)

        self.assertEqual(2, result.status)
        self.assertIn(told, ' '.join(result.err.split()))
        self.assertEqual([], self.done)

    def test_too_much_user_data(self):
        path = self.file(b'x' * 49152)
        result = self.deploy(*ONE, '--user-data', path)
        self.assertEqual(2, result.status)
        self.assertIn('has 65536 bytes in Base64', result.err)
        self.assertEqual(0, self.deploy(
            *ONE, '--user-data', self.file(b'x' * 49149)).status)

    @ddt.data(
        (('--hint', 'service=x'), 'the hint service is given by the name of '
         'the service'),
        (('--hint', 'pcloud=x'), 'the hint pcloud is given by --pcloud'),
        (('--hint', 'in=x'), 'given by --in-service or --scale-with'),
        (('--hint', 'beside=x'), 'the hint beside is given by --with'),
        (('--property', 'pcloud_run=x'), "web: the property 'pcloud_run' "
         'begins with pcloud_'),
        (('--constraints', 'cpu=x'), "web: Constraint at character 1: "
         "'cpu=x' is not right"),
        (('--hint', 'constraints=cpu'), "Constraint at character 1: 'cpu'"),
        (('--with', f'{DISK},constraints=cpu=x'), 'disk: Constraint at'))
    @ddt.unpack
    def test_what_is_not_right_in_any_cloud(self, options, told):
        self.assert_refused(told, self.deploy(*ONE, *options))

    @ddt.data('pcloud_host=a', f'pcloud_prefer={base.OTHER_ID}')
    def test_a_place_for_units_that_follow_others(self, hint):
        self.have('db', 'db')
        self.assert_refused(
            f'the hint {hint.partition("=")[0]} makes no sense with '
            '--scale-with',
            self.deploy(*AGENT, '--scale-with', 'db', '--hint', hint))

    def test_a_volume_that_is_too_small(self):
        image = {**fake_nova.IMAGES[0], 'id': 'full', 'name': 'full',
                 'min_disk': 50}
        self.useFixture(fixtures.MonkeyPatch(
            'pcloud.tests.unit.client.deploy.fake_nova.IMAGES', (
                *fake_nova.IMAGES, image)))
        self._answer_images()
        web = 'web', '--image', 'full', '--flavor', 'large'
        self.assert_refused('flavor large is too small', self.deploy(*web))
        self.assert_refused(
            'a volume of 49 GiB is too small for image full, which needs 50 '
            'GiB', self.deploy(*web, '--boot-from-volume', '49'))
        self.assertEqual(0, self.deploy(
            *web, '--boot-from-volume', '50').status)

    def test_an_image_that_names_a_volume(self):
        self.assert_refused(
            'image volume names a volume itself', self.deploy(
                'web', '--image', 'volume', '--flavor', 'large',
                '--boot-from-volume', '50'))
