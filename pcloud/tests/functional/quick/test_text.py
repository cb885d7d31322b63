# SPDX-License-Identifier: Apache-2.0

"""Text of users: in hints, in the scheduler's log, in a server's fault."""

import contextlib
import re
from unittest import mock

from pcloud.api.nova_calls import images
from pcloud.api.nova_calls import servers
from pcloud.rules.placing import hints
from pcloud.rules.placing import locality
from pcloud.tests.support import base
from pcloud.tests.support import shared_cloud

LONE = 'x\ud800'
FORGED = '2026-01-01 00:00:00 INFO forged'
HINTS = ('pcloud', 'placement_key', 'constraints', 'near', 'far', 'locality',
         'service', 'in', 'with', 'beside', 'room_for')


@contextlib.contextmanager
def _unchecked():
    """Have hints kept with a server as before they were checked."""
    with mock.patch.object(hints, 'check_text'), mock.patch.object(
            locality, 'check'), mock.patch.object(
            servers, '_check_constraints'), mock.patch.object(
            servers, '_wish'), mock.patch.object(
            images, 'check_flag'):
        yield


class TextTest(shared_cloud.SharedCloudTestCase):
    """A public host, and a Pcloud of alice's with one host."""

    hosts = {'node-1': 'az1', 'node-2': 'az1'}

    def _configure(self):
        self.flags(enabled_filters=[
            'ComputeFilter', 'ConstraintsFilter', 'LocalityFilter',
            'ColocationFilter', 'AffinityFilter'], group='filter_scheduler')
        super()._configure()

    def furnish(self):
        super().furnish()
        self.make_pool('gpu', 'node-1')
        self.pcloud = self.make_pcloud(self.alice)

    def _asked_for(self, said, path='/servers'):
        server = self._build_server(flavor_id='1', networks='none')
        return self.alice.call('POST', path, {
            'server': server, 'os:scheduler_hints': said})

    def test_surrogates_are_refused_in_every_hint_of_ours(self):
        for name in HINTS:
            for value in (LONE, ['a', LONE], [f'tag:{LONE}']):
                response = self._asked_for({name: value})
                self.assertEqual(400, response.status_code, (name, value))
        self.assertEqual([], self.admin.get_servers(
            search_opts={'all_tenants': 1}))
        message = self._asked_for({'pcloud': LONE}).json()[
            'badRequest']['message']
        self.assertIn(r"pcloud: 'x\ud800'", message)
        self.assertIn('surrogate', message)

    def test_surrogates_that_are_kept_already(self):
        """No server stays in BUILD for ever, and its fault says why."""
        for said, told in (
                ({'pcloud': LONE}, r'pcloud=x\ud800'),
                ({'near': ['tag:a'], 'locality': LONE},
                 r"locality: 'x\ud800'"),
                ({'near': [f'tag:{LONE}'], 'locality': 'strict'},
                 r'known as tag:x\ud800'),
                ({'constraints': f'rack={LONE}'}, r'rack=x\ud800'),
                ({'in': LONE}, r"in: 'x\ud800'"),
                ({'pcloud': '\U0001f600'}, r'pcloud=\U0001f600')):
            with _unchecked():
                server = self.boot(self.alice, said, 'ERROR')
            self.assertIn(told, self.fault(server))
        # What is only preferred does without it.
        with _unchecked():
            self.boot(self.alice, {'near': [f'tag:{LONE}']})

    def test_nobody_forges_a_line_of_the_log(self):
        for end in ('\n', '\r\n', '\x0b', '\x85', '\u2028'):
            text = f'x{end}{FORGED}'
            for said in ({'pcloud': text},
                         {'near': ['tag:a'], 'locality': text}):
                with _unchecked():
                    server = self.boot(self.alice, said, 'ERROR')
                self.assertIn('forged', self.fault(server))
        lines = self.stdlog.logger.output.splitlines()
        self.assertEqual([], [each for each in lines
                              if each.startswith(FORGED)])
        self.assertTrue([each for each in lines if r'x\n2026' in each])

    def test_the_number_of_hosts_is_for_the_owner(self):
        self.add_host(self.alice, self.pcloud, 'web', 'gpu')
        self.alice.call_json(
            'PUT', f'/os-pclouds/{self.pcloud}/tenants/{base.BOB}')
        self.make_flavor('huge', memory_mb=10 ** 6)
        faults = {user: self.fault(self.boot(
            user, {'pcloud': self.pcloud}, 'ERROR', flavorRef='huge')
        ).replace(self.pcloud, '<id>') for user in (self.alice, self.bob)}
        self.assertIn('its only enabled host has no capacity',
                      faults[self.alice])
        self.assertIn(
            'none of its enabled hosts has capacity', faults[self.bob])
        self.assertIsNone(re.search(r'\d', faults[self.bob]))
