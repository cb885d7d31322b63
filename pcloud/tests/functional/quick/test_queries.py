# SPDX-License-Identifier: Apache-2.0

"""The number of queries of a call does not grow with what there is."""

import functools

from nova.db.api import api as api_db
from oslo_utils import fixture as utils_fixture
from placement import db_api as placement_db

from pcloud.tests.support import base
from pcloud.tests.support import bulk
from pcloud.tests.support import counting
from pcloud.tests.support import shared_cloud
from pcloud.tests.support import tenancy

# Stands for the query that names each server of the user.
_EACH_SERVER = '<each server>'


def _calls(path):
    """Return how often a GET asks Placement that was made a moment ago."""
    return int('/hosts' in path)


class QueryTest(shared_cloud.SharedCloudTestCase):
    """Counts statements of all databases, and calls to Placement."""

    hosts = {f'node-{number}': 'az1' for number in range(1, 7)}

    def _cost(self, user, path):
        path = path.replace(_EACH_SERVER, '&'.join(
            f'server={server["id"]}' for server in user.get_servers()))
        count = counting.least(lambda: user.get_json(path))
        self.assertGreater(count.sql, 0)
        self.assertEqual(_calls(path), count.http, path)
        return count.sql

    def test_reads_cost_the_same_for_few_and_many(self):
        self.assertIsNotNone(api_db.get_engine())
        self.make_pool('gpu', 'node-1', 'node-2')
        pcloud = self.make_pcloud(self.alice)
        # One host is asked for in another way, which costs one statement less.
        for name in ('a', 'a2'):
            self.add_host(self.alice, pcloud, name, 'gpu')
        paths = ['/os-host-flavors', '/os-host-flavors/gpu', '/os-pclouds',
                 f'/os-pclouds/{pcloud}', f'/os-pclouds/{pcloud}/hosts',
                 f'/os-pclouds/{pcloud}/hosts/a',
                 f'/os-pclouds/{pcloud}/tenants',
                 f'/os-pcloud-quotas/{base.ALICE}',
                 '/os-pcloud-servers', f'/os-pcloud-servers?{_EACH_SERVER}']
        for number in range(1, 7):
            self.admin.call_json('PUT', '/os-pcloud-attributes/rack', {
                'attribute': {'value': f'r{number}',
                              'hosts': [f'node-{number}']}})
        # A cell without a server of the project is not asked.
        self.boot(self.alice, {'pcloud': pcloud})
        few = {path: self._cost(self.alice, path) for path in paths}

        self.make_pool('big', 'node-3', 'node-4', 'node-5', 'node-6')
        for name in 'bcdef':
            self.make_pcloud(self.alice, name)
        for number in range(4):
            self.add_host(self.alice, pcloud, f'h{number}', 'big')
        for _ in range(3):
            self.boot(self.alice, {'pcloud': pcloud})
        many = {path: self._cost(self.alice, path) for path in paths}
        self.assertEqual(few, many)
        # So that a change for the worse is seen here first.
        # What Placement is asked for costs Placement ten statements.
        self.assertLessEqual(max(
            cost - 10 * _calls(path) for path, cost in many.items()), 16, many)


class BigCloudTest(shared_cloud.SharedCloudTestCase):
    """Counts what every call costs where most hosts are only rows."""

    own_cloud = True
    hosts = {'node-1': 'az1'}

    def setUp(self):
        super().setUp()
        # Nobody reports for services that do not run.
        self.flags(service_down_time=1000000)
        self.flags(quota_units=-1, group='pcloud')
        # Who has held a host for no second has nothing to add to the sums of
        # usage: else the statements would depend on the speed of the machine.
        self.useFixture(utils_fixture.TimeFixture())
        self.users = {tenancy.Who.OWNER: self.alice,
                      tenancy.Who.TENANT: self.bob,
                      tenancy.Who.ADMIN: self.admin}

    def _call(self, call):
        self.users[call.who].call_json(call.method, call.path, call.body)

    def _costs(self, prefix, hosts, pclouds):
        """Fill a cloud; return what each call costs."""
        there = tenancy.fill(
            bulk.Rows(placement_db.get_placement_engine()), 'node-1',
            prefix, hosts, pclouds, base.ALICE, base.BOB)
        found = {
            (call.who, call.name): counting.least(
                functools.partial(self._call, call), 3)
            for call in tenancy.reads(there)}
        for (_, name), cost in found.items():
            self.assertEqual(_calls(name), cost.http, name)
        # They undo each other, so they take turns.
        writes = tenancy.writes(there)
        counts = [[counting.count(functools.partial(self._call, call))
                   for call in writes] for _ in range(3)]
        return found | {
            (number, call.method, call.name): min(each)
            for number, (call, each) in enumerate(
                zip(writes, zip(*counts, strict=True), strict=True))}

    def test_calls_cost_the_same_in_small_and_large_clouds(self):
        few = self._costs('small', hosts=40, pclouds=4)
        # More free hosts of one flavor than are looked at at first.
        many = self._costs('large', hosts=3000, pclouds=200)
        self.assertEqual(few, many)
        # So that a change for the worse is seen here first. Of the statements
        # of the first call nine are Placement's, and seven are for listeners.
        costs = [cost for key, cost in many.items() if key[0] in (0, 4)]
        self.assertEqual(
            [counting.Count(43, 3), counting.Count(17, 0)], costs)

    def test_a_host_costs_the_same_in_small_and_large_pclouds(self):
        hosts = {number: [f'h{number}-{each}' for each in range(number)]
                 for number in (2, 60)}
        # So many that a free host is among those that are drawn first.
        free = {number: [f'free-{number}-{each}' for each in range(20)]
                for number in hosts}
        rows = bulk.Rows(placement_db.get_placement_engine())
        for number, members in hosts.items():
            rows.hosts('node-1', [*members, *free[number]])
        made = {number: bulk.pcloud(
            base.ALICE, members, rows.ratios('node-1'))
            for number, members in hosts.items()}
        rows.aggregates([
            *made.values(), *(bulk.pool(f'of-{number}', [
                *members, *free[number]])
                for number, members in hosts.items())])
        few, many = (self._costs_in(made[number].id, f'of-{number}',
                                    hosts[number][0])
                     for number in hosts)
        self.assertEqual(few, many)

    def _costs_in(self, pcloud, flavor, host):
        hosts = f'/os-pclouds/{pcloud}/hosts'
        calls = [
            ('POST', hosts, {'host': {'name': 'n', 'host_flavor': flavor}}),
            ('GET', f'{hosts}/{host}', None),
            ('PUT', f'{hosts}/{host}', {'host': {'state': 'disabled'}}),
            ('PUT', f'{hosts}/{host.upper()}', {'host': {'state': 'enabled'}}),
            ('DELETE', f'{hosts}/n', None)]
        counts = [[counting.count(functools.partial(
            self.alice.call_json, *call)) for call in calls]
            for _ in range(3)]
        return [min(each) for each in zip(*counts, strict=True)]
