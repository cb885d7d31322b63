# SPDX-License-Identifier: Apache-2.0

"""Limits of units that a real Keystone keeps."""

import concurrent.futures
import json

import requests

from pcloud.tests.sandbox import base
from pcloud_sandbox.configuration import layout

MODEL = '[unified_limit]\nenforcement_model = strict_two_level\n'


class User:
    """A user of the sandbox, by Keystone's and Nova's API."""

    def __init__(self, environment):
        self.keystone = environment['OS_AUTH_URL']
        domain = {'id': 'default'}
        answer = requests.post(f'{self.keystone}/auth/tokens', json={'auth': {
            'identity': {'methods': ['password'], 'password': {'user': {
                'name': environment['OS_USERNAME'], 'domain': domain,
                'password': environment['OS_PASSWORD']}}},
            'scope': {'project': {'name': environment['OS_PROJECT_NAME'],
                                  'domain': domain}}}})
        self.token = answer.headers['X-Subject-Token']
        token = answer.json()['token']
        self.project = token['project']['id']
        self.service, self.nova = next(
            (each['id'], each['endpoints'][0]['url'])
            for each in token['catalog'] if each['type'] == 'compute')

    def call(self, method, url, body=None):
        """Call an API; return the answer."""
        return requests.request(method, url, json=body, headers={
            'X-Auth-Token': self.token,
            'OpenStack-API-Version': 'compute 2.100'})

    def ask(self, method, path, **body):
        """Call Nova's API; return the status and the text."""
        answer = self.call(method, f'{self.nova}{path}', body or None)
        return answer.status_code, answer.text


class UnifiedLimitsTest(base.SharedSandboxTest):
    """Four hosts of two units each; Pclouds of Alice's and Bob's."""

    up_options = ('--hosts', '4')

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        status, _, told = base.call(
            cls.folder, 'set', 'pcloud', 'quota_driver', 'unified')
        assert status == 0, told
        cls.admin, cls.alice, cls.bob = (
            User(cls.environment_of(name))
            for name in ('admin', 'alice', 'bob'))
        cls.admin.ask('POST', '/os-host-flavors', host_flavor={
            'id': 'big', 'units': 2})
        services = json.loads(cls.admin.ask(
            'GET', '/os-services?binary=nova-compute')[1])['services']
        for each in services:
            cls.admin.ask('PUT', f'/os-services/{each["id"]}',
                          status='disabled')
            cls.admin.ask('POST', '/os-host-flavors/big/hosts',
                          host={'host': each['host']})
        cls.pclouds = {user: json.loads(user.ask(
            'POST', '/os-pclouds', pcloud={'name': 'p'})[1])['pcloud']['id']
            for user in (cls.alice, cls.bob)}

    def tearDown(self):
        """Remove all hosts and limits."""
        for user in self.pclouds:
            for name in self.names(user):
                user.ask('DELETE', f'{self.path(user)}/{name}')
        for kind in 'limits', 'registered_limits':
            for each in self.keystone('GET', kind).json()[kind]:
                self.keystone('DELETE', f'{kind}/{each["id"]}')
        super().tearDown()

    def path(self, user):
        return f'/os-pclouds/{self.pclouds[user]}/hosts'

    def names(self, user):
        return [each['name'] for each in json.loads(
            user.ask('GET', self.path(user))[1])['hosts']]

    def add(self, user, name):
        """Ask for a host; return the status and the text."""
        return user.ask('POST', self.path(user), host={
            'name': name, 'host_flavor': 'big'})

    def assert_refused(self, user, used):
        status, text = self.add(user, 'x')
        self.assertEqual(403, status, text)
        self.assertIn(used, text)

    def keystone(self, method, path, body=None):
        return self.admin.call(
            method, f'{self.admin.keystone}/{path}', body)

    def limit(self, kind, **limit):
        """Have Keystone keep a limit."""
        answer = self.keystone('POST', kind, {kind: [{
            'service_id': self.admin.service, 'region_id': 'RegionOne',
            'resource_name': 'pcloud_units', **limit}]})
        self.assertEqual(201, answer.status_code, answer.text)

    def quota(self, user):
        its = json.loads(user.ask(
            'GET', f'/os-pcloud-quotas/{user.project}')[1])
        return its['quota']['units']['limit'], its['quota']['units']['in_use']

    def test_flat(self):
        self.assert_refused(self.alice, '0 of 0 units')
        self.limit('registered_limits', default_limit=2)
        self.assertEqual((2, 0), self.quota(self.alice))
        self.assertEqual(201, self.add(self.alice, 'a')[0])
        self.assert_refused(self.alice, '2 of 2 units')
        self.limit('limits', project_id=self.alice.project, resource_limit=4)
        self.assertEqual((4, 2), self.quota(self.alice))
        self.assertEqual((2, 0), self.quota(self.bob))
        self.assertEqual(201, self.add(self.alice, 'b')[0])
        self.assert_refused(self.alice, '4 of 4 units')

    def test_two_levels(self):
        conf = layout.Layout(str(self.folder)).etc / 'keystone.conf'
        before = conf.read_text()
        conf.write_text(before + MODEL)
        self.addCleanup(self.restart_keystone)
        self.addCleanup(conf.write_text, before)
        self.restart_keystone()
        self.limit('registered_limits', default_limit=8)
        self.limit('limits', domain_id='default', resource_limit=6)
        self.assertEqual((6, 0), self.quota(self.bob))
        self.assertEqual(201, self.add(self.alice, 'a')[0])
        self.assertEqual((4, 0), self.quota(self.bob))
        with concurrent.futures.ThreadPoolExecutor() as pool:
            asked = [pool.submit(self.add, user, name) for name in 'bc'
                     for user in (self.alice, self.bob)]
        self.assertEqual([201, 201, 403, 403],
                         sorted(each.result()[0] for each in asked))
        self.assertEqual(6, self.quota(self.alice)[1] + (
            self.quota(self.bob)[1]))
        self.assert_refused(self.bob, 'Quota exceeded')

    def restart_keystone(self):
        for verb in 'stop', 'start':
            status, _, told = base.call(self.folder, verb, 'keystone')
            self.assertEqual(0, status, told)
