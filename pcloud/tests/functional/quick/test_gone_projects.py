# SPDX-License-Identifier: Apache-2.0

"""What Pcloud keeps of projects and domains that Keystone has deleted."""

from unittest import mock

from nova import context as nova_context

from pcloud.audit import all_checks
from pcloud.backend import complaints
from pcloud.tests.support import base
from pcloud.tests.support import outages
from pcloud.tests.support import shared_cloud

_KNOWN = tuple(f'/projects/{each}' for each in (
    base.ALICE, base.BOB, base.CAROL)) + ('/domains/default', '/domains/d1')


class GoneProjectTest(shared_cloud.SharedCloudTestCase):
    """A Pcloud with a tenant; a quota, a default and a policy of a domain."""

    hosts = {'node-1': 'az1'}

    def furnish(self):
        super().furnish()
        self.pcloud = self.make_pcloud(self.alice)
        self.name = f'Pcloud:{self.pcloud}'
        self.alice.call_json(
            'PUT', f'/os-pclouds/{self.pcloud}/tenants/{base.BOB}')
        self.admin.call_json('PUT', f'/os-pcloud-quotas/{base.BOB}', {
            'quota': {'units': {'limit': 3}}})
        self.admin.call_json(
            'PUT', f'/os-pcloud-policies/project/{base.BOB}', {
                'policy': {'default_pcloud': {
                    'pcloud': self.pcloud, 'mode': 'prefer'}}})
        self.admin.call_json('PUT', '/os-pcloud-policies/domain/d1', {
            'policy': {'constraints': 'ram=1G'}})

    def setUp(self):
        super().setUp()
        complaints.once.cache_clear()
        self.context = nova_context.RequestContext(
            'admin', base.CAROL, is_admin=True)

    def find(self, keystone=None, context=None):
        if keystone is not None:
            self.useFixture(keystone)
        return all_checks.find(context or self.context, settle=0)

    def shown(self, *known):
        return {(each.kind, each.aggregate, each.subject) for each
                in self.find(outages.ListingKeystone(*known))}

    def test_nobody_is_gone(self):
        keystone = outages.ListingKeystone(*_KNOWN)
        self.assertEqual([], self.find(keystone))
        self.assertEqual(['/projects?limit=1000', '/domains?limit=1000'],
                         keystone.asked)

    def test_an_owner(self):
        self.assertEqual(
            {('project-gone', self.name, 'pcloud:owner')},
            self.shown(*_KNOWN[1:]))

    def test_a_tenant_with_settings(self):
        policy = f'Pcloud:policy:project:{base.BOB}'
        self.assertEqual({
            ('project-gone', self.name, f'pcloud:{base.BOB}'),
            ('project-gone', policy, 'pcloud:quota:units'),
            ('project-gone', policy, 'pcloud:scope_id')},
            self.shown(_KNOWN[0], *_KNOWN[2:]))

    def test_a_domain(self):
        self.assertEqual(
            {('domain-gone', 'Pcloud:policy:domain:d1', 'pcloud:scope_id')},
            self.shown(*_KNOWN[:-1]))

    def test_nothing_is_repaired(self):
        keystone = outages.ListingKeystone('/domains/d1')
        found = self.find(keystone)
        self.assertEqual(4, len(found))
        for finding in found:
            self.assertIsNone(finding.repair)
            self.assertIn('does not exist in Keystone', finding.message)

    def test_the_ways_out(self):
        path = f'/os-pclouds/{self.pcloud}/tenants/{base.BOB}'
        keystone = outages.ListingKeystone(_KNOWN[0], *_KNOWN[2:])
        self.assertEqual(3, len(self.find(keystone)))
        for way in (path, f'/os-pcloud-quotas/{base.BOB}',
                    f'/os-pcloud-policies/project/{base.BOB}'):
            self.admin.call_json('DELETE', way)
        self.assertEqual([], self.find())

    def test_a_list_that_keystone_cuts(self):
        keystone = outages.ListingKeystone(*_KNOWN)
        keystone.listed = _KNOWN[1:2]
        self.assertEqual([], self.find(keystone))
        self.assertIn(f'/projects/{base.ALICE}', keystone.asked)
        self.assertNotIn(f'/projects/{base.BOB}', keystone.asked)

    def test_pages(self):
        keystone = outages.ListingKeystone(*_KNOWN)
        keystone.page = 1
        self.assertEqual([], self.find(keystone))
        self.assertEqual(
            ['/projects?limit=1000', f'/projects?limit=1&marker={base.ALICE}',
             f'/projects?limit=1&marker={base.BOB}'], keystone.asked[:3])
        self.assertEqual(5, len(keystone.asked))

    def test_keystone_is_away(self):
        keystone = outages.ListingKeystone()
        keystone.status = 503
        for each in (outages.SilentKeystone(), keystone):
            finding, = self.find(each)
            self.assertEqual(('not-looked-at', 'Keystone'),
                             (finding.kind, finding.aggregate))

    def test_nobody_may_ask(self):
        """The log says so in one line, and nothing is found."""
        keystone = self.useFixture(outages.ListingKeystone())
        keystone.status = 403
        for context, reason in (
                (self.context, '403'),
                (nova_context.get_admin_context(), 'has no auth_type')):
            with mock.patch.object(complaints, 'LOG') as log:
                self.assertEqual([], self.find(context=context))
            (_, line), _ = log.warning.call_args
            self.assertIn(reason, line)
            self.assertEqual(1, log.warning.call_count)
            self.assertNotIn('\n', line)

    def test_the_call_of_the_api(self):
        self.useFixture(outages.ListingKeystone(*_KNOWN[1:]))
        found = self.admin.get_json('/os-pcloud-audit')['findings']
        self.assertEqual(
            [('project-gone', self.name)],
            [(each['kind'], each['aggregate']) for each in found])
