# SPDX-License-Identifier: Apache-2.0

"""The dialogs of owners."""

from unittest import mock

from openstack_dashboard import api as horizon_api
from pcloud.tests.dashboard.unit import base

REFUSED = {'conflictingRequest': {'code': 409, 'message': 'It is in use.'}}


class FormTest(base.PageTest):

    def test_the_words_of_the_api(self):
        self.answer('DELETE', self.at, status_code=409, json=REFUSED)
        answer = self.send('delete', self.pcloud_id)

        self.assertContains(answer, 'It is in use.')

    def test_create_leads_to_the_page(self):
        made = self.answer('POST', '/os-pclouds', status_code=201,
                           json={'pcloud': self.pcloud})
        answer = self.send('create', name='farm')

        self.assertIn(self.pcloud_id, answer['X-Horizon-Location'])
        self.assertEqual({'pcloud': {'name': 'farm'}},
                         made.last_request.json())

    def test_add_hosts(self):
        added = self.answer('POST', f'{self.at}/hosts', status_code=201,
                            json=base.sample('hosts/add-several-resp'))
        for name in ('web-1', 'web-2'):
            self.answer('PUT', f'{self.at}/hosts/{name}',
                        json=base.sample('hosts/add-resp'))
        self.send('add_hosts', self.pcloud_id, host_flavor='gpu', count='2',
                  name='web-{n}', enable='on', availability_zone='')

        self.assertEqual({'host': {
            'name': 'web', 'count': 2, 'first': 2, 'host_flavor': 'gpu'}},
            added.last_request.json())
        self.assertEqual(2, sum(method == 'PUT' for method, _ in self.calls()))

    def test_add_one_host_by_name(self):
        added = self.answer('POST', f'{self.at}/hosts', status_code=201,
                            json=base.sample('hosts/add-resp'))
        self.send('add_hosts', self.pcloud_id, host_flavor='gpu', count='1',
                  name='build', availability_zone='')

        self.assertEqual(
            {'host': {'name': 'build', 'host_flavor': 'gpu'}},
            added.last_request.json())

    def test_number_that_is_not_at_the_end(self):
        answer = self.send('add_hosts', self.pcloud_id, host_flavor='gpu',
                           count='1', name='{n}-web', availability_zone='')

        self.assertContains(answer, 'stands at the end')

    def test_hosts_that_would_help_are_filled_in(self):
        page = self.client.get(
            self.address('add_hosts', self.pcloud_id) +
            '?host_flavor=gpu&count=3&back=tab%3Dpcloud__failures')

        self.assertEqual(('gpu', '3'), tuple(
            page.context['form'][name].value()
            for name in ('host_flavor', 'count')))
        self.assertContains(page, '?tab=pcloud__failures"')
        page = self.client.get(
            self.address('add_hosts', self.pcloud_id) + '?count=many')
        self.assertEqual(1, page.context['form']['count'].value())

    def test_a_change_that_would_help(self):
        host = base.sample('hosts/add-resp')
        added = self.answer('POST', f'{self.at}/hosts', status_code=201,
                            json=host)
        for name in ('web-1', 'web-2'):
            enabled = self.answer('PUT', f'{self.at}/hosts/{name}', json=host)
        address = (self.address('change', self.pcloud_id) +
                   '?back=tab%3Dpcloud__fit%26flavor%3Da%2526b')
        for form in ({'change': 'enable', 'subject': 'web-2'},
                     {'change': 'add_host', 'subject': 'gpu'}):
            self.assertTrue(self.client.post(address, form).url.endswith(
                f'/{self.pcloud_id}/?tab=pcloud__fit&flavor=a%26b'))

        self.assertEqual(
            {'host': {'name': 'gpu-1', 'host_flavor': 'gpu'}},
            added.last_request.json())
        self.assertEqual({'host': {'state': 'enabled'}},
                         enabled.last_request.json())

    def test_added_hosts_that_cannot_be_enabled(self):
        self.answer('POST', f'{self.at}/hosts', status_code=201,
                    json=base.sample('hosts/add-several-resp'))
        self.answer('PUT', f'{self.at}/hosts/web-1', status_code=409,
                    json=REFUSED)
        answer = self.send('add_hosts', self.pcloud_id, host_flavor='gpu',
                           count='2', name='web-{n}', enable='on',
                           availability_zone='')

        self.assertIn('X-Horizon-Location', answer)

    def test_no_host_at_all(self):
        self.answer('POST', f'{self.at}/hosts', status_code=409,
                    json=REFUSED)
        answer = self.send('add_hosts', self.pcloud_id, host_flavor='gpu',
                           count='3', name='web-{n}', availability_zone='')

        self.assertContains(answer, 'It is in use.')

    def test_neither_a_kind_nor_a_requirement(self):
        answer = self.send(
            'add_hosts', self.pcloud_id, host_flavor='', count='1',
            name='web', availability_zone='')

        self.assertContains(answer, 'Choose a kind of host')

    def test_switch(self):
        self.answer('PUT', f'{self.at}/hosts/web-1',
                    json=base.sample('hosts/update-resp'))
        self.answer('GET', f'{self.at}/hosts/web-1',
                    json=base.sample('hosts/show-resp'))
        answer = self.send(
            'state', self.pcloud_id, 'web-1', state='enabled').json()

        self.assertIn('is enabled', answer['message'])
        self.assertIn('csrfmiddlewaretoken', answer['row'])
        self.assertIn('<code>VCPU</code>', answer['row'])

    def test_a_switch_after_which_the_api_fails(self):
        self.answer('PUT', f'{self.at}/hosts/web-1',
                    json=base.sample('hosts/update-resp'))
        self.answer('GET', f'{self.at}/hosts/web-1', status_code=503)
        answer = self.send(
            'state', self.pcloud_id, 'web-1', state='enabled').json()

        self.assertIn('is enabled', answer['message'])
        self.assertNotIn('<code>VCPU</code>', answer['row'])

    def test_a_switch_that_fails(self):
        self.answer('PUT', f'{self.at}/hosts/web-1', status_code=409,
                    json=REFUSED)

        answer = self.send(
            'state', self.pcloud_id, 'web-1', state='enabled').json()

        self.assertEqual({'failure': 'It is in use.'}, answer)

    def drain(self, answer, **form):
        """Send the form of a drain twice; return what the API was sent."""
        sent = self.answer('PUT', f'{self.at}/hosts/web-1', json=answer)
        self.answer('GET', f'{self.at}/hosts/web-1',
                    json=base.sample('hosts/show-resp'))
        with mock.patch.object(
                horizon_api.nova, 'server_list', return_value=([], False)):
            page = self.send('drain', self.pcloud_id, 'web-1', **form)
        self.send('drain', self.pcloud_id, 'web-1', **{
            **form, 'seen': page.context['form'].data['seen']})
        return page, [request.json()['host']['drain']
                      for request in sent.request_history]

    def test_drain(self):
        answer = base.sample('hosts/drain-resp')
        server, = answer['host']['instances']
        wish = {'move': 'live', 'release': True,
                'deadline': '2100-01-01T00:00:00Z'}
        for member, value, text in (
                ('moves', [{'server': server, 'host': 'web-2'}],
                 'moves, for example to web-2.'),
                ('blockers', [{'server': server, 'reason': 'it is locked'}],
                 'stays: it is locked'),
                ('blockers', [], 'stays until you move or delete it.')):
            answer['host']['drain'][member] = value
            page, sent = self.drain(answer, move='live', release='on',
                                    deadline='2100-01-01T00:00')
            self.assertContains(page, f'{server[:8]} {text}')
            self.assertEqual([{**wish, 'dry_run': True}, wish], sent)
            answer['host']['drain'].pop('moves', None)

    def test_drain_of_an_empty_host(self):
        answer = base.sample('hosts/drain-resp')
        answer['host']['drain']['blockers'] = [
            {'server': None, 'reason': 'no worker looks'}]
        for left, text in (([], 'Nothing goes on: no worker looks.'),
                           ([], 'The host is empty.'),
                           (None, 'is not known')):
            answer['host']['drain']['remaining'] = left
            page, _ = self.drain(answer, move='none')
            self.assertContains(page, text)

    def test_a_wish_that_was_changed_after_the_outcome(self):
        self.answer('GET', f'{self.at}/hosts/web-1',
                    json=base.sample('hosts/show-resp'))
        sent = self.answer('PUT', f'{self.at}/hosts/web-1',
                           json=base.sample('hosts/drain-resp'))
        with mock.patch.object(
                horizon_api.nova, 'server_list', return_value=([], False)):
            for move in ('live', 'any'):
                page = self.send('drain', self.pcloud_id, 'web-1', move=move,
                                 seen='{"move": "live", "release": null, '
                                      '"deadline": null}')
        self.assertContains(page, 'What would happen now')
        self.assertEqual([None, True], [
            request.json()['host']['drain'].get('dry_run')
            for request in sent.request_history])

    def test_a_drain_that_is_refused(self):
        self.answer('GET', f'{self.at}/hosts/web-1',
                    json=base.sample('hosts/show-resp'))
        self.answer('PUT', f'{self.at}/hosts/web-1', status_code=409,
                    json=REFUSED)

        self.assertContains(self.send(
            'drain', self.pcloud_id, 'web-1', move='none'),
            'It is in use.')

    def test_the_present_drain_is_filled_in(self):
        self.answer('GET', f'{self.at}/hosts/web-1',
                    json=base.sample('hosts/drain-resp'))
        page = self.page('drain', self.pcloud_id, 'web-1')

        self.assertEqual(('none', True), (
            page.context['form'].initial['move'],
            page.context['form'].initial['release']))
        self.assertContains(page, '2100-01-01T00:00')
