# SPDX-License-Identifier: Apache-2.0

"""``uninstall --check``, and leaving in the order of the lines."""

import argparse
import contextlib
import io
import json
from unittest import mock

from pcloud.audit import remains
from pcloud.backend.aggregates import sticky_copies
from pcloud.backend.calls import placement
from pcloud.backend.changes import due
from pcloud.cmd import uninstall
from pcloud import exception
from pcloud.tests.support import base
from pcloud.tests.support import counting
from pcloud.tests.support import shared_cloud

SERVER = '3c0be9ad-8e3f-4dc9-a3c5-4f7b93f1d5e1'


def parsed(*arguments):
    """Return a parsed command line."""
    parser = argparse.ArgumentParser()
    uninstall.add_parser(parser.add_subparsers())
    return parser.parse_args(['uninstall', *arguments])


class UninstallTest(shared_cloud.SharedCloudTestCase):

    hosts = {f'node-{number}': 'az1' for number in range(1, 5)}

    def _run(self, *arguments):
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            status = uninstall.run(parsed('--check', *arguments))
        return status, out.getvalue()

    def _kinds(self):
        status, out = self._run('--format', 'json')
        found = {}
        for each in json.loads(out)['remains']:
            found.setdefault(each['kind'], []).append(
                (each['where'], each['what']))
        self.assertEqual(1 if found else 0, status)
        return found

    def _fill(self):
        """Have one thing of each kind that an operator can leave behind."""
        self.make_pool('gpu', 'node-1', 'node-2', 'node-3')
        self.pcloud = self.make_pcloud(self.alice)
        self.path = f'/os-pclouds/{self.pcloud}'
        self.name = f'Pcloud:{self.pcloud}'
        self.alice.call_json('PUT', self.path, {
            'pcloud': {'cpu_allocation_ratio': 4.0}})
        self.host = self.add_host(self.alice, self.pcloud, 'a', 'gpu')
        self.server = self.boot(self.alice, {'pcloud': self.pcloud})
        self.admin.call_json('PUT', '/os-pcloud-attributes/rack', {
            'attribute': {'value': 'r1', 'hosts': ['node-4']}})
        self.admin.call_json('PUT', f'/os-pcloud-quotas/{base.ALICE}', {
            'quota': {'units': {'limit': 4}}})
        self.admin.call_json('PUT', '/os-pcloud-policies/cloud/default', {
            'policy': {'constraints': 'ram=1G'}})
        self.rack = self.make_aggregate('rack', **{'pcloud:key:heat': '1'})
        self.flavor = self.make_flavor('keyed')
        self.admin.post_extra_spec(self.flavor, {
            'extra_specs': {'pcloud:system_key:heat': '1:1'}})
        sticky_copies.write(self.context, SERVER, '{}')

    def test_nothing_of_it_in_a_new_cloud(self):
        self.assertEqual((0, 'Nothing is left.\n'), self._run())

    def test_each_kind_and_nothing_written(self):
        self._fill()
        before = self.dump()
        free = sorted({'node-1', 'node-2', 'node-3'} - {self.host})
        self.assertEqual({
            'host-with-servers': [[self.name, [f'{self.host} (1 server)']]],
            'ratio-saved': [['pcloud-journal', [self.host]]],
            'host-in-pool': [['Pcloud:host_flavor:gpu', free]],
            'pcloud': [[self.name, []]],
            'host-flavor': [['Pcloud:host_flavor:gpu', []]],
            'attribute': [['Pcloud:attribute:rack=r1', []]],
            'policy': [['Pcloud:policy:cloud:default', []],
                       [f'Pcloud:policy:project:{base.ALICE}', []]],
            'key-of-aggregate': [['rack', ['pcloud:key:heat']]],
            'extra-spec': [['flavor keyed', ['pcloud:system_key:heat']]],
            'journal': [['pcloud-journal', []]],
            'sticky-copy': [['request_specs', ['1 row']]],
        }, {kind: list(map(list, found))
            for kind, found in self._kinds().items()})
        status, out = self._run()
        self.assertEqual(1, status)
        self.assertIn('host-with-servers: Without the filter every', out)
        self.assertIn(f'    {self.name}: {self.host} (1 server)\n', out)
        self.assertEqual(before, self.dump())

    def test_leave_in_the_order_of_the_lines(self):
        self._fill()
        self.admin.delete_server(self.server['id'])
        self._wait_until_deleted(self.server)
        self.assertEqual([(self.name, [self.host])],
                         self._kinds()['host-in-pcloud'])
        self.alice.call_json('PUT', f'{self.path}/hosts/a',
                             {'host': {'state': 'disabled'}})
        self.alice.call_json('DELETE', f'{self.path}/hosts/a')
        found = self._kinds()
        self.assertNotIn('ratio-saved', found)
        self.assertNotIn('host-in-pcloud', found)
        self.alice.call_json('DELETE', self.path)
        for host in ('node-1', 'node-2', 'node-3'):
            self.admin.call_json(
                'DELETE', f'/os-host-flavors/gpu/hosts/{host}')
        self.admin.call_json('DELETE', '/os-host-flavors/gpu')
        self.admin.call_json('DELETE', '/os-pcloud-attributes/rack')
        self.admin.call_json('DELETE', f'/os-pcloud-quotas/{base.ALICE}')
        self.admin.call_json('DELETE', '/os-pcloud-policies/cloud/default')
        self.admin.post_aggregate_action(self.rack, {
            'set_metadata': {'metadata': {'pcloud:key:heat': None}}})
        self.admin.api_delete(
            f'/flavors/{self.flavor}/os-extra_specs/pcloud:system_key:heat')
        self.assertEqual({'journal', 'sticky-copy'}, self._kinds().keys())
        self.admin.delete_aggregate(self.aggregate('pcloud-journal').id)
        engine = self.engines()[0]
        with engine.begin() as connection:
            connection.exec_driver_sql(
                "DELETE FROM request_specs WHERE instance_uuid LIKE 'pcs-%'")
        self.assertEqual((0, 'Nothing is left.\n'), self._run())

    def test_settling_and_due(self):
        self._fill()
        journal = self.aggregate('pcloud-journal')
        journal.update_metadata({
            'pcloud:due:node-1': due.Due(
                mark='a1b2c3d4e5f6', since=1).text(),
            'pcloud:due:node-2': due.Due(
                mark='a1b2c3d4e5f6', since=1, service=due.ON).text(),
            'pcloud:due:node-3': 'by hand'})
        found = self._kinds()
        self.assertEqual(
            [('pcloud-journal', ['node-1'])], found['host-settling'])
        self.assertEqual(
            [('pcloud-journal', ['node-2', 'node-3'])], found['change-due'])

    def test_placement_alone_has_a_host_in_a_pool(self):
        self.make_pool('gpu')
        uuid = self.aggregate('Pcloud:host_flavor:gpu').uuid
        provider = placement.provider(
            self.context, 'node-4.hv.example.org')
        body = placement.aggregates(self.context, provider)
        placement.set_aggregates(self.context, provider, {
            **body, 'aggregates': [*body['aggregates'], uuid]})
        self.assertEqual(
            [('Placement', ['node-4.hv.example.org'])],
            self._kinds()['only-in-placement'])

    def test_silent_placement(self):
        self.make_pool('gpu', 'node-1')
        with mock.patch.object(placement, 'members',
                               side_effect=exception.PlacementSilent):
            status, out = self._run()
        self.assertEqual(2, status)
        self.assertIn('not-looked-at: A part of the cloud does not', out)
        self.assertIn('host-in-pool: ', out)

    def test_queries(self):
        self.make_pool('gpu', 'node-1')
        few = counting.least(lambda: remains.find(self.context))
        self._fill_more()
        many = counting.least(lambda: remains.find(self.context))
        self.assertEqual((few.sql, few.http), (many.sql, many.http))
        # Three of the statements are Placement's.
        self.assertLessEqual(many.sql, 12)

    def _fill_more(self):
        self.make_pool('big', 'node-2', 'node-3', 'node-4')
        for number in range(3):
            pcloud = self.make_pcloud(self.alice)
            self.add_host(self.alice, pcloud, f'h{number}', 'big')
            self.boot(self.alice, {'pcloud': pcloud})
