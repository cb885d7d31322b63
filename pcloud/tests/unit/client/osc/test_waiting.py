# SPDX-License-Identifier: Apache-2.0

"""The commands about those who wait for hosts."""

import json

import ddt

from pcloud.tests.unit.client import base

FARM = f'/os-pclouds/{base.PCLOUD_ID}'
ID = '9b4d7f20-3c6e-4d18-b2a5-7c8e1f0d6a93'
ENTRY = {'id': ID, 'name': 'web-3', 'host_flavor': 'gold',
         'availability_zone': None, 'position': 2,
         'since': '2026-11-28T10:00:00Z', 'until': '2026-12-01T10:00:00Z'}
ADD = ('pcloud', 'host', 'add', 'farm', 'web-3', '--wait-until',
       '2026-12-01T10:00:00Z')


@ddt.ddt
class WaitingTest(base.CloudTestCase):

    def test_wait(self):
        self.answer_farm()
        asked = self.answer('POST', f'{FARM}/hosts', status_code=202,
                            json={'waiting': ENTRY})
        result = self.openstack(*ADD, '--host-flavor', 'gold', '-f', 'json')
        self.assertEqual(0, result.status, result.err)
        self.assertEqual(ENTRY, json.loads(result.out))
        self.assertEqual({'host': {
            'name': 'web-3', 'host_flavor': 'gold',
            'wait_until': '2026-12-01T10:00:00Z'}},
            asked.last_request.json())

    @ddt.data((), ('--wait-until', '2026-12-01T10:00:00Z'))
    def test_a_date(self, more):
        self.answer_farm()
        asked = self.answer('POST', f'{FARM}/hosts', status_code=201,
                            json={'host': base.HOST})
        result = self.openstack(
            *ADD[:5], '--host-flavor', 'gold', '--until',
            '2026-12-09T10:00:00Z', '--move', 'live', *more)
        self.assertEqual(0, result.status, result.err)
        sent = asked.last_request.json()['host']
        self.assertEqual(('2026-12-09T10:00:00Z', 'live', bool(more)), (
            sent['until'], sent['move'], 'wait_until' in sent))

    @ddt.data(
        (('--until', '2026-12-09T10:00:00Z', '--move', 'any'),
         {'until': '2026-12-09T10:00:00Z', 'move': 'any'}),
        (('--until', '2026-12-09T10:00:00Z'),
         {'until': '2026-12-09T10:00:00Z'}),
        (('--no-until',), {'until': None}))
    @ddt.unpack
    def test_another_date(self, options, sent):
        self.answer_farm()
        asked = self.answer('PUT', f'{FARM}/hosts/web-1',
                            json={'host': base.HOST})
        result = self.openstack(
            'pcloud', 'host', 'set', 'farm', 'web-1', *options)
        self.assertEqual((0, ''), (result.status, result.out), result.err)
        self.assertEqual({'host': sent}, asked.last_request.json())

    @ddt.data(('--move', 'live', '--enable'), ('--no-until', '--move', 'any'),
              ('--until', '2026-12-09T10:00:00Z', '--enable'), ())
    def test_no_date(self, *options):
        self.answer_farm()
        result = self.openstack(
            'pcloud', 'host', 'set', 'farm', 'web-1', *options)
        self.assertNotEqual(0, result.status)

    def test_a_date_is_shown(self):
        self.answer_farm()
        dated = {**base.HOST, 'until': '2026-12-09T10:00:00Z', 'move': 'any'}
        self.answer('GET', f'{FARM}/hosts/web-1', json={'host': dated})
        result = self.openstack('pcloud', 'host', 'show', 'farm', 'web-1',
                                '-f', 'json')
        found = json.loads(result.out)
        self.assertEqual(('2026-12-09T10:00:00Z', 'any'),
                         (found['until'], found['move']))
        result = self.nova('pcloud-host-show', 'farm', 'web-1')
        self.assertIn('2026-12-09T10:00:00Z', result.out)

    def test_a_host_is_free(self):
        self.answer_farm()
        self.answer('POST', f'{FARM}/hosts', status_code=201,
                    json={'host': base.HOST})
        result = self.openstack(*ADD, '--host-flavor', 'gold', '-f', 'json')
        self.assertEqual(base.HOST['name'], json.loads(result.out)['name'])

    @ddt.data(('--constraints', 'cpu=1'),
              ('--host-flavor', 'gold', '--count', '2'))
    def test_one_host_of_a_host_flavor(self, kind):
        self.answer_farm()
        result = self.openstack(*ADD, *kind)
        self.assertIn('for one host of a host flavor', result.err)

    def test_list(self):
        self.answer_farm()
        self.answer('GET', f'{FARM}/waiting', json={'waiting': [ENTRY]})
        result = self.openstack('pcloud', 'waiting', 'list', 'farm')
        self.assertIn('| web-3 |', result.out)

    @ddt.data(ID, 'web-3', 'WEB-3')
    def test_cancel(self, named):
        self.answer_farm()
        self.answer('GET', f'{FARM}/waiting', json={'waiting': [ENTRY]})
        self.answer('DELETE', f'{FARM}/waiting/{ID}', status_code=204)
        result = self.openstack('pcloud', 'waiting', 'cancel', 'farm', named)
        self.assertEqual(0, result.status, result.err)

    def test_list_of_a_host_flavor(self):
        self.answer('GET', '/os-host-flavors/gold/waiting', json={'waiting': [
            {**ENTRY, 'pcloud': base.PCLOUD_ID, 'owner': base.PROJECT}]})
        result = self.openstack('host', 'flavor', 'waiting', 'list', 'gold',
                                '-f', 'json')
        self.assertEqual(
            [('web-3', base.PROJECT)],
            [(each['Name'], each['Owner']) for each in json.loads(result.out)])
