# SPDX-License-Identifier: Apache-2.0

"""Moves that give hosts back or make room."""

from pcloud.tests.dashboard.unit import base

REFUSED = {'conflictingRequest': {'code': 409, 'message': 'It is in use.'}}


class MovesTest(base.PageTest):

    def setUp(self):
        super().setUp()
        self.have_no_instances()
        self.plan = base.sample('rebalance/show-resp')['rebalance']

    def tab(self, body=None, **query):
        self.asked = self.answer(
            'GET', f'{self.at}/rebalance',
            json={'rebalance': {**self.plan, **(body or {})}})
        return self.page('detail', self.pcloud_id, tab='pcloud__moves',
                         **query)

    def test_a_plan(self):
        page = self.tab()

        self.assertContains(page, 'web-2 becomes empty.')
        self.assertContains(page, '3 units can be given back then.')
        self.assertContains(page, 'Move 1 Instance')
        self.assertEqual({'goal': ['free_hosts'], 'move': ['live']},
                         self.asked.last_request.qs)

    def test_to_make_room(self):
        page = self.tab({'fits': True, 'frees': []}, goal='fit', flavor='2',
                        count='3', max_moves='4', move='any')

        self.assertContains(page, 'All of them fit after these moves.')
        self.assertEqual({'goal': ['fit'], 'flavor': ['2'], 'count': ['3'],
                          'max_moves': ['4'], 'move': ['any']},
                         self.asked.last_request.qs)

    def test_what_is_under_way(self):
        page = self.tab({
            'moves': [], 'steps': [], 'frees': [], 'under_way': base.sample(
                'rebalance/begin-resp')['rebalance']['under_way'],
            'stopped': {'at': '2026-01-01T00:00:00Z',
                        'reason': 'No capacity is left.'}})

        self.assertContains(page, '1 instance of an earlier plan is still')
        self.assertContains(page, 'web-2 → web-1')
        self.assertContains(
            page, 'An earlier plan ended before its end: No capacity is left.')
        self.assertContains(page, 'No host can be made empty.')
        self.assertNotContains(page, 'pcloud-begin')
        self.assertContains(page, 'id="pcloud-end-moves"')

    def test_the_plan_is_read_again_with_the_question_that_was_asked(self):
        page = self.tab({'fits': True}, goal='fit', flavor='a&b', count='3')

        self.assertContains(
            page, f'data-address="/project/pclouds/{self.pcloud_id}/?'
                  'tab=pcloud__moves&amp;goal=fit&amp;flavor=a%26b&amp;'
                  'count=3&amp;')

    def end(self, **answer):
        self.tab()
        self.answer('DELETE', f'{self.at}/rebalance', **answer)
        return self.client.post(
            f'/project/pclouds/{self.pcloud_id}/end-moves?'
            'back=tab%3Dpcloud__moves%26goal%3Dfit%26flavor%3D2',
            follow=True)

    def test_end(self):
        page = self.end(status_code=204)

        self.assertIn('Those on their way arrive.', self.messages(page))
        self.assertEqual(['2'], self.asked.last_request.qs['flavor'])

    def test_an_end_that_is_refused(self):
        page = self.end(status_code=409, json=REFUSED)

        self.assertIn('It is in use.', self.messages(page))

    def test_a_number_that_is_none(self):
        self.answer('GET', f'{self.at}/rebalance', status_code=400, json={
            'badRequest': {'code': 400, 'message': 'Wrong number.'}})
        page = self.page('detail', self.pcloud_id, tab='pcloud__moves',
                         max_moves='many')

        self.assertContains(page, 'Wrong number.')
        self.assertContains(page, 'value="many"')

    def begin(self):
        self.tab()
        return self.client.post(
            f'/project/pclouds/{self.pcloud_id}/move', {
                'valid_for': 'abc', 'goal': 'fit', 'flavor': '2',
                'count': '3', 'max_moves': '', 'move': 'live'}, follow=True)

    def messages(self, page):
        return ' '.join(str(each) for each in page.context['messages'])

    def test_begin(self):
        sent = self.answer('POST', f'{self.at}/rebalance', status_code=202,
                           json=base.sample('rebalance/begin-resp'))
        page = self.begin()

        self.assertEqual({'rebalance': {
            'valid_for': 'abc', 'goal': 'fit', 'flavor': '2', 'count': 3,
            'move': 'live'}}, sent.last_request.json())
        self.assertIn('1 instance is being moved.', self.messages(page))
        # The question is asked anew.
        self.assertEqual(['3'], self.asked.last_request.qs['count'])

    def test_a_plan_that_is_out_of_date(self):
        self.answer('POST', f'{self.at}/rebalance', status_code=409,
                    json=REFUSED)
        page = self.begin()

        self.assertIn('It is in use.', self.messages(page))
        self.assertContains(page, 'Move 1 Instance')
