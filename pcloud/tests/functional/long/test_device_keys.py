# SPDX-License-Identifier: Apache-2.0

"""Placement keys of volume types, volumes, networks and ports."""

from unittest import mock

from cinderclient import exceptions as cinder_exc
import fixtures
from keystoneauth1 import exceptions as ks_exc
from neutronclient.common import exceptions as neutron_exc
from nova.network import neutron
from nova import objects
from nova.tests import fixtures as nova_fixtures
from nova.volume import cinder
from oslo_utils.fixture import uuidsentinel as uuids

from pcloud.api.nova_calls import device_keys
from pcloud.api.nova_calls import images
from pcloud.tests.support import base
from pcloud.tests.support import shared_cloud

NEUTRON = nova_fixtures.NeutronFixture
NETWORK, PORT = NEUTRON.network_1['id'], NEUTRON.port_1['id']
ALL = ['volume_type', 'network', 'port']
FAST = mock.Mock(id=uuids.fast, extra_specs={
    'pcloud:system_key:premium': '1:100',
    'pcloud:customer_key:Group1': '2:100',
    'pcloud:customer_key:Type': '1:1', 'volume_backend_name': 'x'})
FAST.name = 'fast'
SLOW = mock.Mock(id=uuids.slow, extra_specs={
    'pcloud:system_key:premium': '0:100'})
SLOW.name = 'slow'


class DeviceKeysTest(shared_cloud.SharedCloudTestCase):

    def _configure(self):
        super()._configure()
        self.flags(enabled_filters=['ComputeFilter', 'PcloudFilter',
                                    'AffinityFilter'],
                   group='filter_scheduler')

    def setUp(self):
        super().setUp()
        self.types = mock.Mock()
        self.types.list.return_value = [SLOW, FAST]
        self.types.default.return_value = SLOW
        self._patch(cinder, 'cinderclient', self._cinder)
        self.volume = {'volume_metadata': {}, 'volume_type_id': 'fast'}
        show = cinder.API.get
        self._patch(cinder.API, 'get', lambda api, *args, **options: {
            **show(*args, **options), **self.volume})

    def _patch(self, *arguments):
        self.useFixture(fixtures.MockPatchObject(*arguments))

    def _cinder(self, context, *_, **__):
        # Extra specs are for administrators.
        self.assertTrue(context.is_admin and not context.auth_token)
        return mock.Mock(volume_types=self.types)

    def _tag(self, network=(), port=(), **of_network):
        for name, known, more in (
                ('_networks', NETWORK, {'tags': network, **of_network}),
                ('_ports', PORT, {'tags': port, 'tenant_id': base.ALICE})):
            resources = getattr(self.neutron, name)
            self._patch(self.neutron, name, {
                **resources, known: {**resources[known], **more}})

    def _levels(self, *levels):
        self.flags(placement_key_levels=list(levels), group='pcloud')

    def _started(self, **server):
        """Boot a server with a customer key; return host and records."""
        made = self.boot(self.alice, {'placement_key': 'Group1=1:100'},
                         **server)
        hints = objects.RequestSpec.get_by_instance_uuid(
            self.context, made['id']).scheduler_hints
        found = (self.host_of(made), hints.get('_pcloud_device_keys', []),
                 hints.get('_pcloud_device_system_keys', []))
        # A volume is the disk of one server at a time.
        if not server.get('imageRef', 'image'):
            self._delete_server(made)
        return found

    def _asked(self, *levels, **server):
        """Return what is asked of Cinder and Neutron for a launch."""
        self._levels(*levels)
        self.types.reset_mock()
        client = mock.Mock()
        client.show_port.return_value = {'port': {
            'id': PORT, 'network_id': NETWORK}}
        client.show_network.return_value = {'network': {'id': NETWORK}}
        client.list_networks.return_value = {'networks': []}
        with mock.patch.object(neutron, 'get_client', lambda _: client):
            device_keys.levels(
                self.context, server, images.source(self.context, server))
        return [call[0] for call in (
            *self.types.method_calls, *client.method_calls)]

    def test_nothing_is_asked_that_is_not_listed(self):
        port = {'networks': [{'port': PORT}, {'uuid': NETWORK}]}
        volume = _on_volume()
        for asked, levels, server in (
                ([], [], {**volume, **port}),
                ([], ['volume_type'], {'imageRef': uuids.image, **port}),
                (['list'], ['volume_type'], {**volume, **port}),
                (['show_port'], ['port'], {**volume, **port}),
                (['show_port', 'show_network'], ['network'], port),
                (['show_port', 'show_network'], ['port', 'network'], port),
                (['list', 'show_port', 'show_network'], ALL,
                 {**volume, **port}),
                (['show_network'], ALL, {'networks': [{'uuid': NETWORK}]}),
                ([], ['port'], {'networks': [{'uuid': NETWORK}]}),
                (['list_networks'], ALL, {}),
                (['list_networks'], ALL, {'networks': 'auto'}),
                ([], ['port'], {}),
                ([], ALL, {'networks': 'none'}),
                # Nova refuses these.
                ([], ALL, {'networks': [{'uuid': 'x'}]}),
                ([], ALL, {'networks': [{'port': 7}]}),
                ([], ALL, {'networks': ['x']})):
            self.assertEqual(asked, self._asked(*levels, **server),
                             (levels, server))

    def test_the_lowest_level_counts(self):
        """Of the document's order: type, volume, network, port."""
        self._levels(*ALL)
        self.volume['volume_metadata'] = {
            'pcloud_customer_key_Group1': '3:100',
            'pcloud_customer_key_Volume': '1:1',
            'pcloud_system_key_premium': '7:1'}
        self._tag(['pcloud_customer_key_Group1=4:100', 'blue',
                   'pcloud_customer_key_Net=2:2', 'pcloud_system_key_a=1:1',
                   'pcloud_customer_key_Net=1:1',
                   'pcloud_customer_key_Other=x'],
                  ['pcloud_customer_key_Group1=5:100',
                   'pcloud_customer_key_Volume=1:0',
                   'pcloud_system_key_premium=9:9'])
        volume = _on_volume()
        on_network = {'networks': [{'uuid': NETWORK}]}
        for group, more, server in (
                ([], [], {'networks': 'none'}),
                (['Group1=3:100'], ['Type=1:1', 'Volume=1:1'],
                 {**volume, 'networks': 'none'}),
                (['Group1=4:100'], ['Net=1:1'], on_network),
                (['Group1=4:100'], ['Net=1:1', 'Type=1:1', 'Volume=1:1'],
                 {**volume, **on_network}),
                (['Group1=5:100'], ['Net=1:1', 'Type=1:1', 'Volume=1:1'],
                 {**volume, 'networks': [{'port': PORT}]})):
            _, customer, system = self._started(**server)
            self.assertEqual([*group, *more], sorted(customer), server)
            self.assertEqual(
                ['premium=1:100'] if volume.items() <= server.items() else [],
                system, server)

    def test_system_keys_of_a_type_place(self):
        """A type is below a flavor, as an offer of the first disk."""
        self._levels('volume_type')
        self._node_key('premium', '1', 'node-4')
        self._node_key('premium', '0', *sorted(
            set(self.hosts) - {'node-4'}))
        flavor = self.make_flavor('plain', extra_specs={
            'pcloud:system_key:premium': '0:100'})
        for _ in range(2):
            self.assertEqual('node-4', self._started(
                flavorRef=flavor, **_on_volume())[0])
            self.assertNotEqual('node-4', self._started(flavorRef=flavor)[0])

    def test_system_keys_of_a_network(self):
        """Only of a network of the operator's projects."""
        self._levels('network')
        self._node_key('near', '1', 'node-3')
        self._tag(['pcloud_system_key_near=1:100'],
                  project_id=base.BOB, tenant_id=base.BOB, shared=True)
        server = {'networks': [{'uuid': NETWORK}]}
        self.assertEqual([], self._started(**server)[2])
        self.flags(system_key_network_projects=[base.BOB], group='pcloud')
        for _ in range(2):
            self.assertEqual(
                ('node-3', [], ['near=1:100']), self._started(**server))

    def test_customer_keys_meet(self):
        """Servers of a network with a key come together."""
        self._levels('network')
        self._tag(['pcloud_customer_key_Team=1:100'])
        server = {'networks': [{'uuid': NETWORK}]}
        first = self._started(**server)[0]
        self.assertEqual([first] * 2, [
            self._started(**server)[0] for _ in range(2)])

    def test_the_only_network(self):
        """Where none is named, one that the project may use, if only one."""
        self._levels('network')
        tags = ['pcloud_customer_key_Net=1:1']
        for expected, networks, server in (
                (['Net=1:1'], [{'project_id': 'p', 'tags': tags}], {}),
                (['Net=1:1'], [{'shared': True, 'tags': tags}], {}),
                (['Net=1:1'], [{'tenant_id': 'p', 'tags': tags},
                               {'project_id': 'other'}], {'networks': []}),
                ([], [{'project_id': 'p', 'tags': tags},
                      {'shared': True}], {}),
                ([], [{'project_id': 'other', 'tags': tags}], {}),
                ([], [], {}),
                ([], [{'project_id': 'p', 'tags': tags,
                       'admin_state_up': False}], {'networks': 'auto'}),
                (['Net=1:1'], [{'project_id': 'p', 'tags': tags,
                                'admin_state_up': False}], {})):
            context = mock.Mock(project_id='p')
            client = mock.Mock()
            client.list_networks.return_value = {'networks': networks}
            with mock.patch.object(neutron, 'get_client', lambda _: client):
                found = device_keys.levels(context, server, images.Source())
            self.assertEqual(expected, [
                str(key) for level in found for key in level.customer])

    def test_the_type_of_a_volume(self):
        """Which type the volume has, or will have."""
        self.volume |= {'volume_type_id': 'slow', 'volume_image_metadata': {}}
        typed = self.glance.create(self.context, {
            'id': uuids.typed, 'name': 'typed', 'is_public': True,
            'status': 'active', 'size': 1, 'min_ram': 0, 'min_disk': 0,
            'container_format': 'raw', 'disk_format': 'raw',
            'properties': {'cinder_img_volume_type': 'fast'}})['id']
        plain = self._build_server()['imageRef']
        self._patch(cinder.API, 'get_snapshot', lambda *_: {
            'volume_id': uuids.volume})
        device = {'boot_index': 0, 'destination_type': 'volume'}
        for expected, root in (
                ('slow', {'source_type': 'volume', 'uuid': uuids.v}),
                ('slow', {'source_type': 'snapshot', 'uuid': uuids.s}),
                ('fast', {'source_type': 'snapshot', 'uuid': uuids.s,
                          'volume_type': 'fast'}),
                ('', {'source_type': 'image', 'uuid': plain}),
                ('fast', {'source_type': 'image', 'uuid': typed}),
                ('slow', {'source_type': 'image', 'uuid': typed,
                          'volume_type': 'slow'}),
                ('', {'source_type': 'blank'}),
                (None, {'source_type': 'image', 'uuid': plain,
                        'destination_type': 'local'}),
                (None, {'source_type': 'volume', 'uuid': uuids.v,
                        'boot_index': 1})):
            self.assertEqual(expected, images.source(self.context, {
                'block_device_mapping_v2': [{**device, **root}]}).volume_type)
        self.volume['volume_type_id'] = None
        for server, expected in (
                (_on_volume(), None), ({'imageRef': typed}, None),
                ({'block_device_mapping': [{
                    'device_name': 'vda', 'volume_id': uuids.v}]}, None)):
            self.assertEqual(expected, images.source(
                self.context, server).volume_type)

    def test_types_by_name_and_id(self):
        self._levels('volume_type')
        for expected, wanted in (
                (['premium=1:100'], 'fast'), (['premium=1:100'], uuids.fast),
                (['premium=0:100'], ''), ([], 'gone'), ([], None)):
            found = device_keys.levels(self.context, {}, images.Source(
                volume_type=wanted))
            self.assertEqual(expected, [
                str(key) for level in found for key in level.system])
        self.types.default.side_effect = cinder_exc.NotFound(404)
        self.assertEqual([(), ()], [level.system for level in (
            device_keys.levels(self.context, {}, images.Source(
                volume_type='')))])

    def test_silent_services(self):
        """A launch whose keys are not known is refused, and nothing is made.

        Without the levels nobody notices.
        """
        self.types.list.side_effect = cinder_exc.ConnectionError('away')
        self._delete_server(self.boot(self.alice, {}, **_on_volume()))
        self._levels(*ALL)
        self.assertEqual(503, self._status('Cinder', **_on_volume()))
        self.assertEqual(202, self._status())
        for error in (neutron_exc.ConnectionFailed(reason='away'),
                      ks_exc.ConnectFailure('away'),
                      neutron_exc.ServiceUnavailable()):
            with mock.patch.object(self.neutron, 'show_network',
                                   side_effect=error):
                self.assertEqual(503, self._status(
                    'Neutron', networks=[{'uuid': NETWORK}]))
        before = len(self.alice.get_servers())
        # Nova says what is wrong with what does not exist.
        self.assertEqual(400, self._status(
            'could not be found', networks=[{'port': uuids.none}]))
        self.assertEqual(before, len(self.alice.get_servers()))

    def _status(self, text='', **server):
        response = self.alice.call('POST', '/servers', {
            'server': {**self._build_server(
                flavor_id='1', networks='none'), **server}})
        self.assertIn(text, response.text)
        return response.status_code

    def _node_key(self, name, value, *hosts):
        made = self.admin.post_aggregate({'aggregate': {
            'name': f'{name} {value}'}})
        for host in hosts:
            self.admin.add_host_to_aggregate(made['id'], host)
        self.admin.api_post(f'/os-aggregates/{made["id"]}/action', {
            'set_metadata': {'metadata': {f'pcloud:key:{name}': value}}})


def _on_volume():
    return {'imageRef': '', 'block_device_mapping_v2': [{
        'boot_index': 0, 'source_type': 'volume',
        'destination_type': 'volume',
        'uuid': nova_fixtures.CinderFixture.IMAGE_BACKED_VOL}]}
