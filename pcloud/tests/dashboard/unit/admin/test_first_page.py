# SPDX-License-Identifier: Apache-2.0

"""The administrator's first page."""

from unittest import mock

import ddt
from keystoneauth1 import exceptions as ksa_exceptions

from pcloud.client import resources
from pcloud.tests.dashboard.unit import base
from pcloud_dashboard.admin import pools


def host(name='node-1', **members):
    """Return a host of a pool, up and free but for what is given."""
    return resources.PoolHost(name, **{
        'status': 'enabled', 'state': 'up', 'availability_zone': 'az1',
        **members})


@ddt.ddt
class PoolsTest(base.PageTest):

    @ddt.data(
        ({'state': 'down', 'pcloud': 'id'}, 'down'),
        ({'status': 'disabled'}, 'down'),
        ({'pcloud': 'id', 'settling': 'since'}, 'owned'),
        ({'settling': 'since'}, 'settling'), ({}, 'free'))
    @ddt.unpack
    def test_kind(self, members, kind):
        self.assertEqual(kind, pools.kind(host(**members)))

    def test_bars_by_flavor_and_zone(self):
        found = pools.pools([
            resources.HostFlavor('gpu 10', 1, hosts=(host(),)),
            resources.HostFlavor('gpu 9', 1, hosts=(
                host(availability_zone='az2'), host(pcloud='id'), host(),
                host(), host(state='down'))),
            resources.HostFlavor('none', 1, hosts=())])

        self.assertEqual(
            [('gpu 9', 'az1', '1 in Pclouds, 2 free, 1 down or disabled'),
             ('gpu 9', 'az2', '1 free'), ('gpu 10', 'az1', '1 free')],
            [(each.host_flavor, each.zone, each.text) for each in found])
        self.assertEqual([25.0, 50.0, 25.0],
                         [part.percent for part in found[0].parts])

    def test_the_next_maintenance_or_reboot_first(self):
        found = pools.announced([resources.HostFlavor('gpu', 1, hosts=(
            host(maintenance={'from': '2100-02-01T00:00:00Z',
                              'reason': 'disks'}),
            host('node-2', maintenance={'from': '2100-01-01T00:00:00Z'}),
            host('node-3'), host('node-4')))], [
                resources.Attribute('next_reboot', '2100-01-15', (
                    'node-3', 'a host of no pool')),
                resources.Attribute('next_reboot', '2020-01-01', ('node-4',)),
                resources.Attribute('rack', 'r1', ('node-4',))])

        self.assertEqual(
            [('node-2', 'maintenance'), ('node-3', 'reboot'),
             ('node-1', 'disks')],
            [(each.host, each.text) for each in found])

    def test_units_of_which_nothing_is_used(self):
        empty = {'vcpus_used': 0, 'memory_mb_used': 0}
        self.assertEqual({'a': 5, 'b': 1}, pools.idle_units([
            resources.HostFlavor('gpu', 4, hosts=(
                host(pcloud='a', **empty), host(pcloud='b'),
                host(pcloud='b', vcpus_used=0, memory_mb_used=64),
                host(**empty))),
            resources.HostFlavor('one', 1, hosts=(
                host(pcloud='a', **empty), host(pcloud='b', **empty)))]))

    def test_hosts_that_do_not_answer(self):
        found = pools.failed([resources.HostFlavor('gpu', 1, hosts=(
            host('node-10', pcloud='a', state='down', fenced=True),
            host('node-9', pcloud='a', state='down'),
            host('node-8', state='down'), host('node-7', pcloud='a')))])

        self.assertEqual([('node-9', False), ('node-10', True)],
                         [(each.host, each.fenced) for each in found])


class FirstPageTest(base.AdminPageTest):

    panel = 'admin:pclouds'

    def setUp(self):
        super().setUp()
        self.answer('GET', '/os-pcloud-audit', json=base.sample(
            'audit/list-resp'))
        self.answer('GET', '/os-pcloud-attributes', json={'attributes': [
            {'name': 'next_reboot', 'value': '2100-01-02',
             'hosts': ['node-2']}]})
        self.answer('GET', '/os-host-flavors', json={'host_flavors': [
            self.flavor({'host': 'node-1', 'maintenance': {
                'from': '2100-01-01T20:00:00Z', 'reason': 'New disks'}},
                {'host': 'node-2', 'status': 'enabled', 'state': 'down',
                 'pcloud': f'00000000-0000-4000-8000-{44:012}',
                 'vcpus_used': 0, 'memory_mb_used': 0})]})
        body = base.sample('pclouds/list-detail-resp')['pclouds'][0]
        found = [{**body, 'name': f'farm {number}',
                  'owner': ('a' if number % 2 else 'b') * 32,
                  'id': f'00000000-0000-4000-8000-{number:012}'}
                 for number in range(45)]
        self.answer('GET', '/os-pclouds', json=lambda request, context: {
            'pclouds': [] if 'marker' in request.qs else found})

    def first(self, **query):
        with mock.patch('pcloud_dashboard.api.project_names',
                        return_value={'a' * 32: 'studio'}):
            return self.page('index', **query)

    def test_what_is_wrong_comes_first(self):
        text = self.first().content.decode()

        places = [text.index(f'id="{each}"') for each in (
            'pcloud-audit', 'pcloud-pool-bars', 'pcloud-failed',
            'pcloud-announced', 'pcloud-idle', 'pcloud-owner',
            'all_pclouds')]
        self.assertEqual(sorted(places), places)
        for words in ('New disks', 'reboot', 'not fenced', 'units are idle'):
            self.assertIn(words, text)

    def test_the_page_does_not_wait_for_the_audit(self):
        self.first()
        self.assertNotIn(('GET', '/os-pcloud-audit'), self.calls())

        self.assertContains(self.page('findings'), 'id="pcloud-findings"')
        # The audit of a large cloud takes longer than any page waits.
        self.assertEqual(60, self.http.last_request.timeout)
        self.answer('GET', '/os-pcloud-audit', json={'findings': []})
        self.assertContains(self.page('findings'), 'Nothing is wrong.')
        self.answer('GET', '/os-pcloud-audit',
                    exc=ksa_exceptions.ConnectFailure)
        self.assertContains(self.page('findings'), 'does not answer')

    def test_those_with_most_idle_units_first(self):
        self.assertEqual(
            ['farm 44', 'farm 0', 'farm 1'],
            [each.name for each in self.first().context['table'].data[:3]])

    def test_pages_of_twenty(self):
        page = self.first()
        self.assertEqual(20, len(page.context['table'].data))
        self.assertContains(page, 'Page 1 of 3')
        self.assertEqual(
            5, len(self.first(page='3').context['table'].data))

    def test_those_of_an_owner(self):
        page = self.first(owner='a' * 32, page='2')

        self.assertEqual({'a' * 32}, {
            each.owner for each in page.context['table'].data})
        self.assertContains(page, f'?owner={"a" * 32}&amp;page=1"')
        self.assertContains(
            page, f'<option value="{"a" * 32}" selected>studio</option>')

    def test_an_owner_who_has_none(self):
        page = self.first(owner='<b>')

        self.assertEqual(0, len(page.context['table'].data))
        self.assertNotContains(page, '<b>')

    def test_the_id_is_behind_a_button(self):
        self.assertContains(
            self.first(),
            'data-copy="00000000-0000-4000-8000-000000000000"', 1)
