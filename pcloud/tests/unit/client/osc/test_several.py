# SPDX-License-Identifier: Apache-2.0

"""Commands for several resources at once, through the real shell."""

import ddt

from pcloud.tests.unit.client import base

FARM = f'/os-pclouds/{base.PCLOUD_ID}'
HOSTS = f'{FARM}/hosts'
POOL = '/os-host-flavors/gold/hosts'
ENABLED = {'status_code': 409, 'json': {
    'conflictingRequest': {'code': 409, 'message': 'it is enabled.'}}}


@ddt.ddt
class TestHosts(base.CloudTestCase):
    """openstack pcloud host set and remove."""

    def setUp(self):
        super().setUp()
        self.answer_farm()
        for name in ('a', 'b', 'c'):
            self.answer('PUT', f'{HOSTS}/{name}', json={'host': base.HOST})
            self.answer('DELETE', f'{HOSTS}/{name}', status_code=204)

    def _host(self, verb, *arguments):
        return self.openstack('pcloud', 'host', verb, 'farm', *arguments)

    def test_all(self):
        self.assertEqual((0, '', ''), self._host('set', 'a', 'b', '--enable'))
        self.assertEqual((0, '', ''), self._host('remove', 'a', 'c', 'a'))
        self.assertEqual(
            [('PUT', f'{HOSTS}/a'), ('PUT', f'{HOSTS}/b'),
             ('DELETE', f'{HOSTS}/a'), ('DELETE', f'{HOSTS}/c')],
            self.changes())

    def test_some(self):
        self.answer('DELETE', f'{HOSTS}/b', **ENABLED)

        result = self._host('remove', 'a', 'b', 'c')

        self.assertEqual(
            (1, '', '1 of 3 not removed. b: it is enabled. (HTTP 409). '
                    'Removed: a, c.\n'), result)

    def test_the_error_of_a_single_host_stands_alone(self):
        self.answer('DELETE', f'{HOSTS}/b', **ENABLED)

        self.assertEqual((1, '', 'it is enabled. (HTTP 409)\n'),
                         self._host('remove', 'b'))

    def test_a_silent_cloud_is_not_asked_again(self):
        self.answer('PUT', f'{HOSTS}/b', exc=base.GONE)

        result = self._host('set', 'a', 'b', 'c', '--disable')

        self.assert_one_line('2 of 3 not disabled. b: ', result)
        self.assertIn('Not tried: c. Disabled: a.', result.err)
        self.assertNotIn(('PUT', f'{HOSTS}/c'), self.changes())

    def test_interrupted(self):
        self.answer('DELETE', f'{HOSTS}/b', exc=KeyboardInterrupt)

        self.assertEqual(
            (130, '', 'Interrupted. It is not known whether b was removed. '
                      'Not removed yet: c. Removed: a.\n'),
            self._host('remove', 'a', 'b', 'c'))

    @ddt.data(('set', '--enable', 'enabled'), ('remove', '--drain', 'removed'))
    @ddt.unpack
    def test_dry(self, verb, option, done):
        self.answer('GET', f'{HOSTS}/a', json={'host': base.HOST})
        self.answer('GET', f'{HOSTS}/b', status_code=404, json={
            'itemNotFound': {'code': 404, 'message': 'no b'}})

        result = self._host(verb, 'a', 'b', option, '--dry-run')

        self.assertEqual(
            (1, f'a: would be {done}\n'
                f'b: would not be {done}: no b (HTTP 404)\n',
             f'1 of 2 would not be {done}\n'), result)
        self.assertEqual([], self.changes())

    def test_dry_removal_looks_at_state_and_instances(self):
        for name, changes in (('a', {}), ('b', {'state': 'enabled'}),
                              ('c', {'instances': []})):
            self.answer('GET', f'{HOSTS}/{name}',
                        json={'host': {**base.HOST, **changes}})

        result = self._host('remove', 'a', 'b', 'c', '--dry-run')

        self.assertEqual(
            ['a: would not be removed: it is not empty: '
             f'{base.SERVER_1}, {base.SERVER_2}',
             'b: would not be removed: it is enabled; disable it first',
             'c: would be removed'], result.out.splitlines())


class TestAdd(base.CloudTestCase):
    """openstack pcloud host add --count, names and forecasts."""

    def setUp(self):
        super().setUp()
        self.answer_farm()
        self.answer('GET', HOSTS, json={'hosts': [base.HOST]})
        self.answer('GET', '/os-host-flavors/gold',
                    json={'host_flavor': base.FLAVOR})
        self._quota(100)

    def _quota(self, limit):
        self.answer('GET', f'/os-pcloud-quotas/{base.PROJECT}', json={
            'quota': {'units': {'limit': limit, 'in_use': 4}}})

    def _add(self, *arguments):
        return self.openstack('pcloud', 'host', 'add', 'farm', *arguments,
                              '--host-flavor', 'gold')

    def test_first_of_one(self):
        self.assert_one_line(
            'give --count too', self._add('a', '--first', '2'))

    def _forecast(self, *arguments):
        result = self._add('web', '--count', '4', '--dry-run', *arguments)
        self.assertEqual([], self.changes())
        return result.status, result.err.splitlines()

    def test_dry_with_a_taken_name_and_too_few_hosts(self):
        self.assertEqual((1, [
            'web-1: would not be added: a host has the name already',
            'web-2: would be added', 'web-3: would be added',
            'web-4: would be added', '1 of 4 would not be added']),
            self._forecast())
        self.assertEqual((1, [
            'web-1: would not be added: a host has the name already',
            *(f'web-{number}: would not be added: no host of host flavor '
              "'gold' is free" for number in (2, 3, 4)),
            '4 of 4 would not be added']),
            self._forecast('--availability-zone', 'az2'))

    def test_dry_with_a_small_quota(self):
        self._quota(8)

        self.assertEqual((1, [
            'web-5: would be added',
            'web-6: would not be added: the quota does not suffice',
            'web-7: would not be added: the quota does not suffice',
            'web-8: would not be added: no host of host flavor \'gold\' is '
            'free', '3 of 4 would not be added']),
            self._forecast('--first', '5'))

    def test_dry_without_an_obstacle(self):
        self._quota(-1)

        result = self._add('web', '--count', '2', '--first', '2',
                           '--dry-run')

        self.assertEqual((0, {'hosts': 'web-2, web-3'}),
                         (result.status, base.properties(result.out)))


class TestPools(base.CloudTestCase):
    """openstack host flavor host add and remove, and deletions."""

    def setUp(self):
        super().setUp()
        for name in ('c1', 'c2', 'c3'):
            self.answer('DELETE', f'{POOL}/{name}', status_code=204)
        flavor = {**base.FLAVOR, 'hosts': [
            {'host': 'c1'}, {'host': 'c2', 'pcloud': base.PCLOUD_ID}]}
        self.answer('GET', '/os-host-flavors/gold',
                    json={'host_flavor': flavor})
        self.answer('GET', '/os-host-flavors',
                    json={'host_flavors': [flavor]})
        self.answer('GET', '/os-services', json={'services': [
            {'id': number, 'host': f'c{number}', 'status': status,
             'binary': 'nova-compute', 'state': 'up', 'zone': 'nova'}
            for number, status in ((1, 'disabled'), (3, 'enabled'),
                                   (4, 'disabled'))]})

    def test_add(self):
        self.answer('POST', POOL, {'json': {'host': {}}}, ENABLED,
                    {'json': {'host': {}}})

        result = self.openstack(
            'host', 'flavor', 'host', 'add', 'gold', 'c1', 'c2', 'c3')

        self.assert_one_line('1 of 3 not added. c2: it is enabled.', result)
        self.assertIn('Added: c1, c3.', result.err)

    def test_remove(self):
        result = self.openstack(
            'host', 'flavor', 'host', 'remove', 'gold', 'c1', 'c2')

        self.assertEqual((0, '', ''), result)
        self.assertEqual([('DELETE', f'{POOL}/c1'), ('DELETE', f'{POOL}/c2')],
                         self.changes())

    def test_add_dry(self):
        result = self.openstack('host', 'flavor', 'host', 'add', 'gold',
                                'c1', 'c2', 'c3', 'c4', '--dry-run')

        self.assertEqual(
            ["c1: would not be added: it is in the pool 'gold' already",
             'c2: would not be added: it has no compute service',
             'c3: would not be added: its compute service is enabled; '
             'disable it first', 'c4: would be added'],
            result.out.splitlines())
        self.assertEqual([], self.changes())

    def test_remove_dry(self):
        result = self.openstack('host', 'flavor', 'host', 'remove', 'gold',
                                'c1', 'c2', 'c3', '--dry-run')

        self.assertEqual(
            ['c1: would be removed',
             f'c2: would not be removed: it is in Pcloud {base.PCLOUD_ID}; '
             'it has to be removed from there first',
             "c3: would not be removed: it is not in the pool of host flavor "
             "'gold'"], result.out.splitlines())
        self.assertEqual([], self.changes())

    def test_delete_dry(self):
        self.answer_farm()

        pcloud = self.openstack('pcloud', 'delete', 'farm', '--dry-run')
        flavor = self.openstack(
            'host', 'flavor', 'delete', 'gold', '--dry-run')

        for name, result in (('farm', pcloud), ('gold', flavor)):
            self.assertEqual(
                (1, f'{name}: would not be deleted: it has hosts; remove '
                    'them first\n'), result[:2])
        self.assertEqual([], self.changes())
