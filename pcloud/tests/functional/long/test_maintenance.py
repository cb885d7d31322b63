# SPDX-License-Identifier: Apache-2.0
"""Maintenances of hosts, which an administrator announces."""

import datetime
from unittest import mock

import fixtures
from nova import exception as nova_exception
from nova import objects
from oslo_utils import fixture as utils_fixture
from oslo_utils import timeutils

from pcloud.api import enforcer
from pcloud.api.policies import hosts as policies
from pcloud.audit import all_checks
from pcloud.backend.calls import compute_calls
from pcloud.tests.support import counting
from pcloud.tests.support import shared_cloud

HOUR = datetime.timedelta(hours=1)
FROM = '2100-01-01T00:00:00Z'


class MaintenanceTestCase(shared_cloud.SharedCloudTestCase):
    """A pool of three hosts, and a Pcloud with one, web."""

    hosts = {'node-1': 'az1', 'node-2': 'az1', 'node-3': 'az1'}

    def furnish(self):
        super().furnish()
        self.make_pool('gpu', *self.hosts)
        self.pcloud = self.make_pcloud(self.alice)
        self.path = f'/os-pclouds/{self.pcloud}/hosts'
        self.real = self.add_host(self.alice, self.pcloud, 'web', 'gpu')

    def call(self, wish, host=None, user=None, flavor='gpu'):
        """Return the answer to an announcement."""
        return (user or self.admin).call(
            'PUT', f'/os-host-flavors/{flavor}/hosts/{host or self.real}',
            {'host': {'maintenance': wish}})

    def announce(self, begin=FROM, host=None, **wish):
        """Announce a maintenance, have a worker look; return the answer."""
        answer = self.call(
            {'from': begin, 'reason': 'a new disk', **wish}, host)
        self.assertEqual(200, answer.status_code, answer.text)
        self.work()
        return answer.json()['host']

    def withdraw(self, host=None):
        """Withdraw a maintenance, have a worker look; return the answer."""
        answer = self.call(None, host)
        self.assertEqual(200, answer.status_code, answer.text)
        self.work()
        return answer.json()['host']

    def get(self, user=None):
        """Return the host of the Pcloud."""
        return (user or self.alice).get_json(f'{self.path}/web')['host']

    def in_pool(self, host=None):
        """Return a host as an administrator sees it in the pool."""
        found, = (each for each in self.admin.get_json(
            '/os-host-flavors/gpu')['host_flavor']['hosts']
            if each['host'] == (host or self.real))
        # No other call shows these.
        self.assertIn('attributes', found)
        del found['attributes']
        return found

    def service(self, host=None):
        """Return whether a host's service is disabled, and why."""
        service = objects.Service.get_by_compute_host(
            self.context, host or self.real)
        return service.disabled, service.disabled_reason

    def values(self):
        """Return the metadata values of maintenances."""
        return {key: value for key, value in
                self.aggregate('pcloud-journal').metadata.items()
                if key.startswith('pcloud:maintenance:')}

    def kinds(self):
        """Return the kinds of what an audit finds."""
        return [each.kind for each in all_checks.find(self.context, settle=0)]

    def after(self, span):
        """Let time pass."""
        self.useFixture(utils_fixture.TimeFixture(timeutils.utcnow() + span))

    def disable(self, reason=None):
        """Have an operator disable the service of the host."""
        compute_calls._update(self.context, self.real, {
            'disabled': True, 'disabled_reason': reason})


class AnnounceTest(MaintenanceTestCase):

    def test_seen(self):
        self.assertNotIn('maintenance', self.in_pool())
        self.assertNotIn('maintenance', self.get())
        wish = {'from': FROM, 'until': '2100-01-01T02:00:00Z',
                'reason': 'a new disk'}
        shown = self.announce(until=wish['until'])
        self.assertEqual(
            (wish, 'enabled'), (shown['maintenance'], shown['status']))
        self.assertEqual(shown, self.in_pool())
        host = self.get()
        self.assertEqual(
            (wish, FROM, 'up'),
            (host['maintenance'], host['next_reboot'], host['status']))
        self.assertEqual([host], self.alice.get_json(self.path)['hosts'])
        self.assertEqual([], self.kinds())
        self.assertNotIn('maintenance', self.withdraw())
        self.assertNotIn('maintenance', self.get())
        self.assertEqual({}, self.values())

    def test_the_earlier_date_is_shown(self):
        for date, expected in (('2050-01-01T00:00:00Z',) * 2,
                               ('2110-01-01T00:00:00Z', FROM)):
            self.admin.call_json('PUT', '/os-pcloud-attributes/next_reboot', {
                'attribute': {'value': date, 'hosts': [self.real]}})
            self.announce()
            self.assertEqual(expected, self.get()['next_reboot'])

    def test_a_policy_hides_the_reason(self):
        self.announce()
        allow = enforcer.Enforcer.allow

        def allow_admin_the_reason(self, context, rule, project_id):
            return (rule != policies.REASON or context.is_admin) and allow(
                self, context, rule, project_id)

        self.useFixture(fixtures.MockPatchObject(
            enforcer.Enforcer, 'allow', allow_admin_the_reason))
        for host in (self.get(), *self.alice.get_json(self.path)['hosts']):
            self.assertEqual({'from', 'until'}, host['maintenance'].keys())
        self.assertIn('reason', self.get(self.admin)['maintenance'])

    def test_refused(self):
        right = {'from': FROM, 'reason': ''}
        for status, wish in (
                (400, {}), (400, {'from': FROM}), (400, {'reason': ''}),
                (400, {**right, 'from': 'soon'}),
                (400, {**right, 'until': '2099-12-31'}),
                (400, {**right, 'reason': 'r' * 201}),
                (400, {**right, 'reason': 'a\nb'}),
                (400, {**right, 'reason': '\U0001f600'}),
                (400, {**right, 'more': 1})):
            self.assertEqual(status, self.call(wish).status_code, wish)
        self.assertIn('it has to be a moment in ISO 8601',
                      self.call({**right, 'from': 5}).text)
        self.assertEqual(404, self.call(right, 'node-9').status_code)
        self.assertEqual(404, self.call(right, flavor='no').status_code)
        self.make_pool('other')
        self.assertEqual(404, self.call(right, flavor='other').status_code)
        self.assertEqual(403, self.call(right, user=self.alice).status_code)
        self.assertEqual({}, self.values())

    def test_it_ends_with_the_pool(self):
        free = next(host for host in self.hosts if host != self.real)
        self.announce(host=free)
        self.admin.call_json('DELETE', f'/os-host-flavors/gpu/hosts/{free}')
        self.assertEqual({}, self.values())

    def test_what_a_deleted_service_leaves(self):
        free = next(host for host in self.hosts if host != self.real)
        self.announce(host=free)
        aggregate = self.aggregate('Pcloud:host_flavor:gpu')
        aggregate.delete_host(free)
        self.assertIn('maintenance-without-host', self.kinds())
        for finding in all_checks.find(self.context, settle=0):
            if finding.kind == 'maintenance-without-host':
                finding.repair(self.context)
        self.assertEqual({}, self.values())
        aggregate.add_host(free)

    def test_notifications(self):
        self.notifier.reset()
        self.announce()
        self.announce()
        self.announce(until='2100-01-02')
        self.withdraw()
        told = [each['payload']['nova_object.data']
                for each in self.notifier.versioned_notifications
                if each['event_type'] == 'pcloud.host.maintenance']
        self.assertEqual(['announced', 'changed', 'withdrawn'],
                         [each['action'] for each in told])
        self.assertEqual(
            {('web', 'a new disk', 4102444800)},
            {(each['name'], each['reason'], each['begin']) for each in told})
        self.assertNotIn(self.real, str(told))

    def test_queries_of_views_stay(self):
        def look():
            self.get()
            self.alice.get_json(self.path)
            self.in_pool()

        before = counting.least(look)
        for host in self.hosts:
            self.announce(host=host)
        self.assertEqual(before, counting.least(look))


class StepsTest(MaintenanceTestCase):

    def past(self):
        """Return a moment that has passed."""
        return f'{(timeutils.utcnow() - HOUR).isoformat()}Z'

    def test_with_the_next_look(self):
        self.announce(self.past())
        self.assertEqual('disabled', self.in_pool()['status'])
        self.assertEqual((True, 'Pcloud: maintenance'), self.service())
        self.assertEqual('maintenance', self.get()['status'])
        self.withdraw()
        self.assertEqual('enabled', self.in_pool()['status'])
        self.assertEqual((False, None), self.service())
        self.assertEqual({}, self.values())

    def test_the_worker_alone_begins(self):
        self.announce(f'{(timeutils.utcnow() + HOUR).isoformat()}Z')
        self.assertFalse(self.service()[0])
        self.after(2 * HOUR)
        for call in (
                lambda: self.alice.call_json(
                    'PUT', f'{self.path}/web', {'host': {'state': 'enabled'}}),
                lambda: self.admin.call_json(
                    'PUT', '/os-host-flavors/gpu',
                    {'host_flavor': {'units': 2}}),
                lambda: self.call({'from': self.past(), 'reason': ''}),
                self.get, self.in_pool):
            call()
            self.assertFalse(self.service()[0])
        self.work()
        self.assertTrue(self.service()[0])
        self.call(None)
        self.assertTrue(self.service()[0])
        self.work()
        self.assertFalse(self.service()[0])

    def test_a_free_host_is_not_given_away(self):
        for host in self.hosts:
            if host != self.real:
                self.announce(self.past(), host)
        self.assertEqual(409, self.alice.call('POST', self.path, {
            'host': {'name': 'b', 'host_flavor': 'gpu'}}).status_code)

    def test_what_others_have_disabled_stays_so(self):
        self.disable('a bad fan')
        self.announce(self.past())
        self.withdraw()
        self.assertEqual((True, 'a bad fan'), self.service())

    def test_what_others_disable_meanwhile_stays_so(self):
        self.announce(self.past())
        self.disable('a bad fan')
        self.withdraw()
        self.assertEqual((True, 'a bad fan'), self.service())

    def test_put_off(self):
        self.announce(self.past())
        self.announce()
        self.assertEqual('enabled', self.in_pool()['status'])
        self.assertEqual((False, None), self.service())

    def test_a_crash_before_the_service_is_disabled(self):
        with mock.patch.object(compute_calls, 'close',
                               side_effect=nova_exception.NovaException):
            self.announce(self.past())
            self.assertEqual('enabled', self.in_pool()['status'])
        self.assertFalse(self.service()[0])
        self.work()
        self.assertTrue(self.service()[0])

    def test_a_crash_before_the_service_is_enabled(self):
        self.announce(self.past())
        with mock.patch.object(compute_calls, 'open_again',
                               side_effect=nova_exception.NovaException):
            self.assertNotIn('maintenance', self.withdraw())
            self.assertFalse(self.work())
        self.assertTrue(self.service()[0])
        self.assertNotIn('maintenance', self.get())
        self.assertTrue(self.work())
        self.assertEqual((False, None), self.service())
        self.assertEqual({}, self.values())

    def test_withdrawn_while_a_step_closes(self):
        close = compute_calls.close

        def slow(context, host):
            with mock.patch.object(compute_calls, 'close', close):
                self.withdraw()
            close(context, host)

        with mock.patch.object(compute_calls, 'close', slow):
            self.announce(self.past())
        self.assertEqual((False, None), self.service())
        self.assertEqual({}, self.values())

    def test_announced_while_a_step_opens(self):
        self.announce(self.past())
        open_again = compute_calls.open_again

        def slow(context, host):
            with mock.patch.object(compute_calls, 'open_again', open_again):
                self.announce(self.past(), reason='again')
            return open_again(context, host)

        with mock.patch.object(compute_calls, 'open_again', slow):
            self.withdraw()
        self.assertTrue(self.service()[0])

    def test_process_that_dies_while_another_withdraws(self):
        """Who has died between disabling and looking again is audited."""
        self.announce()
        compute_calls.close(self.context, self.real)
        self.assertEqual(['closed-without-maintenance'], self.kinds())
        self.withdraw()
        compute_calls.close(self.context, self.real)
        found, = all_checks.find(self.context, settle=0)
        self.assertEqual((self.real, 'closed-without-maintenance'),
                         (found.subject, found.kind))
        found.repair(self.context)
        self.assertEqual((False, None), self.service())
        self.assertEqual([], self.kinds())

    def test_closed_hosts_without_a_finding(self):
        self.announce(self.past())
        self.assertTrue(self.service()[0])
        self.assertEqual([], self.kinds())
        self.disable('a broken fan')
        self.withdraw()
        self.assertEqual([], self.kinds())

    def test_a_clock_that_steps_back(self):
        self.after(2 * HOUR)
        self.announce(self.past())
        timeutils.clear_time_override()
        self.work()
        self.assertTrue(self.service()[0])
        self.withdraw()
        self.assertEqual((False, None), self.service())

    def test_queries_of_steps_stay(self):
        def enable():
            self.alice.call_json('PUT', f'{self.path}/web', {
                'host': {'state': 'enabled'}})

        before = counting.least(enable)
        for host in self.hosts:
            self.announce(host=host)
        self.assertEqual(before, counting.least(enable))


class SchedulerTest(MaintenanceTestCase):

    def _configure(self):
        super()._configure()
        self.flags(enabled_filters=['ComputeFilter', 'PcloudFilter',
                                    'RebootFilter'],
                   group='filter_scheduler')

    def test_a_host_without_a_maintenance_is_preferred(self):
        other = self.add_host(self.alice, self.pcloud, 'other', 'gpu')
        self.flags(reboot_weight_multiplier=1000.0, group='pcloud')
        for host, expected in ((self.real, other), (other, self.real)):
            self.announce(host=host)
            server = self.boot(self.alice, {'pcloud': self.pcloud})
            self.assertEqual(expected, self.host_of(server))
            self._delete_server(server)
            self.withdraw(host)

    def test_the_filter_drops_a_host_with_a_maintenance(self):
        self.flags(reboot_filter_days=30, group='pcloud')
        self.announce(f'{(timeutils.utcnow() + HOUR).isoformat()}Z')
        self.boot(self.alice, {'pcloud': self.pcloud}, 'ERROR')
