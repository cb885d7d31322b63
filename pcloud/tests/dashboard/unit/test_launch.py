# SPDX-License-Identifier: Apache-2.0

"""What the step of Launch Instance asks."""

import json

from django.utils import translation
from keystoneauth1 import exceptions as ksa_exceptions

from pcloud.tests.dashboard.unit import base
from pcloud_dashboard.launch import rest

# Servers of the project: name -> id; and one of another project.
DB, WEB, FOREIGN = (f'{number}0000000-0000-4000-8000-000000000000'
                    for number in (1, 2, 3))


class LaunchTest(base.PageTest):

    maxDiff = None

    def setUp(self):
        super().setUp()
        self.default = {'scope': 'project', 'id': self.owner,
                        'default_pcloud': None, 'default_pcloud_source': None}
        self.at_default = f'/os-pcloud-policies/project/{self.owner}'
        self.answer('GET', self.at_default, json={'policy': self.default})
        self.answer('GET', '/servers/detail', json={'servers': [
            {'id': WEB, 'name': 'web', 'tags': []},
            {'id': DB, 'name': 'db', 'tags': ['sql', 'a']}]})

    def get(self, view, *arguments, **query):
        request = self.factory.get('/', query,
                                   HTTP_X_REQUESTED_WITH='XMLHttpRequest')
        return json.loads(view().get(request, *arguments).content)

    def post(self, view, **question):
        request = self.factory.post(
            '/', json.dumps(question), content_type='application/json',
            HTTP_X_REQUESTED_WITH='XMLHttpRequest')
        answer = view().post(request)
        return answer.status_code, json.loads(answer.content)

    def test_pclouds(self):
        self.answer('GET', '/os-pclouds',
                    json=base.sample('pclouds/list-detail-resp'))
        found = self.get(rest.Pclouds)
        item, = found['items']

        self.assertEqual((9, '7 GiB', 7168, True), (
            item['free_vcpus'], item['free_memory'], item['free_mebibytes'],
            item['is_own']))
        self.assertIsNone(found['default'])

    def test_the_default_of_the_project(self):
        self.answer('GET', self.at_default, json={'policy': {
            **self.default, 'default_pcloud_source': 'domain',
            'default_pcloud': {'pcloud': self.pcloud_id, 'mode': 'grow'}}})

        self.assertEqual({'id': self.pcloud_id, 'mode': 'grow'},
                         self.get(rest.Pclouds)['default'])

    def test_in_the_order_of_the_names(self):
        listed, = base.sample('pclouds/list-detail-resp')['pclouds']
        self.answer('GET', '/os-pclouds', json={'pclouds': [
            {**listed, 'name': name} for name in ('web-10', 'Web-2', 'a')]})

        self.assertEqual(['a', 'Web-2', 'web-10'], [
            each['name'] for each in self.get(rest.Pclouds)['items']])

    def test_a_cloud_without_pclouds(self):
        self.answer('GET', '/os-pclouds', status_code=404)

        self.assertEqual({'items': [], 'default': None},
                         self.get(rest.Pclouds))

    def test_room(self):
        self.answer('GET', f'{self.at}/explain',
                    json=base.sample('explain/show-resp'))
        self.have_no_instances()
        room = self.get(rest.Explanation, self.pcloud_id, flavor='3')

        self.assertEqual((0, ['web-1'], {'web-1': 0}), (
            room['fits'], [host['name'] for host in room['hosts']],
            room['fits_on']))

    def test_what_would_help_in_german(self):
        self.have_no_instances()
        answer = base.sample('explain/show-resp')['explain']
        self.answer('GET', f'{self.at}/explain', json={'explain': {
            **answer, 'refused': 'not one of its tenants',
            'code': 'owner_not_a_tenant', 'params': {}}})
        flavor = self.flavors.list()[0]
        answer['changes'][0]['subject'] = flavor.id
        with translation.override('de'):
            room = self.get(rest.Explanation, self.pcloud_id, flavor='3')

        self.assertEqual(
            'das Projekt des Eigentümers ist keiner ihrer Mieter',
            room['refused'])
        self.assertEqual([{'name': 'web-1', 'reasons': [
            '3072 MiB Arbeitsspeicher übrig, 4096 MiB Arbeitsspeicher '
            'nötig']}], room['hosts'])
        self.assertEqual(
            [f'Eine Instanz von {flavor.name} starten; die passt'],
            room['changes'])

    def test_what_may_be_near(self):
        self.assertEqual({'items': [
            {'hint': 'tag:a', 'tag': 'a', 'servers': 1},
            {'hint': 'tag:sql', 'tag': 'sql', 'servers': 1},
            {'hint': DB, 'name': 'db'}, {'hint': WEB, 'name': 'web'}]},
            self.get(rest.Servers))

    def test_nobody_answers(self):
        self.answer('GET', '/servers/detail',
                    exc=ksa_exceptions.ConnectFailure)
        for view, arguments in ((rest.Servers, ()),
                                (rest.Places, (self.pcloud_id,))):
            found = self.get(view, *arguments)
            self.assertEqual([], found['items'])
            self.assertIn('does not answer', found['failure'])

    def hosts(self, *differing):
        host, = base.sample('hosts/list-resp')['hosts'][:1]
        self.answer('GET', f'{self.at}/hosts', json={'hosts': [
            {**host, 'hypervisor_hostname': 'node-7', **each}
            for each in differing]})

    def test_places(self):
        self.hosts(
            {'name': 'web-10', 'rack': 2, 'state': 'disabled',
             'instances': [WEB]},
            {'name': 'web-2', 'rack': None, 'state': 'enabled',
             'status': 'up', 'instances': [DB, FOREIGN]},
            {'name': 'web-3', 'rack': 1, 'status': 'down',
             'instances': None})

        self.assertEqual([
            {'name': 'web-2', 'rack': None, 'is_open': True, 'others': 1,
             'servers': [{'name': 'db', 'hints': [DB, 'tag:sql', 'tag:a']}]},
            {'name': 'web-3', 'rack': 1, 'is_open': False, 'others': 0,
             'servers': []},
            {'name': 'web-10', 'rack': 2, 'is_open': False, 'others': 0,
             'servers': [{'name': 'web', 'hints': [WEB]}]}],
            self.get(rest.Places, self.pcloud_id)['items'])

    def test_who_is_not_the_owner(self):
        self.answer('GET', f'{self.at}/hosts', status_code=403, json={
            'forbidden': {'code': 403, 'message': 'No.'}})
        found = self.get(rest.Places, self.pcloud_id)

        self.assertEqual([], found['items'])
        self.assertIn('No.', found['failure'])

    def kept(self, **wish):
        hosts = [{'name': name, 'rack': rack, 'takes': True, 'servers': [
            {'name': 'x', 'hints': hints}]} for name, rack, hints in (
            ('a', 1, [DB, 'tag:sql']), ('b', 1, []), ('c', 2, []))]
        return self.post(rest.Locality, hosts=hosts, **{
            'near': [], 'far': [], 'strict': False, **wish})

    def test_which_hosts_are_kept(self):
        self.assertEqual((200, {'hosts': ['a', 'b', 'c']}), self.kept())
        self.assertEqual((200, {'hosts': ['a']}),
                         self.kept(near=['tag:sql']))
        self.assertEqual((200, {'hosts': ['c']}), self.kept(far=[DB]))
        self.assertEqual((200, {'hosts': []}),
                         self.kept(near=[WEB], strict=True))
        # What is asked is in the question; nova-api is asked for nothing.
        self.assertEqual([], self.calls())

    def test_a_question_in_another_form(self):
        for wrong in ({'near': None}, {'hosts': [1]}, {'hosts': [{}]},
                      {'hosts': None}):
            self.assertEqual(400, self.post(rest.Locality, **{
                'near': [], 'far': [], 'strict': False, 'hosts': [],
                **wrong})[0])
        self.assertEqual(400, self.post(rest.Locality, near=[])[0])


class CatalogTest(base.PageTest):
    """The texts of scripts, for each language."""

    def setUp(self):
        super().setUp()
        self.addCleanup(translation.activate, translation.get_language())

    def texts(self, language, **headers):
        return self.client.get('/i18n/js/pcloud_dashboard/',
                               HTTP_ACCEPT_LANGUAGE=language, **headers)

    def test_a_language_of_its_own(self):
        english = self.texts('en')
        self.assertIn('no-cache', english['Cache-Control'])
        self.assertNotIn('Last-Modified', english)
        mark = english['ETag']

        self.assertEqual(304, self.texts(
            'en', HTTP_IF_NONE_MATCH=mark).status_code)
        german = self.texts('de', HTTP_IF_NONE_MATCH=mark)
        self.assertEqual(200, german.status_code)
        self.assertIn('Die ID ist kopiert.', german.content.decode())
