# SPDX-License-Identifier: Apache-2.0

"""What the real OpenStackClient prints can be read as servers and flavors."""

import datetime
import pathlib
import random

import ddt
import fixtures

from pcloud.tests.unit.client import base
from pcloud_simulator import server_list
from pcloud_simulator import workload

IMAGE = '55555555-5555-4555-8555-555555555555'
SHELVED = '66666666-6666-4666-8666-666666666666'
FLAVORS = [
    {'id': '1', 'name': 'small', 'ram': 4096, 'vcpus': 2, 'disk': 20,
     'OS-FLV-EXT-DATA:ephemeral': 5, 'swap': '', 'links': []}]
SIZE = workload.Size(4096, 2, 25)
# The same servers to a client of each version of the API.
FLAVOR = {'2.1': {'id': '1'},
          '2.96': {'original_name': 'small', 'ram': 4096, 'vcpus': 2,
                   'disk': 20, 'ephemeral': 5, 'swap': 0}}
# The columns that have no other source, with the ages of servers.
WITH_AGES = ('-c', 'ID', '-c', 'Flavor', '-c', 'Host', '-c', 'Image',
             '-c', 'Created At')


def server(id_, version, host='c1.test', image=None, created='2026-10-01'):
    """Return a server as nova-api shows a server to administrators."""
    return {
        'id': id_, 'name': 'x', 'flavor': FLAVOR[version], 'addresses': {},
        'status': 'ACTIVE' if host else 'SHELVED_OFFLOADED', 'links': [],
        'image': {'id': image} if image else '', 'metadata': {},
        'created': f'{created}T00:00:00Z', 'tenant_id': base.PROJECT,
        'OS-EXT-SRV-ATTR:host': host and host.partition('.')[0],
        'OS-EXT-SRV-ATTR:hypervisor_hostname': host}


@ddt.ddt
class ListsTest(base.CloudTestCase):

    def setUp(self):
        super().setUp()
        self.folder = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        self.http.get(base.GLANCE, json={'versions': [
            {'id': 'v2.9', 'status': 'CURRENT', 'links': [
                {'rel': 'self', 'href': f'{base.GLANCE}/v2/'}]}]})
        self.http.get(f'{base.GLANCE}/v2/images', json={'images': []})
        self.answer('GET', '/flavors/detail', json={'flavors': FLAVORS})

    def _print(self, version, name, *options):
        result = self.openstack(
            '--os-compute-api-version', version, name, 'list', '--all',
            *options, '-f', 'json')
        self.assertEqual(0, result.status, result.err)
        path = self.folder / name
        path.write_text(result.out)
        return str(path)

    def _read(self, version, *options):
        self.answer('GET', '/servers/detail', json={'servers': [
            server(base.SERVER_1, version, image=IMAGE),
            server(base.SERVER_2, version, 'c2.test', created='2026-10-11'),
            server(SHELVED, version, None, IMAGE)]})
        flavors = server_list.flavors(self._print(version, 'flavor'))
        return server_list.read(
            self._print(version, 'server', *options), flavors,
            frozenset({'c1.test', 'c2.test'}),
            server_list.Turnover(1.0, 10.0 ** 6), random.Random(1))

    @ddt.data(*FLAVOR)
    def test_long_list(self, version):
        """Hosts have the names of hypervisors; a volume is on no host."""
        trace = self._read(version, '--long')
        self.assertEqual(
            [('c1.test', SIZE), ('c2.test', workload.Size(4096, 2, 5))],
            [(each.host, each.size) for each in trace.servers])
        self.assertIsNone(trace.begin)

    @ddt.data(*FLAVOR)
    def test_ages(self, version):
        trace = self._read(version, *WITH_AGES)
        self.assertEqual(
            [('c1.test', SIZE), ('c2.test', workload.Size(4096, 2, 5))],
            [(each.host, each.size) for each in trace.servers])
        self.assertEqual(
            datetime.datetime(2026, 10, 11, tzinfo=datetime.UTC),
            trace.begin)
