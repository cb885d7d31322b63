# SPDX-License-Identifier: Apache-2.0
"""No project closes more hosts than its limit allows, by letting hosts go."""

import concurrent.futures
import itertools

from nova.db.api import api as api_db
from nova.db.api import models
from nova import objects
import sqlalchemy as sa

from pcloud.audit import all_checks
from pcloud.backend.changes import due
from pcloud.backend.changes import journal
from pcloud import names
from pcloud.tests.functional.quick import test_settling
from pcloud.tests.support import base


class LettingGoTestCase(test_settling.SettlingTestCase):
    """A pool of five; the owner has one host, and a slow build there."""

    hosts = {f'node-{number}': 'az1' for number in range(1, 6)}

    def furnish(self):
        super().furnish()
        for host in self.hosts:
            self.pool(host)
        self.mine = self.make_pcloud(self.alice)
        self.theirs = self.make_pcloud(self.bob)
        self.first = self.add_host(self.alice, self.mine, 'first', 'gpu')
        self.flags(quota_units=2, group='pcloud')

    def setUp(self):
        super().setUp()
        self.flags(quota_units=2, group='pcloud')
        self.server, _ = self.start(self.alice, {'pcloud': self.mine})
        self.gate.failures = 0

    def path(self, name, pcloud=None):
        """Return the path of a host of a Pcloud, the owner's by default."""
        return f'/os-pclouds/{pcloud or self.mine}/hosts/{name}'

    def set_state(self, name, state, pcloud=None):
        """Set the state of a host."""
        self.alice.call_json('PUT', self.path(name, pcloud), {
            'host': {'state': state}})

    def open_and_remove(self, name, pcloud=None):
        """Enable, disable and remove a host."""
        for state in ('enabled', 'disabled'):
            self.set_state(name, state, pcloud)
        self.alice.call_json('DELETE', self.path(name, pcloud))

    def finish_build(self):
        """Let the slow build end."""
        self.gate.open()
        self._wait_for_state_change(self.server, 'ACTIVE')

    def in_use(self):
        """Return the units that the owner's quota shows as used."""
        return self.alice.get_json(f'/os-pcloud-quotas/{base.ALICE}')[
            'quota']['units']['in_use']

    def journal(self, prefix):
        """Return the journal's rows with a prefix."""
        return names.stripped(
            self.aggregate(names.JOURNAL).metadata, prefix)

    def host_of_name(self, name):
        """Return the service host of a host of the owner."""
        return self.admin.get_json(self.path(name))['host'][
            'hypervisor_hostname'].removesuffix('.hv.example.org')

    def rename_spec(self, old, new):
        """Have a request spec be somebody else's."""
        row = models.RequestSpec
        with api_db.context_manager.writer.using(self.context) as session:
            session.execute(sa.update(row).where(
                row.instance_uuid == old).values(instance_uuid=new))

    def refused(self, answer):
        """Return the words of a refusal because of hosts let go."""
        self.assertEqual(409, answer.status_code, answer.text)
        self.assertIn('Hosts that the project has let go', answer.text)
        return answer.text


class EnabledTest(LettingGoTestCase):

    def test_loop(self):
        """One host settles, and no other host joins until it has settled."""
        self.allocate(self.alice, self.mine, 'h0')
        self.open_and_remove('h0')
        self.assertEqual(1, self.in_use())
        message = self.refused(self.allocate(self.alice, self.mine))
        self.assertIn('1 of them count 1 units', message)
        self.assertIn('limit of 2 units', message)
        self.refused(self.alice.call(
            'POST', f'/os-pclouds/{self.mine}/hosts', {
                'host': {'name': 'fitting', 'constraints': 'cpu=1'}}))
        self.assertEqual(1, self.flavor()['settling'])
        self.assertEqual(
            201, self.allocate(self.bob, self.theirs).status_code)
        self.assertEqual(set(), self.kinds())
        # Nobody has to run for the host to settle.
        self.finish_build()
        self.assertEqual(
            201, self.allocate(self.alice, self.mine).status_code)
        self.assertEqual({}, self.journal(names.RELEASED_PREFIX))

    def test_over_quota_is_over_quota(self):
        self.allocate(self.alice, self.mine, 'h0')
        answer = self.allocate(self.alice, self.mine, 'h1')
        self.assertEqual(403, answer.status_code)

    def test_room_that_is_left(self):
        self.flags(quota_units=3, group='pcloud')
        self.allocate(self.alice, self.mine, 'h0')
        self.open_and_remove('h0')
        self.assertEqual(
            201, self.allocate(self.alice, self.mine).status_code)
        self.refused(self.allocate(self.alice, self.mine, 'h2'))

    def test_no_limit(self):
        self.flags(quota_units=-1, group='pcloud')
        self.allocate(self.alice, self.mine, 'h0')
        self.open_and_remove('h0')
        self.assertEqual(
            201, self.allocate(self.alice, self.mine).status_code)

    def test_other_pcloud_of_the_owner(self):
        """The limit is the project's, also when the Pcloud is gone."""
        self.flags(quota_units=3, group='pcloud')
        self.allocate(self.alice, self.mine, 'h0')
        self.open_and_remove('h0')
        other = self.make_pcloud(self.alice, 'other')
        self.assertEqual(
            201, self.allocate(self.alice, other).status_code)
        self.refused(self.allocate(self.alice, other, 'h2'))

    def test_deleted_pcloud(self):
        """What is kept of the project outlives the Pcloud."""
        other = self.make_pcloud(self.alice, 'other')
        self.allocate(self.alice, other, 'h0')
        # A server without a request spec is awaited by all hosts.
        self.rename_spec(self.server['id'], other)
        self.open_and_remove('h0', other)
        self.alice.call_json('DELETE', f'/os-pclouds/{other}')
        self.refused(self.allocate(self.alice, self.mine))
        self.rename_spec(other, self.server['id'])
        self.assertEqual(
            201, self.allocate(self.alice, self.mine).status_code)

    def test_default_that_grows(self):
        self.allocate(self.alice, self.mine, 'h0')
        self.open_and_remove('h0')
        self.set_state('first', 'disabled')
        self.alice.call_json(
            'PUT', f'/os-pcloud-policies/project/{base.ALICE}', {
                'policy': {'default_pcloud': {
                    'pcloud': self.mine, 'mode': 'grow',
                    'host_flavor': 'gpu', 'max_hosts': 5}}})
        answer = self.alice.call('POST', '/servers', {
            'server': self._build_server(flavor_id='1', networks='none')})
        self.refused(answer)

    def test_many_at_once(self):
        """However many calls at once, the limit holds for all closed hosts."""
        self.flags(quota_units=3, group='pcloud')
        counter = itertools.count()

        def attack(_):
            name = f'x{next(counter)}'
            if self.allocate(
                    self.alice, self.mine, name).status_code != 201:
                return False
            self.open_and_remove(name)
            return True

        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            done = list(pool.map(attack, range(12)))
        self.assertEqual(2, done.count(True))
        self.assertEqual((1, 2, 2), (
            self.in_use(), self.flavor()['settling'],
            self.flavor()['available']['az1']))
        self.assertEqual(
            201, self.allocate(self.bob, self.theirs).status_code)

    def test_due_row_that_somebody_deletes(self):
        """What nobody waits for any more does not count for ever."""
        self.allocate(self.alice, self.mine, 'h0')
        host = self.host_of_name('h0')
        self.open_and_remove('h0')
        self.refused(self.allocate(self.alice, self.mine))
        text = journal.dues(self.context)[host]
        self.assertTrue(due.parse(text).only_settles)
        self.aggregate(names.JOURNAL).update_metadata(
            {names.due_key(host): None})
        self.assertIn('released-without-settling', self.kinds())
        self.assertEqual(
            201, self.allocate(self.alice, self.mine).status_code)


class NeverEnabledTest(LettingGoTestCase):

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
