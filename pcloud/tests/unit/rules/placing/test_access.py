# SPDX-License-Identifier: Apache-2.0

import ddt
import testtools

from pcloud.rules.placing import access

HOST, NODE = 'node-1', 'node-1.example.org'


def _pcloud(**changes):
    values = {'id': 'p', 'tenants': frozenset({'alice', 'bob'}),
              'hosts': {HOST: 1}, 'states': {NODE: 'enabled'}}
    return access.Pcloud(**{**values, **changes})


@ddt.ddt
class ProjectVerdictTest(testtools.TestCase):
    """The rows of the table in `access.project_verdict`."""

    def test_unknown_and_foreign_are_told_apart_by_nobody(self):
        unknown = access.project_verdict(None, 'alice')
        foreign = access.project_verdict(_pcloud(), 'carol')
        self.assertFalse(unknown)
        self.assertEqual(unknown, foreign)

    @ddt.data('alice', 'bob')
    def test_tenant_passes(self, project):
        self.assertTrue(access.project_verdict(_pcloud(), project))

    @ddt.data('', None, 'ALICE', 'alice ')
    def test_almost_a_tenant_does_not(self, project):
        self.assertFalse(access.project_verdict(_pcloud(), project))

    def test_nobody_passes_where_it_is_not_clear(self):
        pcloud = _pcloud(is_clear=False)
        self.assertIn('ask its operator',
                      access.project_verdict(pcloud, 'alice').reason)
        self.assertEqual(
            access.project_verdict(None, 'carol'),
            access.project_verdict(pcloud, 'carol'))
        self.assertFalse(access.host_verdict(pcloud, HOST, NODE))

    def test_owner_that_removed_itself_does_not(self):
        pcloud = _pcloud(tenants=frozenset())
        self.assertFalse(access.project_verdict(pcloud, 'alice'))


class StateTest(testtools.TestCase):

    def test_every_other_text_is_no_state(self):
        for state in access.STATES:
            self.assertEqual(state, access.state(state))
        for text in (None, '', 'Enabled', 'enabled '):
            self.assertIsNone(access.state(text))


@ddt.ddt
class HostVerdictTest(testtools.TestCase):
    """The rows of the table in `access.host_verdict`."""

    @ddt.unpack
    @ddt.data(
        ({}, {NODE: 'enabled'}, False, 'not in the Pcloud'),
        ({'node-2': 1}, {NODE: 'enabled'}, False, 'not in the Pcloud'),
        ({HOST: 2}, {NODE: 'enabled'}, False, 'more than one'),
        ({HOST: 2}, {NODE: 'disabled'}, False, 'more than one'),
        ({HOST: 2}, {}, False, 'more than one'),
        ({HOST: 0}, {NODE: 'enabled'}, False, 'more than one'),
        ({HOST: 1}, {}, False, 'no state'),
        ({HOST: 1}, {HOST: 'enabled'}, False, 'no state'),
        ({HOST: 1}, {NODE: ''}, False, 'no state'),
        ({HOST: 1}, {NODE: 'Enabled'}, False, 'no state'),
        ({HOST: 1}, {NODE: 'disabled'}, False, 'disabled'),
        ({HOST: 1}, {NODE: 'enabled'}, True, 'enabled'),
    )
    def test_row(self, hosts, states, allowed, reason):
        verdict = access.host_verdict(
            _pcloud(hosts=hosts, states=states), HOST, NODE)
        self.assertEqual(allowed, bool(verdict))
        self.assertIn(reason, verdict.reason)

    def test_is_leaving(self):
        for state in 'enabled', 'disabled', '':
            verdict = access.host_verdict(
                _pcloud(states={NODE: state}, leaving=frozenset([HOST])),
                HOST, NODE)
            self.assertEqual((access.IS_LEAVING, False),
                             (verdict, bool(verdict)))

    def test_is_due(self):
        for state, count, reason in (
                ('enabled', 1, 'until Placement'),
                ('disabled', 1, 'until Placement'),
                ('enabled', 2, 'more than one')):
            verdict = access.host_verdict(
                _pcloud(hosts={HOST: count}, states={NODE: state},
                        due=frozenset([HOST])), HOST, NODE)
            self.assertFalse(verdict)
            self.assertIn(reason, verdict.reason)

    def test_unopened(self):
        for state, reason in (('enabled', 'by other means'),
                              ('disabled', 'is disabled')):
            verdict = access.host_verdict(
                _pcloud(hosts={HOST: 1}, states={NODE: state},
                        unopened=frozenset([HOST])), HOST, NODE)
            self.assertFalse(verdict)
            self.assertIn(reason, verdict.reason)


class PublicVerdictTest(testtools.TestCase):
    """The rows of the table in `access.public_verdict`."""

    def test_kept_host(self):
        verdict = access.public_verdict(HOST, {HOST, 'node-2'})
        self.assertFalse(verdict)
        self.assertIn('kept for Pclouds', verdict.reason)

    def test_open_host(self):
        self.assertTrue(access.public_verdict(HOST, {'node-2'}))
        self.assertTrue(access.public_verdict(HOST, ()))
