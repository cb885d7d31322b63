# SPDX-License-Identifier: Apache-2.0
"""No project closes more hosts than its limit allows, by letting hosts go."""

from nova import objects

from pcloud.audit import all_checks
from pcloud import names
from pcloud.tests.functional.quick import test_letting_go
from pcloud.tests.support import base


class NeverEnabledTest(test_letting_go.LettingGoTestCase):

    def test_loop(self):
        """Nobody misses a host that was never open."""
        for number in range(6):
            name = f'h{number}'
            self.assertEqual(201, self.allocate(
                self.alice, self.mine, name).status_code)
            self.alice.call_json('DELETE', self.path(name))
            self.assertEqual((4, 0), (
                self.flavor()['available']['az1'],
                self.flavor()['settling']))
        self.assertEqual(
            201, self.allocate(self.bob, self.theirs).status_code)
        self.assertEqual({'new'}, {
            each['name'] for each in self.bob.get_json(
                f'/os-pclouds/{self.theirs}/hosts')['hosts']})
        self.assertEqual(1, len(self.journal(names.UNOPENED_PREFIX)))
        self.assertEqual(set(), self.kinds())

    def test_draining_opens_nothing(self):
        self.allocate(self.alice, self.mine)
        self.alice.call_json('PUT', self.path('new'), {
            'host': {'state': 'draining'}})
        self.set_state('new', 'disabled')
        self.alice.call_json('DELETE', self.path('new'))
        self.assertEqual(0, self.flavor()['settling'])

    def test_once_enabled(self):
        self.allocate(self.alice, self.mine)
        host = self.host_of_name('new')
        self.assertEqual({host: self.mine},
                         self.journal(names.UNOPENED_PREFIX))
        self.set_state('new', 'enabled')
        self.assertEqual({}, self.journal(names.UNOPENED_PREFIX))
        self.set_state('new', 'disabled')
        self.alice.call_json('DELETE', self.path('new'))
        self.assertEqual(1, self.flavor()['settling'])

    def test_enabled_by_hand(self):
        """The host stays closed, so that it may leave without settling."""
        self.allocate(self.alice, self.mine)
        self.set_state('first', 'disabled')
        self.finish_build()
        host = self.host_of_name('new')
        aggregate = self.aggregate(names.pcloud(self.mine))
        self.admin.call_json(
            'POST', f'/os-aggregates/{aggregate.id}/action', {
                'set_metadata': {'metadata': {
                    names.state_key(f'{host}.hv.example.org'): 'enabled'}}})
        self.boot(self.alice, {'pcloud': self.mine}, expected='ERROR')
        finding, = all_checks.find(self.context, settle=0)
        self.assertEqual(('enabled-by-hand', host),
                         (finding.kind, finding.subject))
        self.assertIn('enabled', finding.repair(self.context))
        self.assertEqual(set(), self.kinds())
        server = self.boot(self.alice, {'pcloud': self.mine})
        self.assertEqual(host, self.host_of(server))
        self._delete_server(server)
        self.start(self.alice, {'pcloud': self.mine})
        self.gate.failures = 0

    def test_mark_that_has_outlived_its_host(self):
        """Nova takes the host out; a host that joins anew is judged anew."""
        self.allocate(self.alice, self.mine)
        host = self.host_of_name('new')
        aggregate = self.aggregate(names.pcloud(self.mine))
        objects.Aggregate.get_by_id(
            self.context, aggregate.id).delete_host(host)
        self.assertIn('unopened-without-host', self.kinds())
        answers = {self.allocate(self.bob, self.theirs, f'b{number}'
                                 ).status_code for number in range(2)}
        self.assertEqual({201}, answers)
        self.flags(quota_units=9, group='pcloud')
        for number in range(2):
            self.allocate(self.bob, self.theirs, f'c{number}')
        self.assertEqual({self.theirs}, set(
            self.journal(names.UNOPENED_PREFIX).values()))

    def test_repair_of_what_is_left(self):
        self.allocate(self.alice, self.mine)
        host = self.host_of_name('new')
        objects.Aggregate.get_by_id(self.context, self.aggregate(
            names.pcloud(self.mine)).id).delete_host(host)
        self.set_rows({names.released_key('gone'):
                       f'units=1 project={base.ALICE}',
                       names.released_key('odd'): 'x'})
        found = all_checks.find(self.context, settle=0)
        kinds = {each.kind for each in found}
        self.assertLessEqual({
            'unopened-without-host', 'released-without-settling',
            'value-not-valid'}, kinds)
        for finding in found:
            if finding.repair:
                finding.repair(self.context)
        self.assertEqual({}, self.journal(names.UNOPENED_PREFIX))
        self.assertNotIn('gone', self.journal(names.RELEASED_PREFIX))

    def set_rows(self, rows):
        """Write rows into the journal."""
        self.aggregate(names.JOURNAL).update_metadata(rows)
