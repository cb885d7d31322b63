# SPDX-License-Identifier: Apache-2.0

"""The map of all hosts."""

import time

from pcloud.tests.dashboard.unit import base

FARM, BARN = (f'00000000-0000-4000-8000-00000000000{number}'
              for number in (1, 2))
IDLE = {'pcloud': None, 'vcpus': 10, 'vcpus_used': 0, 'memory_mb': 8192,
        'memory_mb_used': 512}


class MapTest(base.AdminPageTest):

    def pclouds(self, **names):
        body = base.sample('pclouds/list-detail-resp')['pclouds'][0]
        found = [{**body, 'id': each, 'name': name}
                 for name, each in names.items()]
        self.answer('GET', '/os-pclouds', json=lambda request, context: {
            'pclouds': [] if 'marker' in request.qs else found})

    def hosts(self, *hosts):
        self.answer('GET', '/os-host-flavors', json={'host_flavors': [
            self.flavor(*hosts)]})

    def squares(self, **query):
        return [(name, squares) for name, squares in self.page(
            'map', **query).context['map'].rows]

    def test_one_square_a_host(self):
        self.pclouds(farm=FARM, barn=BARN)
        self.hosts(
            {**IDLE, 'host': 'node-10', 'availability_zone': 'az2'},
            {**IDLE, 'host': 'node-2', 'pcloud': FARM,
             'memory_mb_used': 4096},
            {**IDLE, 'host': 'node-1', 'pcloud': BARN, 'vcpus_used': 12,
             'status': 'disabled', 'maintenance': {
                 'from': '2100-01-01T20:00:00Z', 'reason': 'disks'}},
            {**IDLE, 'host': 'node-3', 'settling': '2026-11-25T12:00:00Z'},
            {'host': 'node-4', 'pcloud': None, 'status': 'unknown',
             'state': 'down', 'vcpus': None, 'vcpus_used': None,
             'memory_mb': None, 'memory_mb_used': None})
        page = self.page('map')
        (first, squares), (second, others) = page.context['map'].rows

        self.assertEqual(('az1', 'az2'), (first, second))
        self.assertEqual(
            [('node-1', 6, '1', '1', True, True),
             ('node-2', 50, '3', '2', False, False),
             ('node-3', 6, '1', 'settling', False, False),
             ('node-4', None, 'unknown', 'free', True, False)],
            [(each.host, each.percent, each.shade, each.border, each.is_out,
              each.is_in_maintenance) for each in squares])
        self.assertEqual(['node-10'], [each.host for each in others])
        self.assertEqual([(1, 'barn'), (2, 'farm')], [
            (each.number, each.name)
            for each in page.context['map'].pclouds])
        self.assertContains(
            page, 'title="node-2: 50 % of the memory is used, host '
                  'flavor gpu, zone az1, Pcloud farm"')
        self.assertContains(page, 'its compute service is disabled, '
                                  'maintenance from 01/01/2100')
        self.assertContains(page, 'node-4: what is used is not known')
        self.assertContains(page, '/admin/host_flavors/gpu/#pcloud-pool-node')

    def test_more_than_there_is(self):
        self.hosts({**IDLE, 'host': 'node-1', 'vcpus_used': 12})
        (_row, (square,)), = self.squares(measure='vcpus')

        self.assertEqual((120, '5'), (square.percent, square.shade))

    def test_rows(self):
        self.hosts({**IDLE, 'host': 'node-1'}, {**IDLE, 'host': 'node-2'})
        self.answer('GET', '/os-pcloud-attributes',
                    json=base.sample('attributes/list-resp'))

        self.assertEqual(['-', 'r12'], [
            name for name, _squares in self.squares(rows='rack')])
        self.assertEqual(['gpu'], [
            name for name, _squares in self.squares(rows='flavor')])
        self.assertEqual(['az1'], [
            name for name, _squares in self.squares(rows='nonsense')])

    def test_many_hosts(self):
        self.pclouds(**{f'farm {number}':
                        f'00000000-0000-4000-8000-{number:012}'
                        for number in range(60)})
        self.hosts(*({**IDLE, 'host': f'node-{number}',
                      'availability_zone': f'az{number % 3}',
                      'pcloud': f'00000000-0000-4000-8000-{number % 60:012}',
                      'memory_mb_used': number * 16}
                     for number in range(500)))
        # The first page of a process reads the policies of all services.
        self.page('map')
        calls = len(self.calls())
        began = time.process_time()
        page = self.page('map')
        spent = time.process_time() - began
        print(f'500 hosts: {spent:.2f} s of CPU, '
              f'{len(page.content) // 1024} KiB')

        self.assertContains(page, '<li><a href="/admin/host_flavors/gpu/#',
                            count=500)
        # The client asks once more for a page without new Pclouds.
        # Whether there are Pclouds, two pages of Pclouds, and the pools.
        self.assertLessEqual(len(self.calls()) - calls, 4)
        # It is a tenth of that on an idle machine.
        self.assertLess(spent, 2)

    def test_nobody_answers(self):
        self.answer('GET', '/os-host-flavors', status_code=503)

        self.assertContains(self.page('map'), 'No pool has hosts yet.')
