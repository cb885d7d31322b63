# SPDX-License-Identifier: Apache-2.0

"""Moves that skip the scheduler do not cross a border."""

import pathlib
from unittest import mock

from pcloud.backend.cells import compute_nodes
from pcloud import names
from pcloud.tests.support import base
from pcloud.tests.support import shared_cloud


class ForcedMoveTestCase(shared_cloud.SharedCloudTestCase):
    """Two hosts in a Pcloud, one free in the pool, two ordinary ones."""

    hosts = {'node-1': 'az1', 'node-2': 'az1', 'node-3': 'az1',
             'node-4': 'az1', 'node-5': 'az1'}

    def furnish(self):
        super().furnish()
        self.make_pool('gpu', 'node-1', 'node-2', 'node-3')
        self.pcloud = self.make_pcloud(self.alice)
        self.inside = [self.add_host(self.alice, self.pcloud, name, 'gpu')
                       for name in ('a', 'b')]
        self.free = ({'node-1', 'node-2', 'node-3'} -
                     set(self.inside)).pop()

    def _live_migrate(self, server, host, version, **more):
        self.admin.microversion = version
        body = {'host': host, 'block_migration': version != '2.29', **more}
        if version in ('2.30', '2.67', '2.68'):
            body['block_migration'] = 'auto'
        else:
            body['disk_over_commit'] = False
            body['block_migration'] = False
        if version == '2.29':
            del body['disk_over_commit']
        return self._act(server, {'os-migrateLive': body})

    def _act(self, server, body, user=None):
        response = (user or self.admin).call(
            'POST', f'/servers/{server["id"]}/action', body)
        self.admin.microversion = 'latest'
        return response

    def _assert_refused(self, response):
        self.assertEqual(409, response.status_code, response.text)
        self.assertIn('cannot be forced', response.text)

    def _other(self, server):
        return (set(self.inside) - {self.host_of(server)}).pop()

    def _assert_closed(self, server, target, reason):
        for version, more in (('2.29', {}), ('2.67', {'force': True})):
            response = self._live_migrate(server, target, version, **more)
            self._assert_refused(response)
            self.assertIn(reason, response.text)
        self.admin.microversion = '2.28'
        response = self._act(server, {'evacuate': {'host': target}})
        self._assert_refused(response)
        self.assertIn(reason, response.text)

    def _set_metadata(self, values):
        aggregate = self.aggregate(f'Pcloud:{self.pcloud}')
        self.admin.post_aggregate_action(
            aggregate.id, {'set_metadata': {'metadata': values}})


class OldOrderTest(ForcedMoveTestCase):
    """``pcloud`` stands before ``legacy_v2_compatible``."""

    def _configure(self):
        super()._configure()
        path = pathlib.Path(base.CONF.wsgi.api_paste_config)
        new, old = ('legacy_v2_compatible pcloud',
                    'pcloud legacy_v2_compatible')
        self.assertIn(new, path.read_text())
        path.write_text(path.read_text().replace(new, old))

    def test_below_v2_no_version_is_in_force(self):
        server = self.boot(self.alice)
        self.admin.base_url = self.base_url.replace('/v2.1', '/v2')
        for version in ('2.1', '2.67', '2.90', 'latest'):
            self.admin.microversion = version
            self._assert_refused(self._act(server, {'os-migrateLive': {
                'host': self.free, 'block_migration': False,
                'disk_over_commit': False}}))
            self.admin.microversion = version
            self._assert_refused(self._act(server, {'evacuate': {
                'host': self.free, 'onSharedStorage': False}}))


class ForcedMoveTest(ForcedMoveTestCase):

    def test_live_migration(self):
        inside = self.boot(self.alice, {'pcloud': self.pcloud})
        outside = self.boot(self.alice)
        for version, more in (('2.24', {}), ('2.29', {}),
                              ('2.67', {'force': True}),
                              ('2.67', {'force': 'true'})):
            for server, target in (
                    (inside, 'node-4'), (inside, self.free),
                    (outside, self.inside[0]), (outside, self.free),
                    (outside, self.free.upper())):
                self._assert_refused(
                    self._live_migrate(server, target, version, **more))
        self.assertIn('refused', self.stdlog.logger.output)

    def test_live_migration_on_its_side_goes_on(self):
        inside = self.boot(self.alice, {'pcloud': self.pcloud})
        target = self._other(inside)
        response = self._live_migrate(
            inside, target, '2.67', force=True)
        self.assertEqual(202, response.status_code, response.text)
        self._wait_for_server_parameter(
            inside, {'OS-EXT-SRV-ATTR:host': target, 'status': 'ACTIVE'})

    def test_what_is_not_forced_is_for_the_scheduler(self):
        server = self.boot(self.alice)
        there = self.host_of(server)
        for version, more, status in (
                ('2.30', {}, 400), ('2.67', {}, 202),
                ('2.67', {'force': False}, 202),
                ('2.67', {'force': 'false'}, 202), ('2.68', {}, 202)):
            response = self._live_migrate(
                server, self.free, version, **more)
            self.assertEqual(status, response.status_code, response.text)
            self.assertNotIn('cannot be forced', response.text)
            self._wait_for_server_parameter(server, {
                'OS-EXT-STS:task_state': None, 'status': 'ACTIVE',
                'OS-EXT-SRV-ATTR:host': there})

    def test_target_that_the_scheduler_would_not_take(self):
        server = self.boot(self.alice, {'pcloud': self.pcloud})
        target = self._other(server)
        state = f'pcloud:host_state:{target}.hv.example.org'
        for value, reason in (('disabled', 'is disabled in the Pcloud'),
                              ('Enabled', 'has no state in the Pcloud'),
                              (None, 'has no state in the Pcloud')):
            # As somebody else would write it: our guard refuses the second.
            self.aggregate(f'Pcloud:{self.pcloud}').update_metadata(
                {state: value})
            self._assert_closed(server, target, reason)
        self._set_metadata({state: 'enabled'})
        other = self.aggregate(f'Pcloud:{self.make_pcloud(self.bob)}')
        self.admin.add_host_to_aggregate(other.id, target)
        self._assert_closed(server, target, 'in more than one Pcloud')

    def test_target_that_is_due(self):
        server = self.boot(self.alice, {'pcloud': self.pcloud})
        target = self._other(server)
        self.aggregate(names.JOURNAL).update_metadata(
            {names.DUE_PREFIX + target: 'x'})
        self._assert_closed(server, target, 'until Placement')

    def test_project_that_is_no_tenant_any_more(self):
        self._set_metadata({f'pcloud:{base.BOB}': 'pcloud-tenant'})
        server = self.boot(self.bob, {'pcloud': self.pcloud})
        target = self._other(server)
        self._set_metadata({f'pcloud:{base.BOB}': None})
        self._assert_closed(server, target, 'is not one of its tenants')

    def test_target_whose_cell_is_silent(self):
        server = self.boot(self.alice, {'pcloud': self.pcloud})
        target = self._other(server)
        with mock.patch.object(compute_nodes, 'known_nodes', return_value=(
                {}, frozenset([target]))):
            response = self._live_migrate(server, target, '2.67', force=True)
        self.assertEqual(503, response.status_code, response.text)

    def test_evacuation(self):
        inside = self.boot(self.alice, {'pcloud': self.pcloud})
        outside = self.boot(self.alice)
        for server, target in ((inside, 'node-4'), (inside, self.free),
                               (outside, self.inside[0]),
                               (outside, self.free)):
            for version, body in (
                    ('2.13', {'host': target, 'onSharedStorage': False}),
                    ('2.28', {'host': target}),
                    ('2.67', {'host': target, 'force': True})):
                self.admin.microversion = version
                self._assert_refused(self._act(server, {'evacuate': body}))

    def test_whom_nova_refuses_learns_nothing(self):
        server = self.boot(self.alice)
        self.alice.microversion = '2.29'
        texts = set()
        for target in ('node-4', 'node-5', self.free):
            response = self._act(server, {'os-migrateLive': {
                'host': target, 'block_migration': False}}, self.alice)
            self.assertEqual(403, response.status_code)
            texts.add(response.text)
        self.assertEqual(1, len(texts))

    def test_bad_bodies_are_novas(self):
        server = self.boot(self.alice)
        for body in ({'os-migrateLive': None}, {'os-migrateLive': []}, {},
                     {'evacuate': {}, 'os-migrateLive': {}},
                     {'evacuate': {'host': {'x': 1}}}):
            self.admin.microversion = '2.29'
            self.assertEqual(400, self._act(server, body).status_code)

    def test_allowed_by_configuration(self):
        self.flags(allow_forced_moves=True, group='pcloud')
        outside = self.boot(self.alice)
        response = self._live_migrate(outside, self.free, '2.67', force=True)
        self.assertEqual(202, response.status_code, response.text)
        self._wait_for_server_parameter(
            outside, {'OS-EXT-SRV-ATTR:host': self.free, 'status': 'ACTIVE'})
        self.assertIn('let through by [pcloud] allow_forced_moves',
                      self.stdlog.logger.output)
