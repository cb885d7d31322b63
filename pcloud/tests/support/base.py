# SPDX-License-Identifier: Apache-2.0

"""A whole Nova in this process, with Pcloud loaded as in a real cloud."""

from collections.abc import Callable
import itertools
import json
import os
import pathlib
import sqlite3
import time
import typing

import fixtures
from futurist import _thread as futurist_thread
from nova import conf as nova_conf
from nova import context as nova_context
from nova.db.api import api as api_db
from nova.db.api import models
from nova import exception as nova_exception
from nova import objects
from nova import test
from nova.tests import fixtures as nova_fixtures
from nova.tests.fixtures import notifications
from nova.tests.functional.api import client
from nova.tests.functional import fixtures as func_fixtures
from nova.tests.functional import integrated_helpers
from placement import db_api as placement_db
import sqlalchemy as sa

from pcloud.backend.aggregates import pcloud_rows
from pcloud import conf
from pcloud import names
from pcloud.objects import host_resources
from pcloud.planning.programs import solvers
from pcloud.tests.support import cloud_state
from pcloud.tests.support import databases
from pcloud.tests.support import described
from pcloud.tests.support import driver
from pcloud.tests.support import economies
from pcloud.tests.support import explained
from pcloud.tests.support import handovers
from pcloud.worker import passes
from pcloud_sandbox.configuration import paste

CONF = nova_conf.CONF

economies.spare_modules()
# The library looks at the machine when it is imported, which Nova's fixtures
# forbid to a test. Threads of numpy would keep the tests of small worlds from
# copying their process.
os.environ.setdefault('OPENBLAS_NUM_THREADS', '1')
solvers.is_there()

ALICE = 'a' * 32
BOB = 'b' * 32
CAROL = 'c' * 32

# Seconds after which an idle thread looks whether the pool is closed. With
# Nova's value for tests, which is the second, the hundred idle threads of a
# cloud use a good part of a processor.
_IDLE = 0.25
_HURRIED = 0.01

# Seconds between two looks in vain at a cloud that is at rest, and at a cloud
# that is not: as much more with each look, this number of times.
_SHORT = 0.02
_LONG = 0.5
_PATIENCE = 9


class Client(client.TestOpenStackClient):
    """Calls of Nova's and Pcloud's API, as a single user."""

    def call(self, method: str, path: str, body: dict | None = None,
             **options):
        """Return the response to a call, whatever the status.

        :raises AssertionError: for a reason without its code and params, and
            for an answer that is not as described
        """
        if body is not None:
            options['body'] = json.dumps(body)
        response = self.api_request(
            path.lstrip('/'), method=method, **options)
        kind = response.headers.get('Content-Type', '')
        # Nova says so of answers without a body, too.
        if response.content and kind.startswith('application/json'):
            answer = response.json()
            for fault in itertools.chain(
                    explained.faults(answer), described.faults(
                        method, path, response.status_code, answer)):
                raise AssertionError(f'{method} {path}: {fault}')
        return response

    def get_json(self, path: str) -> dict:
        """Return the body of a GET that has to succeed."""
        return self.call_json('GET', path)

    def call_json(self, method: str, path: str, body: dict | None = None,
                  ) -> dict | None:
        """Return the body of a call that has to succeed."""
        response = self.call(method, path, body)
        if not 200 <= response.status_code < 300:
            raise client.OpenStackApiException(
                message=response.text, response=response)
        return response.json() if response.content else None


class PatientNotifiers(fixtures.Fixture):
    """Have Nova's fake notifiers record the option ``retry``."""

    def _setUp(self):
        prepare = notifications.FakeNotifier.prepare

        def prepared(notifier, publisher_id=None, retry=None):
            made = prepare(notifier, publisher_id)
            made.retry = retry
            return made

        self.useFixture(fixtures.MockPatchObject(
            notifications.FakeNotifier, 'prepare', prepared))


class PatientSolver(fixtures.Fixture):
    """Let a solver end its programs, on a machine however slow."""

    def _setUp(self):
        for name in ('LIMIT', 'DECIDING', 'TELLING', 'EACH', 'MOVES',
                     'EACH_OF_MOVES'):
            self.useFixture(fixtures.MockPatchObject(solvers, name, 3600))


class ForgetfulProcess(fixtures.Fixture):
    """Have Nova's API not remember what hosts were in another test."""

    def _setUp(self):
        self.useFixture(fixtures.MockPatchObject(
            host_resources, '_memory', host_resources.Memory()))


class Kept(typing.NamedTuple):
    """The kept state of a cloud.

    :ivar dump: the return value of `dump`
    :ivar rows: (table, rows) of each table with aggregates
    """

    dump: dict
    rows: list


class PcloudTestCase(
        test.TestCase, integrated_helpers.PlacementInstanceHelperMixin):
    """Nova's API, conductor, scheduler and fake computes, and Placement.

    :cvar hosts: service hosts to start, with their availability zones
    """

    REQUIRES_LOCKING = True

    hosts = {'node-1': 'az1', 'node-2': 'az2', 'node-3': 'az1',
             'node-4': 'az2'}
    compute_driver = 'fake.RenamingDriver'
    # A machine may be too slow for services to report in time.
    service_down_time = 1000000

    def setUp(self):
        self.flags(compute_driver=self.compute_driver)
        if databases.ON_SERVER:
            self.useFixture(databases.OnServer())
        self.useFixture(economies.OpenConnections())
        self.useFixture(economies.PromptMessages())
        self.useFixture(handovers.Handovers())
        self.useFixture(economies.KeptValidators())
        self.useFixture(PatientSolver())
        self.useFixture(ForgetfulProcess())
        super().setUp()
        economies.skip_debug_messages()
        futurist_thread.ThreadWorker.MAX_IDLE_FOR = _IDLE
        # Nova loads drivers from below nova.virt only.
        self.useFixture(fixtures.MonkeyPatch(
            'nova.virt.fake.RenamingDriver', driver.RenamingDriver))
        self._configure()
        self.useFixture(nova_fixtures.RealPolicyFixture())
        self.neutron = self.useFixture(nova_fixtures.NeutronFixture(self))
        self.glance = self.useFixture(nova_fixtures.GlanceFixture(self))
        self.cinder = self.useFixture(nova_fixtures.CinderFixture(self))
        self.placement = self.useFixture(
            func_fixtures.PlacementFixture()).api
        self.useFixture(nova_fixtures.AllServicesCurrent())
        self.useFixture(PatientNotifiers())
        self.notifier = self.useFixture(
            nova_fixtures.NotificationFixture(self))
        self.api_fixture = self.useFixture(
            nova_fixtures.OSAPIFixture('v2.1'))
        self.base_url = self.api_fixture.base_url
        self.make_clients()
        self.context = nova_context.get_admin_context()
        self._keep_databases_open()
        self.conductor = self.start_service('conductor')
        self.scheduler = self.start_service('scheduler')
        for host in self.hosts:
            self._start_compute(host)
        self._make_zones()
        self.addCleanup(setattr, futurist_thread.ThreadWorker,
                        'MAX_IDLE_FOR', _HURRIED)

    def _configure(self):
        # Filters do it when they are loaded, which may be later.
        conf.register_opts(CONF)
        folder = pathlib.Path(self.useFixture(
            fixtures.TempDir()).path)
        original = paste.installed('nova', 'etc/nova/api-paste.ini')
        (folder / 'api-paste.ini').write_text(
            paste.with_pcloud(original.read_text()))
        # As in Nova's own configuration; Nova's fixtures change the option.
        self.flags(enforce_new_defaults=True, group='oslo_policy')
        self.flags(instances=-1, cores=-1, ram=-1, group='quota')
        self.flags(service_down_time=self.service_down_time)
        # Who counts statements would count those of the reports. Nova's
        # services make their first report seconds after they have started.
        self.flags(report_interval=0)
        self.flags(api_paste_config=str(folder / 'api-paste.ini'),
                   group='wsgi')
        self.flags(
            available_filters=['nova.scheduler.filters.all_filters',
                               'pcloud.scheduler.filters.all_filters'],
            enabled_filters=[*CONF.filter_scheduler.enabled_filters,
                             'PcloudFilter'],
            weight_classes=['nova.scheduler.weights.all_weighers',
                            'pcloud.scheduler.weights.all_weighers'],
            group='filter_scheduler')

    def _make_zones(self):
        for zone in sorted(set(self.hosts.values())):
            aggregate = self.admin.post_aggregate({'aggregate': {
                'name': zone, 'availability_zone': zone}})
            for host, its_zone in self.hosts.items():
                if its_zone == zone:
                    self.admin.add_host_to_aggregate(aggregate['id'], host)

    def _keep_databases_open(self):
        # When the last connection to an SQLite closes, SQLite removes the
        # write-ahead log, and may refuse a connection that begins meanwhile.
        api, _, placement = self.engines()
        for engine in (api, placement,
                       *map(self.cell_engine, self.cell_mappings)):
            if engine.url.database and not databases.is_mariadb(engine.url):
                connection = sqlite3.connect(engine.url.database)
                connection.execute('SELECT * FROM sqlite_master').fetchall()
                self.addCleanup(connection.close)

    def make_clients(self) -> None:
        """Make the clients of an administrator and of two users."""
        self.admin = self.client_of(
            'admin', CAROL, ['reader', 'member', 'admin'])
        self.alice = self.client_of('alice', ALICE)
        self.bob = self.client_of('bob', BOB)
        # Attributes that Nova's own helpers use.
        self.api = self.admin_api = self.admin

    def client_of(self, user, project_id, roles=('reader', 'member')):
        """Return a client of the API for a user of a project."""
        made = Client(user, self.base_url, project_id=project_id,
                      roles=list(roles))
        made.microversion = 'latest'
        return made

    def make_pool(self, flavor_id: str, *hosts: str, units: int = 1):
        """Define a host flavor and put hosts into the pool."""
        self.admin.call_json('POST', '/os-host-flavors', {
            'host_flavor': {'id': flavor_id, 'units': units}})
        for host in hosts:
            self.disable_service(host)
            self.admin.call_json(
                'POST', f'/os-host-flavors/{flavor_id}/hosts',
                {'host': {'host': host}})

    def make_flavor(self, flavor_id: str, **more) -> str:
        """Make a small flavor, and return the id.

        :param flavor_id: the id and the name
        :param more: members of the flavor that differ from the defaults
        """
        objects.Flavor(self.context, **{
            'name': flavor_id, 'flavorid': flavor_id, 'vcpus': 1,
            'memory_mb': 512, 'root_gb': 1, 'ephemeral_gb': 0, 'swap': 0,
            'rxtx_factor': 1.0, 'is_public': True, 'disabled': False,
            'extra_specs': {}, **more}).create()
        return flavor_id

    def disable_service(self, host: str):
        """Disable the compute service of a host."""
        self.admin.put_service(self.service_id(host), {'status': 'disabled'})

    def service_id(self, host: str) -> str:
        """Return the uuid of the compute service of a host."""
        return next(each['id'] for each in self.admin.get_services(
            binary='nova-compute', host=host))

    def make_pcloud(self, user: Client, name: str = 'mine') -> str:
        """Create a Pcloud and return the id."""
        return user.call_json('POST', '/os-pclouds', {
            'pcloud': {'name': name}})['pcloud']['id']

    def add_host(self, user: Client, pcloud: str, name: str,
                 flavor_id: str, enable: bool = True, **more) -> str:
        """Add a host, enable the host, and return the real host name."""
        path = f'/os-pclouds/{pcloud}/hosts'
        user.call_json('POST', path, {
            'host': {'name': name, 'host_flavor': flavor_id, **more}})
        if enable:
            user.call_json('PUT', f'{path}/{name}',
                           {'host': {'state': 'enabled'}})
        shown = self.admin.get_json(f'{path}/{name}')['host']
        return shown['hypervisor_hostname'].removesuffix('.hv.example.org')

    def boot(self, user: Client, hints: dict | None = None,
             expected: str = 'ACTIVE', host: str | None = None,
             zone: str | None = None, **more) -> dict:
        """Boot a server, and return the server in the expected state.

        :param more: members of the server's body, such as min_count
        """
        server = self._build_server(
            flavor_id='1', networks='none', host=host, az=zone)
        server.update(more)
        body = {'server': server}
        if hints is not None:
            body['os:scheduler_hints'] = hints
        made = user.post_server(body)
        server = self.wait_until(lambda: self._built(made))
        # Who waited for a broken server to be active would wait for ever.
        self.assertEqual(expected, server['status'], server.get('fault'))
        # The error is shown before the conductor deletes the build request,
        # which hosts that settle wait for.
        self.wait_until(lambda: self.assertRaises(
            nova_exception.BuildRequestNotFound,
            objects.BuildRequest.get_by_instance_uuid,
            self.context, server['id']))
        return server

    def _built(self, server: dict) -> dict:
        """Return a server whose build has ended, with the fault if any."""
        found = self.admin.get_server(server['id'])
        self.assertNotEqual('BUILD', found['status'])
        if found['status'] == 'ERROR':
            self.assertIn('fault', found)
        return found

    def fault(self, server: dict) -> str:
        """Return the message of a server's fault."""
        return self.admin.get_server(server['id'])['fault']['message']

    def host_of(self, server: dict) -> str:
        """Return the real host of a server."""
        return self.admin.get_server(server['id'])['OS-EXT-SRV-ATTR:host']

    def aggregate(self, name: str) -> objects.Aggregate:
        """Return Nova's aggregate with a name."""
        return next(each for each in objects.AggregateList.get_all(
            self.context) if each.name == name)

    def pcloud_metadata(self, pcloud: str) -> dict[str, str]:
        """Return the metadata of a Pcloud, and what is kept of the hosts."""
        return dict(pcloud_rows.find(self.context, pcloud).metadata)

    def write_metadata(self, pcloud: str, **metadata: str | None) -> None:
        """Write metadata of a Pcloud by hand; None deletes a key.

        The keys of the journal are written there.
        """
        for name, is_wanted in (
                (names.JOURNAL, names.is_of_journal),
                (names.pcloud(pcloud), lambda key:
                 not names.is_of_journal(key))):
            if its := {key: value for key, value in metadata.items()
                       if is_wanted(key)}:
                self.aggregate(name).update_metadata(its)

    def make_aggregate(self, name: str, **metadata: str) -> int:
        """Make an aggregate without Pcloud, and return the id."""
        made = objects.Aggregate(
            self.context, name=name, metadata=metadata)
        made.create()
        return made.id

    def act(self, server: dict, body: dict) -> None:
        """Request an action on a server, as the administrator."""
        response = self.admin.call(
            'POST', f'/servers/{server["id"]}/action', body)
        self.assertIn(response.status_code, (200, 202, 204), response.text)

    def wait_for(self, server: dict, **expected) -> dict:
        """Wait until a server has expected attributes and no task state."""
        expected['OS-EXT-STS:task_state'] = None

        def reached():
            found = self.admin.get_server(server['id'])
            self.assertEqual(expected, {key: found[key] for key in expected})
            return found

        return self.wait_until(reached)

    def wait_until(self, check: Callable):
        """Call a function until the function raises no AssertionError.

        The wait ends with the first success, so only a machine that is slow
        beyond all measure reaches the limit.

        :returns: the function's return value
        """
        return self._wait_for_assert(check, max_retries=6000)

    def _wait_for_assert(self, assert_func, max_retries=6000, sleep=None):
        """Wait as Nova's helper does, but look when services have worked.

        A look is a call of the API, mostly, which takes as much of a
        processor as a tenth of a launch.
        """
        for number in range(max_retries - 1):
            try:
                return assert_func()
            except AssertionError:
                self._wait_for_services(min(number, _PATIENCE))
        return assert_func()

    def _wait_for_services(self, looks: int) -> None:
        """Sleep until no service has anything to do.

        A service that waits for the test has always something to do, so that
        the sleep ends after some seconds in any case.

        :param looks: number of looks in vain, after which sleeps get longer
        """
        until = time.monotonic() + (looks + 1) * _LONG
        time.sleep(_SHORT * (looks + 1))
        while self._under_way() and time.monotonic() < until:
            time.sleep(_SHORT)

    def _under_way(self) -> list[str]:
        if not cloud_state.sees_work():
            return []
        return cloud_state.under_way(
            [self.conductor, self.scheduler, *self.computes.values()])

    def _wait_for_server_parameter(
            self, server, expected_params, max_retries=None, api=None,
            wait_for_fault_key=True):
        """Wait as Nova's helper does, but for longer, and look more often."""
        api = api or self.admin_api
        wait_for_fault = (wait_for_fault_key and
                          expected_params.get('status') == 'ERROR')

        def reached():
            found = api.get_server(server['id'])
            self.assertEqual(expected_params, {
                key: found[key] for key in expected_params})
            if wait_for_fault:
                self.assertIn('fault', found)
            return found

        return self.wait_until(reached)

    def _wait_for_migration_status(self, server, expected_statuses):
        """Wait as Nova's helper does, but for longer."""
        def reached():
            migrations = self.admin.api_get('/os-migrations').body[
                'migrations']
            found = [each for each in migrations
                     if each['instance_uuid'] == server['id']]
            wanted = [each for each in found
                      if each['status'] in expected_statuses]
            self.assertNotEqual([], wanted, found)
            return wanted[0]

        return self.wait_until(reached)

    def _wait_until_deleted(self, server):
        """Wait as Nova's helper does, but for longer, and look more often."""
        in_error = server.get('status') == 'ERROR'

        def gone():
            try:
                found = self.api.get_server(server['id'])
            except client.OpenStackApiNotFoundException:
                return []
            if found['status'] == 'ERROR' and not in_error:
                raise RuntimeError(f'Not deleted, but in error: {found}')
            return [found]

        self.wait_until(lambda: self.assertEqual([], gone()))

    def work(self) -> bool:
        """Have a worker look once, and return whether all could be done."""
        return passes.once(nova_context.get_admin_context())

    def set_down(self, host: str, down: bool = True):
        """Force a host's service down, so that Nova can evacuate servers."""
        self.admin.put_service(self.service_id(host), {'forced_down': down})

    def engines(self) -> tuple[sa.Engine, sa.Engine, sa.Engine]:
        """Return the engines of Nova's API, of cell1 and of Placement."""
        return (api_db.context_manager.writer.get_engine(),
                self.cell_engine('cell1'),
                placement_db.placement_context_manager.writer.get_engine())

    def cell_engine(self, name: str) -> sa.Engine:
        """Return the engine of the database of a cell."""
        with nova_context.target_cell(
                self.context, self.cell_mappings[name]) as targeted:
            return targeted.db_connection.writer.get_engine()

    def dump(self) -> dict:
        """Return all that Pcloud writes in Nova and Placement.

        When a worker has looked is left out.
        """
        return {
            'aggregates': {
                each.name: (each.uuid, sorted(each.hosts), {
                    key: value for key, value in each.metadata.items()
                    if key != names.WORKER})
                for each in objects.AggregateList.get_all(self.context)},
            'services': {
                each['host']: (each['status'], each['disabled_reason'])
                for each in self.admin.get_services(binary='nova-compute')},
            'providers': {
                each['name']: self._provider(each['uuid'])
                for each in self._get_all_providers()},
        }

    def keep(self) -> Kept:
        """Return the state that `put_back` restores."""
        tables = [each.__table__ for each in (
            models.Aggregate, models.AggregateHost,
            models.AggregateMetadata)]
        with api_db.context_manager.reader.using(self.context) as session:
            rows = [(table, [dict(row._mapping) for row in
                             session.execute(sa.select(table))])
                    for table in tables]
        return Kept(self.dump(), rows)

    def put_back(self, kept: Kept) -> None:
        """Restore the kept state, faster than by calls of the API."""
        now = self.dump()
        with api_db.context_manager.writer.using(self.context) as session:
            for table, _ in reversed(kept.rows):
                session.execute(sa.delete(table))
            for table, rows in kept.rows:
                if rows:
                    session.execute(sa.insert(table), rows)
        for host, (status, _) in kept.dump['services'].items():
            if now['services'][host][0] != status:
                self.admin.put_service(
                    self.service_id(host), {'status': status})
        for name, wanted in kept.dump['providers'].items():
            if now['providers'][name] != wanted:
                self._put_provider_back(name, *wanted)
        self.assertEqual(kept.dump, self.dump())

    def _put_provider_back(self, name, aggregates, ratios):
        uuid = self._get_provider_uuid_by_name(name)
        url = f'/resource_providers/{uuid}'
        found = self.placement.get(f'{url}/inventories').body
        for resource_class, ratio in ratios.items():
            found['inventories'][resource_class]['allocation_ratio'] = ratio
        self.placement.put(f'{url}/inventories', found)
        self.placement.put(f'{url}/aggregates', aggregates, version='1.1')

    def _provider(self, uuid: str) -> tuple:
        inventory = self._get_provider_inventory(uuid)
        return (sorted(self._get_provider_aggregates(uuid)),
                {resource_class: values['allocation_ratio']
                 for resource_class, values in inventory.items()})
