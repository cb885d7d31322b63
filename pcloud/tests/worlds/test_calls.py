# SPDX-License-Identifier: Apache-2.0

"""Two and three changing calls, in every order of their steps."""

import itertools

import ddt

from pcloud.tests.support import base
from pcloud.tests.worlds import world

# Who calls what; {mine} is Alice's Pcloud, {theirs} is Bob's.
ALICE, BOB, CAROL = ((project, roles) for project, roles in (
    (base.ALICE, world.MEMBER), (base.BOB, world.MEMBER),
    (base.CAROL, world.ADMIN)))
CALLS = {
    'add': (*ALICE, 'POST', '/os-pclouds/{mine}/hosts', {
        'host': {'name': 'b', 'host_flavor': 'gpu'}}),
    'bob adds': (*BOB, 'POST', '/os-pclouds/{theirs}/hosts', {
        'host': {'name': 'b', 'host_flavor': 'gpu'}}),
    'remove': (*ALICE, 'DELETE', '/os-pclouds/{mine}/hosts/a'),
    'enable': (*ALICE, 'PUT', '/os-pclouds/{mine}/hosts/a', {
        'host': {'state': 'enabled'}}),
    'ratio': (*ALICE, 'PUT', '/os-pclouds/{mine}', {
        'pcloud': {'cpu_allocation_ratio': 7}}),
    'delete': (*ALICE, 'DELETE', '/os-pclouds/{mine}'),
    'empty pool': (*CAROL, 'DELETE', '/os-host-flavors/gpu/hosts/node-2'),
    'quota': (*CAROL, 'PUT', f'/os-pcloud-quotas/{base.ALICE}', {
        'quota': {'units': {'limit': 1}}}),
}

# With three of the longer ones there are too many orders for a night.
SHORT = ('enable', 'delete', 'quota')
THREES = (*itertools.combinations_with_replacement(SHORT, 3),
          *(('remove', *two) for two
            in itertools.combinations_with_replacement(SHORT, 2)))


class CallsTestCase(world.WorldTestCase):
    """A host of the pool is in Alice's Pcloud, and a host is free."""

    def setUp(self):
        super().setUp()
        self.make_pool('gpu', 'node-1')
        self.mine = self.make_pcloud(self.alice)
        self.theirs = self.make_pcloud(self.bob)
        self.alice.call_json('PUT', f'/os-pclouds/{self.mine}', {
            'pcloud': {'cpu_allocation_ratio': 3}})
        self.add_host(self.alice, self.mine, 'a', 'gpu', enable=False)
        self.disable_service('node-2')
        self.admin.call_json('POST', '/os-host-flavors/gpu/hosts', {
            'host': {'host': 'node-2'}})

    def caller(self, name, what):
        """Return the actor that makes a call."""
        project, roles, method, path, *body = CALLS[what]
        path = path.replace('{mine}', self.mine).replace(
            '{theirs}', self.theirs)
        return self.actor(name, (project, roles, (method, path, *body)))


@ddt.ddt
class PairsTest(CallsTestCase):
    """Each two calls."""

    @ddt.data(*itertools.combinations_with_replacement(CALLS, 2))
    @ddt.unpack
    def test_two(self, first, second):
        self.explore(self.caller('one', first), self.caller('two', second))


@ddt.ddt
class TriplesTest(CallsTestCase):
    """Each three short calls, and a removal with each two short calls."""

    @ddt.data(*THREES)
    @ddt.unpack
    def test_three(self, first, second, third):
        self.explore(self.caller('one', first), self.caller('two', second),
                     self.caller('three', third))
