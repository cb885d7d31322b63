# SPDX-License-Identifier: Apache-2.0

"""An outage of a cell stays in that cell."""

from unittest import mock

from nova import context as nova_context
from nova import objects
from nova import test

from pcloud.backend.cells import asking
from pcloud.backend.cells import computes
from pcloud import exception
from pcloud.explain import conductor
from pcloud.explain import schedule
from pcloud.tests.support import base
from pcloud.tests.support import outages
from pcloud.tests.support import shared_cloud

ALIVE, DEAD = 'cell1', 'cell2'
SIZES = ('vcpus', 'vcpus_used', 'memory_mb', 'memory_mb_used')


class AskTest(test.TestCase):
    """Which cells are asked, for what, and what silence is."""

    NUMBER_OF_CELLS = 2

    def setUp(self):
        super().setUp()
        self.context = nova_context.get_admin_context()
        for host, cell in (('a', ALIVE), ('b', ALIVE), ('c', DEAD)):
            objects.HostMapping(
                self.context, host=host,
                cell_mapping=self.cell_mappings[cell]).create()
        self.asked = []

    def _read(self, context, hosts):
        self.asked.append((context.cell_uuid, hosts))
        return sorted(hosts)

    def _ask(self, *hosts):
        return asking.ask_hosts(self.context, hosts, self._read)

    def test_each_for_its_own_hosts(self):
        alive, dead = (self.cell_mappings[name].uuid
                       for name in (ALIVE, DEAD))
        self.assertEqual({alive: ['a', 'b'], dead: ['c']},
                         self._ask('a', 'b', 'c', 'unmapped').known)
        self.assertEqual({alive: ['a']}, self._ask('a').known)
        self.assertEqual({}, self._ask('unmapped').known)
        self.assertEqual({}, self._ask().known)
        self.assertEqual(3, len(self.asked))

    def test_cell_that_is_new_to_this_process(self):
        with mock.patch.object(nova_context, 'CELLS',
                               [self.cell_mappings[ALIVE]]):
            self.assertEqual([['c']], list(self._ask('c').all()))

    def test_cell_that_does_not_answer_in_time(self):
        gather = nova_context.scatter_gather_cells
        dead = self.cell_mappings[DEAD].uuid

        def without_one(*args):
            return {**gather(*args),
                    dead: nova_context.did_not_respond_sentinel}

        with mock.patch.object(nova_context, 'scatter_gather_cells',
                               without_one):
            answers = self._ask('a', 'c')
        self.assertEqual([['a']], list(answers.known.values()))
        self.assertEqual({dead: {'c'}}, answers.silent)
        self.assertRaises(exception.Unavailable, answers.all)

    def test_mistake_is_no_silence(self):
        def read(context, hosts):
            raise ValueError('mistake')

        self.assertRaises(ValueError, asking.ask_hosts, self.context, ['a'],
                          read)


class CellsTestCase(shared_cloud.SharedCloudTestCase):
    """Two hosts in each of two cells, and a server of Alice in each cell.

    A Pcloud has the first host of each cell: "alive" and "dead".
    """

    NUMBER_OF_CELLS = 2
    hosts = {'node-1': 'az1', 'node-2': 'az2', 'node-3': 'az1',
             'node-4': 'az2'}
    cells = {'node-1': ALIVE, 'node-2': ALIVE,
             'node-3': DEAD, 'node-4': DEAD}
    more_filters = ('AffinityFilter', 'ConstraintsFilter', 'LocalityFilter',
                    'ColocationFilter')

    def _configure(self):
        super()._configure()
        group = base.CONF.filter_scheduler
        self.flags(enabled_filters=[*group.enabled_filters,
                                    *self.more_filters],
                   group='filter_scheduler')

    def _start_compute(self, host, cell_name=None):
        return super()._start_compute(host, self.cells[host])

    def furnish(self):
        super().furnish()
        self.make_pool('first', 'node-1')
        self.make_pool('second', 'node-3')
        self.pcloud = self.make_pcloud(self.alice)
        self.path = f'/os-pclouds/{self.pcloud}/hosts'
        self.add_host(self.alice, self.pcloud, 'alive', 'first')
        self.add_host(self.alice, self.pcloud, 'dead', 'second')
        self.servers = {name: self._boot_on(name)
                        for name in ('alive', 'dead')}

    def _boot_on(self, name):
        """Boot a server on one of the hosts of the Pcloud."""
        others = {'alive', 'dead'} - {name}
        for other in others:
            self._set(other, 'disabled')
        server = self.inside(service=f'on-{name}')
        for other in others:
            self._set(other, 'enabled')
        self.alice.call_json(
            'PUT', f'/servers/{server["id"]}/tags/{name}')
        return server

    def _set(self, name, state):
        self.alice.call_json('PUT', f'{self.path}/{name}',
                             {'host': {'state': state}})

    def inside(self, expected='ACTIVE', pcloud=None, **hints):
        """Boot a server in a Pcloud."""
        return self.boot(self.alice, {
            'pcloud': pcloud or self.pcloud, **hints}, expected)

    def outage(self):
        """Have the second cell not answer from now on."""
        self.useFixture(outages.SilentCell(self.cell_mappings[DEAD]))


class SchedulerTest(CellsTestCase):
    """Servers start on the hosts that are left."""

    def _booted(self, **hints):
        self.assertEqual('node-1', self.host_of(self.inside(**hints)))

    def test_pcloud_with_hosts_in_both_cells(self):
        self.outage()
        self._booted()

    def test_pcloud_in_the_other_cell(self):
        self.make_pool('third', 'node-2')
        pcloud = self.make_pcloud(self.alice, 'other')
        self.add_host(self.alice, pcloud, 'a', 'third')
        self.outage()
        self.assertEqual(
            'node-2', self.host_of(self.inside(pcloud=pcloud)))

    def test_forced_to_a_host(self):
        self.alice.call_json(
            'PUT', f'/os-pclouds/{self.pcloud}/tenants/{base.CAROL}')
        self.outage()
        server = self.boot(
            self.admin, {'pcloud': self.pcloud}, zone='az1:node-1')
        self.assertEqual('node-1', self.host_of(server))
        # Whether it is enabled is known, and still not taken on trust.
        self.boot(self.admin, {'pcloud': self.pcloud}, 'ERROR',
                  zone='az1:node-3')

    def test_all_kinds_of_hints(self):
        self.outage()
        alive, dead = (self.servers[name]['id'] for name in ('alive', 'dead'))
        for hints in (
                {'near': alive}, {'near': 'tag:alive'}, {'near': dead},
                {'near': 'tag:dead'}, {'far': dead}, {'far': 'tag:dead'},
                {'far': [dead, 'tag:dead'], 'locality': 'strict'},
                {'near': alive, 'far': dead, 'locality': 'strict'},
                {'constraints': 'cpu=1'}, {'placement_key': 'a=1:1'},
                {'service': 'new'}):
            with self.subTest(hints):
                self._booted(**hints)

    def test_co_located(self):
        flavor = self.make_flavor(
            'beside', extra_specs={'pcloud:co_located': 'allow'})
        self.outage()
        for parent in ('on-alive', self.servers['alive']['id']):
            server = self.boot(
                self.alice, {'pcloud': self.pcloud, 'in': parent},
                flavorRef=flavor)
            self.assertEqual('node-1', self.host_of(server))
        for parent in ('on-dead', self.servers['dead']['id']):
            server = self.boot(
                self.alice, {'pcloud': self.pcloud, 'in': parent},
                'ERROR', flavorRef=flavor)
            self.assertIn('does not report where servers are',
                          self.fault(server))

    def test_strictly_near_to_what_nobody_knows(self):
        self.outage()
        for named in (self.servers['dead']['id'], 'tag:dead', 'tag:alive'):
            server = self.inside('ERROR', near=named, locality='strict')
            self.assertIn('does not report where servers are',
                          self.fault(server))

    def test_explained_to_an_operator(self):
        self.outage()
        found = schedule.explain(self.context, conductor.stored(
            self.context, self.servers['alive']['id']))
        self.assertEqual(2, found.nodes)
        self.assertEqual(
            ['node-1'], [each.host_state.host for each in found.best])

    def test_what_runs_in_the_living_cell_counts(self):
        self.outage()
        with self.assertLogs('pcloud') as logs:
            running = computes.running(self.context, list(self.hosts))
        self.assertEqual(
            {'node-1': [self.servers['alive']['id']]},
            {host: [each.uuid for each in servers]
             for host, servers in running.items()})
        self.assertIn('Cell cell2', logs.output[0])
        self.assertIn('does not answer', logs.output[0])


class HostsTest(CellsTestCase):
    """Calls about hosts."""

    def test_what_is_remembered_of_a_silent_cell(self):
        path = '/os-host-flavors/second'
        before = self.alice.get_json(path)['host_flavor']
        self.assertIsNotNone(before['vcpus'])
        self.outage()
        for sizes in ((before['vcpus'], before['memory_mb']), (None, None)):
            shown = self.alice.get_json(path)['host_flavor']
            self.assertEqual(sizes, (shown['vcpus'], shown['memory_mb']))
            # A minute later nothing is remembered.
            self.useFixture(base.ForgetfulProcess())

    def test_hosts_of_a_pcloud(self):
        before = {each['name']: each for each in
                  self.alice.get_json(self.path)['hosts']}
        self.outage()
        shown = {each['name']: each for each in
                 self.alice.get_json(self.path)['hosts']}
        self.assertEqual(before['alive'], shown['alive'])
        self.assertEqual(
            {**before['dead'], **dict.fromkeys(SIZES), 'status': 'down',
             'instances': None, 'resources': None, 'traits': None},
            shown['dead'])
        self.assertEqual([self.servers['dead']['id']],
                         before['dead']['instances'])
        for name, host in shown.items():
            self.assertEqual(
                host, self.alice.get_json(f'{self.path}/{name}')['host'])
        self.assertEqual(
            'node-3.hv.example.org', self.admin.get_json(
                f'{self.path}/dead')['host']['hypervisor_hostname'])

    def test_details_of_pclouds(self):
        self.make_pcloud(self.alice, 'empty')
        self.outage()
        shown = {each['host_count']: (each['free'], each['servers'])
                 for each in self.alice.get_json(
                     '/os-pclouds?detail=1')['pclouds']}
        self.assertEqual({
            0: ({'hosts': 0, 'vcpus': 0, 'memory_mb': 0}, 0),
            2: (None, None)}, shown)

    def test_state(self):
        self.outage()
        for name in ('alive', 'dead'):
            for state in ('disabled', 'enabled'):
                self._set(name, state)
                self.assertEqual(state, self.alice.get_json(
                    f'{self.path}/{name}')['host']['state'])

    def test_removal(self):
        """Whether a host is empty only its own cell knows."""
        self._set('dead', 'disabled')
        self._delete_server(self.servers['alive'])
        self.outage()
        response = self.alice.call('DELETE', f'{self.path}/dead')
        self.assertEqual(503, response.status_code)
        self._set('alive', 'disabled')
        self.alice.call_json('DELETE', f'{self.path}/alive')

    def test_host_flavors(self):
        self.make_pool('both', 'node-2', 'node-4')
        before = self.admin.get_json('/os-host-flavors/both')['host_flavor']
        self.outage()
        shown = self.admin.get_json('/os-host-flavors/both')['host_flavor']
        self.assertEqual({'az2': 2}, before['available'])
        alive, dead = before['hosts']
        self.assertEqual(
            {**before, 'available': {'az2': 1}, 'hosts': [alive, {
                **dead, 'hypervisor_hostname': None, 'status': 'unknown',
                'state': 'down', 'vcpus': None, 'vcpus_used': None,
                'memory_mb': None, 'memory_mb_used': None}]}, shown)
        self.assertEqual(
            [(None, 'down')], [(each['vcpus'], host['state'])
                               for each in self.admin.get_json(
                                   '/os-host-flavors')['host_flavors']
                               for host in each['hosts']
                               if each['id'] == 'second'])

    def test_allocation(self):
        self.make_pool('both', 'node-2', 'node-4')
        pcloud = self.make_pcloud(self.bob, 'other')
        self.outage()
        self.assertEqual(
            'node-2', self.add_host(self.bob, pcloud, 'a', 'both'))

    def test_pool(self):
        """What comes and goes in the living cell is as ever."""
        self.outage()
        self.make_pool('both', 'node-2')
        path = '/os-host-flavors/both/hosts'
        response = self.admin.call('POST', path, {'host': {'host': 'node-4'}})
        self.assertEqual(503, response.status_code, response.text)
        self.admin.call_json('DELETE', f'{path}/node-2')
        response = self.admin.call(
            'DELETE', '/os-host-flavors/second/hosts/node-3')
        self.assertEqual(409, response.status_code, response.text)

    def test_explanations(self):
        flavor = self.make_flavor('small')
        self.outage()
        found = self.alice.get_json(
            f'/os-pclouds/{self.pcloud}/explain?flavor={flavor}')['explain']
        alive, dead = found['hosts']
        self.assertEqual((found['fits'], []),
                         (alive['fits'], alive['in_the_way']))
        self.assertGreater(alive['fits'], 0)
        self.assertEqual(
            (0, [{'rule': 'status', 'reason': 'it is down',
                  'code': 'host_down', 'params': {}}]),
            (dead['fits'], dead['in_the_way']))
        room = self.alice.get_json(
            f'/os-pcloud-room?flavor={flavor}&pcloud={self.pcloud}&count=99')
        self.assertEqual(alive['fits'], room['room']['groups'])
        for count, told in ((alive['fits'], (True, True)),
                            (99, (False, False))):
            found = self.alice.call_json(
                'POST', f'/os-pclouds/{self.pcloud}/simulate', {'simulate': {
                    'servers': [{'flavor': flavor, 'count': count}]}}
            )['simulate']
            self.assertEqual(told, (found['fits'], found['exact']))
            self.assertEqual({'least': alive['fits'], 'most': count},
                             found['bounds'])
        self.assertIn(dead['name'], found['not_explained'][0]['text'])
        # The servers of the dead cell are not known, nor whether its hosts
        # take servers.
        for lose in ('host', 'rack'):
            found = self.alice.get_json(
                f'/os-pclouds/{self.pcloud}/rehearsal?lose={lose}',
            )['rehearsal']
            self.assertEqual((0, None, []), tuple(
                found[name] for name in ('survives', 'worst', 'more')))
            self.assertIn(dead['name'], str(found['not_explained']))
        found = self.alice.get_json(
            f'/os-pclouds/{self.pcloud}/rehearsal')['rehearsal']
        self.assertEqual(
            {alive['name']: (1, None, {'least': 0, 'most': 1}),
             dead['name']: (None, None, {'least': 0, 'most': None})},
            {each['host']: (each['servers'], each['survives'],
                            each['no_room']) for each in found['losses']})
        self.assertEqual((False, {'least': 0, 'most': 2}),
                         (found['exact'], found['bounds']))

    def test_rebalance(self):
        """Servers are moved inside their cell; one in the dead cell stays."""
        self.make_pool('third', 'node-2')
        self.add_host(self.alice, self.pcloud, 'free', 'third')
        for name in ('alive', 'dead'):
            self._set(name, 'disabled')
        server = self.inside()
        self._set('dead', 'enabled')
        path = f'/os-pclouds/{self.pcloud}/rebalance?goal=free_hosts'

        def planned():
            found = self.alice.get_json(path)['rebalance']
            return found['moves'], found['frees'], found['not_explained']

        self.assertEqual(([], [], []), planned())
        self._set('alive', 'enabled')
        right = [{'server': server['id'], 'from': 'free', 'to': 'alive'}]
        self.assertEqual((right, ['free'], []), planned())
        self.outage()
        moves, frees, unknown = planned()
        self.assertEqual((right, ['free']), (moves, frees))
        self.assertEqual({'host': 'dead'}, unknown[0]['params'])
