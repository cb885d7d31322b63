# SPDX-License-Identifier: Apache-2.0

"""Which hosts may fail."""

from pcloud.tests.dashboard.unit import base

REFUSED = {'conflictingRequest': {'code': 409, 'message': 'It is in use.'}}


class FailuresTest(base.PageTest):

    def tab(self, body=None, **query):
        self.answer('GET', f'{self.at}/rehearsal', json={'rehearsal': {
            **base.sample('rehearsal/show-resp')['rehearsal'],
            **(body or {})}})
        self.asked = self.answer(
            'PUT', f'{self.at}/hosts/web-1', status_code=409, json=REFUSED)
        return self.page('detail', self.pcloud_id, tab='pcloud__failures',
                         **query)

    def test_a_host_that_may_not_fail(self):
        page = self.tab()

        self.assertContains(page, '0 of 1 hosts may fail.')
        self.assertContains(page, 'Worst is the loss of web-1: 2 instances')
        self.assertContains(page, '2 instances do not fit')
        self.assertContains(page, '1 more of host flavor gpu')
        # None is free.
        self.assertNotContains(page, 'Add 1 Host of gpu')

    def test_what_would_help(self):
        more = {'host_flavor': 'a&b', 'hosts': 2, 'units': 4, 'free': 2}
        self.answer('GET', f'{self.at}/hosts', json={'hosts': [
            {**base.sample('hosts/show-resp')['host'], 'state': 'disabled',
             'instances': []}]})
        page = self.tab({'more': [more]}, lose='rack')
        back = 'back=tab%3Dpcloud__failures%26lose%3Drack"'

        self.assertContains(page, f'host_flavor=a%26b&amp;count=2&amp;{back}')
        self.assertContains(page, 'Add 2 Hosts of a&amp;b')
        self.assertContains(page, f'/help?{back}')
        self.assertContains(page, 'Enable web-1</button>')

    def test_any_may_fail(self):
        page = self.tab({'survives': 1, 'worst': None, 'more': []})

        self.assertContains(page, 'Any host may fail')
        self.assertNotContains(page, 'What would help')

    def test_racks(self):
        page = self.tab(base.sample('rehearsal/racks-resp')['rehearsal'],
                        lose='rack')

        self.assertContains(page, '0 of 1 racks may fail.')
        self.assertContains(page, 'rack 1 (web-1)')
        self.assertIn('lose=rack', self.http.request_history[-2].query)

    def test_as_many_calls_for_any_number_of_hosts(self):
        losses = base.sample('rehearsal/show-resp')['rehearsal']['losses']
        self.tab({'losses': losses * 50})

        self.assertEqual(
            [('GET', self.at), ('GET', f'{self.at}/rehearsal'),
             ('GET', f'{self.at}/hosts')],
            [call for call in self.calls() if call[1] != '/os-pclouds'])

    def test_who_takes_over(self):
        drain = base.sample('hosts/drain-resp')
        server, = drain['host']['instances']
        drain['host']['drain'] |= {
            'remaining': [server, 'b'],
            'moves': [{'server': server, 'host': 'web-2'}]}
        host = base.sample('hosts/show-resp')['host']
        self.answer('GET', f'{self.at}/hosts', json={'hosts': [
            host, {**host, 'name': 'web-2'}]})
        self.tab()
        asked = self.answer('PUT', f'{self.at}/hosts/web-1', json=drain)
        page = self.page('detail', self.pcloud_id, tab='pcloud__failures')

        self.assertEqual({'host': {'state': 'draining', 'drain': {
            'move': 'any', 'dry_run': True}}}, asked.last_request.json())
        self.assertContains(
            page, '<td class="pcloud-cell pcloud-cell-fails">✗</td>'
                  '<td class="pcloud-cell pcloud-cell-takes">1</td>')
        self.assertContains(
            page, 'web-2 takes over 1, nobody takes over 1')

    def test_of_many_hosts_one_is_asked(self):
        loss, = base.sample('rehearsal/show-resp')['rehearsal']['losses']
        losses = [{**loss, 'host': f'web-{number}'} for number in range(20)]
        page = self.tab({'losses': losses})
        self.assertEqual(0, self.asked.call_count)
        self.assertContains(page, 'id="pcloud-of"')
        self.tab({'losses': losses}, of='web-1')
        self.assertEqual(1, self.asked.call_count)

    def test_a_refused_question_leaves_the_rest(self):
        self.assertContains(self.tab(), '0 of 1 hosts may fail.')
        self.assertEqual(1, self.asked.call_count)
