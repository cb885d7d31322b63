# SPDX-License-Identifier: Apache-2.0
"""Hosts change hands all the time while servers are built, fail and move.

An observer that reads the databases alone knows who has which host when, and
which servers are on it.
"""

import collections
import itertools
import os
import random
import sys
import threading
import time
import traceback

import fixtures

from pcloud.audit import all_checks
from pcloud.tests.support import base
from pcloud.tests.support import databases
from pcloud.tests.support import driver
from pcloud.tests.support import one_cell
from pcloud.tests.support import stored

# How many servers have to become active, and how many hosts to change hands.
SERVERS = int(os.environ.get('PCLOUD_TEST_SERVERS', 40))
CHANGES = SERVERS // 4
_MOST = int(os.environ.get('PCLOUD_TEST_MULTI_CREATE', 8))
_PAUSE = 0.5
_PCLOUD, _POOL = 'Pcloud:', 'Pcloud:host_flavor:'


class Observer:
    """Reads who has which host, and the servers that are there.

    :ivar samples: how often
    :ivar seen: the servers that were ever seen active
    :ivar violations: what must not be
    """

    def __init__(self, rows, owners):
        self._rows, self._owners = rows, owners
        self.samples = 0
        self.seen = set()
        self.violations = set()

    def look(self):
        """Look once. Only what holds before and after counts."""
        before = self.holders()
        servers = self._rows.servers()
        after, due = self.holders(), self._rows.dues()
        self.samples += 1
        for each in servers:
            self.seen.add(each.uuid)
            if before.get(each.host) == after.get(each.host):
                self._check(each, after, due)

    def holders(self):
        """Return the hosts of pools to their Pclouds, or to None."""
        found = {}
        for name, host in self._rows.members():
            if name.startswith(_POOL):
                found.setdefault(host, None)
            elif name.startswith(_PCLOUD):
                if found.get(host):
                    self.violations.add(f'{host} is in {name} and another')
                found[host] = name.removeprefix(_PCLOUD)
        return found

    def _check(self, server, holders, due):
        if server.host not in holders:
            is_right = server.hint is None
        elif holders[server.host] is None:
            # While it settles nobody else can have it.
            is_right = server.host in due
        else:
            holder = holders[server.host]
            is_right = (server.hint or server.preferred, server.project) == (
                holder, self._owners[holder])
        if not is_right:
            self.violations.add(f'{server}, but {holders}')


class ChangingHandsTest(base.PcloudTestCase):
    """Two owners, servers of them and of everybody, and an administrator."""

    hosts = {f'node-{number}': 'az1' for number in range(1, 7)}
    compute_driver = 'fake.LateDriver'

    def setUp(self):
        self.useFixture(fixtures.MonkeyPatch(
            'nova.virt.fake.LateDriver', driver.LateDriver))
        # The largest multi-create fits on a single host.
        self.flags(initial_ram_allocation_ratio=_MOST / 8,
                   initial_cpu_allocation_ratio=16.0,
                   initial_disk_allocation_ratio=4.0)
        super().setUp()
        self.useFixture(one_cell.OneCell())
        self.make_pool('gpu', 'node-1', 'node-2', 'node-3')
        self.pclouds = {base.ALICE: self.make_pcloud(self.alice),
                        base.BOB: self.make_pcloud(self.bob)}
        connections = [
            databases.to(engine.url) for engine in self.engines()]
        for each in connections:
            self.addCleanup(each.close)
        rows = stored.Rows(*connections)
        self.observer = Observer(rows, {
            pcloud: owner for owner, pcloud in self.pclouds.items()})
        self.stop = threading.Event()
        self.answers = collections.Counter()
        self.errors = []

    def test_no_server_is_where_it_has_no_right(self):
        threads = [threading.Thread(target=self._guard, args=work) for work
                   in itertools.chain(
                       ((self._fill_and_empty,), (self._observe,)),
                       ((self._own, project) for project in self.pclouds),
                       ((self._boot, project, hints)
                        for project, hints in self._senders()))]
        for thread in threads:
            thread.start()
        self._wait_for_progress()
        for thread in threads:
            thread.join()
        self.assertEqual('', '\n'.join(self.errors))
        self.assertEqual(set(), self.observer.violations)
        self.assertEqual([], all_checks.find(self.context, settle=0))
        print(self._figures(), file=sys.__stderr__, flush=True)

    def _senders(self):
        yield base.CAROL, {}
        yield base.CAROL, {}
        for project, pcloud in self.pclouds.items():
            yield project, {'pcloud': pcloud}
        # She is no tenant there.
        for name in ('pcloud', 'pcloud_prefer'):
            yield base.ALICE, {name: self.pclouds[base.BOB]}
        yield base.BOB, {'pcloud_prefer': self.pclouds[base.BOB]}

    def _wait_for_progress(self):
        while not self.errors and not self.observer.violations and (
                len(self.observer.seen) < SERVERS or
                self.answers['joined', 201] < CHANGES or
                self.answers['left', 204] < CHANGES):
            time.sleep(_PAUSE)
        self.stop.set()

    def _figures(self):
        return (f'{len(self.observer.seen)} servers active, '
                f'{len(driver.LateDriver.failed)} failed late, '
                f'{self.observer.samples} samples, {dict(self.answers)}')

    def _guard(self, work, *arguments):
        try:
            work(*arguments)
        except Exception:
            self.errors.append(traceback.format_exc())
            self.stop.set()

    def _call(self, what, user, method, path, body=None):
        response = user.call(method, path, body)
        self.answers[what, response.status_code] += 1
        self.assertLess(response.status_code, 500, response.text)
        return response.status_code

    def _observe(self):
        while not self.stop.is_set():
            self.observer.look()
            time.sleep(0.02)

    def _fill_and_empty(self):
        """Put public hosts into the pool, and take free ones out."""
        admin = self.client_of('admin', base.CAROL, ['admin'])
        path = '/os-host-flavors/gpu/hosts'
        while not self.stop.is_set():
            host = random.choice(list(self.hosts))
            # Not from the client of all threads, whose microversion changes
            # while one of them makes the body of a server.
            service = admin.get_services(
                binary='nova-compute', host=host)[0]['id']
            if host in self.observer.holders():
                if self._call('emptied', admin, 'DELETE',
                              f'{path}/{host}') == 204:
                    admin.put_service(service, {'status': 'enabled'})
            else:
                admin.put_service(service, {'status': 'disabled'})
                if self._call('filled', admin, 'POST', path, {
                        'host': {'host': host}}) != 201:
                    admin.put_service(service, {'status': 'enabled'})
            self.stop.wait(_PAUSE)

    def _own(self, project):
        """Have hosts join and leave a Pcloud."""
        user = self.client_of('owner', project)
        path = f'/os-pclouds/{self.pclouds[project]}/hosts'
        for number in itertools.count():
            if self.stop.is_set():
                return
            self._call('joined', user, 'POST', path, {
                'host': {'name': f'h{number}', 'host_flavor': 'gpu'}})
            for each in user.get_json(path)['hosts']:
                self._change(user, f'{path}/{each["name"]}', each['state'])
            self.stop.wait(_PAUSE)

    def _change(self, user, path, state):
        chance = random.random()
        if state == 'enabled' and chance < 0.4:
            self._call('set', user, 'PUT', path, {
                'host': {'state': 'disabled'}})
        elif state == 'disabled' and chance < 0.6:
            self._call('left', user, 'DELETE', path)
        elif state == 'disabled':
            self._call('set', user, 'PUT', path, {
                'host': {'state': 'enabled'}})

    def _boot(self, project, hints):
        """Have servers built, resized and deleted, several at once."""
        user = self.client_of('user', project)
        while not self.stop.is_set():
            made = self._create(user, hints)
            for server in made:
                self._until(user, server, lambda found: (
                    found is None or found['status'] != 'BUILD'))
            if made and random.random() < 0.5:
                self._resize(user, random.choice(made))
            for server in made:
                user.call('DELETE', f'/servers/{server}')
            for server in made:
                self._until(user, server, lambda found: found is None)

    def _create(self, user, hints):
        number = random.randint(1, _MOST)
        body = {'server': {
            **self._build_server(flavor_id='1', networks='none', az='az1'),
            'min_count': number, 'return_reservation_id': True},
            'os:scheduler_hints': hints}
        response = user.call('POST', '/servers', body)
        self.answers['created', response.status_code] += 1
        self.assertEqual(202, response.status_code, response.text)
        reservation = response.json()['reservation_id']
        return [each['id'] for each in user.get_json(
            f'/servers?reservation_id={reservation}')['servers']]

    def _resize(self, user, server):
        response = user.call('POST', f'/servers/{server}/action', {
            'resize': {'flavorRef': '2'}})
        self.answers['resized', response.status_code] += 1
        if response.status_code != 202:
            return
        found = self._until(user, server, lambda found: (
            found is None or found['OS-EXT-STS:task_state'] is None))
        if found and found['status'] == 'VERIFY_RESIZE':
            action = random.choice(('confirmResize', 'revertResize'))
            user.call('POST', f'/servers/{server}/action', {action: None})
            self._until(user, server, lambda found: (
                found is None or found['status'] != 'VERIFY_RESIZE' and
                found['OS-EXT-STS:task_state'] is None))

    def _until(self, user, server, is_done):
        while True:
            response = user.call('GET', f'/servers/{server}')
            found = (None if response.status_code == 404
                     else response.json()['server'])
            if is_done(found):
                return found
            time.sleep(_PAUSE)
