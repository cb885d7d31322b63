# SPDX-License-Identifier: Apache-2.0

"""Hosts that are added together, and hosts that are drained."""

import ddt
import fixtures

from pcloud.client import host_runs
from pcloud.client import v1
from pcloud.tests.unit.client import base

HOSTS = f'/os-pclouds/{base.PCLOUD_ID}/hosts'


class TestAddTogether(base.CloudTestCase):
    """openstack pcloud host add --count."""

    def setUp(self):
        super().setUp()
        self.answer_farm()
        self.answer('POST', HOSTS, status_code=201, json={'hosts': [
            {**base.HOST, 'name': f'web-{number}'} for number in (1, 2)]})

    def _add(self, *options, kind=('--host-flavor', 'gold')):
        return self.openstack('pcloud', 'host', 'add', 'farm', 'web',
                              *kind, *options)

    def test_one_call_for_all(self):
        result = self._add('--count', '2', '--availability-zone', 'az1',
                           '-f', 'json')

        self.assertEqual(
            [{**base.HOST, 'name': f'web-{number}'} for number in (1, 2)],
            result.json['hosts'])
        self.assertEqual([('POST', HOSTS)], self.changes())
        self.assertEqual({'host': {
            'name': 'web', 'count': 2, 'host_flavor': 'gold',
            'availability_zone': 'az1'}}, self.last_call()[2])

    def test_all_have_the_constraints(self):
        result = self._add('--count', '2', '--first', '9',
                           kind=('--constraints', 'ram=64G cpu=16'))

        self.assertEqual(0, result.status)
        self.assertEqual({'host': {
            'name': 'web', 'count': 2, 'first': 9,
            'constraints': 'ram=64G cpu=16'}}, self.last_call()[2])

    def test_all_for_people(self):
        result = self._add('--count', '2')

        self.assertEqual({'hosts': 'web-1, web-2'},
                         base.properties(result.out))

    def test_none(self):
        self.answer('POST', HOSTS, status_code=409, json={
            'conflictingRequest': {'code': 409, 'message': 'only 1 is free'}})

        self.assert_one_line('only 1 is free', self._add('--count', '2'))
        self.assertEqual([('POST', HOSTS)], self.changes())

    def test_a_count_is_a_whole_number_from_one_on(self):
        for count in ('0', '-1', 'x'):
            result = self._add(f'--count={count}')
            self.assertEqual(2, result.status)
            self.assertIn('not a whole number of 1 or more', result.err)
        self.assertEqual([], self.calls())


class WaitTestCase(base.CloudTestCase):
    """Waiting until host web-1 is empty, with a clock of the test."""

    WEB = f'{HOSTS}/web-1'

    def setUp(self):
        super().setUp()
        self.answer_farm()
        self.clock = base.Clock()
        self.useFixture(fixtures.MonkeyPatch(
            'pcloud.client.host_runs.time', self.clock))
        self.answer('PUT', self.WEB, json={'host': base.HOST})
        self.answer('DELETE', self.WEB, status_code=204)


@ddt.ddt
class TestDrain(WaitTestCase):
    """openstack pcloud host remove --drain."""

    def _answer_instances(self, *lists, **members):
        """Answer with these instances, the first for the state too."""
        self.answer('GET', self.WEB, *(
            {'json': {'host': {
                **base.HOST, **members, 'instances': instances}}}
            for instances in (lists[0], *lists)))

    def _remove(self, *options):
        return self.openstack(
            'pcloud', 'host', 'remove', 'farm', 'web-1', *options)

    def test_waits_until_the_instances_are_gone(self):
        both = [base.SERVER_1, base.SERVER_2]
        self._answer_instances(both, both, [base.SERVER_2], [])

        result = self._remove('--drain')

        self.assertEqual((0, ''), result[:2])
        self.assertEqual([
            f'Waiting for web-1: 2 left of its instances: {base.SERVER_1}, '
            f'{base.SERVER_2}',
            f'Waiting for web-1: 1 left of its instances: {base.SERVER_2}',
        ], result.err.splitlines())
        self.assertEqual([('PUT', self.WEB), ('DELETE', self.WEB)],
                         self.changes())
        self.assertEqual({'host': {'state': 'disabled'}}, next(
            call.body for call in self.calls() if call.method == 'PUT'))
        self.assertEqual([host_runs.POLL_INTERVAL] * 3, self.clock.naps)

    def test_an_empty_host_goes_at_once(self):
        self._answer_instances([])

        self.assertEqual((0, '', ''), self._remove('--drain'))
        self.assertEqual([], self.clock.naps)

    def test_waits_out_what_is_no_instance_yet(self):
        self._answer_instances([])
        self.answer('DELETE', self.WEB, {'status_code': 409, 'json': {
            'conflictingRequest': {'code': 409, 'message': 'a migration'}}},
            {'status_code': 204})

        result = self._remove('--drain')

        self.assertEqual(
            (0, '', 'Waiting for web-1: a migration\n'), result)

    def test_gives_up_when_the_time_is_up(self):
        self._answer_instances([base.SERVER_1])

        result = self._remove('--drain', '--drain-timeout', '12')

        self.assertEqual(1, result.status)
        self.assertIn('web-1 was not empty after 12 seconds: 1 left of its '
                      f'instances: {base.SERVER_1}. It takes no new servers '
                      'and is still in the Pcloud.',
                      result.err.splitlines()[-1])
        self.assertEqual([5, 5, 2], self.clock.naps)
        self.assertEqual([('PUT', self.WEB)], self.changes())

    def test_waits_ten_minutes_unless_told(self):
        self._answer_instances([base.SERVER_1])

        self._remove('--drain')

        self.assertEqual(700.0, self.clock.now)

    def _answer_two(self, *lists_of_web_2):
        self._answer_instances([base.SERVER_1], [])
        for method, answer in (('PUT', {'json': {'host': base.HOST}}),
                               ('DELETE', {'status_code': 204})):
            self.answer(method, f'{HOSTS}/web-2', **answer)
        self.answer('GET', f'{HOSTS}/web-2', *(
            {'json': {'host': {**base.HOST, 'instances': instances}}}
            for instances in (lists_of_web_2[0], *lists_of_web_2)))

    def test_several_go_as_they_become_empty(self):
        self._answer_two([base.SERVER_2], [base.SERVER_2], [])

        result = self._remove('web-2', '--drain')

        self.assertEqual((0, ''), result[:2])
        self.assertEqual(
            [('PUT', self.WEB), ('PUT', f'{HOSTS}/web-2'),
             ('DELETE', self.WEB), ('DELETE', f'{HOSTS}/web-2')],
            self.changes())
        self.assertEqual(2, len(result.err.splitlines()))

    def test_several_of_which_one_is_not_empty_in_time(self):
        self._answer_two([base.SERVER_2])

        result = self._remove('web-2', '--drain', '--drain-timeout', '12')

        self.assertEqual(1, result.status)
        last = result.err.splitlines()[-1]
        self.assertIn('1 of 2 not removed. web-2: web-2 was not empty after '
                      '12 seconds', last)
        self.assertIn('Removed: web-1.', last)

    def test_an_interruption_says_what_is_left(self):
        self._answer_two([base.SERVER_2])

        def interrupt():
            if len(self.clock.naps) > 1:
                raise KeyboardInterrupt
        self.clock.at_nap = interrupt

        result = self._remove('web-2', '--drain')

        self.assertEqual(130, result.status)
        self.assertEqual(
            'Interrupted. Not removed yet: web-2. Removed: web-1. Hosts that '
            'are left may be disabled, and what was drained is drained as '
            'before; enable them, or remove them when they are empty.',
            result.err.splitlines()[-1])

    DRAIN = {'move': 'live', 'release': True, 'remaining': [base.SERVER_1],
             'deadline': '2099-01-01T00:00:00Z', 'blockers': [],
             'since': '2026-11-01T00:00:00Z'}

    def test_a_drain_that_was_there_stays(self):
        """A removal that fails forgets nothing of the owner's wish."""
        self._answer_instances(
            [base.SERVER_1], state='draining', drain=self.DRAIN)

        result = self._remove('--drain', '--drain-timeout', '12')

        self.assertEqual(1, result.status)
        self.assertEqual([], self.changes())

    def test_a_drain_that_was_there_and_an_empty_host(self):
        self._answer_instances([], state='draining', drain=self.DRAIN)

        self.assertEqual((0, '', ''), self._remove('--drain'))
        self.assertEqual([('DELETE', self.WEB)], self.changes())

    def test_a_drain_that_releases_meanwhile(self):
        there = {'json': {'host': {
            **base.HOST, 'state': 'draining', 'drain': self.DRAIN,
            'instances': [base.SERVER_1]}}}
        self.answer('GET', self.WEB, there, there,
                    {'status_code': 404, 'json': {}})

        self.assertEqual(0, self._remove('--drain').status)
        self.assertEqual([], self.changes())

    def test_a_timeout_without_drain_is_refused(self):
        result = self._remove('--drain-timeout', '12')

        self.assert_one_line('give both', result)
        self.assertEqual([], self.calls())

    @ddt.data(404, 500)
    def test_other_failures_end_the_wait(self, status):
        self.answer('GET', self.WEB, status_code=status, json={})

        result = self._remove('--drain')

        self.assert_one_line(f'(HTTP {status})', result)
        self.assertEqual([], self.clock.naps)

    def test_from_python(self):
        self._answer_instances([base.SERVER_1], [])
        reports = []

        host_runs.drain_and_remove(
            v1.Client(self.session()), base.PCLOUD_ID, ['web-1'], 60,
            reports.append)

        self.assertEqual(1, len(reports))


class TestDrained(WaitTestCase):
    """openstack pcloud host drain."""

    def _answer_drains(self, *drains):
        self.answer('GET', self.WEB, *(
            {'json': {'host': {**base.HOST, 'state': 'draining',
                               'drain': drain}}} for drain in drains))

    def _drain(self, *options):
        return self.openstack(
            'pcloud', 'host', 'drain', 'farm', 'web-1', *options)

    def test_it_does_not_wait(self):
        self.assertEqual((0, '', ''), self._drain())
        self.assertEqual([('PUT', self.WEB)], self.changes())

    def test_waits_until_the_instances_are_gone(self):
        self._answer_drains(
            {'remaining': [base.SERVER_1]}, {'remaining': [base.SERVER_1]},
            {'remaining': [base.SERVER_1], 'blockers': [{
                'server': base.SERVER_1, 'rule': 'locked',
                'reason': 'it is locked', 'since': None}]},
            {'remaining': None}, {'remaining': []})
        left = f'Waiting for web-1: 1 left of its instances: {base.SERVER_1}'
        self.assertEqual(
            (0, '', f'{left}\n{left}; {base.SERVER_1}: it is locked\n'
                    'Waiting for web-1: what is on it is not known\n'),
            self._drain('--wait'))
        self.assertEqual([('PUT', self.WEB)], self.changes())
        self.assertEqual([host_runs.POLL_INTERVAL] * 4, self.clock.naps)

    def test_waits_until_a_worker_has_given_an_empty_host_back(self):
        drain = {'remaining': [], 'release': True,
                 'deadline': '2020-01-01T00:00:00Z'}
        self.answer('GET', self.WEB, *(
            {'json': {'host': {**base.HOST, 'state': 'draining', 'drain': {
                **drain, 'blockers': blockers}}}} for blockers in (
                    [], [{'server': None, 'rule': 'no_worker',
                          'reason': 'no worker has looked',
                          'since': None}])), {
            'status_code': 404, 'json': {
                'itemNotFound': {'code': 404, 'message': 'gone'}}})
        left = 'Waiting for web-1: it is empty, and is to leave the Pcloud'
        self.assertEqual(
            (0, '', f'{left}\n{left}; no worker has looked\n'),
            self._drain('--wait', '--release'))
        self.assertEqual([('PUT', self.WEB)], self.changes())

    def test_host_that_has_left(self):
        self.answer('GET', self.WEB, status_code=404, json={
            'itemNotFound': {'code': 404, 'message': 'gone'}})
        self.assertEqual((0, '', ''), self._drain('--wait', '--release'))

    def test_gives_up_at_the_deadline(self):
        self._answer_drains({'remaining': [base.SERVER_1],
                             'deadline': '2020-01-01T00:00:00Z'})
        result = self._drain('--wait')
        self.assertEqual(1, result.status)
        self.assertIn('web-1 was not empty by 2020-01-01T00:00:00Z: 1 left '
                      f'of its instances: {base.SERVER_1}', result.err)

    def test_drain_that_has_ended(self):
        self._answer_drains(None)
        result = self._drain('--wait')
        self.assertEqual(1, result.status)
        self.assertIn('web-1 is not being drained any more', result.err)

    def test_dry_run_tells_what_would_become_of_each_server(self):
        self.answer('PUT', self.WEB, json={'host': {
            **base.HOST, 'drain': {
                'remaining': ['one', 'two', 'three'],
                'moves': [{'server': 'one', 'host': 'web-2'}],
                'blockers': [{'server': None, 'rule': 'no_worker',
                              'reason': 'no worker has looked',
                              'since': None},
                             {'server': 'two', 'rule': 'locked',
                              'reason': 'it is locked', 'since': None}]}}})
        self.assertEqual(
            (0, 'web-1: one would be moved, for example to web-2\n'
                'web-1: would not go on: no worker has looked\n'
                'web-1: two would stay: it is locked\n'
                'web-1: three would stay until it is moved or deleted\n'
                'web-1: would be drained\n', ''),
            self._drain('--dry-run', '--wait', '--move', 'live'))
        self.assertEqual([{'host': {'state': 'draining', 'drain': {
            'move': 'live', 'dry_run': True}}}], [
                call.body for call in self.calls() if call.method == 'PUT'])

    def test_dry_run_of_several_hosts_takes_all_for_drained(self):
        for url in (self.WEB, f'{HOSTS}/web-2'):
            self.answer('PUT', url, json={'host': {
                **base.HOST, 'drain': {'remaining': []}}})
        self.assertEqual(0, self._drain(
            'web-2', '--dry-run', '--move', 'live').status)
        self.assertEqual([['web-2'], ['web-1']], [
            call.body['host']['drain']['together_with']
            for call in self.calls() if call.method == 'PUT'])

    def test_several_hosts_are_closed_before_servers_move(self):
        for method in ('GET', 'PUT'):
            self.answer(method, f'{HOSTS}/web-2', json={'host': base.HOST})
        self.answer('GET', self.WEB, json={'host': base.HOST})
        self.assertEqual((0, '', ''), self._drain(
            'web-2', '--move', 'live', '--release'))
        moving = {'move': 'live', 'release': True}
        self.assertEqual(
            [(self.WEB, {}), (f'{HOSTS}/web-2', {}),
             (self.WEB, moving), (f'{HOSTS}/web-2', moving)],
            [(call.path, call.body['host']['drain'])
             for call in self.calls() if call.method == 'PUT'])

    def test_a_drain_that_was_there_stays_until_all_are_closed(self):
        self.answer('GET', self.WEB, json={'host': {
            **base.HOST, 'state': 'draining', 'drain': TestDrain.DRAIN}})
        self.answer('GET', f'{HOSTS}/web-2', status_code=404, json={})
        self.assertEqual(1, self._drain('web-2', '--move', 'live').status)
        self.assertEqual([], self.changes())

    def test_no_server_moves_unless_all_hosts_can_be_closed(self):
        for path in (self.WEB, f'{HOSTS}/web-2'):
            self.answer('GET', path, json={'host': base.HOST})
        self.answer('PUT', f'{HOSTS}/web-2', status_code=404, json={
            'itemNotFound': {'code': 404, 'message': 'no such host'}})
        result = self._drain('web-2', '--move', 'live')
        self.assertEqual(1, result.status)
        self.assertIn('1 of 2 not closed. web-2: no such host (HTTP 404). '
                      'Closed: web-1.',
                      result.err)
        self.assertEqual([('PUT', self.WEB), ('PUT', f'{HOSTS}/web-2')],
                         self.changes())

    def test_dry_run_for_an_unknown_host(self):
        self.answer('PUT', self.WEB, status_code=404, json={
            'itemNotFound': {'code': 404, 'message': 'gone'}})
        result = self._drain('--dry-run')
        self.assertEqual(1, result.status)
        self.assertIn('web-1: would not be drained: gone', result.out)

    def test_who_waits_changes_nothing(self):
        drain = {'move': 'live', 'release': False, 'deadline': None,
                 'remaining': [base.SERVER_1]}
        self._answer_drains(drain, {**drain, 'remaining': []})
        self.answer('PUT', self.WEB, json={
            'host': {**base.HOST, 'drain': drain}})
        self.assertEqual(0, self._drain('--wait', '--move', 'live').status)
        self.assertEqual([{'move': 'live'}], [
            call.body['host']['drain'] for call in self.calls()
            if call.method == 'PUT'])

    def test_cancel(self):
        self._answer_drains({'remaining': []})
        cancel = ('pcloud', 'host', 'set', 'farm', 'web-1', '--cancel-drain')
        self.assertEqual((0, '', ''), self.openstack(*cancel))
        self.assertEqual({'host': {'state': 'disabled'}}, next(
            call.body for call in self.calls() if call.method == 'PUT'))
        self.answer('GET', self.WEB, json={'host': base.HOST})
        result = self.openstack(*cancel)
        self.assertEqual(1, result.status)
        self.assertIn('web-1 is not being drained', result.err)
