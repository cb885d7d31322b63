# SPDX-License-Identifier: Apache-2.0

"""One request stands still before each of its steps while another is done.

Chance finds such moments rarely; here every one of them is gone through.
"""

import collections
import itertools

import fixtures

from pcloud.audit import all_checks
from pcloud.backend.aggregates import isolation
from pcloud.backend.aggregates import pcloud_rows
from pcloud.backend.aggregates import readings
from pcloud import names
from pcloud.objects import allocation_ratios
from pcloud.tests.support import base
from pcloud.tests.support import shared_cloud
from pcloud.tests.support import steps

MOST_STEPS = 60


class Gate:
    """Lets something be done before the n-th write of a request."""

    def __init__(self):
        self.left = 0
        self.meanwhile = None

    def set(self, number, meanwhile):
        """Do `meanwhile` before the write of this number, from 1."""
        self.left, self.meanwhile = number, meanwhile

    @property
    def passed(self):
        """Whether that has been done."""
        return self.meanwhile is None

    def wrap(self, step):
        """Return a step that stops at the gate."""
        def wrapped(*args, **kwargs):
            self.left -= 1
            if self.left == 0:
                meanwhile, self.meanwhile = self.meanwhile, None
                meanwhile()
            return step(*args, **kwargs)
        return wrapped


def _cpu(ratio):
    return {'pcloud': {'cpu_allocation_ratio': ratio}}


class InterleavingTest(shared_cloud.SharedCloudTestCase):
    """Alice and Bob have a Pcloud each, with a ratio of its own.

    Two hosts are in the pool.

    :ivar free: what Placement has of the hosts while they are free
    """

    hosts = {'node-1': 'az1', 'node-2': 'az1'}

    def setUp(self):
        super().setUp()
        self.answers = collections.Counter()
        self.gate = Gate()
        for holder, name in steps.STEPS:
            self.useFixture(fixtures.MonkeyPatch(
                f'{holder.__module__}.{holder.__name__}.{name}'
                if isinstance(holder, type) else f'{holder.__name__}.{name}',
                self.gate.wrap(getattr(holder, name))))

    def furnish(self):
        super().furnish()
        self.flags(allocation_backoff=0, group='pcloud')
        self.make_pool('gpu', *self.hosts)
        self.free = self.dump()['providers']
        self.ids = {}
        self._make(self.alice, 3)
        self._make(self.bob, 5)

    def _call(self, user, method, path, body=None):
        response = user.call(method, path, body)
        self.assertLess(response.status_code, 500, response.text)
        self.answers[response.status_code] += 1
        return response

    def _make(self, user, ratio):
        self.ids[user.auth_user] = self.make_pcloud(user)
        user.call_json('PUT', self._path(user), _cpu(ratio))

    def _path(self, user, rest=''):
        return f'/os-pclouds/{self.ids[user.auth_user]}{rest}'

    def _add(self, user, name):
        return self._call(user, 'POST', self._path(user, '/hosts'), {
            'host': {'name': name, 'host_flavor': 'gpu'}})

    def _state(self, user, name, state):
        return self._call(user, 'PUT', self._path(user, f'/hosts/{name}'), {
            'host': {'state': state}})

    def _remove(self, user, name):
        return self._call(user, 'DELETE', self._path(user, f'/hosts/{name}'))

    def _ratio(self, user, ratio):
        return self._call(user, 'PUT', self._path(user), _cpu(ratio))

    def _check(self):
        self.assertEqual([], all_checks.find(self.context, settle=0))
        quota = self.admin.get_json(
            f'/os-pcloud-quotas/{base.ALICE}')['quota']['units']
        self.assertLessEqual(quota['in_use'], quota['limit'])
        taken = set()
        for each in isolation.closed_aggregates(self.context):
            if pcloud_rows.is_whole(each.name, each.metadata):
                taken |= self._check_pcloud(each)
        providers = self.dump()['providers']
        for node in self.free.keys() - taken:
            self.assertEqual(self.free[node][1], providers[node][1])

    def _check_pcloud(self, pcloud):
        nodes = {f'{host}.hv.example.org' for host in pcloud.hosts}
        named = names.hosts(pcloud.metadata)
        self.assertEqual(sorted(nodes), sorted(named.values()))
        self.assertEqual(len(named), len({name.lower() for name in named}))
        for host in names.stripped(pcloud.metadata, names.OWN_PREFIX):
            for ratio, value in readings.own_ratios(
                    pcloud.metadata, host).items():
                ratios = self.free[f'{host}.hv.example.org'][1]
                self.assertEqual(
                    ratios[allocation_ratios.RESOURCES[ratio]], value)
        return nodes

    def interleave(self, first, second):
        """Do `second` before each write of `first`, from the same start."""
        kept = self.keep()
        for number in itertools.count(1):
            self.assertLess(number, MOST_STEPS)
            self.gate.set(number, second)
            first()
            passed = self.gate.passed
            self.gate.set(0, None)
            self._check()
            if not passed:
                self.assertGreater(number, 1)
                return
            self.put_back(kept)

    def test_adding_while_another_pcloud_adds(self):
        self.interleave(
            lambda: self._add(self.alice, 'a'),
            lambda: [self._add(self.bob, name) for name in 'bc'])
        self.assertIn(409, self.answers)

    def test_adding_under_the_same_name(self):
        self.interleave(
            lambda: self._add(self.alice, 'web'),
            lambda: self._add(self.alice, 'WEB'))
        self.assertIn(409, self.answers)

    def test_adding_two_to_one_pcloud(self):
        self.interleave(
            lambda: self._add(self.alice, 'a'),
            lambda: [self._add(self.alice, name) for name in 'bc'])

    def test_adding_beyond_the_quota(self):
        self.admin.call_json(
            'PUT', f'/os-pcloud-quotas/{base.ALICE}',
            {'quota': {'units': {'limit': 1}}})
        self.interleave(
            lambda: self._add(self.alice, 'a'),
            lambda: self._add(self.alice, 'b'))
        self.assertIn(403, self.answers)

    def test_adding_to_a_pcloud_that_is_deleted(self):
        self.interleave(
            lambda: self._add(self.alice, 'a'),
            lambda: self._call(self.alice, 'DELETE', self._path(self.alice)))

    def test_adding_while_the_ratio_changes(self):
        self.interleave(
            lambda: self._add(self.alice, 'a'),
            lambda: self._ratio(self.alice, 7))

    def test_adding_while_hosts_leave_the_pool(self):
        def empty_pool():
            for host in self.hosts:
                self._call(self.admin, 'DELETE',
                           f'/os-host-flavors/gpu/hosts/{host}')

        self.interleave(lambda: self._add(self.alice, 'a'), empty_pool)

    def test_removing_while_another_pcloud_adds(self):
        self._add(self.alice, 'a')
        self.interleave(
            lambda: self._remove(self.alice, 'a'),
            lambda: [self._add(self.bob, name) for name in 'bc'])

    def test_removing_while_it_is_added_again(self):
        self._add(self.alice, 'a')
        self.interleave(
            lambda: self._remove(self.alice, 'a'),
            lambda: [self._add(self.alice, name) for name in 'abc'])

    def test_removing_twice(self):
        self._add(self.alice, 'a')
        self.interleave(
            lambda: self._remove(self.alice, 'a'),
            lambda: self._remove(self.alice, 'a'))

    def test_removing_while_it_is_enabled(self):
        self._add(self.alice, 'a')
        self.interleave(
            lambda: self._remove(self.alice, 'a'),
            lambda: self._state(self.alice, 'a', 'enabled'))

    def test_removing_while_the_ratio_changes(self):
        for ratio in (7, None):
            self._add(self.alice, 'a')
            self.interleave(
                lambda: self._remove(self.alice, 'a'),
                lambda: self._ratio(self.alice, ratio))

    def test_enabling_while_it_is_removed(self):
        self._add(self.alice, 'a')
        self.interleave(
            lambda: self._state(self.alice, 'a', 'enabled'),
            lambda: self._remove(self.alice, 'a'))

    def test_ratio_while_the_host_changes_hands(self):
        def change_hands():
            self._remove(self.alice, 'a')
            for name in 'bc':
                self._add(self.bob, name)

        self._add(self.alice, 'a')
        self.interleave(
            lambda: self._ratio(self.alice, 7), change_hands)

    def test_ratio_while_the_host_comes_back(self):
        def come_back():
            self._remove(self.alice, 'a')
            for name in 'bc':
                self._add(self.alice, name)

        self._add(self.alice, 'a')
        self.interleave(
            lambda: self._ratio(self.alice, None), come_back)

    def test_leaving_the_pool_while_a_pcloud_adds(self):
        self.interleave(
            lambda: self._call(self.admin, 'DELETE',
                               '/os-host-flavors/gpu/hosts/node-1'),
            lambda: [self._add(self.alice, name) for name in 'ab'])

    def test_deleting_a_pcloud_while_it_gets_a_host(self):
        self.interleave(
            lambda: self._call(self.alice, 'DELETE', self._path(self.alice)),
            lambda: self._add(self.alice, 'a'))
