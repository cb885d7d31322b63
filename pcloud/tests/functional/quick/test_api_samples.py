# SPDX-License-Identifier: Apache-2.0

"""The examples of the API reference are what the API really sends.

``GENERATE_SAMPLES=1`` in the environment writes them anew instead.
"""

import dataclasses
import json
import os
import pathlib
import re
from unittest import mock

from pcloud.api import routes
from pcloud.backend.changes import spans
from pcloud.rules.usage import ledger
from pcloud.tests.support import base
from pcloud.tests.support import outages

FOLDER = pathlib.Path(__file__).parents[4] / 'doc' / 'api_samples'
UUID = re.compile('[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}')
SINCE = re.compile('("(?:since|empty_since|worker_seen)": )"[^"]*"')
VALID = re.compile('("valid_for": )"[^"]*"')
# A month of a sample, which is another one there.
FUTURE = '2099-11'
# What the ids of a run are called in the samples, in order of appearance.
STABLE = ('7f3c8a52-4a0e-4c35-9d6e-5b1f2c7e8a90',
          'c1d9e4b6-0b7f-4f0e-8c2a-9e6d3f5a1b47',
          '2e6b7a19-d5c8-4b3f-a1e0-6f9c4d2b8e35',
          '9b4d7f20-3c6e-4d18-b2a5-7c8e1f0d6a93')
PROJECTS = {base.ALICE: '0f8e9d7c6b5a49388271605f4e3d2c1b',
            base.BOB: '5a1c3e7f9b2d4c6e8f0a1b3c5d7e9f21'}


class ApiSamplesTest(base.PcloudTestCase):
    """An administrator and an owner make every call that has a body."""

    hosts = {'node-1': 'az1', 'node-2': 'az1'}
    maxDiff = None

    def setUp(self):
        super().setUp()
        self.ids = {}
        self.made = set()

    def _sample(self, name, user, method, path, body=None):
        """Make a call and compare both bodies with the files of a name."""
        pattern = path.split('?')[0]
        self.made |= {(method, route.path) for route in routes.ROUTES
                      if re.fullmatch(re.sub('{.*?}', '[^/]+', route.path),
                                      pattern)}
        answer = user.call_json(method, path, body)
        if body is not None:
            self._compare(f'{name}-req.json', body)
        if answer is not None:
            self._compare(f'{name}-resp.json', answer)
        return answer

    def _compare(self, name, body):
        text = UUID.sub(self._stable, json.dumps(body, indent=4)) + '\n'
        text = SINCE.sub(r'\1"2026-11-24T18:00:00Z"', text)
        text = VALID.sub(
            r'\1"e30cc54814ad18f999b759db38ef3b4e.eJyLLikqTdUBE9GxsQApFgVJ"',
            text)
        text = text.replace(FUTURE, '2026-11')
        for project, stable in PROJECTS.items():
            text = text.replace(project, stable)
        path = FOLDER / name
        if os.environ.get('GENERATE_SAMPLES'):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        self.assertEqual(path.read_text(), text, name)

    def _stable(self, match):
        if match[0] not in self.ids:
            self.ids[match[0]] = STABLE[len(self.ids)]
        return self.ids[match[0]]

    def test_all(self):
        self.work()
        self._pool()
        pcloud = self._pclouds()
        self._hosts(pcloud)
        self._tenants_and_quota(pcloud)
        self._room(pcloud)
        self._attributes()
        self._policies(pcloud)
        self._about(pcloud)
        self._usage(pcloud)
        self._rebalance(pcloud)
        self._waiting(pcloud)
        self._endings(pcloud)
        self.assertEqual(
            set(), {(route.method, route.path) for route in routes.ROUTES} -
            self.made)

    def _pool(self):
        path = '/os-host-flavors'
        self._sample('host-flavors/create', self.admin, 'POST', path, {
            'host_flavor': {'id': 'gpu', 'units': 2, 'price': '1.50',
                            'description': '10 cpus, 8 GiB, two GPUs'}})
        self.disable_service('node-1')
        self._sample('host-flavors/host-add', self.admin, 'POST',
                     f'{path}/gpu/hosts', {'host': {'host': 'node-1'}})
        self.disable_service('node-2')
        self._sample('host-flavors/hosts-add', self.admin, 'POST',
                     f'{path}/gpu/hosts', {'hosts': ['node-2']})
        self.admin.call_json('DELETE', f'{path}/gpu/hosts/node-2')
        self._sample('host-flavors/host-maintenance', self.admin, 'PUT',
                     f'{path}/gpu/hosts/node-1', {'host': {'maintenance': {
                         'from': '2100-01-01T20:00:00Z',
                         'until': '2100-01-01T22:00:00Z',
                         'reason': 'Two disks are replaced'}}})
        self.admin.call_json('PUT', f'{path}/gpu/hosts/node-1',
                             {'host': {'maintenance': None}})
        self._sample('host-flavors/host-fence', self.admin, 'PUT',
                     f'{path}/gpu/hosts/node-1', {'host': {'fenced': True}})
        self.admin.call_json('PUT', f'{path}/gpu/hosts/node-1',
                             {'host': {'fenced': False}})
        self._sample('host-flavors/update', self.admin, 'PUT',
                     f'{path}/gpu', {'host_flavor': {'units': 3}})
        self._sample('host-flavors/list', self.alice, 'GET', path)
        self._sample('host-flavors/show', self.alice, 'GET', f'{path}/gpu')

    def _pclouds(self):
        path = '/os-pclouds'
        made = self._sample('pclouds/create', self.alice, 'POST', path, {
            'pcloud': {'name': 'render-farm'}})['pcloud']['id']
        self._sample('pclouds/update', self.alice, 'PUT', f'{path}/{made}', {
            'pcloud': {'cpu_allocation_ratio': 4.0,
                       'ram_allocation_ratio': None,
                       'pin_by_tenants': True, 'placement': 'pack',
                       'flavors': ['1', '2', '3'], 'images': None,
                       'shrink': {'after_hours': 24, 'min_hosts': 1,
                                  'keep_spare': 1}}})
        return made

    def _hosts(self, pcloud):
        path = f'/os-pclouds/{pcloud}/hosts'
        self._sample('hosts/add', self.alice, 'POST', path, {
            'host': {'name': 'web-1', 'host_flavor': 'gpu',
                     'availability_zone': 'az1'}})
        self._sample('hosts/update', self.alice, 'PUT', f'{path}/web-1',
                     {'host': {'state': 'enabled'}})
        self.boot(self.alice, {'pcloud': pcloud})
        self._run_periodics()
        self._sample('hosts/list', self.alice, 'GET', path)
        self._sample('hosts/show', self.alice, 'GET', f'{path}/web-1')
        self._sample('hosts/show-admin', self.admin, 'GET', f'{path}/web-1')
        self._sample('hosts/spare', self.alice, 'PUT', f'{path}/web-1',
                     {'host': {'state': 'spare'}})
        self._sample('hosts/until', self.alice, 'PUT', f'{path}/web-1', {
            'host': {'until': '2100-01-01T00:00:00Z', 'move': 'live'}})
        self.alice.call_json('PUT', f'{path}/web-1',
                             {'host': {'until': None}})
        self._sample('hosts/drain', self.alice, 'PUT', f'{path}/web-1', {
            'host': {'state': 'draining', 'drain': {
                'move': 'none', 'release': True,
                'deadline': '2100-01-01T00:00:00Z'}}})
        self.alice.call_json('PUT', f'{path}/web-1',
                             {'host': {'state': 'enabled'}})
        self._sample('host-flavors/show-admin', self.admin, 'GET',
                     '/os-host-flavors/gpu')

    def _tenants_and_quota(self, pcloud):
        path = f'/os-pclouds/{pcloud}'
        self._sample('tenants/add', self.alice, 'PUT',
                     f'{path}/tenants/{base.BOB}')
        self._sample('tenants/cap', self.alice, 'PUT',
                     f'{path}/tenants/{base.BOB}', {'tenant': {
                         'max_servers': 20, 'max_vcpus': 64,
                         'max_memory_mb': None}})
        keystone = outages.NamingKeystone()
        keystone.projects = {('default', 'render'): base.ALICE,
                             ('default', 'film'): base.BOB}
        with keystone:
            self._sample('tenants/add-named', self.alice, 'POST',
                         f'{path}/tenants', {'tenant': {
                             'name': 'film', 'domain': 'default'}})
            self._sample('tenants/list', self.alice, 'GET', f'{path}/tenants')
        self._sample('pclouds/list', self.alice, 'GET', '/os-pclouds')
        self._sample('pclouds/list-detail', self.alice, 'GET',
                     '/os-pclouds?detail=1')
        self._sample('pclouds/show', self.alice, 'GET', path)
        self._sample('pclouds/show-tenant', self.bob, 'GET', path)
        path = f'/os-pcloud-quotas/{base.ALICE}'
        self._sample('quotas/update', self.admin, 'PUT', path, {
            'quota': {'units': {'limit': 20}}})
        self._sample('quotas/show', self.alice, 'GET', path)
        self._sample('quotas/delete', self.admin, 'DELETE', path)

    def _room(self, pcloud):
        self._sample('servers/list', self.alice, 'GET', '/os-pcloud-servers')
        self._sample('hidden-servers/list', self.alice, 'GET',
                     '/os-pcloud-hidden-servers')
        self._sample('room/show', self.alice, 'GET',
                     f'/os-pcloud-room?flavor=1&flavor=2&pcloud={pcloud}'
                     '&count=2')
        self.boot(self.alice, {'pcloud': pcloud}, flavorRef='3')
        self._run_periodics()
        self._sample('explain/show', self.alice, 'GET',
                     f'/os-pclouds/{pcloud}/explain?flavor=3')
        self._sample('simulate/ask', self.alice, 'POST',
                     f'/os-pclouds/{pcloud}/simulate', {'simulate': {
                         'servers': [
                             {'flavor': '2', 'count': 2, 'apart': True},
                             {'flavor': '3', 'count': 3}],
                         'include_disabled': True}})
        self._sample('rehearsal/show', self.alice, 'GET',
                     f'/os-pclouds/{pcloud}/rehearsal')
        rack = '/os-pcloud-attributes/rack'
        self.admin.call_json('PUT', rack, {
            'attribute': {'value': 'r12', 'hosts': ['node-1']}})
        self._sample('rehearsal/racks', self.alice, 'GET',
                     f'/os-pclouds/{pcloud}/rehearsal?lose=rack')
        self.admin.call_json('DELETE', f'{rack}?host=node-1')

    def _attributes(self):
        path = '/os-pcloud-attributes'
        self._sample('attributes/update', self.admin, 'PUT', f'{path}/rack', {
            'attribute': {'value': 'r12', 'hosts': ['node-1']}})
        self._sample('attributes/list', self.admin, 'GET', path)
        self._sample('attributes/delete', self.admin, 'DELETE',
                     f'{path}/rack?host=node-1')

    def _policies(self, pcloud):
        path = f'/os-pcloud-policies/pcloud/{pcloud}'
        self._sample('policies/update', self.admin, 'PUT', path, {
            'policy': {'constraints': 'ram=2G', 'system_keys': [
                'premium=1:50'], 'customer_keys': ['Repel1=1:-100']}})
        self._sample('policies/show', self.alice, 'GET', path)
        self._sample('policies/show-effective', self.alice, 'GET',
                     f'{path}?effective=1')
        self._sample('policies/show-admin', self.admin, 'GET', path)
        own = f'/os-pcloud-policies/project/{base.ALICE}'
        self._sample('policies/set-default', self.alice, 'PUT', own, {
            'policy': {'default_pcloud': {
                'pcloud': pcloud, 'mode': 'prefer'}}})
        self._sample('policies/show-default', self.alice, 'GET', own)
        self.admin.call_json('DELETE', own)
        self._sample('policies/delete', self.admin, 'DELETE', path)

    def _about(self, pcloud):
        self._sample('about/show', self.alice, 'GET', '/os-pcloud')
        aggregate = self.aggregate(f'Pcloud:{pcloud}')
        key = 'pcloud:host_state:gone.example.org'
        aggregate.update_metadata({key: 'enabled'})
        self._sample('audit/list', self.admin, 'GET', '/os-pcloud-audit')
        aggregate.update_metadata({key: None})

    def _waiting(self, pcloud):
        self.flags(wait_limit=10 ** 10, group='pcloud')
        self.make_pool('gpu-2')
        entry = self._sample(
            'hosts/wait', self.alice, 'POST', f'/os-pclouds/{pcloud}/hosts', {
                'host': {'name': 'web-3', 'host_flavor': 'gpu-2',
                         'wait_until': '2100-01-01T00:00:00Z',
                         'until': '2100-02-01T00:00:00Z',
                         'move': 'live'}})['waiting']
        path = f'/os-pclouds/{pcloud}/waiting'
        self._sample('waiting/list', self.alice, 'GET', path)
        self._sample('waiting/list-flavor', self.admin, 'GET',
                     '/os-host-flavors/gpu-2/waiting')
        self._sample('waiting/cancel', self.alice, 'DELETE',
                     f'{path}/{entry["id"]}')

    def _rebalance(self, pcloud):
        hosts = f'/os-pclouds/{pcloud}/hosts'
        self.disable_service('node-2')
        self.admin.call_json('POST', '/os-host-flavors/gpu/hosts',
                             {'host': {'host': 'node-2'}})
        self.add_host(self.alice, pcloud, 'web-2', 'gpu')
        self.alice.call_json('PUT', f'{hosts}/web-1', {
            'host': {'state': 'disabled'}})
        server = self.boot(self.alice, {'pcloud': pcloud})
        self.alice.call_json('PUT', f'{hosts}/web-1', {
            'host': {'state': 'enabled'}})
        path = f'/os-pclouds/{pcloud}/rebalance'
        plan = self._sample('rebalance/show', self.alice, 'GET',
                            f'{path}?goal=free_hosts&max_moves=1')
        self._sample('rebalance/begin', self.alice, 'POST', path, {
            'rebalance': {'valid_for': plan['rebalance']['valid_for'],
                          'goal': 'free_hosts', 'max_moves': 1}})
        self.work()
        self._sample('rebalance/end', self.alice, 'DELETE', path)
        self.wait_for(server, **{'OS-EXT-SRV-ATTR:host': 'node-1'})
        self.alice.call_json('PUT', f'{hosts}/web-2', {
            'host': {'state': 'disabled'}})
        self.alice.call_json('DELETE', f'{hosts}/web-2')

    def _usage(self, pcloud):
        self._sample('usage/pcloud', self.alice, 'GET',
                     f'/os-pclouds/{pcloud}/usage')
        self.flags(currency='EUR', group='pcloud')
        held = f'pcloud:span:{self.host_of(self.alice.get_servers()[0])}'
        journal = self.aggregate('pcloud-journal')
        span = ledger.Span.read(journal.metadata[held])
        # After all changes of the host flavor.
        _, end = ledger.bounds(FUTURE)
        self.write_metadata(pcloud, **{held: dataclasses.replace(
            span, since=end - 45 * 3600).text()})
        with mock.patch.object(spans, 'now', lambda: end + 3600):
            for name, user, path in (('show', self.alice, f'/{base.ALICE}'),
                                     ('list', self.admin, '')):
                self._sample(f'usage/{name}', user, 'GET',
                             f'/os-pcloud-usage{path}?month={FUTURE}')
        begin, _ = ledger.bounds(FUTURE)
        self.write_metadata(pcloud, **{held: dataclasses.replace(
            span, since=begin + 9 * 3600).text()})
        with mock.patch.object(spans, 'now', lambda: begin + 36 * 3600):
            self._sample('usage/show-by-day', self.alice, 'GET',
                         f'/os-pcloud-usage/{base.ALICE}?by=day')
        self.write_metadata(pcloud, **{held: span.text()})

    def _endings(self, pcloud):
        path = f'/os-pclouds/{pcloud}'
        self._sample('tenants/remove', self.alice, 'DELETE',
                     f'{path}/tenants/{base.BOB}')
        for server in self.alice.get_servers():
            self._delete_server(server)
        self.alice.call_json('PUT', f'{path}/hosts/web-1', {
            'host': {'state': 'disabled'}})
        self._sample('hosts/remove', self.alice, 'DELETE',
                     f'{path}/hosts/web-1')
        self._sample('hosts/add-several', self.alice, 'POST',
                     f'{path}/hosts', {'host': {
                         'name': 'web', 'count': 2, 'host_flavor': 'gpu'}})
        for name in ('web-1', 'web-2'):
            self.alice.call_json('DELETE', f'{path}/hosts/{name}')
        self.admin.call_json('DELETE', '/os-host-flavors/gpu/hosts/node-2')
        self._sample('pclouds/delete', self.alice, 'DELETE', path)
        self._sample('host-flavors/host-remove', self.admin, 'DELETE',
                     '/os-host-flavors/gpu/hosts/node-1')
        self._sample('host-flavors/delete', self.admin, 'DELETE',
                     '/os-host-flavors/gpu')
