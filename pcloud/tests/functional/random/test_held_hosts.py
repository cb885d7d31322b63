# SPDX-License-Identifier: Apache-2.0

"""Hosts join and leave by every way, and processes are killed all the time.

What the API says that projects have held is compared with books of the test's
own, to the second, after each operation.
"""

import datetime
import itertools
import os
import random

from oslo_utils import fixture as utils_fixture
from oslo_utils import timeutils

from pcloud.audit import all_checks
from pcloud import names
from pcloud.rules.usage import ledger
from pcloud.tests.support import base
from pcloud.tests.support import kills
from pcloud.tests.support import outages
from pcloud.tests.support import shadow_clock
from pcloud.tests.support import shared_cloud

OPERATIONS = int(os.environ.get('PCLOUD_TEST_OPERATIONS', 200))
SEED = int(os.environ.get('PCLOUD_TEST_SEED', 1))
# Two months before a leap day.
_BEGIN = datetime.datetime(2027, 12, 30, 23, 59, 58)
# The kinds of operations, as often as they are drawn.
_WEIGHTS = {
    'add': 14, 'add_several': 4, 'add_until': 5, 'wait': 5, 'remove': 12,
    'enable': 6, 'drain': 6, 'price': 6, 'units': 6, 'launch': 5,
    'delete_server': 4, 'announce': 6, 'withdraw': 6, 'fail': 5,
    'come_back': 6, 'work': 12}
# Of so many operations each kind has been killed, and hosts have stood in.
_MANY = 1000
# After so many operations all months are compared.
_EVERYTHING = 25


class HeldHostsTest(shared_cloud.SharedCloudTestCase):
    """Two owners, a Pcloud that grows, and hosts that stand in for others."""

    own_cloud = True
    hosts = {f'node-{number}': 'az1' for number in range(1, 9)}
    # Nobody reports while the clock runs.
    service_down_time = 10 ** 9

    def furnish(self):
        super().furnish()
        self.flags(quota_units=-1, recovery_max_hosts=100, group='pcloud')
        self.make_flavor('big', memory_mb=4096)
        self.make_pool('gpu', *sorted(self.hosts)[:5], units=8)
        self.make_pool('small', *sorted(self.hosts)[5:], units=1)
        self.work()

    def setUp(self):
        super().setUp()
        self.chance = random.Random(SEED)
        self.clock = self.useFixture(utils_fixture.TimeFixture(_BEGIN))
        self.books = shadow_clock.Books()
        self.named, self.statements, self.killed = 0, {}, {}
        # The hosts that have stood in, and those for which a Pcloud grew.
        self.stood_in, self.grown = set(), set()
        self.pclouds = [(self.alice, self.make_pcloud(self.alice)),
                        (self.alice, self.make_pcloud(self.alice, 'other')),
                        (self.bob, self.make_pcloud(self.bob))]
        for user, pcloud in self.pclouds:
            user.call_json('PUT', f'/os-pclouds/{pcloud}', {'pcloud': {
                'maintenance_policy': 'replace',
                'host_recovery': 'replace'}})
        with outages.GrantingKeystone():
            self.alice.call_json(
                'PUT', f'/os-pcloud-policies/project/{base.ALICE}',
                {'policy': {'default_pcloud': {
                    'pcloud': self.pclouds[0][1], 'mode': 'grow',
                    'host_flavor': 'gpu', 'max_hosts': 3}}})

    def test_every_second(self):
        kinds, weights = zip(*_WEIGHTS.items(), strict=True)
        for number in range(1, OPERATIONS + 1):
            kind = self.chance.choices(kinds, weights)[0]
            getattr(self, f'_{kind}')(kind)
            self.pass_by(self.some_seconds())
            if number % _EVERYTHING == 0:
                self.everything()
        self.everything()
        if OPERATIONS >= _MANY:
            self.assertEqual(set(kinds), set(self.killed))
            self.assertTrue(self.stood_in)
            self.assertTrue(self.grown)

    def pass_by(self, seconds):
        """Let time pass, and compare what was held so far."""
        held, costs = self.look()
        begin = self.now()
        self.clock.advance_time_seconds(seconds)
        end = self.now()
        self.books.write(held, costs, begin, end)
        for month, _ in [*shadow_clock.parts(begin, end)][-2:] or [
                (ledger.month_of(end), 0)]:
            self.compare(month)

    def compare(self, month):
        if not ledger.oldest(self.now()) <= month:
            return
        for user in (self.alice, self.bob):
            path = f'/os-pcloud-usage/{user.project_id}?month={month}'
            is_by_day = month >= ledger.oldest_of_days(self.now())
            usage = user.get_json(path + '&by=day' * is_by_day)['usage']
            self.assertEqual(self.books.shown(user.project_id, month),
                             shadow_clock.shown(usage), month)
            if is_by_day:
                self.books.compare_days(self, usage)

    def everything(self):
        """Compare all months, and have nothing be left undone."""
        self.work()
        self.work()
        for month in {period[:7] for _, _, period in self.books.lines}:
            self.compare(month)
        self.assertEqual([], [
            each for each in all_checks.find(self.context, settle=0)
            if 'span' in each.kind])

    def look(self):
        """Return the hosts that count, and what host flavors cost."""
        held, costs = shadow_clock.look(self.context)
        free = set()
        for _, pcloud in self.pclouds:
            hosts = self.of(pcloud)
            standing = {each.get(why, {}).get('replacement')
                        for each in hosts for why in (
                            'maintenance', 'recovery')}
            self.grown |= {(pcloud, each['name']) for each in hosts
                           if each['name'].startswith(names.GROWN)}
            self.stood_in |= {(pcloud, name) for name in standing if name}
            free |= {each['hypervisor_hostname'].removesuffix(
                '.hv.example.org') for each in hosts
                if each['name'] in standing}
        counted = [each for each in held if each.host not in free]
        for user in (self.alice, self.bob):
            quota = user.get_json(f'/os-pcloud-quotas/{user.project_id}')
            self.assertEqual(
                sum(costs[each.flavor].units for each in counted
                    if each.project == user.project_id),
                quota['quota']['units']['in_use'])
        return counted, costs

    def of(self, pcloud):
        return self.admin.get_json(f'/os-pclouds/{pcloud}/hosts')['hosts']

    def now(self):
        return int(timeutils.utcnow_ts())

    def some_seconds(self):
        """Return a time that may pass.

        Borders of months and of leap days are met to the second.
        """
        border = sum(seconds for _, seconds in itertools.islice(
            shadow_clock.parts(self.now(), self.now() + 10 ** 8), 1))
        day = 86400 - (self.now() % 86400)
        return self.chance.choice([
            0, 0, 1, 59, 61, 3599, 3600, 3601, 86399, 86400, 3 * 86400 + 7,
            *(max(0, each + more) for each in (border, day)
              for more in (-1, 0, 1))])

    def attempt(self, kind, call, is_killed=None):
        """Call; every second time be killed, at one statement further on."""
        if self.chance.random() < 0.5:
            call()
            return
        number = self.statements.get(kind, 0) + 1
        if (is_killed or kills.is_killed)(self.engines()[0], number, call):
            self.statements[kind] = number
            self.killed[kind] = self.killed.get(kind, 0) + 1
        else:
            self.statements[kind] = 0

    def ask(self, kind, user, method, path, body=None):
        """Make a call, which may be refused or killed."""
        def call():
            status = user.call(method, path, body).status_code
            self.assertIn(status, (200, 201, 202, 204, 400, 403, 404, 409))

        self.attempt(kind, call)

    def any_pcloud(self):
        return self.chance.choice(self.pclouds)

    def any_host(self):
        """Return owner, path and host of some host, None without any."""
        found = [(user, f'/os-pclouds/{pcloud}/hosts/{host["name"]}', host)
                 for user, pcloud in self.pclouds for host in self.of(pcloud)]
        return self.chance.choice(found) if found else None

    def name(self):
        self.named += 1
        return f'h{self.named}'

    def _add(self, kind, **more):
        user, pcloud = self.any_pcloud()
        self.ask(kind, user, 'POST', f'/os-pclouds/{pcloud}/hosts', {'host': {
            'name': self.name(), **more,
            'host_flavor': self.chance.choice(('gpu', 'small'))}})

    def _add_several(self, kind):
        self._add(kind, count=self.chance.choice((2, 3)))

    def _add_until(self, kind):
        self._add(kind, until=self.date())

    def _wait(self, kind):
        self._add(kind, wait_until=self.date())

    def date(self):
        return (timeutils.utcnow() + datetime.timedelta(
            days=self.chance.randint(1, 20))).isoformat()

    def _remove(self, kind):
        if (found := self.any_host()) is not None:
            user, path, host = found
            if host['state'] == 'enabled':
                user.call('PUT', path, {'host': {'state': 'disabled'}})
            self.ask(kind, user, 'DELETE', path)

    def _enable(self, kind):
        if (found := self.any_host()) is not None:
            user, path, _ = found
            self.ask(kind, user, 'PUT', path, {'host': {'state': 'enabled'}})

    def _drain(self, kind):
        if (found := self.any_host()) is not None:
            user, path, _ = found
            self.ask(kind, user, 'PUT', path, {'host': {
                'state': 'draining',
                'drain': {'move': 'live', 'release': True}}})

    def _price(self, kind):
        price = self.chance.choice((
            None, '0', str(self.chance.randrange(10 ** 6) / 10 ** 3)))
        self._set_flavor(kind, price=price)

    def _units(self, kind):
        self._set_flavor(kind, units=self.chance.randrange(10))

    def _set_flavor(self, kind, **values):
        flavor = self.chance.choice(('gpu', 'small'))
        self.ask(kind, self.admin, 'PUT', f'/os-host-flavors/{flavor}',
                 {'host_flavor': values})

    def _launch(self, kind):
        """Start a server, for which the Pcloud grows if it has to."""
        server = self._build_server(flavor_id='big', networks='none')
        # The worker has no token from this Keystone.
        with outages.GrantingKeystone():
            self.ask(kind, self.alice, 'POST', '/servers', {'server': server})
            self._wait_for_the_end()

    def _delete_server(self, kind):
        servers = self.alice.get_json('/servers')['servers']
        if servers:
            server = self.chance.choice(servers)['id']
            self.ask(kind, self.alice, 'DELETE', f'/servers/{server}')
            self._wait_for_the_end()

    def _announce(self, kind):
        if (found := self.any_host()) is not None:
            self._maintain(kind, found[2], {
                'from': self.date(), 'reason': 'a new disk'})

    def _withdraw(self, kind):
        found = [host for _, pcloud in self.pclouds
                 for host in self.of(pcloud) if 'maintenance' in host]
        if found:
            self._maintain(kind, self.chance.choice(found), None)

    def _maintain(self, kind, host, wish):
        self.ask(kind, self.admin, 'PUT', self._pool_path(host),
                 {'host': {'maintenance': wish}})
        self._work('work')

    def _pool_path(self, host):
        real = host['hypervisor_hostname'].removesuffix('.hv.example.org')
        return f'/os-host-flavors/{host["host_flavor"]}/hosts/{real}'

    def _fail(self, kind):
        if (found := self.any_host()) is not None:
            self.ask(kind, self.admin, 'PUT', self._pool_path(found[2]),
                     {'host': {'fenced': True}})
            self.pass_by(301)
            self._work('work')

    def _come_back(self, kind):
        for flavor in ('gpu', 'small'):
            for each in self.admin.get_json(f'/os-host-flavors/{flavor}')[
                    'host_flavor']['hosts']:
                path = f'/os-host-flavors/{flavor}/hosts/{each["host"]}'
                if each.get('fenced'):
                    self.ask(kind, self.admin, 'PUT', path,
                             {'host': {'fenced': False}})
                elif each['status'] == 'disabled' and not each.get(
                        'maintenance'):
                    self.admin.put_service(self.service_id(each['host']), {
                        'status': 'enabled'})
        self._work('work')

    def _work(self, kind):
        self.attempt(kind, self.work)
        self._wait_for_the_end()
