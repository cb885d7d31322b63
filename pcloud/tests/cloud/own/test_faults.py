# SPDX-License-Identifier: Apache-2.0

"""Services that fail under a cloud in use: nothing is lost, and it recovers.

The MariaDB and the RabbitMQ are the tests' own, since they are restarted.
Each test prints what it counted.
"""

import collections
import concurrent.futures
import contextlib
import random
import signal
import subprocess
import sys
import threading
import time

from keystoneauth1 import exceptions as ksa_exceptions
from openstack import exceptions as sdk_exceptions
import psutil

from pcloud.client import exceptions
from pcloud.tests.cloud import needs
from pcloud.tests.cloud.own import audit
from pcloud.tests.cloud.own import base
from pcloud.tests.cloud.own import chosen
from pcloud.tests.cloud.own import servers
from pcloud.tests.cloud import waiting
from pcloud_sandbox.configuration import settings
from pcloud_sandbox import launcher

POOL = ('node-1', 'node-2', 'node-3')
# Seconds in which full service is back after a fault, and in which Nova
# notices that a compute is gone (service_down_time and a little).
RECOVERY = 180
NOTICED = 90
# What a call may end with while something is broken.
TROUBLE = (exceptions.ClientError, ksa_exceptions.ClientException,
           sdk_exceptions.SDKException)


@needs.own_cloud('stops services, databases and brokers')
class FaultsTest(base.OwnCloudTest):
    """Three hosts are in the pool of "gpu"; two are in none."""

    hosts = 5

    @classmethod
    def setUpClass(cls):
        for kind in (servers.MariaDB, servers.RabbitMQ):
            if not kind.is_installed():
                base.skip(f'{kind.program} is not installed')
        cls.mariadb, cls.rabbitmq = servers.MariaDB(), servers.RabbitMQ()
        for server in (cls.mariadb, cls.rabbitmq):
            cls.addClassCleanup(server.remove)
            server.start()
        cls.database, cls.messaging = cls.mariadb.url, cls.rabbitmq.url
        super().setUpClass()
        cls.fill_pool('gpu', POOL)

    def setUp(self):
        super().setUp()
        self.counts = collections.Counter()
        self.started = []
        self.shop = self.new_pcloud('shop', 'gpu', hosts=2)
        self.addCleanup(self.remove_pcloud, self.shop)
        # Where a test finds that something is lost, the next can go on.
        self.addCleanup(audit.run, self.where, '--fix')

    def tearDown(self):
        """Full service is back, nothing is lost, and all is tidy again."""
        for name, _, _, runs in launcher.service_states(
                self.where, settings.load(self.where)):
            if not runs:
                launcher.start_service(self.where, name)
        self._serve()
        alice = self.users['alice']
        for server in self.started:
            self._check_side(server)
        alice.delete(self.started)
        found = audit.run(self.where)
        self._check_hosts()
        self.assertEqual((0, []), found)
        print(f'{self.id().rsplit(".", 1)[1]}: {dict(self.counts)}',
              flush=True)
        super().tearDown()

    def _serve(self):
        """Start servers until one is active on either side."""
        deadline = time.monotonic() + RECOVERY
        for hints in ({'pcloud': self.shop.id}, {}):
            while self._try_boot(hints) != 'ACTIVE':
                self.assertLess(time.monotonic(), deadline,
                                'there is no full service again')
                time.sleep(2)

    def _try_boot(self, hints):
        """Start a server; returns its status, or 'refused'."""
        alice = self.users['alice']
        try:
            server = alice.boot(f's{len(self.started)}', **hints)
        except TROUBLE as error:
            self.counts[f'boots refused: {type(error).__name__}'] += 1
            return 'refused'
        server.asked = hints.get('pcloud')
        self.started.append(server)
        try:
            status = alice.settled(server).status
        except sdk_exceptions.ResourceTimeout:
            # Its message was lost on the way, which Nova does not notice.
            status = 'BUILD'
        self.counts[f'boots {status}'] += 1
        return status

    def _check_side(self, server):
        host = self.host_of(server)
        if host is not None:
            self.assertEqual(server.asked is not None, host in POOL,
                             f'{server.name} is on {host}')

    def _check_hosts(self):
        """No host is in two Pclouds, or in one without its owner's name."""
        admin = self.users['admin'].pclouds
        held = [host.hypervisor_hostname
                for pcloud in admin.list_pclouds(all_tenants=True)
                for host in admin.list_hosts(pcloud.id)]
        self.assertEqual(len(set(held)), len(held), held)
        taken = [each.host for each in admin.get_host_flavor('gpu').hosts
                 if each.pcloud]
        self.assertEqual(sorted(held), sorted(taken))

    @contextlib.contextmanager
    def _use(self):
        """Start servers all the time, on both sides, meanwhile.

        Several at a time: one whose message is lost is waited for long.
        """
        done = threading.Event()

        def work(hints):
            while not done.wait(1):
                self._try_boot(hints)

        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            futures = [pool.submit(work, hints)
                       for hints in [{'pcloud': self.shop.id}, {}] * 2]
            try:
                yield
            finally:
                done.set()
            for future in futures:
                future.result()

    def _identity(self, name):
        return settings.load(self.where).processes[name]['pid']

    def _kill(self, name):
        """End a service as a crash does, its workers too."""
        process = psutil.Process(self._identity(name))
        family = [process, *process.children(recursive=True)]
        for each in family:
            each.kill()
        psutil.wait_procs(family, timeout=10)

    def test_scheduler_restarted(self):
        with self._use():
            launcher.stop_service(self.where, 'nova-scheduler-1')
            time.sleep(5)
            launcher.start_service(self.where, 'nova-scheduler-1')
            self._kill('nova-scheduler-2')
            time.sleep(5)
            launcher.start_service(self.where, 'nova-scheduler-2')
        self.assertGreater(self.counts['boots ACTIVE'], 0)

    def test_worker_killed_while_a_host_is_emptied(self):
        """Nobody calls: workers alone move the servers and give back."""
        alice = self.users['alice'].pclouds
        full, other = (host.name for host in alice.list_hosts(self.shop.id))
        alice.set_host_state(self.shop.id, other, 'disabled')
        for _ in range(4):
            self.assertEqual('ACTIVE', self._try_boot(
                {'pcloud': self.shop.id}))
        alice.set_host_state(self.shop.id, other, 'enabled')
        alice.drain_host(self.shop.id, full, move='live', release=True)
        for _ in range(3):
            time.sleep(random.uniform(0, 6))
            self._kill('nova-worker')
            self.counts['workers killed'] += 1
            launcher.start_service(self.where, 'nova-worker')
        # One that was killed in its turn has the turn for two minutes.
        waiting.until(lambda: [other] == [
            host.name for host in alice.list_hosts(self.shop.id)],
            'the host has left')
        for server in self.started:
            self.assertEqual('ACTIVE', self.users[
                'alice'].cloud.compute.get_server(server.id).status)

    def test_api_worker_killed(self):
        """Hosts come and go while workers are killed under the requests.

        What is half done when its worker dies is given to no project until it
        is repaired; an operator does that from time to time.
        """
        master = psutil.Process(self._identity('nova'))
        done = threading.Event()

        made = [self.users['carol'].pclouds.create_pcloud(f'c{number}')
                for number in range(4)]

        def live(mine):
            pclouds = base.User(self.where, 'carol').pclouds
            while not done.is_set():
                for act in (
                        lambda: pclouds.add_host(mine.id, 'a', 'gpu'),
                        lambda: pclouds.remove_host(mine.id, 'a')):
                    try:
                        act()
                        self.counts['done'] += 1
                    except TROUBLE as error:
                        self.counts[type(error).__name__] += 1

        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            futures = [pool.submit(live, mine) for mine in made]
            for _ in range(5):
                time.sleep(random.uniform(1, 3))
                for worker in random.sample(master.children(), 1):
                    worker.send_signal(signal.SIGKILL)
                    self.counts['killed'] += 1
                _, found = audit.run(self.where, '--fix')
                self.counts['repaired'] += len(found)
            done.set()
            for future in futures:
                future.result()
        self._wait_for_workers(master)
        self.log_in()
        _, found = audit.run(self.where, '--fix')
        self.counts['repaired'] += len(found)
        self.assertEqual([], [each for each in found
                              if not each['repaired']])
        carol = self.users['carol'].pclouds
        self._check_hosts()
        for each in made:
            for host in carol.list_hosts(each.id):
                carol.remove_host(each.id, host.name)
            carol.delete_pcloud(each.id)
        self.assertEqual(5, self.counts['killed'])
        self.assertGreater(self.counts['done'], 10)

    def _wait_for_workers(self, master):
        deadline = time.monotonic() + RECOVERY
        while time.monotonic() < deadline:
            with contextlib.suppress(*TROUBLE):
                if len(master.children()) == 2:
                    for _ in range(8):
                        base.User(self.where, 'carol').pclouds.list_pclouds()
                    return
            time.sleep(1)
        self.fail('the workers of the API are not back')

    def test_rabbitmq_restarted(self):
        alice = self.users['alice'].pclouds
        with self._use(), concurrent.futures.ThreadPoolExecutor(1) as pool:
            self.rabbitmq.stop()
            # What only reads goes on; what tells the schedulers waits.
            self.assertEqual(2, len(alice.list_hosts(self.shop.id)))
            adding = pool.submit(alice.add_host, self.shop.id, 'h3', 'gpu')
            time.sleep(5)
            self.rabbitmq.start()
            self.assertEqual('h3', adding.result().name)

    def test_rabbitmq_away_for_long(self):
        """All hosts look down, nobody has fenced one: nothing happens.

        What would happen shows the host that is fenced afterwards.
        """
        admin, alice = (self.users[name] for name in ('admin', 'alice'))
        chosen.choose(self.where, recovery_after='1',
                      recovery_shared_disks='True')
        alice.pclouds.update_pcloud(self.shop.id, host_recovery='in_place')
        for _ in range(2):
            self.assertEqual('ACTIVE', self._try_boot(
                {'pcloud': self.shop.id}))
        before = self._shown()
        places = list(map(self.host_of, self.started))
        self.rabbitmq.stop()
        waiting.until(
            lambda: self._statuses() == {'down'}, 'all hosts look down')
        for _ in range(2):
            self._work()
        self.assertEqual(before, self._shown())
        self.rabbitmq.start()
        waiting.until(
            lambda: 'down' not in self._statuses(), 'all hosts are up')
        self._work()
        self.assertEqual(before, self._shown())
        self.assertEqual(places, list(map(self.host_of, self.started)))
        for each in self.started:
            self.assertEqual([], admin.call(
                'GET', f'/os-migrations?instance_uuid={each.id}',
            ).json()['migrations'])
        self._recover('h1', 'h2')

    def _statuses(self):
        """Return the statuses of the hosts of the Pcloud."""
        return {each.status for each
                in self.users['alice'].pclouds.list_hosts(self.shop.id)}

    def _shown(self):
        """Return the states and the recoveries of the hosts."""
        return {each.name: (each.state, each.recovery) for each
                in self.users['alice'].pclouds.list_hosts(self.shop.id)}

    def _work(self):
        """Have one more worker look once for what is due."""
        subprocess.run(
            [sys.executable, '-m', 'pcloud.cmd.manage', '--config-file',
             str(self.where.nova_conf), 'work', '--once'],
            check=True, capture_output=True)

    def _recover(self, name, other):
        """Have a host fail that is fenced, and come back."""
        admin, part = self.users['admin'].pclouds, (
            f'nova-compute-{self._real(name)}')
        self._kill(part)
        admin.set_fenced('gpu', self._real(name), True)
        waiting.until(
            lambda: {self._real(other)} == set(map(
                self.host_of, self.started)),
            lambda: f'the servers have moved: {self._shown()}')
        launcher.start_service(self.where, part)
        admin.set_fenced('gpu', self._real(name), False)
        waiting.until(
            lambda: self._shown()[name] == ('enabled', None),
            lambda: f'the host is back: {self._shown()}')

    def test_mariadb_restarted(self):
        alice = self.users['alice'].pclouds
        with self._use():
            self.mariadb.kill()
            for _ in range(5):
                try:
                    alice.add_host(self.shop.id, 'h3', 'gpu')
                    self.fail('a host was added without a database')
                except TROUBLE as error:
                    self.counts[f'meanwhile: {error}'[:120]] += 1
            self.mariadb.start()

    def test_compute_down_and_back(self):
        name = f'nova-compute-{self._real("h1")}'
        self._kill(name)
        self._wait_for_status('h1', 'down')
        for _ in range(4):
            self._try_boot({'pcloud': self.shop.id})
        self.assertEqual({self._real('h2')},
                         {self.host_of(each) for each in self.started})
        launcher.start_service(self.where, name)
        self._wait_for_status('h1', 'up')

    def test_free_host_down(self):
        """A host whose compute is down is given to no project."""
        pclouds = self.users['admin'].pclouds
        free, = [each.host for each in pclouds.get_host_flavor('gpu').hosts
                 if each.pcloud is None]
        name = f'nova-compute-{free}'
        launcher.stop_service(self.where, name)
        deadline = time.monotonic() + NOTICED
        while pclouds.get_host_flavor('gpu').available:
            self.assertLess(time.monotonic(), deadline)
            time.sleep(1)
        with self.assertRaises(exceptions.Conflict):
            self.users['alice'].pclouds.add_host(self.shop.id, 'x', 'gpu')
        launcher.start_service(self.where, name)
        while not pclouds.get_host_flavor('gpu').available:
            self.assertLess(time.monotonic(), deadline + NOTICED)
            time.sleep(1)

    def _real(self, name):
        return self.users['admin'].pclouds.get_host(
            self.shop.id, name).hypervisor_hostname

    def _wait_for_status(self, name, status):
        deadline = time.monotonic() + NOTICED
        alice = self.users['alice'].pclouds
        while alice.get_host(self.shop.id, name).status != status:
            self.assertLess(time.monotonic(), deadline)
            time.sleep(1)

    def test_placement_refuses(self):
        alice = self.users['alice'].pclouds
        launcher.stop_service(self.where, 'placement')
        with self.assertRaises(TROUBLE) as caught:
            alice.add_host(self.shop.id, 'h3', 'gpu')
        self.counts[f'meanwhile: {caught.exception}'[:120]] += 1
        with self.assertRaises(TROUBLE) as caught:
            alice.remove_host(self.shop.id, 'h2')
        self.assertEqual(2, len(alice.list_hosts(self.shop.id)))
        self.assertNotEqual('ACTIVE', self._try_boot({}))
        self.assertNotEqual(
            'ACTIVE', self._try_boot({'pcloud': self.shop.id}))
        launcher.start_service(self.where, 'placement')
