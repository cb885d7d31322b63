# SPDX-License-Identifier: Apache-2.0

"""Clients that request the same host, name or quota at the same moment."""

import contextlib
import datetime
import functools
import random
import threading
import time
import uuid

from nova import context as nova_context
from nova import objects
from oslo_utils import timeutils
import testtools

from pcloud.audit import all_checks
from pcloud.backend.changes import journal
from pcloud.tests.concurrency import cloud
from pcloud.tests.concurrency import crowd
from pcloud.tests.support import bulk
from pcloud.tests.support import ledger
from pcloud.worker import passes

CLIENTS = 10
REFUSALS = {403, 404, 409}


class FightTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.cloud = cloud.get()
        self.flavor = f'f{uuid.uuid4().hex[:8]}'
        crowd.User.answers.clear()

    def _user(self, project_id=None, **more):
        return crowd.User(self.cloud.urls,
                          project_id or uuid.uuid4().hex, **more)

    def _check(self, responses, **counts):
        """Nothing but grants and refusals, and every promise kept."""
        tally = crowd.codes(responses)
        print(f'\n{self.id().rsplit(".", 1)[1]}: {len(responses)} tried, '
              f'answers {tally}, {counts}', flush=True)
        self.assertLessEqual(set(tally), {200, 201, 204} | REFUSALS,
                             self.cloud.errors())
        self.assertEqual([], ledger.broken_promises())
        self.assertEqual([], all_checks.find(
            nova_context.get_admin_context(), settle=0))

    def _ask(self, users, pclouds, add):
        """Have all users request a host at once.

        :returns: all answers, and (user, Pcloud) of each granted request
        """
        asked = crowd.at_once([
            functools.partial(add, user, pcloud)
            for user, pcloud in zip(users, pclouds)])
        self.assertLessEqual(set(crowd.codes(asked)), {201, 409},
                             self.cloud.errors())
        return asked, [
            (user, pcloud) for user, pcloud, answer
            in zip(users, pclouds, asked) if answer.status_code == 201]

    def test_few_hosts(self):
        """Ten Pclouds, five hosts, twelve rounds."""
        hosts = self.cloud.seed(self.flavor, 5)
        users = [self._user() for _ in range(CLIENTS)]
        pclouds = [user.make_pcloud() for user in users]
        responses, full = [], 0
        for _ in range(12):
            asked, held = self._ask(
                users, pclouds, lambda user, pcloud: user.add_host(
                    pcloud, 'a', self.flavor))
            responses += asked
            self.assertLessEqual(len(held), len(hosts))
            self.assertEqual([], ledger.broken_promises())
            full += len(held) == len(hosts)
            responses += crowd.at_once([
                functools.partial(user.remove_host, pcloud, 'a')
                for user, pcloud in held])
        self._check(responses, rounds_in_which_all_hosts_went=full)
        # What is free at the end is to be had.
        self.assertEqual(201, users[0].add_host(
            pclouds[0], 'a', self.flavor).status_code)

    def test_by_constraints(self):
        """Ten Pclouds, four host flavors with a host each that fit."""
        mark = f'm{self.flavor}'
        admin = self._user(admin=True)
        hosts = [host for number in range(4)
                 for host in self.cloud.seed(f'{self.flavor}-{number}', 1)]
        self.assertEqual(200, admin.call(
            'PUT', f'/os-pcloud-attributes/{mark}', {'attribute': {
                'value': 'yes', 'hosts': hosts}}).status_code)
        users = [self._user() for _ in range(CLIENTS)]
        pclouds = [user.make_pcloud() for user in users]
        responses, full = [], 0
        for _ in range(8):
            asked, held = self._ask(
                users, pclouds, lambda user, pcloud: self._add_fitting(
                    user, pcloud, mark))
            responses += asked
            full += len(held) == len(hosts)
            responses += crowd.at_once([
                functools.partial(user.remove_host, pcloud, 'a')
                for user, pcloud in held])
        self._check(responses, rounds_in_which_all_hosts_went=full)
        self.assertEqual(201, self._add_fitting(
            users[0], pclouds[0], mark).status_code)

    def _add_fitting(self, user, pcloud, mark):
        return user.call('POST', f'/os-pclouds/{pcloud}/hosts', {
            'host': {'name': 'a', 'constraints': f'{mark}=yes'}})

    def test_one_policy(self):
        """Ten requests that set the constraints of one Pcloud."""
        user = self._user()
        path = f'/os-pcloud-policies/pcloud/{user.make_pcloud()}'
        responses = []
        for _ in range(10):
            wishes = [f'a{number}=1' for number in range(CLIENTS)]
            asked = crowd.at_once([
                functools.partial(user.call, 'PUT', path, {
                    'policy': {'constraints': wish}}) for wish in wishes])
            responses += asked
            self.assertIn(200, crowd.codes(asked))
            self.assertIn(user.call('GET', path).json()[
                'policy']['constraints'], wishes)
        self._check(responses)

    def test_one_pcloud_if_absent(self):
        """Ten requests for one Pcloud, of which one creates the Pcloud."""
        user = self._user()
        responses = []
        for number in range(10):
            body = {'pcloud': {'name': f'farm{number}'}}
            asked = crowd.at_once([functools.partial(
                user.call, 'POST', '/os-pclouds?if_absent=1', body)] * CLIENTS)
            responses += asked
            self.assertEqual({200: CLIENTS - 1, 201: 1}, crowd.codes(asked))
            self.assertEqual(1, len({
                answer.json()['pcloud']['id'] for answer in asked}))
        self._check(responses)

    def test_one_name(self):
        """Ten requests for one name, in all letter cases."""
        self.cloud.seed(self.flavor, CLIENTS)
        user = self._user()
        pcloud = user.make_pcloud()
        responses = []
        for number in range(10):
            name = f'web{number}'
            asked = crowd.at_once([
                functools.partial(
                    user.add_host, pcloud, random.choice(
                        [name, name.upper(), name.title()]), self.flavor)
                for _ in range(CLIENTS)])
            self.assertEqual(1, crowd.codes(asked)[201])
            responses += asked
            self.assertEqual(204, user.remove_host(
                pcloud, name).status_code)
        self._check(responses)

    def test_last_unit_of_quota(self):
        """One project, ten Pclouds, capacity for three of twelve hosts."""
        self.cloud.seed(self.flavor, 12, units=2)
        user = self._user()
        limit = self._user(admin=True).call(
            'PUT', f'/os-pcloud-quotas/{user.project_id}',
            {'quota': {'units': {'limit': 7}}})
        self.assertEqual(200, limit.status_code, limit.text)
        pclouds = [user.make_pcloud() for _ in range(CLIENTS)]
        responses, exhausted = [], 0
        for _ in range(10):
            asked = crowd.at_once([
                functools.partial(user.add_host, pcloud, 'a', self.flavor)
                for pcloud in pclouds])
            responses += asked
            in_use = self._in_use(user)
            self.assertLessEqual(in_use, 7)
            exhausted += in_use == 6
            responses += crowd.at_once([
                functools.partial(user.remove_host, pcloud, 'a')
                for pcloud, answer in zip(pclouds, asked)
                if answer.status_code == 201])
            self.assertEqual(0, self._in_use(user))
        self._check(responses, rounds_in_which_the_quota_was_used=exhausted)
        self.assertEqual(201, user.add_host(
            pclouds[0], 'a', self.flavor).status_code)

    def test_hosts_let_go(self):
        """One project loops over three Pclouds while a build goes on."""
        self.cloud.seed(self.flavor, 12)
        user, other = self._user(), self._user()
        self.assertEqual(200, self._user(admin=True).call(
            'PUT', f'/os-pcloud-quotas/{user.project_id}',
            {'quota': {'units': {'limit': 5}}}).status_code)
        pclouds = [user.make_pcloud() for _ in range(3)]
        context = nova_context.get_admin_context()
        with self._build_under_way(context):
            work = crowd.at_once([
                functools.partial(self._add_and_let_go, user,
                                  pclouds[number % 3], f'a{number}')
                for number in range(3 * CLIENTS)])
            # Calls that get in each other's way leave hosts in the Pcloud.
            settling = sum(journal.released_by(
                context, user.project_id).values())
            self.assertEqual(5, self._in_use(user) + settling)
            self.assertGreater(settling, 0)
            self.assertEqual(201, other.add_host(
                other.make_pcloud(), 'a', self.flavor).status_code)
        responses = [each for part in work for each in part]
        # Nobody has to run for the hosts to settle.
        added = [user.add_host(pclouds[0], f'b{number}', self.flavor)
                 for number in range(settling)]
        self.assertEqual({201: settling}, crowd.codes(added))
        self.assertEqual(5, self._in_use(user))
        self._check(responses)

    def _add_and_let_go(self, user, pcloud, name):
        """Add, enable, disable and remove a host, unless it is refused."""
        responses = [user.add_host(pcloud, name, self.flavor)]
        if responses[0].status_code == 201:
            responses += [user.set_state(pcloud, name, 'enabled'),
                          user.set_state(pcloud, name, 'disabled'),
                          user.remove_host(pcloud, name)]
        return responses

    @contextlib.contextmanager
    def _build_under_way(self, context):
        """Have a server being built whose request nobody can read."""
        cell = next(each for each in objects.CellMappingList.get_all(context)
                    if not each.is_cell0())
        with nova_context.target_cell(context, cell) as targeted:
            server = objects.Instance(
                targeted, project_id=uuid.uuid4().hex, user_id='user',
                uuid=str(uuid.uuid4()), vm_state='building')
            server.create()
        try:
            yield
        finally:
            with nova_context.target_cell(context, cell) as targeted:
                objects.Instance.get_by_uuid(
                    targeted, server.uuid).destroy()

    def test_several_at_once(self):
        """Ten Pclouds ask for three hosts each, of ten: all or none."""
        self.cloud.seed(self.flavor, 10)
        users = [self._user() for _ in range(CLIENTS)]
        pclouds = [user.make_pcloud() for user in users]
        responses = []
        for _ in range(6):
            asked, held = self._ask(
                users, pclouds, lambda user, pcloud: user.call(
                    'POST', f'/os-pclouds/{pcloud}/hosts', {'host': {
                        'name': 'a', 'host_flavor': self.flavor,
                        'count': 3}}))
            responses += asked
            sizes = [len(user.call(
                'GET', f'/os-pclouds/{pcloud}/hosts').json()['hosts'])
                for user, pcloud in zip(users, pclouds)]
            self.assertEqual(
                [0] * (CLIENTS - len(held)) + [3] * len(held), sorted(sizes))
            responses += crowd.at_once([
                functools.partial(user.remove_host, pcloud, f'a-{number}')
                for user, pcloud in held for number in (1, 2, 3)])
        self.assertIn(201, crowd.codes(responses))
        self._check(responses)

    def _in_use(self, user):
        return user.call(
            'GET', f'/os-pcloud-quotas/{user.project_id}'
        ).json()['quota']['units']['in_use']

    def test_coming_and_going(self):
        """Owners add, enable, disable and remove; ratios and tenants too."""
        hosts = self.cloud.seed(self.flavor, 6)
        until = time.monotonic() + 15
        twice, done = [], threading.Event()
        watcher = threading.Thread(
            target=self._watch, args=(twice, done))
        watcher.start()
        try:
            work = crowd.at_once([
                functools.partial(self._live, self._user(), until, seed)
                for seed in range(CLIENTS)])
        finally:
            done.set()
            watcher.join()
        responses = [each for part in work for each in part]
        self._check(responses, samples=twice.pop(0))
        self.assertEqual([], twice)
        self.assertEqual(set(), ledger.given_to(hosts) - self._enabled())

    def _watch(self, twice, done):
        """Look all the time whether two Pclouds have kept the same host."""
        twice.append(0)
        while not done.is_set():
            twice[0] += 1
            twice.extend(ledger.kept_twice())

    def _live(self, user, until, seed):
        """Make random calls of owners until the time is up."""
        chance = random.Random(seed)
        pcloud = user.make_pcloud()
        other = uuid.uuid4().hex
        acts = [
            lambda name: user.add_host(pcloud, name, self.flavor),
            lambda name: user.set_state(pcloud, name, 'enabled'),
            lambda name: user.set_state(pcloud, name, 'disabled'),
            lambda name: user.remove_host(pcloud, name),
            lambda name: user.call(
                'PUT', f'/os-pclouds/{pcloud}', {'pcloud': {
                    'cpu_allocation_ratio': chance.choice([None, 2, 8])}}),
            lambda name: user.call(
                'PUT', f'/os-pclouds/{pcloud}/tenants/{other}'),
            lambda name: user.call(
                'DELETE', f'/os-pclouds/{pcloud}/tenants/{other}'),
            lambda name: user.call('GET', f'/os-pclouds/{pcloud}/hosts'),
        ]
        responses = []
        while time.monotonic() < until:
            # Two at once, so that one owner's requests collide too.
            responses += crowd.at_once([
                functools.partial(chance.choice(acts), chance.choice('ab'))
                for _ in range(2)])
        return responses

    def _enabled(self):
        return {host for aggregate in ledger.pclouds()
                for host in aggregate.hosts
                if aggregate.metadata.get(
                    f'pcloud:host_state:{host}{bulk.NODE_SUFFIX}')
                == 'enabled'}

    def test_maintenances(self):
        """Maintenances come and go while workers look, five rounds."""
        self.cloud.seed(self.flavor, 4)
        admin, user = self._user(admin=True), self._user()
        pcloud = user.make_pcloud()
        for name in 'a', 'b':
            user.add_host(pcloud, name, self.flavor)
        path = f'/os-pclouds/{pcloud}'
        own = sorted(
            each['host'] for each in admin.call(
                'GET', f'/os-host-flavors/{self.flavor}').json()[
                    'host_flavor']['hosts'] if each['pcloud'] == pcloud)
        responses, joined = [user.call('PUT', path, {
            'pcloud': {'maintenance_policy': 'replace'}})], 0

        def look():
            passes.hosts(nova_context.get_admin_context(),
                         passes.immediately)
            return user.call('GET', path)

        def maintain(host, maintenance):
            return admin.call(
                'PUT', f'/os-host-flavors/{self.flavor}/hosts/{host}',
                {'host': {'maintenance': maintenance}})

        soon = timeutils.utcnow() + datetime.timedelta(hours=1)
        begin = {'from': f'{soon.replace(microsecond=0).isoformat()}Z',
                 'reason': 'fans'}
        for _ in range(5):
            responses += crowd.at_once([
                functools.partial(maintain, host, wish)
                for host in own for wish in (begin, None)] + [look] * 4)
            joined += len(user.call('GET', f'{path}/hosts').json()[
                'hosts']) > 2
        responses += [maintain(host, None) for host in own] + [look()]
        there = user.call('GET', f'{path}/hosts').json()['hosts']
        self.assertEqual(
            {'a': 'disabled', 'b': 'disabled'},
            {each['name']: each['state'] for each in there})
        self._check(responses, rounds_in_which_hosts_joined=joined)
        self.assertNotIn(404, crowd.codes(responses))

    def test_pcloud_deleted_while_a_host_is_added(self):
        """Either there is no Pcloud, or the Pcloud has the host."""
        self.cloud.seed(self.flavor, 2)
        user, chance = self._user(), random.Random(1)
        responses, deleted = [], 0

        def delete(pcloud):
            # At any moment of the other request.
            time.sleep(chance.uniform(0, 0.2))
            return user.call('DELETE', f'/os-pclouds/{pcloud}')

        for _ in range(30):
            pcloud = user.make_pcloud()
            added, removed = crowd.at_once([
                functools.partial(user.add_host, pcloud, 'a', self.flavor),
                functools.partial(delete, pcloud)])
            responses += [added, removed]
            deleted += removed.status_code == 204
            self.assertNotEqual(
                (201, 204), (added.status_code, removed.status_code))
            if added.status_code == 201:
                responses += [user.remove_host(pcloud, 'a'),
                              delete(pcloud)]
        self._check(responses, deleted_first=deleted)
