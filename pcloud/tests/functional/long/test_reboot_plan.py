# SPDX-License-Identifier: Apache-2.0

"""Which hosts may be rebooted together, told by the command."""

import contextlib
import io
import json

from pcloud.cmd import manage
from pcloud.cmd import reboot_plan
from pcloud.planning import reboots
from pcloud.tests.functional.long import test_rehearsal
from pcloud.tests.support import base
from pcloud.tests.support import counting

SOON, LATER = '2099-01-01T20:00:00Z', '2099-01-02'


class RebootPlanTest(test_rehearsal.RehearsalTestCase):
    """Three hosts, of which two have a server that needs half a host."""

    def furnish(self):
        super().furnish()
        self.real = {name: self.add(name) for name in ('web', 'db', 'log')}
        self.start_on('web', 'm', others=['db', 'log'])
        self.start_on('db', 'm', others=['web', 'log'])
        self.give('rack', 'left', 'node-1', 'node-2', 'node-3')

    def give(self, name, value, *hosts):
        self.admin.call_json('PUT', f'/os-pcloud-attributes/{name}', {
            'attribute': {'value': value, 'hosts': list(hosts)}})

    def run_command(self, *options):
        """Return the status and what is printed."""
        command = manage.build_parser().parse_args(['reboot-plan', *options])
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            status = command.run(command)
        return status, out.getvalue()

    def planned(self, *options, status=reboot_plan.SAFE):
        """Return date, rack and the owner's names or hosts of each batch."""
        found, out = self.run_command('--format', 'json', *options)
        self.assertEqual(status, found)
        return [(each['date'], each['rack'], sorted(
            host['name'] or host['host'] for host in each['hosts']))
            for each in json.loads(out)['batches']]

    def test_nothing_is_to_be_rebooted(self):
        self.give('next_reboot', '2020-01-01', 'node-1')
        self.assertEqual([], self.planned())
        self.assertEqual(
            (0, 'No host of a pool or Pcloud is to be rebooted.\n'),
            self.run_command())
        self.assertEqual(
            (0, 'No host of a pool or Pcloud in rack r9 is to be rebooted.\n'),
            self.run_command('--rack', 'r9'))

    def test_no_pcloud_loses_more_than_it_may(self):
        """Each host may go, and no two of them."""
        self.give('next_reboot', SOON, 'node-1', 'node-2', 'node-3', 'node-4')
        found = self.planned()
        self.assertEqual([('2099-01-01', 'left')] * 3 + [
            ('2099-01-01', None)], [each[:2] for each in found])
        self.assertEqual([['db'], ['log'], ['web'], ['node-4']],
                         sorted(each[2] for each in found[:3]) + [
                             found[3][2]])
        # Without one of the servers its host goes with any other.
        for server in self.alice.get_servers():
            self._delete_server(server)
        self.assertEqual([('2099-01-01', 'left', ['db', 'log', 'web']),
                          ('2099-01-01', None, ['node-4'])], self.planned())

    def test_order_and_choice(self):
        self.give('rack', 'right', 'node-4')
        self.give('next_reboot', SOON, 'node-4')
        self.give('next_reboot', LATER, 'node-1')
        self.give('platform_version', '2.0', 'node-1', 'node-4')
        name = next(name for name, host in self.real.items()
                    if host == 'node-1')
        later = ('2099-01-02', 'left', [name])
        sooner = ('2099-01-01', 'right', ['node-4'])
        self.assertEqual([sooner, later], self.planned())
        self.assertEqual([later], self.planned('--rack', 'left'))
        # Whatever their dates.
        others = self.planned('--platform-before', '2.0')
        self.assertEqual([(None, 'left')] * 2, [each[:2] for each in others])
        self.assertEqual({'web', 'db', 'log'} - {name}, {
            each for _, _, names in others for each in names})
        self.assertEqual([], self.planned(
            '--platform-before', '2.0', '--rack', 'right'))

    def test_two_pclouds_at_once(self):
        self.make_pool('more', 'node-5', 'node-6')
        other = self.make_pcloud(self.bob, 'theirs')
        for name in ('a', 'b'):
            self.add_host(self.bob, other, name, 'more')
        self.boot(self.bob, {'pcloud': other}, flavorRef='s')
        self.give('rack', 'left', *(f'node-{n}' for n in (1, 2, 3, 5, 6)))
        self.give('next_reboot', SOON,
                  *(f'node-{n}' for n in (1, 2, 3, 5, 6)))
        found = [names for _, _, names in self.planned()]
        self.assertEqual([2, 2, 1], list(map(len, found)))
        for names in found:
            self.assertEqual(1, len({'web', 'db', 'log'} & set(names)))
            self.assertLessEqual(len({'a', 'b'} & set(names)), 1)

    def test_a_host_that_may_not_even_go_alone(self):
        # The other hosts have half a host left each, at most.
        self.start_on('log', 'xl', others=['web', 'db'])
        self.give('next_reboot', SOON, 'node-1', 'node-2', 'node-3')
        status, out = self.run_command()
        self.assertEqual(reboot_plan.UNSAFE, status)
        self.assertIn('Batch 1: 2099-01-01, rack left\n', out)
        self.assertRegex(out, rf'node-\d: log in Pcloud {self.pcloud}\n +its '
                              'servers may find no room on the other hosts')
        batches = reboots.plan(self.context)
        self.assertEqual({False}, {
            host.safe for batch in batches for host in batch.hosts
            if host.name == 'log'})

    def test_statements(self):
        """Hosts and servers cost nothing more."""
        self.give('next_reboot', SOON, 'node-1')
        few = counting.least(lambda: reboots.plan(self.context))
        self.give('next_reboot', SOON, 'node-2', 'node-3', 'node-4')
        many = counting.least(lambda: reboots.plan(self.context))
        self.assertEqual((few.sql, few.http), (many.sql, many.http))
        self.assertGreater(few.sql, 0)

    def test_changes_nothing(self):
        self.give('next_reboot', SOON, 'node-1', 'node-2')
        before = self.dump()
        self.planned()
        self.assertEqual(before, self.dump())
        self.assertEqual(base.ALICE, self.alice.get_json(self.path)[
            'pcloud']['owner'])
