# SPDX-License-Identifier: Apache-2.0

"""The commands of the placement keys of hosts, over Nova's own calls."""

from pcloud.tests.unit.client import base

STORE = {'id': 7, 'name': 'store-2', 'hosts': ['c3', 'c2'], 'metadata': {
    'pcloud:key:store': '2', 'pcloud:sticky:store': '60', 'ssd': 'true'}}
PREMIUM = {'id': 8, 'name': 'pcloud-key:premium=1', 'hosts': ['c1', 'c2'],
           'metadata': {'pcloud:key:premium': '1'}}
CLOSED = {'id': 9, 'name': 'Pcloud:host_flavor:gold', 'hosts': ['c1'],
          'metadata': {}}


class TestKeys(base.CloudTestCase):
    """openstack pcloud key list, set and unset."""

    def setUp(self):
        super().setUp()
        self._offer(STORE, PREMIUM, CLOSED)
        self.answer('GET', '/os-services', json={'services': [
            {'host': f'c{number}'} for number in range(1, 5)]})
        for number in (7, 8, 9, 10):
            self.answer('POST', f'/os-aggregates/{number}/action', json={})
            self.answer('DELETE', f'/os-aggregates/{number}')
        self.answer('POST', '/os-aggregates', json={
            'aggregate': {'id': 10, 'name': 'x'}})

    def _offer(self, *aggregates):
        self.answer('GET', '/os-aggregates',
                    json={'aggregates': list(aggregates)})

    def _key(self, *arguments):
        return self.openstack('pcloud', 'key', *arguments)

    def _acts(self):
        """Return what was changed, a text for each call."""
        return [' '.join(filter(None, (
            call.method, call.path.removeprefix('/os-aggregates'),
            str(call.body) if call.body else '')))
            for call in self.calls() if call.method != 'GET']

    @staticmethod
    def _written(name, value, sticky=None):
        return str({'set_metadata': {'metadata': {
            f'pcloud:key:{name}': value, f'pcloud:sticky:{name}': sticky}}})

    def test_list(self):
        self.assertEqual([
            ['Name', 'Value', 'Sticky Weight', 'Aggregate', 'Hosts'],
            ['premium', '1', '-', 'pcloud-key:premium=1', 'c1, c2'],
            ['store', '2', '60', 'store-2', 'c2, c3']],
            base.table(self._key('list').out))
        for options, names in (
                (['--host', 'c1'], ['premium']), (['--host', 'c4'], []),
                (['--name', 'store'], ['store']),
                (['--host', 'c2'], ['premium', 'store'])):
            self.assertEqual(names, self._key(
                'list', '-f', 'value', '-c', 'Name', *options).out.split())

    def test_set_for_hosts(self):
        self.assertEqual((0, '', ''), self._key(
            'set', 'premium', '1', '--host', 'c3', '--host', 'c2'))
        self.assertEqual(
            [f'POST /8/action {self._written("premium", "1")}',
             "POST /8/action {'add_host': {'host': 'c3'}}"], self._acts())

    def test_set_in_place_of_another_value(self):
        self.assertEqual((0, '', ''), self._key(
            'set', 'premium', '0', '--sticky', '5', '--host', 'c1',
            '--host', 'c2'))
        self.assertEqual(
            ["POST {'aggregate': {'name': 'pcloud-key:premium=0:5'}}",
             f'POST /10/action {self._written("premium", "0", "5")}',
             "POST /10/action {'add_host': {'host': 'c1'}}",
             "POST /10/action {'add_host': {'host': 'c2'}}",
             "POST /8/action {'remove_host': {'host': 'c1'}}",
             "POST /8/action {'remove_host': {'host': 'c2'}}",
             'DELETE /8'], self._acts())

    def test_set_tells_of_other_values(self):
        result = self._key('set', 'store', '1', '--host', 'c2', '--host', 'c1')
        self.assertEqual(
            (0, '', "c2: store is 2 by aggregate 'store-2' too; the lowest "
                    'counts\n'), result)

    def test_set_for_an_aggregate(self):
        for name in ('store-2', '7'):
            self.assertEqual((0, '', ''), self._key(
                'set', 'store', '3', '--aggregate', name))
        self.assertEqual(
            [f'POST /7/action {self._written("store", "3")}'] * 2,
            self._acts())

    def test_what_is_refused_leaves_no_aggregate(self):
        self.answer('POST', '/os-aggregates/10/action', status_code=400,
                    json={'badRequest': {'code': 400, 'message': 'no'}})
        self.assert_one_line('no (HTTP 400)', self._key(
            'set', 'premium', 'x', '--host', 'c1'))
        self.assertEqual('DELETE /10', self._acts()[-1])

    def test_what_is_not_there(self):
        for told, arguments in (
                ("has the host 'c9'", ('set', 'a', '1', '--host', 'c9')),
                ("the id or name 'x'", ('set', 'a', '1', '--aggregate', 'x')),
                ("is Pcloud's own", ('set', 'a', '1', '--aggregate', '9')),
                ("'store-2' has no placement key 'a'",
                 ('unset', 'a', '--aggregate', 'store-2')),
                ('hosts c3 has placement key', (
                    'unset', 'premium', '--host', 'c3')),
                ('comes from aggregate store-2', (
                    'unset', 'store', '--host', 'c3'))):
            self.assert_one_line(told, self._key(*arguments))
        self.assertEqual([], self._acts())

    def test_unset(self):
        self._key('unset', 'premium', '--host', 'c2')
        self.assertEqual(["POST /8/action {'remove_host': {'host': 'c2'}}"],
                         self._acts())
        self._key('unset', 'store', '--aggregate', 'store-2')
        self.assertEqual(
            f'POST /7/action {self._written("store", None)}',
            self._acts()[-1])

    def test_dry_run(self):
        for arguments, told in (
                (('set', 'premium', '2', '--host', 'c1', '--host', 'c4'),
                 'c1: 1 -> 2\nc4: - -> 2\n'),
                (('set', 'store', '2', '--sticky', '1', '--aggregate',
                  'store-2'), 'store-2: 2 (sticky, weight 60) -> '
                              '2 (sticky, weight 1)\n'),
                (('unset', 'premium', '--host', 'c1'), 'c1: 1 -> -\n')):
            result = self._key(*arguments, '--dry-run')
            self.assertEqual((0, told), result[:2])
        self.assertEqual([], self._acts())

    def test_whose(self):
        for arguments in ((), ('--host', 'c1', '--aggregate', 'x')):
            self.assertEqual(2, self._key('set', 'a', '1', *arguments).status)
