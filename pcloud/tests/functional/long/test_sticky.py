# SPDX-License-Identifier: Apache-2.0

"""Copies of sticky keys: whatever becomes of hosts, servers keep their copies.

Of the hosts, node-1 and node-4 have store 1, node-2 has store 2, and node-3
has no key.
"""

import threading
from unittest import mock

import ddt
import fixtures
from nova.cmd import manage
from nova.db.api import models
from nova.scheduler import utils as scheduler_utils
from nova.virt import fake
from oslo_utils import uuidutils
import sqlalchemy as sa

from pcloud.backend.aggregates import sticky_copies
from pcloud.objects.placing import sticky_keys
from pcloud.rules.placing import affinity
from pcloud.rules.placing import sticky
from pcloud.tests.support import base
from pcloud.tests.support import shared_cloud

STORES = {'node-1': '1', 'node-2': '2', 'node-4': '1'}


class StickyTestCase(shared_cloud.SharedCloudTestCase):

    def _configure(self):
        super()._configure()
        self.flags(enabled_filters=['ComputeFilter', 'PcloudFilter',
                                    'AffinityFilter'],
                   group='filter_scheduler')
        self.flags(allow_resize_to_same_host=False)

    def furnish(self):
        super().furnish()
        self.aggregates = {}
        for host, store in STORES.items():
            self.aggregates[host] = self.make_aggregate(f'store of {host}')
            self.admin.add_host_to_aggregate(self.aggregates[host], host)
            self.mark(host, key=store, sticky='60')

    def mark(self, host, **values):
        """Set or unset the key of a host's store, or its sticky weight."""
        self.admin.api_post(f'/os-aggregates/{self.aggregates[host]}/action', {
            'set_metadata': {'metadata': {
                f'pcloud:{prefix}:store': value
                for prefix, value in values.items()}}})

    def only(self, *hosts):
        """Leave some hosts to the scheduler."""
        for host in self.hosts:
            self.admin.put_service(self.service_id(host), {
                'status': 'enabled' if host in hosts else 'disabled'})

    def start_on(self, host):
        self.only(host)
        server = self.boot(self.alice)
        self.assertEqual(host, self.host_of(server))
        return server

    def migrate(self, server):
        self.act(server, {'migrate': None})
        self._moved(server)

    def resize(self, server):
        other = {'1': '2', '2': '1'}[getattr(self, 'flavor_now', '1')]
        self.flavor_now = other
        self.act(server, {'resize': {'flavorRef': other}})
        self._moved(server)

    def _moved(self, server):
        self.wait_for(server, status='VERIFY_RESIZE')
        self.act(server, {'confirmResize': None})
        self.wait_for(server, status='ACTIVE')

    def live_migrate(self, server):
        before = self.host_of(server)
        self.act(server, {'os-migrateLive': {
            'host': None, 'block_migration': 'auto'}})

        def elsewhere():
            self.assertNotEqual(before, self.host_of(server))
        self.wait_until(elsewhere)
        self.wait_for(server, status='ACTIVE')

    def evacuate(self, server):
        before = self.host_of(server)
        self.set_down(before)
        self.act(server, {'evacuate': {}})

        def elsewhere():
            self.assertNotEqual(before, self.host_of(server))
        self.wait_until(elsewhere)
        # A server that was evacuated is stopped.
        self.wait_for(server, status='SHUTOFF')

    def shelve(self, server):
        self.offload(server)
        self.unshelve(server)

    def offload(self, server):
        self.act(server, {'shelve': None})
        self.wait_for(server, status='SHELVED_OFFLOADED')

    def unshelve(self, server):
        self.act(server, {'unshelve': None})
        self.wait_for(server, status='ACTIVE')

    def fail_to_unshelve(self, server, owner, call, error):
        """Unshelve a server while a call on the way fails."""
        failed = []

        def fail(*args, **kwargs):
            failed.append(call)
            raise error

        with mock.patch.object(owner, call, fail):
            self.act(server, {'unshelve': None})
            self.wait_until(lambda: self.assertTrue(failed))
            self.wait_for(server, status='SHELVED_OFFLOADED')

    def rows(self):
        """Return ``name -> text`` of the records of servers."""
        row = models.RequestSpec
        with self.engines()[0].connect() as connection:
            return dict(connection.execute(sa.select(
                row.instance_uuid, row.spec).where(
                    row.instance_uuid.startswith('pcs-'))).all())

    def kept(self, server):
        """Return the copies of a server, and the hosts with offers."""
        copies = sticky.loads(sticky_copies.read(self.context, server['id']))
        return list(map(str, copies.kept)), sorted(copies.offered)


WAYS = ('migrate', 'resize', 'live_migrate', 'evacuate', 'shelve')


@ddt.ddt
class WaysTest(StickyTestCase):
    """Every way in which a server is placed."""

    @ddt.data(*WAYS)
    def test_over_a_host_without_the_key(self, way):
        server = self.start_on('node-1')
        self.only('node-3')
        getattr(self, way)(server)
        self.assertEqual('node-3', self.host_of(server))
        self.only('node-2', 'node-4')
        getattr(self, way)(server)
        self.assertEqual('node-4', self.host_of(server))

    @ddt.data(*WAYS)
    def test_value_of_the_host_changes(self, way):
        server = self.start_on('node-1')
        self.mark('node-1', key='2')
        self.only('node-2', 'node-4')
        getattr(self, way)(server)
        self.assertEqual('node-4', self.host_of(server))
        # Its copy is of node-4 now, and node-4 changes.
        self.mark('node-4', key='2')
        third = self.make_aggregate('third', **{'pcloud:key:store': '1'})
        self.admin.add_host_to_aggregate(third, 'node-3')
        self.only('node-2', 'node-3')
        getattr(self, way)(server)
        self.assertEqual('node-3', self.host_of(server))


class CopiesTest(StickyTestCase):

    def test_no_candidate_is_sticky(self):
        server = self.start_on('node-1')
        for host in STORES:
            self.mark(host, sticky=None)
        self.only('node-2', 'node-4')
        self.migrate(server)
        self.assertEqual('node-4', self.host_of(server))

    def test_aggregate_of_the_host_is_gone(self):
        server = self.start_on('node-1')
        self.admin.api_post(f'/os-aggregates/{self.aggregates["node-1"]}/'
                            'action', {'remove_host': {'host': 'node-1'}})
        self.admin.delete_aggregate(self.aggregates['node-1'])
        self.only('node-2', 'node-4')
        self.migrate(server)
        self.assertEqual('node-4', self.host_of(server))

    def test_key_of_the_same_name_replaces_the_copy(self):
        server = self.start_on('node-1')
        self.only('node-2')
        self.migrate(server)
        self.mark('node-4', key='2')
        self.mark('node-1', key='1')
        self.only('node-1', 'node-4')
        self.migrate(server)
        self.assertEqual('node-4', self.host_of(server))

    def test_weight_is_that_of_the_start(self):
        server = self.start_on('node-1')
        self.mark('node-1', sticky='-60')
        self.only('node-2', 'node-4')
        self.migrate(server)
        self.assertEqual('node-4', self.host_of(server))

    def test_host_that_gets_a_key_later_gives_no_copy(self):
        server = self.start_on('node-1')
        self.only('node-3')
        self.migrate(server)
        late = self.make_aggregate('late', **{
            'pcloud:key:store': '2', 'pcloud:sticky:store': '60'})
        self.admin.add_host_to_aggregate(late, 'node-3')
        self.only('node-2', 'node-4')
        self.migrate(server)
        self.assertEqual('node-4', self.host_of(server))

    def test_alternate(self):
        """A build fails on the chosen host; the copy is of the next host."""
        self.only('node-1', 'node-2')
        spawn, failed = fake.FakeDriver.spawn, []

        def fail_once(driver, *args, **kwargs):
            if not failed:
                failed.append(driver._host)
                raise fake.exception.ComputeResourcesUnavailable(reason='test')
            return spawn(driver, *args, **kwargs)

        with mock.patch.object(fake.FakeDriver, 'spawn', fail_once):
            server = self.boot(self.alice)
        host = self.host_of(server)
        self.assertEqual({'node-1', 'node-2'}, {*failed, host})
        same, other = {'node-1': ('node-4', 'node-2'),
                       'node-2': ('node-4', 'node-1')}[host]
        if host == 'node-2':
            self.mark('node-4', key='2')
        self.mark(host, key='9')
        self.only(same, other)
        self.migrate(server)
        self.assertEqual(same, self.host_of(server))

    def test_servers_of_a_request_have_records_of_their_own(self):
        self.only('node-1', 'node-2')
        self.boot(self.alice, min_count=4)
        servers = [self.wait_for(each, status='ACTIVE')
                   for each in self.alice.get_servers()]
        self.assertEqual(4, len(self.rows()))
        self.mark('node-1', key='2')
        self.mark('node-2', key='1')
        for server in servers:
            copies = sticky_keys.copies_of(self.context, server['id'])
            self.assertEqual(
                [f'store={STORES[self.host_of(server)]}:60'],
                list(map(str, copies.kept)))

    def test_reverted_resize(self):
        server = self.start_on('node-1')
        self.only('node-2')
        self.act(server, {'migrate': None})
        self.wait_for(server, status='VERIFY_RESIZE')
        self.mark('node-1', key='2')
        self.act(server, {'revertResize': None})
        self.wait_for(server, status='ACTIVE')
        self.assertEqual('node-1', self.host_of(server))
        self.only('node-2', 'node-4')
        self.migrate(server)
        self.assertEqual('node-4', self.host_of(server))

    def test_unshelving_that_fails_on_the_host_is_no_start(self):
        server = self.start_on('node-1')
        self.offload(server)
        self.only('node-2')
        self.fail_to_unshelve(
            server, fake.FakeDriver, 'spawn',
            fake.exception.ComputeResourcesUnavailable(reason='test'))
        self.only('node-2', 'node-4')
        self.unshelve(server)
        self.assertEqual('node-4', self.host_of(server))

    def test_placement_that_fails_is_no_start(self):
        """The last host has been offered with another value, in vain."""
        server = self.start_on('node-1')
        self.offload(server)
        self.mark('node-1', key='2')
        self.only('node-1')
        self.fail_to_unshelve(
            server, scheduler_utils, 'claim_resources',
            fake.exception.NoValidHost(reason='test'))
        self.only('node-2', 'node-4')
        self.unshelve(server)
        self.assertEqual('node-4', self.host_of(server))

    def test_start_on_the_last_host_is_a_start(self):
        server = self.start_on('node-1')
        self.offload(server)
        self.mark('node-1', key='2')
        self.only('node-1')
        self.unshelve(server)
        self.only('node-2', 'node-4')
        self.migrate(server)
        self.assertEqual('node-2', self.host_of(server))

    def test_server_from_before_there_were_records(self):
        """Without a record, the present keys of the server's host count."""
        server = self.start_on('node-1')
        with self.engines()[0].begin() as connection:
            connection.execute(sa.delete(models.RequestSpec).where(
                models.RequestSpec.instance_uuid.startswith('pcs-')))
        self.only('node-2', 'node-4')
        self.migrate(server)
        self.assertEqual('node-4', self.host_of(server))
        self.assertEqual((['store=1:60'], ['node-1', 'node-2', 'node-4']),
                         self.kept(server))


class RecordsTest(StickyTestCase):

    def test_recorded_before_the_host_is_claimed(self):
        """A scheduler that dies after the claim leaves the record."""
        seen = []
        claim = scheduler_utils.claim_resources

        def claimed(*args, **kwargs):
            seen.append(len(self.rows()))
            return claim(*args, **kwargs)

        with mock.patch.object(scheduler_utils, 'claim_resources', claimed):
            self.boot(self.alice)
        self.assertEqual([1], seen)

    def test_none_where_no_host_has_a_key(self):
        self.only('node-3')
        self.boot(self.alice)
        self.assertEqual({}, self.rows())

    def test_new_servers_read_no_record_and_moves_read_one(self):
        with mock.patch.object(sticky_copies, 'read',
                               wraps=sticky_copies.read) as read:
            server = self.boot(self.alice)
            self.assertEqual(0, read.call_count)
            self.migrate(server)
        self.assertEqual(1, read.call_count)

    def test_none_where_no_host_is_sticky(self):
        for host in STORES:
            self.mark(host, sticky=None)
        self.boot(self.alice)
        self.assertEqual({}, self.rows())

    def test_an_explanation_records_nothing(self):
        pcloud = self.make_pcloud(self.alice)
        explained = self.alice.call(
            'GET', f'/os-pclouds/{pcloud}/explain?flavor=1')
        self.assertEqual(200, explained.status_code, explained.text)
        server = self.start_on('node-1')
        before = self.rows()
        with sticky_keys.explaining():
            sticky_keys.record(
                self.context, server['id'], sticky.Copies(), {})
        self.assertEqual(before, self.rows())

    def test_two_schedulers_at_once(self):
        server = uuidutils.generate_uuid()
        copies = sticky.Copies((affinity.parse('store=1:60'),))
        barrier, failures = threading.Barrier(4), []

        def record(host):
            barrier.wait()
            try:
                sticky_keys.record(self.context, server, copies, {host: ()})
            except Exception as error:
                failures.append(error)

        threads = [threading.Thread(target=record, args=(f'node-{number}',))
                   for number in range(4)]
        for each in threads:
            each.start()
        for each in threads:
            each.join()
        self.assertEqual([], failures)
        row, = self.rows().values()
        self.assertEqual(copies.kept, sticky.loads(row).kept)

    def test_rubbish_by_hand(self):
        server = self.start_on('node-1')
        sticky_copies.write(self.context, server['id'], 'rubbish')
        self.only('node-2', 'node-4')
        self.migrate(server)
        self.assertEqual('node-4', self.host_of(server))

    def test_commands_of_nova(self):
        """Nova's commands neither read nor count nor delete records."""
        kept, gone = (self.start_on('node-1') for _ in range(2))
        before = self.rows()
        self._delete_server(gone)
        self.assertEqual(
            4, manage.PlacementCommands().heal_allocations(verbose=True))
        report = self.useFixture(fixtures.StringStream('stdout')).stream
        with mock.patch('sys.stdout', report):
            manage.DbCommands().archive_deleted_rows(
                max_rows=1000, verbose=True, until_complete=True, purge=True)
        report.seek(0)
        self.assertRegex(report.read(), r'API_DB.request_specs *\| 1 ')
        self.assertEqual(before, self.rows())
        self.only('node-2', 'node-4')
        self.migrate(kept)
        self.assertEqual('node-4', self.host_of(kept))

    def test_records_of_servers_that_nova_has_forgotten(self):
        kept, gone = (self.start_on('node-1') for _ in range(2))
        self._delete_server(gone)
        manage.DbCommands().archive_deleted_rows(
            max_rows=1000, until_complete=True)
        self.assertEqual(2, len(self.rows()))
        self.assertEqual(1, sum(
            sticky_copies.delete_orphans(self.context, f'{part:02x}')
            for part in range(256)))
        name, = self.rows()
        self.assertEqual(f'pcs-{kept["id"].replace("-", "")}', name)
        self.assertEqual(base.ALICE, kept['tenant_id'])
