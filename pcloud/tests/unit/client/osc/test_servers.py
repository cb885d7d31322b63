# SPDX-License-Identifier: Apache-2.0

"""The list of a project's servers with their places, through the shell."""

from pcloud.tests.unit.client import base

HERE = {'id': base.PCLOUD_ID, 'name': 'farm'}
THERE = {'id': base.OTHER_ID, 'name': 'barn'}
# Each server in Nova, and the server's place in Pcloud if any.
SERVERS = (
    ({'name': 'mine', 'hostId': 'x'}, {
        'pcloud': HERE, 'host': 'web-1', 'rack': 2}),
    ({'name': 'borrowed', 'hostId': 'y'}, {
        'pcloud': THERE, 'host': None, 'rack': None}),
    ({'name': 'outside', 'hostId': 'z'}, None),
    ({'name': 'shelved', 'hostId': '', 'status': 'SHELVED_OFFLOADED',
      'scheduler_hints': {'pcloud': base.PCLOUD_ID}}, None),
    ({'name': 'let-go', 'hostId': '', 'status': 'SHELVED_OFFLOADED',
      'scheduler_hints': {'pcloud': base.SERVER_1}}, None),
    ({'name': 'elsewhere', 'hostId': 'z',
      'scheduler_hints': {'pcloud': base.PCLOUD_ID}}, None),
)
HEADS = ['ID', 'Name', 'Status', 'Pcloud', 'Host', 'Rack']


class TestServers(base.CloudTestCase):
    """openstack pcloud server list."""

    def setUp(self):
        super().setUp()
        self._offer(SERVERS)

    def _offer(self, servers):
        self.answer('GET', '/servers/detail', json={'servers': [
            {'id': server['name'][0], 'status': 'ACTIVE', **server}
            for server, _ in servers]})
        places = {server['name'][0]: place for server, place in servers}
        self.answer(
            'GET', '/os-pcloud-servers', json=lambda request, _context: {
                'servers': [{'server': each, **places[each]}
                            for each in request.qs['server']
                            if places[each] is not None]})
        self.answer('GET', '/os-pclouds', json=self._pclouds)

    @staticmethod
    def _pclouds(request, _context):
        wanted = request.qs.get('name', ['farm', 'barn'])
        return {'pclouds': [] if 'marker' in request.qs else [
            each for each in (
                base.PCLOUD, {**THERE, 'owner': base.OTHER_PROJECT})
            if each['name'] in wanted]}

    def _list(self, *arguments):
        return self.openstack('pcloud', 'server', 'list', *arguments)

    def test_for_people(self):
        self.assertEqual([
            HEADS,
            ['b', 'borrowed', 'ACTIVE', 'barn', '-', '-'],
            ['e', 'elsewhere', 'ACTIVE', '-', '-', '-'],
            ['l', 'let-go', 'SHELVED_OFFLOADED', '-', '-', '-'],
            ['m', 'mine', 'ACTIVE', 'farm', 'web-1', '2'],
            ['o', 'outside', 'ACTIVE', '-', '-', '-'],
            ['s', 'shelved', 'SHELVED_OFFLOADED', 'farm', '-', '-'],
        ], base.table(self._list().out))

    def test_for_programs(self):
        self._offer(SERVERS[:1])
        self.assertEqual([{
            'ID': 'm', 'Name': 'mine', 'Status': 'ACTIVE', 'Pcloud': 'farm',
            'Host': 'web-1', 'Rack': 2, 'Pcloud ID': base.PCLOUD_ID,
        }], self._list('-f', 'json').json)

    def test_names_are_asked_for_only_where_they_are_missing(self):
        self._offer(SERVERS[:3])
        self._list()
        self.assertEqual(['/os-pcloud-servers'],
                         [call.path for call in self.calls()])

    def test_of_a_pcloud(self):
        self._offer((SERVERS[0], SERVERS[1], SERVERS[3]))
        for name, servers in (('farm', ['mine', 'shelved']),
                              ('barn', ['borrowed'])):
            result = self._list('--pcloud', name, '-f', 'value', '-c', 'Name')
            self.assertEqual(servers, result.out.split())

    def test_long(self):
        self._offer(SERVERS[:1])
        self.assertEqual([
            HEADS + ['Pcloud ID'],
            ['m', 'mine', 'ACTIVE', 'farm', 'web-1', '2', base.PCLOUD_ID]],
            base.table(self._list('--long').out))

    def test_no_servers(self):
        self._offer(())
        self.assertEqual((0, '\n', ''), self._list())
