# SPDX-License-Identifier: Apache-2.0

"""What projects hold of hosts, and what tenants use of Pclouds."""

import collections
import datetime
import decimal
import functools
import random
import threading
from unittest import mock

from nova import context as nova_context
from nova import objects
from oslo_db import exception as db_exc
from oslo_utils import fixture as utils_fixture
from oslo_utils import timeutils
import sqlalchemy as sa

from pcloud.audit import all_checks
from pcloud.backend.aggregates import span_rows
from pcloud.objects import looks
from pcloud.rules.usage import ledger
from pcloud.tests.functional.quick import test_api
from pcloud.tests.functional.quick import test_caps
from pcloud.tests.functional.quick import test_cells
from pcloud.tests.functional.quick import test_maintenance_policy
from pcloud.tests.support import base
from pcloud.tests.support import counting
from pcloud.tests.support import shadow_clock
from pcloud.tests.support import shared_cloud
from pcloud.usage import existing_hosts


class LedgerTestCase(test_api.ApiTestCase):
    """Pools of two host flavors, and a clock."""

    hosts = {f'node-{number}': 'az1' for number in range(1, 6)}

    def furnish(self):
        super().furnish()
        self.flags(quota_units=-1, group='pcloud')
        # Nobody reports while the clock runs.
        self.flags(service_down_time=10 ** 9)

    def setUp(self):
        super().setUp()
        self.clock = self.useFixture(utils_fixture.TimeFixture(
            datetime.datetime(2028, 2, 1)))
        self.pclouds = {user: self.make_pcloud(user)
                        for user in (self.alice, self.bob)}

    def now(self):
        return int(timeutils.utcnow_ts())

    def later(self, **delta):
        self.clock.advance_time_delta(datetime.timedelta(**delta))

    def add(self, user, name, flavor='gpu', **more):
        return self.check(201, user, 'POST', self.path(user), {
            'host': {'name': name, 'host_flavor': flavor, **more}})['host']

    def path(self, user):
        return f'/os-pclouds/{self.pclouds[user]}/hosts'

    def remove(self, user, name):
        self.check(204, user, 'DELETE', f'{self.path(user)}/{name}')

    def usage(self, user, month=None, by=None):
        """Return what a project has held: host flavor -> what is shown."""
        query = f'?month={month}' if month else ''
        shown = self.check(200, by or user, 'GET',
                           f'/os-pcloud-usage/{user.project_id}{query}')
        return {each.pop('id'): each
                for each in shown['usage']['host_flavors']}

    def set_flavor(self, flavor='gpu', **changes):
        return self.check(200, self.admin, 'PUT', f'/os-host-flavors/{flavor}',
                          {'host_flavor': changes})['host_flavor']


class LedgerTest(LedgerTestCase):

    def furnish(self):
        super().furnish()
        self.make_pool('gpu', 'node-1', 'node-2', 'node-3', units=8)
        self.make_pool('small', 'node-4', 'node-5', units=1)
        self.work()

    def test_life(self):
        self.assertEqual({}, self.usage(self.alice))
        self.add(self.alice, 'a')
        self.later(minutes=90)
        its = {'hosts': 1, 'host_hours': 1.5, 'unit_hours': 12.0}
        self.assertEqual({'gpu': its}, self.usage(self.alice))
        self.remove(self.alice, 'a')
        self.later(days=1)
        self.assertEqual({'gpu': its}, self.usage(self.alice))
        self.assertEqual({}, self.usage(self.bob))

    def test_answer(self):
        self.flags(currency='EUR', group='pcloud')
        self.set_flavor(price='2.5')
        self.add(self.alice, 'a')
        self.later(seconds=1)
        path = f'/os-pcloud-usage/{base.ALICE}'
        usage = self.check(200, self.alice, 'GET', path)['usage']
        self.assertEqual({
            'project': base.ALICE, 'month': '2028-02', 'complete': False,
            'currency': 'EUR', 'host_flavors': [{
                'id': 'gpu', 'hosts': 1, 'host_hours': 0.000278,
                'unit_hours': 0.002222, 'cost': '0.000694'}]}, usage)
        self.later(days=40)
        usage = self.check(200, self.alice, 'GET',
                           f'{path}?month=2028-02')['usage']
        self.assertTrue(usage['complete'])
        self.assertEqual(29 * 24, usage['host_flavors'][0]['host_hours'])
        self.assertEqual('1740.000000', usage['host_flavors'][0]['cost'])

    def test_months(self):
        self.add(self.alice, 'a')
        self.later(days=28, hours=23)
        self.remove(self.alice, 'a')
        self.assertEqual(28 * 24 + 23, self.usage(
            self.alice, '2028-02')['gpu']['host_hours'])
        self.later(hours=1)
        self.assertEqual({}, self.usage(self.alice))
        for wrong in ('2026-12', '2028-04', '2028-13', 'now', '2028-3'):
            self.check(400, self.alice, 'GET',
                       f'/os-pcloud-usage/{base.ALICE}?month={wrong}')
        self.assertEqual({}, self.usage(self.alice, '2027-02'))

    def test_days(self):
        self.set_flavor(price='1.000001')
        self.later(days=27, hours=23)
        self.add(self.alice, 'a')
        self.later(minutes=90)
        self.remove(self.alice, 'a')
        self.add(self.alice, 'b')
        self.later(seconds=7)
        path = f'/os-pcloud-usage/{base.ALICE}'
        self.assertNotIn('days', self.check(200, self.alice, 'GET', path)[
            'usage'])
        usage = self.check(200, self.alice, 'GET', f'{path}?by=day')['usage']
        days = usage['days']
        self.assertEqual(
            [f'2028-02-{day:02}' for day in range(1, 30)],
            [each['day'] for each in days])
        self.assertEqual([[]] * 27, [
            each['host_flavors'] for each in days[:27]])
        self.assertEqual(
            [[{'id': 'gpu', 'hosts': 1, 'host_hours': 1.0,
               'unit_hours': 8.0, 'cost': '1.000001'}],
             [{'id': 'gpu', 'hosts': 2, 'host_hours': 0.501944,
               'unit_hours': 4.015556, 'cost': '0.501945'}]],
            [each['host_flavors'] for each in days[27:]])
        shadow_clock.compare_days(self, usage)
        self.later(days=31)
        self.check(200, self.alice, 'GET', f'{path}?month=2028-02&by=day')
        self.later(days=1)
        for wrong in ('month=2028-02&by=day', 'by=hour', 'by=', 'by=month'):
            self.check(400, self.alice, 'GET', f'{path}?{wrong}')
        self.check(400, self.admin, 'GET', '/os-pcloud-usage?by=day')

    def test_who(self):
        self.add(self.alice, 'a')
        path = '/os-pcloud-usage'
        self.check(403, self.bob, 'GET', f'{path}/{base.ALICE}')
        self.check(403, self.alice, 'GET', path)
        self.later(hours=1)
        self.add(self.bob, 'b', 'small')
        self.later(hours=1)
        self.assertEqual(2, self.usage(
            self.alice, by=self.admin)['gpu']['host_hours'])
        pages = [self.check(200, self.admin, 'GET', f'{path}?limit=1{more}')
                 for more in ('', f'&marker={base.ALICE}',
                              f'&marker={base.BOB}')]
        self.assertEqual([[base.ALICE], [base.BOB], []], [
            [each['project'] for each in page['usages']] for page in pages])
        self.assertEqual(
            pages[0]['usages'] + pages[1]['usages'],
            self.check(200, self.admin, 'GET', path)['usages'])

    def test_a_clock_that_goes_backwards(self):
        self.add(self.alice, 'a')
        self.later(hours=-1)
        self.assertEqual({}, self.usage(self.alice))
        self.remove(self.alice, 'a')
        self.later(hours=5)
        self.assertEqual({}, self.usage(self.alice))

    def test_days_that_a_clock_has_left(self):
        self.add(self.alice, 'a')
        self.later(days=3)
        self.remove(self.alice, 'a')
        self.later(days=-2, hours=1)
        usage = self.check(200, self.alice, 'GET', (
            f'/os-pcloud-usage/{base.ALICE}?by=day'))['usage']
        self.assertEqual(
            ['2028-02-01', '2028-02-02', '2028-02-03'],
            [each['day'] for each in usage['days']])
        shadow_clock.compare_days(self, usage)

    def test_old_months_are_dropped(self):
        for _ in range(16):
            self.add(self.alice, 'a')
            self.later(days=10)
            self.remove(self.alice, 'a')
            self.later(days=21)
        months, days = self.periods()
        self.assertEqual(ledger.KEPT_MONTHS + 1, len(months), months)
        # Ten days of the present month, and ten of the one before.
        self.assertEqual((20, {*months[-2:]}), (
            len(days), {day[:7] for day in days}))
        # And so are spans that are longer than that.
        self.add(self.alice, 'a')
        self.later(days=900)
        self.remove(self.alice, 'a')
        months, days = self.periods()
        self.assertEqual(ledger.KEPT_MONTHS + 1, len(months))
        self.assertEqual(ledger.oldest(self.now()), months[0])
        self.assertEqual(f'{months[-2]}-01', days[0])
        self.assertEqual([], self.kinds())

    def periods(self):
        """Return the months and the days of which there are sums."""
        found = sorted(key.rpartition(':')[2] for key in self.journal()
                       if key.startswith('pcloud:sum:'))
        return ([each for each in found if len(each) == 7],
                [each for each in found if len(each) > 7])

    def journal(self):
        return self.aggregate('pcloud-journal').metadata

    def kinds(self):
        return [each.kind for each in all_checks.find(self.context, settle=0)]

    def test_rates(self):
        self.assertNotIn('price', self.set_flavor(description='big'))
        self.assertEqual('0.5', self.set_flavor(price='0.5')['price'])
        self.assertEqual('0.5', self.check(
            200, self.bob, 'GET', '/os-host-flavors/gpu')[
                'host_flavor']['price'])
        self.add(self.alice, 'a')
        self.later(hours=1)
        self.set_flavor(units=2, price='1.25')
        # A change in the same second takes the place of the one before.
        self.set_flavor(units=3)
        self.later(hours=2)
        self.assertNotIn('price', self.set_flavor(price=None))
        self.later(hours=4)
        self.assertEqual(
            {'hosts': 1, 'host_hours': 7, 'unit_hours': 8 + 2 * 3 + 4 * 3,
             'cost': '3.000000'}, self.usage(self.alice)['gpu'])
        for wrong in ('', '1,5', '-1', '1e3', '1.1234567', '.5', 7, '1' * 10):
            self.check(400, self.admin, 'PUT', '/os-host-flavors/gpu',
                       {'host_flavor': {'price': wrong}})
        self.assertEqual([], self.kinds())

    def test_deleted_host_flavor(self):
        self.check(201, self.admin, 'POST', '/os-host-flavors', {
            'host_flavor': {'id': 'x', 'units': 1, 'price': '7'}})
        self.set_flavor('x', price='8')
        self.check(204, self.admin, 'DELETE', '/os-host-flavors/x')
        self.assertEqual([], [key for key in self.journal()
                              if key.startswith('pcloud:rate:x:')])

    def test_nothing_is_lost_or_counted_twice(self):
        """Against a count that a client makes, over months and changes."""
        chance = random.Random(20280229)
        users = (self.alice, self.bob)
        held, units, prices = {}, {'gpu': 8, 'small': 1}, {}
        wanted = collections.defaultdict(lambda: [0, 0, 0])
        numbers = iter(range(10 ** 6))
        for _ in range(150):
            seconds = chance.choice([1, 59, 3600, 86399, 86400 * 3 + 7])
            begin = self.now()
            self.later(seconds=seconds)
            for user, name in held:
                self._count(wanted, user, held[user, name], begin, seconds,
                            units, prices)
            self._step(chance, users, held, units, prices, numbers)
        now = ledger.month_of(self.now())
        for user in users:
            for month in {month for _, _, month in wanted}:
                if ledger.oldest(self.now()) <= month <= now:
                    self._compare(wanted, user, month)
        self.assertEqual([], self.kinds())

    def _count(self, wanted, user, flavor, begin, seconds, units, prices):
        for month, its in ledger.used(
                ledger.Span(flavor, base.ALICE, begin, project='x'),
                begin + seconds, [(0, ledger.Rate(1))]).items():
            sums = wanted[user.project_id, flavor, month]
            sums[0] += its.seconds
            sums[1] += its.seconds * units[flavor]
            sums[2] += its.seconds * prices.get(flavor, 0)

    def _step(self, chance, users, held, units, prices, numbers):
        """Add or remove a host, or change a host flavor."""
        user, flavor = chance.choice(users), chance.choice(list(units))
        kind = chance.random()
        if kind < 0.15:
            units[flavor] = chance.randrange(10)
            self.set_flavor(flavor, units=units[flavor])
        elif kind < 0.3:
            prices[flavor] = decimal.Decimal(chance.randrange(1000)) / 100
            self.set_flavor(flavor, price=str(prices[flavor]))
        elif kind < 0.65 and list(held.values()).count(flavor) < (
                3 if flavor == 'gpu' else 2):
            name = f'h{next(numbers)}'
            self.add(user, name, flavor)
            held[user, name] = flavor
        elif held:
            user, name = chance.choice(sorted(
                held, key=lambda pair: pair[1]))
            self.remove(user, name)
            del held[user, name]

    def _compare(self, wanted, user, month):
        shown = self.usage(user, month)
        for flavor in ('gpu', 'small'):
            seconds, unit_seconds, cost = wanted[
                user.project_id, flavor, month]
            its = shown.get(flavor, {'host_hours': 0, 'unit_hours': 0})
            self.assertEqual(seconds, round(its['host_hours'] * 3600))
            self.assertEqual(unit_seconds, round(its['unit_hours'] * 3600))
            self.assertEqual(
                (decimal.Decimal(cost) / 3600).quantize(
                    decimal.Decimal('1e-6')),
                decimal.Decimal(its.get('cost', '0')))


class LostTest(LedgerTestCase):
    """Hosts join and leave while the database goes away."""

    def furnish(self):
        super().furnish()
        self.make_pool('gpu', 'node-1', units=2)
        self.work()

    def sums(self):
        """Return the hours of Alice, with those of hosts held now."""
        return self.usage(self.alice).get('gpu', {}).get('host_hours', 0)

    def rows(self):
        return [key for key in self.aggregate('pcloud-journal').metadata
                if key.startswith('pcloud:span:')]

    def test_each_statement_of_a_change_is_lost(self):
        """Whatever is lost, the span begins and ends with the membership."""
        hours = 0
        host = {'host': {'name': 'a', 'host_flavor': 'gpu'}}
        for number in range(3, 60, 3):
            with self._lost(number):
                self.alice.call('POST', self.path(self.alice), host)
            is_there = bool(self.alice.get_json(
                self.path(self.alice))['hosts'])
            self.assertEqual(is_there, bool(self.rows()), number)
            if not is_there:
                self.add(self.alice, 'a')
            self.later(hours=1)
            hours += 1
            with self._lost(number):
                self.alice.call('DELETE', f'{self.path(self.alice)}/a')
            is_there = bool(self.alice.get_json(
                self.path(self.alice))['hosts'])
            self.assertEqual(is_there, bool(self.rows()), number)
            self.assertEqual(hours, self.sums(), number)
            if is_there:
                self.remove(self.alice, 'a')
            self.later(hours=1)
            self.assertEqual(hours, self.sums(), number)

    def _lost(self, number):
        """Have a statement of the API database be lost."""
        return _Lost(self.engines()[0], number)


class _Lost:
    """The connection is lost before one of the statements to a database."""

    def __init__(self, engine, number):
        self._what = engine, 'before_cursor_execute', self._count
        self._left = number

    def __enter__(self):
        sa.event.listen(*self._what)

    def __exit__(self, *args):
        sa.event.remove(*self._what)

    def _count(self, *args):
        self._left -= 1
        if not self._left:
            raise db_exc.DBConnectionError()


class StandInTest(test_maintenance_policy.PolicyTestCase):
    """A host that stands in for another costs nothing."""

    def used(self):
        usage = self.alice.get_json(
            f'/os-pcloud-usage/{base.ALICE}')['usage']
        return sum(each['host_hours'] for each in usage['host_flavors'])

    def test_stand_in(self):
        self.choose('replace')
        self.announce()
        self.wait_until(self.replaced)
        self.assertEqual(3, len(self.names()))
        before = self.used()
        self.later(hours=0.75)
        self.assertAlmostEqual(before + 2 * 0.75, self.used(), 2)
        with mock.patch.object(self, 'work'):
            self.withdraw()
        before = self.used()
        self.later(hours=0.25)
        self.assertAlmostEqual(before + 3 * 0.25, self.used(), 2)
        self.assertEqual([], self.kinds())
        self.wait_until(self.left)
        before = self.used()
        self.later(hours=0.25)
        self.assertAlmostEqual(before + 2 * 0.25, self.used(), 2)

    def left(self):
        self.work()
        self.assertEqual(2, len(self.names()))

    def replaced(self):
        self.work()
        self.assertEqual(3, len(self.names()))


class PcloudUseTest(test_caps.CapsTestCase):
    """What the tenants use of a Pcloud."""

    def use(self, user=None, expected=200):
        answer = (user or self.alice).call(
            'GET', f'/os-pclouds/{self.pcloud}/usage')
        self.assertEqual(expected, answer.status_code, answer.text)
        return answer.json().get('usage')

    def test_tenants(self):
        self.assertEqual(
            [(base.ALICE, 0, 0), (base.BOB, 0, 0)],
            [(each['project'], each['servers'], each['share'])
             for each in self.use()['tenants']])
        self.boot(self.bob, self.inside, flavorRef=self.large)
        server = self.start_small(self.alice)
        self.start_small(self.bob, expected='ACTIVE')
        self.assertEqual(
            [{'project': base.ALICE, 'name': None, 'servers': 1, 'vcpus': 1,
              'memory_mb': 64, 'share': 0.2},
             {'project': base.BOB, 'name': None, 'servers': 2, 'vcpus': 4,
              'memory_mb': 256, 'share': 0.8}], self.use()['tenants'])
        self.shelve(server)
        self.alice.call_json('DELETE', self.tenant(self.bob) + '?force=1')
        self.assertEqual(
            [(base.ALICE, 0), (base.BOB, 2)],
            [(each['project'], each['servers'])
             for each in self.use()['tenants']])

    def test_hosts(self):
        hosts = self.use()['hosts']
        self.assertEqual(['a', 'b', 'c'], [each['name'] for each in hosts])
        for each in hosts:
            self.assertIsNotNone(each['since'])
            self.assertEqual(each['since'], each['empty_since'])
        self.admin.call_json('POST', '/os-host-flavors', {
            'host_flavor': {'id': 'none', 'units': 1}})

    def empty_since(self, host):
        """Return since when a service host is empty, None for servers."""
        name = next(each['name'] for each in self.admin.get_json(
            f'/os-pclouds/{self.pcloud}/hosts')['hosts']
            if each['hypervisor_hostname'].startswith(f'{host}.'))
        found = next(each['empty_since'] for each in self.use()['hosts']
                     if each['name'] == name)
        return found and timeutils.parse_isotime(found).replace(
            tzinfo=None)

    def test_a_server_leaves(self):
        """By each way; Nova's own records tell when."""
        server = self.start_small(self.alice, expected='ACTIVE')
        host = self.host_of(server)
        self.assertIsNone(self.empty_since(host))
        self.shelve(server)
        self.assertEqual(
            self.event(server, 'compute_shelve_instance'),
            self.empty_since(host))
        server = self.start_small(self.alice, expected='ACTIVE')
        before = self.host_of(server)
        self.admin.call_json('POST', f'/servers/{server["id"]}/action', {
            'os-migrateLive': {'host': None, 'block_migration': 'auto'}})
        after = self.wait_until(lambda: self.moved(server, before))
        move, = self.read(objects.MigrationList.get_by_filters, {
            'instance_uuid': server['id']})
        self.assertEqual(
            move.updated_at.replace(tzinfo=None, microsecond=0),
            self.empty_since(before))
        self.assertIsNone(self.empty_since(after))
        self.alice.delete_server(server['id'])
        self._wait_until_deleted(server)
        gone = self.read(objects.Instance.get_by_uuid, server['id'])
        self.assertEqual(
            gone.deleted_at.replace(tzinfo=None, microsecond=0),
            self.empty_since(after))

    def moved(self, server, before):
        found = self.admin.get_server(server['id'])
        self.assertEqual('ACTIVE', found['status'])
        self.assertNotEqual(before, self.host_of(found))
        move, = self.read(objects.MigrationList.get_by_filters, {
            'instance_uuid': server['id']})
        self.assertEqual('completed', move.status)
        return self.host_of(found)

    def read(self, function, what):
        """Return what Nova reads in the cell, deleted records too."""
        context = nova_context.get_admin_context(read_deleted='yes')
        cell, = (each for each in objects.CellMappingList.get_all(context)
                 if not each.is_cell0())
        with nova_context.target_cell(context, cell) as target:
            return function(target, what)

    def event(self, server, name):
        """Return when an event of a server has ended."""
        actions = self.read(
            objects.InstanceActionList.get_by_instance_uuid, server['id'])
        return next(
            each.finish_time.replace(tzinfo=None, microsecond=0)
            for action in actions for each in self.read(
                objects.InstanceActionEventList.get_by_action, action.id)
            if each.event == name)

    def test_who(self):
        self.use(self.bob, 403)
        self.use(self.carol, 404)
        self.assertEqual(self.use(), self.use(self.admin))


class SilentTest(test_cells.CellsTestCase):

    def test_unknown_use(self):
        path = f'/os-pclouds/{self.pcloud}/usage'
        tenant, = self.alice.get_json(path)['usage']['tenants']
        self.assertEqual(2, tenant['servers'])
        self.outage()
        self.assertEqual(503, self.alice.call('GET', path).status_code)


class CostTest(shared_cloud.SharedCloudTestCase):
    """What usage costs, however many hosts are held."""

    hosts = {f'node-{number}': 'az1' for number in range(1, 7)}

    def test_flat(self):
        self.clock = self.useFixture(utils_fixture.TimeFixture())
        self.make_pool('gpu', *self.hosts)
        pcloud = self.make_pcloud(self.alice)
        own = f'/os-pcloud-usage/{base.ALICE}'
        paths = [f'/os-pclouds/{pcloud}/usage', '/os-pcloud-usage', own,
                 f'{own}?by=day']
        costs = []
        for number in (1, 4):
            for each in range(number):
                self.add_host(self.alice, pcloud, f'h{number}-{each}', 'gpu')
            costs.append([counting.least(functools.partial(
                self.admin.get_json, path)).sql for path in paths])
            costs[-1].append(counting.least(self.set_price).sql)
        self.assertEqual(costs[0], costs[1])

    def test_a_host_that_leaves(self):
        self.clock = self.useFixture(utils_fixture.TimeFixture())
        self.make_pool('gpu', *self.hosts)
        self.work()
        pcloud = self.make_pcloud(self.alice)
        path = f'/os-pclouds/{pcloud}/hosts'
        costs = []
        for name in ('warm', 'without', 'first', 'second', 'third'):
            self.alice.call_json('POST', path, {
                'host': {'name': name, 'host_flavor': 'gpu'}})
            journal = self.aggregate('pcloud-journal')
            if name in ('warm', 'without'):
                journal.update_metadata({
                    key: None for key in journal.metadata
                    if key.startswith('pcloud:span:')})
            self.clock.advance_time_seconds(1)
            costs.append(counting.count(functools.partial(
                self.alice.call_json, 'DELETE', f'{path}/{name}')).sql)
        _, without, *others = costs
        # One reads, one writes, and one deletes the sums of before.
        self.assertEqual([2, 3, 3], [cost - without for cost in others])

    def set_price(self):
        self.clock.advance_time_seconds(1)
        self.admin.call_json('PUT', '/os-host-flavors/gpu', {
            'host_flavor': {'price': '1'}})


class ExistsTest(LedgerTestCase):
    """Billing is told once an hour of the hosts that are held."""

    def furnish(self):
        super().furnish()
        self.make_pool('gpu', 'node-1', 'node-2', units=8)
        self.work()

    def told(self):
        """Have a worker look; return what billing is told."""
        self.notifier.reset()
        self.work()
        return [each['payload']['nova_object.data']
                for each in self.notifier.versioned_notifications
                if each['event_type'] == 'pcloud.host.exists']

    def test_each_hour(self):
        self.told()
        self.set_flavor(price='1.5')
        self.add(self.alice, 'a')
        since = self.now()
        self.assertEqual([], self.told())
        self.later(minutes=59)
        self.assertEqual([], self.told())
        self.later(minutes=1)
        self.assertEqual([{
            'pcloud_id': self.pclouds[self.alice], 'owner': base.ALICE,
            'name': 'a', 'host_flavor': 'gpu', 'units': 8, 'price': '1.5',
            'since': since, 'hour': since + 3600}], self.told())
        self.assertEqual([], self.told())
        self.later(hours=30)
        self.add(self.bob, 'b')
        self.assertEqual(
            [('a', base.ALICE), ('b', base.BOB)],
            sorted((each['name'], each['owner']) for each in self.told()))

    def test_two_workers_tell_the_same_hour(self):
        """Both have looked before either has noted it."""
        self.told()
        for user, name in ((self.alice, 'a'), (self.bob, 'b')):
            self.add(user, name)
        self.later(hours=1)
        both, seen = threading.Barrier(2), looks.seen

        def see(context):
            found = seen(context)
            both.wait(60)
            return found

        self.notifier.reset()
        with mock.patch.object(looks, 'seen', see):
            workers = [threading.Thread(
                target=existing_hosts.tell,
                args=(nova_context.get_admin_context(), self.now()))
                for _ in range(2)]
            for worker in workers:
                worker.start()
            for worker in workers:
                worker.join()
        told = collections.Counter(
            tuple(each['payload']['nova_object.data'].items())
            for each in self.notifier.versioned_notifications)
        # The same to the letter: whoever keeps one an hour bills one.
        self.assertEqual([2, 2], list(told.values()))
        self.assertEqual(
            [('a', self.now()), ('b', self.now())],
            sorted((dict(each)['name'], dict(each)['hour'])
                   for each in told))
        self.assertEqual(1, self.usage(self.alice)['gpu']['host_hours'])
        self.assertEqual([], self.told())

    def test_an_hour_that_begins_while_a_worker_tells(self):
        self.told()
        self.add(self.alice, 'a')
        self.later(minutes=59, seconds=59)
        hour, tell = self.now() + 1, existing_hosts.tell

        def slowly(*args):
            tell(*args)
            self.later(seconds=2)

        with mock.patch.object(existing_hosts, 'tell', slowly):
            self.assertEqual([], self.told())
        self.assertEqual([hour], [each['hour'] for each in self.told()])

    def test_what_a_worker_could_not_tell_is_told_later(self):
        self.told()
        self.add(self.alice, 'a')
        self.later(hours=1)
        with mock.patch.object(span_rows, 'read',
                               side_effect=db_exc.DBConnectionError()):
            self.assertEqual([], self.told())
        self.assertEqual(['a'], [each['name'] for each in self.told()])

    def test_not_wanted(self):
        self.add(self.alice, 'a')
        self.flags(notification_format='unversioned', group='notifications')
        self.later(hours=1)
        self.assertEqual([], self.told())
