# SPDX-License-Identifier: Apache-2.0

"""Which servers are units of which services, and how they are shown."""

import dataclasses
import itertools

import ddt

from pcloud.client.deploy import services
from pcloud.client import servers
from pcloud.tests.unit.client import base
from pcloud.tests.unit.client.deploy import fake_nova


def _server(name, host='h1', **hints):
    return servers.Server(
        fake_nova.server_id(name), name, 'ACTIVE', host,
        {key.rstrip('_'): (value,) for key, value in hints.items()})


def _parents(*found):
    known = services.Services(found)
    names = {each.id: each.name for each in found}
    return {each.name: names.get(known.unit(each).parent) for each in found}


@ddt.ddt
class TestParents(base.CloudTestCase):
    """Who is whose parent."""

    @ddt.data('in_', 'with_')
    def test_a_service_means_its_unit_on_the_same_host(self, hint):
        self.assertEqual(
            {'a': None, 'b': None, 'c': 'b', 'd': None, 'e': None},
            _parents(_server('a', 'h1', service='db'),
                     _server('b', 'h2', service='db'),
                     _server('c', 'h2', service='x', **{hint: 'db'}),
                     _server('d', 'h3', service='x', **{hint: 'db'}),
                     _server('e', '', service='x', **{hint: 'db'})))

    def test_nobody_on_no_host_is_on_the_same_one(self):
        self.assertEqual({'a': None, 'b': None}, _parents(
            _server('a', '', service='db'),
            _server('b', '', service='x', in_='db')))

    def test_an_id_means_that_server(self):
        one = _server('a', 'h1')

        self.assertEqual({'a': None, 'b': 'a', 'c': None}, _parents(
            one, _server('b', 'h2', service='x', in_=one.id),
            _server('c', 'h1', service='x', in_=base.SERVER_1)))

    def test_of_several_the_one_that_was_started_upon_it(self):
        parts = [_server(name, service='x', with_='db')
                 for name in ('p', 'q')]

        self.assertEqual({'p': 'b', 'q': 'a', 'a': None, 'b': None}, _parents(
            *parts, _server('a', service='db', beside=parts[1].id),
            _server('b', service='db', beside=parts[0].id)))

    def test_the_one_that_was_started_upon_it_and_is_on_no_host(self):
        part = _server('p', service='x', with_='db')

        self.assertEqual({'p': 'a', 'a': None, 'b': None}, _parents(
            part, _server('a', '', service='db', beside=part.id),
            _server('b', 'h2', service='db')))

    def test_what_it_is_started_for_counts_before_what_both_go_beside(self):
        self.assertEqual({'a': None, 'b': 'c', 'c': 'a', 'd': None}, _parents(
            _server('a', service='x'),
            _server('b', service='z', with_='y', in_='x'),
            _server('c', service='y', in_='x'),
            _server('d', 'h2', service='z', with_='y', in_='x')))

    def test_nobody_is_the_parent_of_itself(self):
        self.assertEqual({'a': None}, _parents(
            _server('a', service='x', in_='x')))

    def test_what_is_below_each_other_ends(self):
        found = [_server('a', service='x', in_='y'),
                 _server('b', service='y', in_='x')]
        known = services.Services(found)

        self.assertEqual({'a': 'b', 'b': 'a'}, _parents(*found))
        self.assertEqual([[found[0]], [found[1]]], known.levels(found[:1]))
        self.assertEqual(['a', 'b'], [
            each.name for each in known.tree()])


class TestDoubles(base.CloudTestCase):
    """Several units where one would do."""

    def _doubles(self, found):
        return [each.name for each in services.Services(found).doubles('x')]

    def _unit(self, name, created, host='h1', **more):
        return dataclasses.replace(
            _server(name, host, service='x'), **{
                'created': created, 'metadata': {services.SCALE_WITH: 'db'},
                **more})

    def test_all_but_the_first_on_each_host(self):
        self.assertEqual(['b', 'c', 'e'], self._doubles([
            self._unit('a', '1'), self._unit('b', '2'), self._unit('c', '3'),
            self._unit('d', '2', 'h2'), self._unit('e', '3', 'h2')]))

    def test_what_does_not_count(self):
        for more in ({'metadata': {}}, {'status': 'BUILD'},
                     {'status': 'ERROR'}, {'status': 'SOFT_DELETED'},
                     {'task': 'deleting'}, {'host_id': ''}):
            self.assertEqual([], self._doubles([
                self._unit('a', '1', **more), self._unit('b', '2')]), more)

    def _asked_for(self, name, stamp, created, **more):
        """Return a unit that no run awaits."""
        return self._unit(name, created, metadata={
            services.SCALE_WITH: 'db', services.SCALED_AT: stamp}, **more)

    def test_when_it_was_asked_for_counts(self):
        self.assertEqual(['b'], self._doubles([
            self._asked_for('a', '1', '9'), self._asked_for('b', '2', '8')]))

    def test_what_no_run_awaits_is_a_double_of_what_is_being_built(self):
        for first, second in itertools.product(('BUILD', 'ACTIVE'),
                                               repeat=2):
            units = [self._asked_for('a', '1', '9', status=first),
                     self._asked_for('b', '2', '8', status=second)]
            self.assertEqual(['b'], self._doubles(units))
            awaited = dataclasses.replace(units[1], metadata={
                **units[1].metadata, services.RUN: 'run'})
            self.assertEqual(
                ['b'] if (first, second) == ('ACTIVE', 'ACTIVE') else [],
                self._doubles([units[0], awaited]))

    def test_where_a_unit_that_is_being_built_comes(self):
        anchor = _server('db', 'h1', service='db')
        units = [dataclasses.replace(
            _server(name, '', service='x', in_=named), status='BUILD')
            for name, named in (('a', anchor.id), ('b', 'gone'))]
        known = services.Services([anchor, *units])
        self.assertEqual(['h1', ''], list(map(known.place, units)))
        failed = dataclasses.replace(units[0], status='ERROR')
        self.assertEqual('', known.place(failed))

    def test_one_in_error_is_no_loss(self):
        self.assertEqual(['b'], self._doubles([
            self._unit('a', '1'), self._unit('b', '2', status='ERROR')]))

    def test_whoever_looks_the_first_stays(self):
        """Whatever others have removed before."""
        units = [self._unit(name, created) for name, created in
                 zip('abcd', '2112')]
        first = min(units, key=lambda each: (each.created, each.id))
        rest = [each for each in units if each is not first]
        for number in range(len(rest) + 1):
            for left in itertools.combinations(rest, number):
                self.assertCountEqual(
                    [each.name for each in left],
                    self._doubles([first, *left]))


class TestShown(fake_nova.ServersTestCase):
    """openstack pcloud service list and show."""

    def setUp(self):
        super().setUp()
        self.have('plain one')
        self.web = self.have('web-1', 'web', host='h1', image='plain')
        self.disk = self.have('disk-1', 'disk', host='h1', with_='web')
        self.log = self.have('log-1', 'log', host='h1', in_='disk',
                             image='plain')
        self.lost = self.have('log-2', 'log', host='h9', in_='gone',
                              status='SHUTOFF', image='plain')
        plain = fake_nova.server_id('plain one')
        self.below = self.have('agent', 'agent', in_=plain)

    def _service(self, *args):
        return self.openstack('pcloud', 'service', *args)

    def test_list(self):
        self.assertEqual(
            [['Service', 'Name', 'ID', 'Status', 'Parent'],
             ['log', 'log-2', self.lost, 'SHUTOFF', '-'],
             ['web', 'web-1', self.web, 'ACTIVE', '-'],
             ['agent', '-', '-', 'co-located',
              fake_nova.server_id('plain one')],
             ['disk', '-', '-', 'co-located', 'web'],
             ['log', '-', '-', 'co-located', 'disk']],
            base.table(self._service('list').out))

    def test_a_co_located_service_has_one_line_for_each_parent(self):
        for number in range(3):
            self.have(f'disk-{number}', 'disk', host='h1', with_='web')
            self.have(f'also-{number}', 'disk', in_=self.lost)

        self.assertEqual(
            [('disk', 'log'), ('disk', 'web')],
            [(row['Service'], row['Parent'])
             for row in self._service('list', '-f', 'json').json
             if row['Service'] == 'disk'])

    def test_list_all(self):
        rows = base.table(self._service('list', '--all').out)

        self.assertEqual([
            ['log', 'log-2', self.lost, 'SHUTOFF', '-'],
            ['web', 'web-1', self.web, 'ACTIVE', '-'],
            ['disk', 'disk-1', self.disk, 'ACTIVE', self.web],
            ['log', 'log-1', self.log, 'ACTIVE', self.disk],
            ['agent', 'agent', self.below, 'ACTIVE',
             fake_nova.server_id('plain one')]], rows[1:])

    def test_list_for_machines(self):
        self.assertEqual(
            {'Service': 'disk', 'Name': 'disk-1', 'ID': self.disk,
             'Status': 'ACTIVE', 'Parent': self.web},
            self._service('list', '--all', '-f', 'json').json[2])

    def test_list_of_nothing(self):
        self.servers.clear()

        self.assertEqual((0, '\n', ''), self._service('list'))

    def test_show(self):
        self.assertEqual({
            'service': 'web', 'units': f'web-1 ({self.web}, ACTIVE)',
            'co_located': f'disk: disk-1 ({self.disk}, ACTIVE) beside '
                          f'{self.web}',
            'consumes': '-'},
            base.properties(self._service('show', 'web').out))

    def test_show_for_machines(self):
        unit = {'service': 'disk', 'name': 'disk-1', 'id': self.disk,
                'status': 'ACTIVE', 'parent': self.web}

        self.assertEqual({
            'service': 'disk', 'units': [unit],
            'co_located': [{
                'service': 'log', 'name': 'log-1', 'id': self.log,
                'status': 'ACTIVE', 'parent': self.disk}],
            'consumes': [
                {'service': 'db', 'state': 'absent',
                 'absent_beside': [self.disk]},
                {'service': 'metrics', 'state': 'absent',
                 'absent_beside': [self.disk]}]},
            self._service('show', 'disk', '-f', 'json').json)

    def test_what_is_consumed_is_looked_for_beside_each(self):
        second = self.have('disk-2', 'disk', host='h2')
        self.have('metrics-1', 'metrics', host='h1')
        self.have('db-1', 'db', host='h1')
        self.have('db-2', 'db', host='h2')

        consumes = self._service('show', 'disk', '-f', 'json').json[
            'consumes']

        self.assertEqual([
            {'service': 'db', 'state': 'present', 'absent_beside': []},
            {'service': 'metrics', 'state': 'absent',
             'absent_beside': [second]}], consumes)
        self.assertEqual('metrics: absent', base.table(
            self._service('show', 'disk').out)[-1][1])

    def test_an_image_that_is_gone(self):
        for image in ({'id': base.OTHER_ID}, ''):
            self.servers[self.disk]['image'] = image

            result = self._service('show', 'disk')

            self.assertEqual('-', base.properties(result.out)['consumes'])

    def test_while_a_cell_is_down(self):
        self.servers[self.web] = {'id': self.web, 'status': 'UNKNOWN'}
        told = ('Not shown, as a part of the cloud does not answer: 1 of '
                'your servers, whatever their services\n')

        for args in (('list', '--all'), ('show', 'disk')):
            result = self._service(*args)
            self.assertEqual((0, told), (result.status, result.err))
            self.assertIn('disk-1', result.out)
        self.assert_one_line("of a service 'web' that can be seen now",
                             self._service('show', 'web'))

    def test_while_a_cell_is_down_and_many_servers(self):
        lost = fake_nova.server_id('web-2')
        self.servers[lost] = {'id': lost, 'status': 'UNKNOWN'}
        self.page = 1
        self.assertIn('does not answer: 1 of your servers', self.openstack(
            'pcloud', 'service', 'list').err)

    def test_show_of_nothing(self):
        self.assert_one_line("Your project has no units of a service 'nope'",
                             self._service('show', 'nope'))
