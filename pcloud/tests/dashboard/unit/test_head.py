# SPDX-License-Identifier: Apache-2.0

"""The head of a Pcloud's page."""

import dataclasses

import ddt
from keystoneauth1 import exceptions as ksa_exceptions

from pcloud.client import resources
from pcloud.tests.dashboard.unit import base
from pcloud_dashboard.project.head import doughnuts


def host(name='web-1', **members):
    """Return a host of the reference of the API, changed."""
    return resources.Host.from_body({
        **base.sample('hosts/show-resp')['host'], 'name': name, **members})


@ddt.ddt
class DoughnutTest(base.PageTest):

    pcloud_of_test = resources.Pcloud(
        'id', 'farm', 'owner', units=3, cpu_allocation_ratio=4.0)

    def test_enabled_hosts_that_are_up_count_as_free_by_the_ratio(self):
        found = doughnuts.vcpus([
            host(vcpus=10, vcpus_used=4),
            host('web-2', vcpus=10, vcpus_used=2, state='disabled'),
            host('web-3', vcpus=10, vcpus_used=0, status='down'),
            host('web-4', vcpus=None, vcpus_used=None)],
            self.pcloud_of_test)

        self.assertEqual(
            '6 used, 36 free, 78 on hosts that take no new instances',
            found.text)
        self.assertEqual([('used', 5.0, 0.0), ('closed', 65.0, 5.0),
                          ('free', 30.0, 70.0)],
                         [dataclasses.astuple(each)
                          for each in found.segments])

    def test_a_host_that_is_more_than_full(self):
        found = doughnuts.memory(
            [host(memory_mb=1024, memory_mb_used=2048)], self.pcloud_of_test)

        self.assertEqual('2 GiB used, 0 MiB free', found.text)

    def test_nothing_is_known(self):
        self.assertIsNone(doughnuts.vcpus(
            [host(vcpus=None)], self.pcloud_of_test))

    @ddt.data((10, 5, '5 free', '3 here, 2 in other Pclouds, 5 free'),
              (4, 5, '0 free', '3 here, 2 in other Pclouds, 0 free'),
              (-1, 3, 'no limit', '3 here, 0 in other Pclouds, no limit'))
    @ddt.unpack
    def test_units(self, limit, used, left, text):
        found = doughnuts.units(
            resources.Quota('p', limit, used), self.pcloud_of_test)

        self.assertEqual((left, text), (found.left, found.text))
        self.assertEqual(limit < 0, not found.segments)


class HeadTest(base.PageTest):

    def setUp(self):
        super().setUp()
        self.have_no_instances()
        self.answer('GET', self.at, json={'pcloud': {
            **self.pcloud, 'flavors': None}})
        self.answer('GET', f'{self.at}/explain',
                    json=base.sample('explain/show-resp'))
        self.answer('GET', f'{self.at}/rehearsal',
                    json=base.sample('rehearsal/show-resp'))

    def hosts(self, *changed):
        body = base.sample('hosts/show-resp')['host']
        self.answer('GET', f'{self.at}/hosts', json={
            'hosts': [{**body, **each} for each in changed]})

    def head(self):
        return self.page('head', self.pcloud_id)

    def test_the_page_asks_for_the_head_alone(self):
        page = self.page('detail', self.pcloud_id)

        self.assertContains(
            page, f'data-address="/project/pclouds/{self.pcloud_id}/head"')
        self.assertContains(page, f'data-copy="{self.pcloud_id}"')
        self.assertContains(page, 'lent to 2 projects')
        self.assertNotIn(f'{self.at}/rehearsal', dict(
            map(reversed, self.calls())))

    def test_how_full(self):
        page = self.head()

        self.assertContains(page, 'vCPUs: 1 used, 39 free')
        self.assertContains(page, 'Memory: 1 GiB used, 7 GiB free')
        self.assertContains(page, 'class="pcloud-ring-free"')

    def test_chips_are_links(self):
        self.hosts({'maintenance': {'from': '2100-12-03T12:00:00Z'}})
        page = self.head()

        self.assertContains(page, 'web-1 must not fail')
        self.assertContains(page, '?tab=pcloud__failures"')
        self.assertContains(page, '?tab=pcloud__fit&amp;flavor=3"')
        self.assertContains(page, 'maintenance of web-1 on December 3')
        self.assertContains(page, '#pcloud-host-web-1"')

    def test_how_many_fit_of_a_flavor_that_is_let_in(self):
        wanted = self.flavors.list()[-1]
        self.answer('GET', self.at, json={'pcloud': {
            **self.pcloud, 'flavors': [wanted.id]}})
        self.answer('GET', f'{self.at}/explain', json={'explain': {
            **base.sample('explain/show-resp')['explain'], 'fits': 8}})

        self.assertContains(self.head(), f'8 more {wanted.name} fit')

    def test_any_host_may_fail(self):
        self.answer('GET', f'{self.at}/rehearsal', json={'rehearsal': {
            **base.sample('rehearsal/show-resp')['rehearsal'],
            'survives': 1, 'losses': []}})

        self.assertContains(self.head(), 'any one host may fail')

    def test_what_keeps_hosts_from_draining(self):
        server = '6b1c7a52-4a0e-4c35-9d6e-5b1f2c7e8a90'
        drain = {'remaining': [server], 'blockers': [
            {'server': server, 'reason': 'it is locked'}]}
        self.hosts(*({'name': f'web-{number}', 'drain': drain}
                     for number in range(1, 6)))
        page = self.head()

        self.assertContains(page, '6b1c7a52 keeps web-1 from draining')
        self.assertContains(page, '3 more like this')
        self.assertNotContains(page, 'web-3 from draining')

    def test_a_host_that_has_failed(self):
        self.hosts({'recovery': {'state': 'held'}})

        self.assertContains(
            self.head(), 'web-1 has failed: its recovery is held')

    def test_as_many_calls_for_any_number_of_hosts(self):
        counts = []
        for number in (1, 50):
            self.hosts(*({'name': f'web-{each}'} for each in range(number)))
            before = len(self.calls())
            self.head()
            counts.append(len(self.calls()) - before)

        # The first page asks once whether there are Pclouds at all.
        self.assertLessEqual(counts[1], counts[0])
        self.assertLessEqual(counts[1], 5)

    def test_a_part_that_fails_leaves_the_others(self):
        self.answer('GET', f'{self.at}/rehearsal', status_code=503, json={
            'computeFault': {'code': 503, 'message': 'A cell is silent.'}})
        page = self.head()

        self.assertContains(page, 'A cell is silent.')
        self.assertContains(page, 'vCPUs: 1 used, 39 free')

    def test_nobody_answers(self):
        self.answer('GET', self.at, exc=ksa_exceptions.ConnectFailure)

        self.assertContains(
            self.head(), 'The compute service does not answer.')

    def test_a_borrowed_pcloud_has_no_head(self):
        body = base.sample('pclouds/show-tenant-resp')['pcloud']
        self.answer('GET', self.at, json={'pcloud': {
            **body, 'id': self.pcloud_id}})
        page = self.head()

        self.assertNotContains(page, 'pcloud-chip')
        self.assertNotIn(('GET', f'{self.at}/hosts'), self.calls())
        self.assertNotContains(
            self.page('detail', self.pcloud_id), 'pcloud-head')
