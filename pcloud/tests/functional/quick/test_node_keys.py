# SPDX-License-Identifier: Apache-2.0

"""Placement keys of hosts: set by the client, audited, and scheduled by."""

from pcloud.audit import all_checks
from pcloud.client import exceptions
from pcloud.tests.functional.quick import test_client

MISSING = 'node-key-missing'


class NodeKeysTest(test_client.ClientTestCase):

    def _configure(self):
        super()._configure()
        self.flags(enabled_filters=['ComputeFilter', 'PcloudFilter',
                                    'AffinityFilter'],
                   group='filter_scheduler')

    def setUp(self):
        super().setUp()
        self.keys = self.as_library(self.admin).node_keys

    def _listed(self):
        return [(key.name, key.value, key.sticky, key.aggregate, key.hosts)
                for key in self.keys.list_all()]

    def _host(self):
        server = self.boot(self.alice, flavorRef=self.make_flavor(
            'premium', name='premium', extra_specs={
                'pcloud:system_key:premium': '1:100'}))
        return self.host_of(server)

    def test_hosts(self):
        self.keys.set_for_hosts('premium', '0', None, list(self.hosts))
        self.keys.set_for_hosts('premium', '1', '5', ['node-3'])
        self.assertEqual([
            ('premium', '0', None, 'pcloud-key:premium=0',
             ('node-1', 'node-2', 'node-4')),
            ('premium', '1', '5', 'pcloud-key:premium=1:5', ('node-3',))],
            self._listed())
        self.assertEqual('node-3', self._host())
        self.keys.set_for_hosts('premium', '1', None, ['node-3'])
        self.assertEqual([None, None], [each[2] for each in self._listed()])
        self.keys.unset_for_hosts('premium', list(self.hosts))
        self.assertEqual([], self._listed())
        self.assertNotIn('pcloud-key', str(self.dump()['aggregates']))

    def test_aggregate(self):
        made = self.make_aggregate('fast')
        self.admin.add_host_to_aggregate(made, 'node-2')
        self.keys.set_for_aggregate('premium', '1', '60', 'fast')
        self.assertEqual([('premium', '1', '60', 'fast', ('node-2',))],
                         self._listed())
        self.assertEqual('node-2', self._host())
        self.assertRaises(exceptions.NotFound, self.keys.unset_for_hosts,
                          'premium', ['node-2'])
        self.keys.unset_for_aggregate('premium', str(made))
        self.assertEqual([], self._listed())

    def test_refused(self):
        before = self.dump()
        for name, value, sticky in (
                ('premium', 'much', None), ('#RAM', '1', None),
                ('special.RAM', '1', None), ('premium', '1', 'much'),
                ('pre mium', '1', None)):
            self.assertRaises(exceptions.BadRequest, self.keys.set_for_hosts,
                              name, value, sticky, ['node-1'])
        self.assertRaises(exceptions.NotFound, self.keys.set_for_hosts,
                          'premium', '1', None, ['node-1', 'node-9'])
        self.assertEqual(before, self.dump())

    def test_only_administrators(self):
        keys = self.as_library(self.alice).node_keys
        self.assertRaises(exceptions.Forbidden, keys.list_all)
        self.assertRaises(exceptions.Forbidden, keys.set_for_hosts,
                          'premium', '1', None, ['node-1'])

    def _missing(self):
        return {each.aggregate.removeprefix('pcloud:key:'): each.message
                for each in all_checks.gaps(self.context)
                if each.kind == MISSING}

    def test_audit(self):
        self.assertEqual({}, self._missing())
        self.keys.set_for_hosts('premium', '1', None, ['node-1', 'node-2'])
        self.keys.set_for_hosts('store', '1', None, list(self.hosts))
        found = self._missing()
        self.assertEqual({'premium'}, found.keys())
        self.assertIn('2 hosts lack the key, which 2 hosts have: node-3, '
                      'node-4', found['premium'])
        self.keys.set_for_hosts('premium', '0', None, ['node-3', 'node-4'])
        self.assertEqual({}, self._missing())
