# SPDX-License-Identifier: Apache-2.0

"""A shared cloud is put back, and what is not put back is seen."""

import threading
import unittest
from unittest import mock

import futurist
from nova.scheduler.client import report
import testtools

from pcloud.backend import complaints
from pcloud.tests.support import base
from pcloud.tests.support import cloud_state
from pcloud.tests.support import databases
from pcloud.tests.support import shared_cloud

NOT_SHARED = 'Each test has a cloud of its own.'


@unittest.skipUnless(shared_cloud.shares(), NOT_SHARED)
class StateTest(shared_cloud.SharedCloudTestCase):
    """A kept state names each difference, and takes each difference back."""

    hosts = {'node-1': 'az1'}

    def furnish(self):
        super().furnish()
        self.make_pool('gpu', 'node-1')

    def setUp(self):
        super().setUp()
        self.state = cloud_state.State.of(cloud_state.parts(self))
        self.compute = self.computes['node-1'].manager

    def _taken_back(self, *names):
        """Have differences with these beginnings, and then none.

        Each difference begins with one of the names.
        """
        found = self.state.differences()
        for name in names:
            self.assertIn(name, [each[:len(name)] for each in found])
        self.assertEqual([], [each for each in found
                              if not each.startswith(names)])
        self.state.put_back()
        self.assertEqual([], self.state.differences())

    def test_nothing(self):
        self._taken_back()

    def test_rows(self):
        changes = {
            'API': ('aggregates',
                    "INSERT INTO aggregates (uuid, name) VALUES ('u', 'n')"),
            'Placement': ('inventories', 'DELETE FROM inventories '
                          'WHERE resource_class_id = 0')}
        tag = 'tags', "INSERT INTO tags (resource_id, tag) VALUES ('r', 't')"
        for name, engine in cloud_state.engines(self).items():
            table, change = changes.get(name, tag)
            with databases.connect(engine) as connection:
                connection.execute(change)
            self._taken_back(f'{name}: {table} ')

    def test_heartbeats_are_no_difference_and_a_status_is(self):
        engine = cloud_state.engines(self)['cell1']
        with databases.connect(engine) as connection:
            for column, value in (('report_count', 99), ('disabled', 1)):
                connection.execute(
                    f'UPDATE services SET {column} = {value} '
                    "WHERE host = 'node-1'")
                if column == 'report_count':
                    self.assertEqual([], self.state.differences())
        self._taken_back('cell1: services ')
        service, = self.admin.get_services(
            binary='nova-compute', host='node-1')
        self.assertEqual(('up', 'enabled'),
                         (service['state'], service['status']))

    def test_what_a_scheduler_remembers(self):
        hosts = self.scheduler.manager.host_manager
        next(iter(hosts.aggs_by_id.values())).metadata['more'] = 'x'
        hosts.host_aggregates_map['node-1'].add(4711)
        hosts._instance_info['node-1'] = {'instances': {}, 'updated': True}
        self._taken_back('scheduler.aggs_by_id', 'scheduler.host_aggregates',
                         'scheduler._instance_info')

    def test_what_a_compute_remembers(self):
        node, = self.compute.rt.compute_nodes.values()
        node.vcpus_used = 7
        self.compute.rt.stats['node'].update({'num_instances': 3})
        self.compute.driver.instances['x'] = 1
        self.compute.driver.resources.claim(vcpus=1)
        self.compute._syncs_in_progress.add('x')
        self._taken_back(
            'tracker of node-1.compute_nodes', 'tracker of node-1.stats',
            'driver of node-1.instances', 'driver of node-1.resources',
            'compute of node-1._syncs_in_progress')

    def test_what_clients_of_placement_remember(self):
        for client in report.report_client_singleton(), (
                self.compute.reportclient):
            client._provider_tree.new_root('x', self.getUniqueString())
            client._association_refresh_time['x'] = 1.0
        self._taken_back('client of Placement.',
                         'client of Placement of node-1.')

    def test_options(self):
        self.flags(reboot_filter_days=5, group='pcloud')
        self.flags(my_ip='192.0.2.1')
        base.CONF.set_default('my_block_storage_ip', '192.0.2.1')
        self._taken_back('option reboot_filter_days of pcloud',
                         'option my_ip of DEFAULT',
                         'option my_block_storage_ip of DEFAULT')

    def test_patches(self):
        log = report.LOG
        mock.patch.object(report, 'LOG').start()
        self._taken_back('patch of LOG')
        self.assertIs(log, report.LOG)

    def test_fakes_and_caches(self):
        self.glance.create(self.context, {
            'name': 'x', 'container_format': 'bare', 'disk_format': 'raw'})
        self.neutron._ports['x'] = {}
        self.cinder.attachment_error_id = 'x'
        complaints.once('x')
        pcloud = self.make_pcloud(self.alice)
        self.scheduler.manager.host_manager.update_aggregates(
            [self.aggregate(f'Pcloud:{pcloud}')])
        self.admin.get_servers()
        self._taken_back(
            'Glance.images', 'Neutron._ports', 'Cinder.attachment_error_id',
            'cache of complaints', 'notification ', 'API: aggregate',
            'cache of cells', 'scheduler.aggs_by_id')

    def _answer(self, get_host_uptime):
        """Have a function answer what `_asked` asks."""
        # Nova's services remember the methods of managers.
        self.useFixture(base.fixtures.MockPatchObject(
            self.compute.driver, 'get_host_uptime', get_host_uptime))

    def _asked(self):
        """Return a thread that asks a compute service and waits."""
        asked = threading.Thread(
            target=self.compute.compute_rpcapi.get_host_uptime,
            args=(self.context, 'node-1'))
        asked.start()
        return asked

    def test_work_under_way(self):
        services = [self.computes['node-1']]
        self.assertEqual([], cloud_state.under_way(services))
        entered, leave = threading.Event(), threading.Event()

        def get_host_uptime():
            entered.set()
            leave.wait()
            return 'long'

        self._answer(get_host_uptime)
        self.addCleanup(leave.set)
        asked = self._asked()
        entered.wait()
        self.assertEqual(['1 threads of nova-compute on node-1'],
                         cloud_state.under_way(services))
        leave.set()
        asked.join()
        self.wait_until(lambda: self.assertEqual(
            [], cloud_state.under_way(services)))

    def test_a_message_between_a_queue_and_a_thread(self):
        services = [self.computes['node-1']]
        entered, leave = threading.Event(), threading.Event()
        submit = futurist.ThreadPoolExecutor.submit

        def submit_later(executor, function, *arguments, **options):
            if function.__name__ == '_process_incoming':
                entered.set()
                leave.wait()
            return submit(executor, function, *arguments, **options)

        self.useFixture(base.fixtures.MockPatchObject(
            futurist.ThreadPoolExecutor, 'submit', submit_later))
        self._answer(lambda: 'long')
        self.addCleanup(leave.set)
        asked = self._asked()
        entered.wait()
        self.assertEqual(['1 messages from a queue'],
                         cloud_state.under_way(services))
        leave.set()
        asked.join()
        self.wait_until(lambda: self.assertEqual(
            [], cloud_state.under_way(services)))


class Guilty(shared_cloud.SharedCloudTestCase):
    """Tests that the tests below run; nobody else finds a test here."""

    hosts: dict[str, str] = {}

    def furnish(self):
        super().furnish()
        self.kept = ['as furnished']

    def leaves_a_pcloud(self):
        """Leave a Pcloud and a changed list."""
        self.make_pcloud(self.alice)
        self.kept.append('changed')

    def leaves_what_cannot_be_put_back(self):
        """Leave a table, which is no row."""
        engine = cloud_state.engines(self)['API']
        with databases.connect(engine) as connection:
            connection.execute('CREATE TABLE more (a INTEGER)')
            connection.execute('INSERT INTO more VALUES (1)')

    def finds_all_as_furnished(self):
        """Find no Pcloud, and the list as made."""
        self.assertEqual([], self.admin.get_json(
            '/os-pclouds?all_tenants=1')['pclouds'])
        self.assertEqual(['as furnished'], self.kept)


class Furnished(Guilty):
    """A class that starts the same cloud, and furnishes it otherwise."""

    def furnish(self):
        super().furnish()
        self.make_pcloud(self.alice)
        self.flags(reboot_filter_days=5, group='pcloud')

    def finds_a_pcloud(self):
        """Find the Pcloud of this class, and the options."""
        self.assertEqual(1, len(self.admin.get_json(
            '/os-pclouds?all_tenants=1')['pclouds']))
        self.assertEqual(5, base.CONF.pcloud.reboot_filter_days)


class Larger(Guilty):
    """A class with another cloud."""

    hosts = {'node-1': 'az1'}


class Untidy(Guilty):
    """A class that furnishes what cannot be put back."""

    def furnish(self):
        super().furnish()
        self.leaves_what_cannot_be_put_back()


@unittest.skipUnless(shared_cloud.shares(), NOT_SHARED)
class GuiltyTest(testtools.TestCase):
    """Who leaves a difference is found, and nobody else finds it."""

    def _run(self, *tests):
        """Run tests; return the result, and the clouds after each."""
        found, clouds = unittest.TestResult(), []
        for cls, name in tests:
            cls(name).run(found)
            clouds.append(shared_cloud.SharedCloudTestCase._started)
        shared_cloud.SharedCloudTestCase._stop()
        return found, clouds

    def test_classes_that_start_the_same_cloud_share_it(self):
        empty = 'finds_all_as_furnished'
        found, clouds = self._run(
            (Guilty, empty), (Furnished, 'finds_a_pcloud'), (Guilty, empty),
            (Larger, empty))
        self.assertEqual(([], []), (found.failures, found.errors))
        first, second, third, larger = clouds
        self.assertIs(first, second)
        self.assertIs(first, third)
        self.assertNotIn(larger, (None, first))

    def test_class_that_furnishes_what_stays(self):
        empty = 'finds_all_as_furnished'
        found, clouds = self._run(
            (Guilty, empty), (Untidy, empty), (Guilty, empty),
            (Guilty, empty))
        (test, told), = found.failures
        self.assertEqual([], found.errors)
        self.assertIs(Guilty, type(test))
        self.assertIn('API: more has (1,)', told)
        first, second, none, fresh = clouds
        self.assertIs(first, second)
        self.assertIsNone(none)
        self.assertNotIn(fresh, (None, first))

    def test_who_fails(self):
        names = ('leaves_a_pcloud', 'finds_all_as_furnished',
                 'leaves_what_cannot_be_put_back', 'finds_all_as_furnished')
        found, clouds = self._run(*((Guilty, name) for name in names))
        (test, told), = found.failures
        self.assertEqual([], found.errors)
        self.assertEqual('leaves_what_cannot_be_put_back',
                         test._testMethodName)
        self.assertIn('API: more has (1,)', told)
        self.assertEqual(4, found.testsRun)
        first, second, none, fresh = clouds
        self.assertIs(first, second)
        self.assertIsNone(none)
        self.assertNotIn(fresh, (None, first))
        self.assertIsNone(shared_cloud.SharedCloudTestCase._started)
