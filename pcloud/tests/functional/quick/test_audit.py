# SPDX-License-Identifier: Apache-2.0

"""The findings and the repairs of audit, on a real Nova."""

import re
from unittest import mock

from pcloud.audit import all_checks
from pcloud.backend.calls import placement
from pcloud.backend.changes import change
from pcloud.backend.changes import journal
from pcloud import exception
from pcloud.objects import reconcile
from pcloud.tests.support import base
from pcloud.tests.support import shared_cloud

GONE = '7f3c8a52-4a0e-4c35-9d6e-5b1f2c7e8a90'


class AuditTest(shared_cloud.SharedCloudTestCase):
    """A Pcloud with a host; a second host is free."""

    hosts = {'node-1': 'az1', 'node-2': 'az1'}

    def furnish(self):
        super().furnish()
        self.make_pool('gpu', 'node-1', 'node-2')
        self.pcloud = self.make_pcloud(self.alice)
        self.path = f'/os-pclouds/{self.pcloud}'
        self.host = self.add_host(self.alice, self.pcloud, 'a', 'gpu')
        self.node = f'{self.host}.hv.example.org'
        self.name = f'Pcloud:{self.pcloud}'

    def _metadata(self, **changes):
        self.admin.post_aggregate_action(
            self.aggregate(self.name).id,
            {'set_metadata': {'metadata': changes}})

    def _find(self):
        return all_checks.find(self.context, settle=0)

    def _kinds(self):
        return sorted({each.kind for each in self._find()})

    def _fix(self, *kinds):
        """Find exactly some kinds, repair all findings, find nothing more."""
        found = self._find()
        self.assertEqual(sorted(kinds), sorted(each.kind for each in found))
        for finding in found:
            self.assertEqual(self.name, finding.aggregate)
            self.assertTrue(finding.repair(self.context))
        self.assertEqual([], self._find())

    def test_all_is_well(self):
        self.boot(self.alice, {'pcloud': self.pcloud})
        self.assertEqual([], self._find())

    def test_empty_host_without_state_is_let_go(self):
        self._metadata(**{f'pcloud:host_state:{self.node}': None})
        self._fix('host-without-state')
        self.assertEqual([], self.aggregate(self.name).hosts)
        self.assertEqual([], self.alice.get_json(
            f'{self.path}/hosts')['hosts'])
        free = self.alice.get_json('/os-host-flavors/gpu')['host_flavor']
        self.assertEqual({'az1': 2}, free['available'])

    def test_used_host_without_state_is_kept_disabled(self):
        server = self.boot(self.alice, {'pcloud': self.pcloud})
        self._metadata(**{f'pcloud:host_state:{self.node}': None})
        self._fix('host-without-state')
        shown = self.alice.get_json(f'{self.path}/hosts/a')['host']
        self.assertEqual(('disabled', [server['id']]),
                         (shown['state'], shown['instances']))

    def test_keys_of_hosts_that_are_not_there(self):
        self._metadata(**{
            'pcloud:host:ghost': 'gone.example.org',
            'pcloud:host_state:gone.example.org': 'enabled'})
        self._fix('name-without-host', 'state-without-host')
        self.assertNotIn('gone', str(self.aggregate(self.name).metadata))

    def test_what_is_kept_of_hosts_that_are_not_there(self):
        self.name = 'pcloud-journal'
        self._metadata(**{
            'pcloud:node:gone': 'gone.example.org',
            'pcloud:drain:gone': 'since=20261127T180543Z move=live',
            'pcloud:maintained:gone': 'replacement=other',
            'pcloud:replaces:gone': 'host=other',
            'pcloud:spare:gone': 'since=20261127T180543Z',
            'pcloud:idle:gone': 'since=20261127T180543Z',
            'pcloud:own_ratios:gone': 'cpu=4',
            'pcloud:maintenance:gone': 'begin=20261127T180543Z',
            f'pcloud:rebalance:{GONE}:{GONE}':
            f'plan=0123abcd step=1 since=20261127T180543Z move=live '
            f'source={GONE} target={GONE}'})
        self._fix('node-without-host', 'drain-without-host',
                  'reaction-without-host', 'replacement-without-host',
                  'spare-without-host', 'idle-without-host',
                  'ratio-not-given-back', 'maintenance-without-host',
                  'rebalance-without-host')
        kept = self.aggregate(self.name).metadata
        self.assertEqual([], [key for key in kept if 'gone' in key or
                              GONE in key and 'changes' not in key])

    def test_spans_that_are_not_right(self):
        key = f'pcloud:span:{self.host}'
        self.name = 'pcloud-journal'
        right = self.aggregate(self.name).metadata[key]
        self._metadata(**{key: None})
        self.name = f'Pcloud:{self.pcloud}'
        self._fix('host-without-span')
        self.name = 'pcloud-journal'
        # Since when, Nova's row of the membership says.
        self.assertEqual(*(re.sub('since=[0-9TZ]+', '', text) for text in (
            right, self.aggregate(self.name).metadata[key])))
        self._metadata(**{key: right.replace('=gpu ', '=other ')})
        self._fix('span-not-right')
        self._metadata(**{key: right.replace(base.ALICE, base.BOB)})
        self._fix('span-not-right')
        self.assertIn('flavor=gpu', self.aggregate(self.name).metadata[key])
        self._metadata(**{'pcloud:span:gone': right})
        self._fix('span-without-host')
        self.assertNotIn('pcloud:span:gone',
                         self.aggregate(self.name).metadata)

    def test_ratio_that_was_saved_of_no_host(self):
        self.write_metadata(self.pcloud, **{'pcloud:own_ratios:': 'cpu=16'})
        self.assertIn('ratio-not-given-back', self._kinds())
        for finding in self._find():
            if finding.repair is not None:
                finding.repair(self.context)
        self.assertEqual([], self._find())

    def test_placement_forgot_a_pool_that_is_not_whole(self):
        self.name = 'Pcloud:host_flavor:gpu'
        is_there = self._mirror(
            self.node, lambda kept, ours: sorted(kept - {ours}))
        self.aggregate(self.name).update_metadata({'pcloud:units': None})
        for finding in self._find():
            if finding.kind == 'not-in-placement':
                finding.repair(self.context)
        self.assertTrue(is_there())
        self.assertNotIn('not-in-placement', self._kinds())

    def _mirror(self, node, change):
        """Change the aggregates of a node in Placement alone.

        :returns: a function that returns whether Placement has the node in the
            Pcloud's aggregate
        """
        uuid = self._get_provider_uuid_by_name(node)
        ours = self.aggregate(self.name).uuid
        generation = self.placement.get(
            f'/resource_providers/{uuid}').body['generation']
        self.placement.put(
            f'/resource_providers/{uuid}/aggregates',
            {'aggregates': change(
                set(self._get_provider_aggregates(uuid)), ours),
             'resource_provider_generation': generation}, version='1.19')
        return lambda: ours in self._get_provider_aggregates(uuid)

    def test_placement_forgot(self):
        is_there = self._mirror(
            self.node, lambda kept, ours: sorted(kept - {ours}))
        self._fix('not-in-placement')
        self.assertTrue(is_there())

    def test_placement_knows_of_one_too_many(self):
        other, = {'node-1', 'node-2'} - {self.host}
        is_there = self._mirror(
            f'{other}.hv.example.org',
            lambda kept, ours: sorted(kept | {ours}))
        self.assertTrue(is_there())
        self._fix('only-in-placement')
        self.assertFalse(is_there())

    def test_ratio_drifted(self):
        self.alice.call_json('PUT', self.path, {
            'pcloud': {'cpu_allocation_ratio': 7}})
        uuid = self._get_provider_uuid_by_name(self.node)
        found = placement.read(self.context, uuid)
        found['inventories']['VCPU']['allocation_ratio'] = 1.0
        self.assertTrue(placement.write(self.context, uuid, found))
        self._fix('ratio-drifted')
        self.assertEqual(
            7, self._get_provider_inventory(uuid)['VCPU']['allocation_ratio'])

    def test_servers_that_were_not_started_there(self):
        """Somebody has forced them, or written into the database."""
        self.boot(self.alice, {'pcloud': self.pcloud})
        self.assertEqual([], self._find())
        other = self.make_pcloud(self.bob)
        aggregate = self.aggregate(self.name)
        metadata = {key.replace(self.pcloud, other): value.replace(
            self.pcloud, other) for key, value in aggregate.metadata.items()}
        self.admin.delete_aggregate(self.aggregate(f'Pcloud:{other}').id)
        self.admin.put_aggregate(
            aggregate.id, {'aggregate': {'name': f'Pcloud:{other}'}})
        self.admin.post_aggregate_action(
            aggregate.id, {'set_metadata': {'metadata': metadata}})
        span, found = self._find()
        self.assertEqual('span-without-host', span.kind)
        self.assertEqual(('foreign-server', self.host),
                         (found.kind, found.subject))
        server, = self.alice.get_servers()
        self.assertIn(server['id'], found.message)
        self.assertIsNone(found.repair)

    def test_what_an_administrator_has_to_decide(self):
        other = self.aggregate(f'Pcloud:{self.make_pcloud(self.bob)}')
        self.admin.add_host_to_aggregate(other.id, self.host)
        self.admin.post_aggregate({'aggregate': {
            'name': 'Pcloud:odd', 'availability_zone': None}})
        self.assertEqual(
            ['host-in-two-pclouds', 'host-without-state',
             'incomplete-aggregate'], self._kinds())
        decide = [each.kind for each in self._find() if not each.repair]
        self.assertEqual(
            ['host-in-two-pclouds', 'host-in-two-pclouds',
             'host-without-state', 'incomplete-aggregate'], sorted(decide))

    def test_request_at_work_is_no_finding(self):
        """What is due is a finding only when it stays due."""
        self._have_due()

        def finish(seconds):
            self.assertTrue(reconcile.host(self.context, self.host))

        with mock.patch.object(all_checks, 'time') as clock:
            clock.sleep.side_effect = finish
            self.assertEqual([], all_checks.find(self.context, settle=3))
        clock.sleep.assert_called_once_with(3)

    def _have_due(self):
        """Change the host without the update of Placement."""
        change.run(self.context, ['test'],
                   lambda written: written.remind([self.host]))

    def test_change_that_placement_was_not_told_of(self):
        self._have_due()
        finding, = self._find()
        self.assertEqual(('change-not-finished', self.host),
                         (finding.kind, finding.subject))
        finding.repair(self.context)
        self.assertEqual([], self._find())

    def test_launch_finishes_what_is_due(self):
        self._have_due()
        self.boot(self.alice, {'pcloud': self.pcloud})
        self.assertEqual([], self._find())

    def test_nobody_is_given_a_host_for_which_something_is_due(self):
        self._have_due()
        with mock.patch.object(journal, 'settle', return_value=False):
            self.boot(self.alice, {'pcloud': self.pcloud}, 'ERROR')
        self.boot(self.alice, {'pcloud': self.pcloud})

    def test_host_in_two_pools(self):
        self.admin.call_json('POST', '/os-host-flavors', {
            'host_flavor': {'id': 'big', 'units': 1}})
        self.admin.add_host_to_aggregate(
            self.aggregate('Pcloud:host_flavor:big').id, self.host)
        self.assertEqual(['host-in-two-pools'] * 2,
                         [each.kind for each in self._find()])

    def test_placement_is_silent(self):
        """What else there is to find is found, and repaired."""
        self._metadata(**{'pcloud:host:ghost': 'gone.example.org'})
        with mock.patch.object(placement, 'members',
                               side_effect=exception.Unavailable()):
            self.assertEqual(['name-without-host', 'not-looked-at'],
                             self._kinds())
