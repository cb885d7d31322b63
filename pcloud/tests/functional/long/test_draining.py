# SPDX-License-Identifier: Apache-2.0

"""Drains that somebody has written by hand."""

from pcloud.audit import all_checks
from pcloud.rules.moving import draining
from pcloud.tests.functional.quick import test_draining


class ByHandTest(test_draining.DrainingTestCase):
    """What somebody else has written; the host is never open."""

    def test_value_that_is_not_right(self):
        self.drain(deadline='2100-01-01')
        right = draining.Drain(1, draining.NONE, release=True).text()
        since, move, release = right.split()
        for value in ('', 'x', since, f'{since} move=walk', f'{right} ',
                      f'{move} {since}', f'{since} {move} release=2',
                      f'since=21060207T062816Z {move}', right[:-1]):
            self.set_metadata(**{self.key(): value})
            host = self.get()
            self.assertEqual(('disabled', None),
                             (host['state'], host.get('drain')))
            self.assertEqual(['value-not-valid'], self.kinds())
            self.put('b', 'disabled')
            self.work()
            self.assertIn('a', self.names())
        self.put('a', 'disabled')
        self.assertEqual([], self.kinds())

    def test_host_that_is_enabled_by_hand(self):
        self.drain(release=False)
        self.set_metadata(**{
            self.state_key(): 'enabled',
            self.key(): draining.Drain(
                1, draining.NONE, release=True).text()})
        self.put('b', 'disabled')
        self.work()
        host = self.get()
        self.assertEqual(('enabled', None), (host['state'], host.get('drain')))
        found, = all_checks.find(self.context, settle=0)
        self.assertEqual('drain-not-ended', found.kind)
        found.repair(self.context)
        self.assertNotIn(self.key(), self.metadata())
        self.assertEqual([], self.kinds())

    def test_host_that_is_gone(self):
        self.set_metadata(**{
            'pcloud:drain:gone': draining.Drain(1, draining.NONE).text()})
        found, = all_checks.find(self.context, settle=0)
        self.assertEqual('drain-without-host', found.kind)
        found.repair(self.context)
        self.assertEqual([], self.kinds())

    def test_a_host_that_comes_back_has_one_name(self):
        """Nova takes a host out, and the host joins under another name."""
        for aggregate in f'Pcloud:{self.pcloud}', 'Pcloud:host_flavor:gpu':
            self.aggregate(aggregate).delete_host(self.real['a'])
        # No other host is free.
        other, = self.hosts.keys() - set(self.real.values())
        self.admin.call_json('DELETE', f'/os-host-flavors/gpu/hosts/{other}')
        self.disable_service(self.real['a'])
        self.admin.call_json('POST', '/os-host-flavors/gpu/hosts', {
            'host': {'host': self.real['a']}})
        self.assertEqual(self.real['a'], self.add_host(
            self.alice, self.pcloud, 'new', 'gpu'))
        self.assertEqual({'b', 'new'}, set(self.names()))
        self.assertEqual([], self.kinds())

    def test_new_host_is_not_drained(self):
        """Nova takes a host out and leaves the metadata of the host."""
        left, = self.hosts.keys() - set(self.real.values())
        self.set_metadata(**{
            f'pcloud:drain:{left}': draining.Drain(
                1, draining.NONE, release=True).text()})
        self.add_host(self.alice, self.pcloud, 'c', 'gpu', enable=False)
        self.assertEqual('disabled', self.get('c')['state'])
        self.assertEqual([], self.kinds())
