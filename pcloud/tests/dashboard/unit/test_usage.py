# SPDX-License-Identifier: Apache-2.0

"""The pages of what projects have held."""

import dataclasses
import datetime
from unittest import mock

from pcloud.client import usage_resources
from pcloud.tests.dashboard.unit import base
from pcloud_dashboard.project.usage import months
from pcloud_dashboard.project.usage import views

NOVEMBER = datetime.date(2026, 11, 24)


class MonthsTest(base.PageTest):

    def usage(self, month, **hours):
        return usage_resources.Usage('p', month, True, tuple(
            usage_resources.HeldFlavor(flavor, 1, held, 2 * held, '1.005')
            for flavor, held in hours.items()), 'EUR')

    def test_months_that_the_api_remembers(self):
        kept = months.kept(datetime.date(2026, 2, 28))

        self.assertEqual(['2026-02', '2026-01', '2025-12'], kept[:3])
        self.assertEqual((13, '2025-02'), (len(kept), kept[-1]))

    def test_bars_are_measured_against_the_fullest_month(self):
        found = months.bars([self.usage('2026-11', gpu=30, std=10),
                             self.usage('2026-10', std=20)])

        self.assertEqual([[('gpu', 75.0, 0), ('std', 25.0, 1)],
                          [('std', 50.0, 1)]],
                         [[(part.host_flavor, part.percent, part.tint)
                           for part in month.parts] for month in found])
        self.assertEqual(['40 h', '20 h'], [each.text for each in found])
        self.assertEqual('2.01 EUR', found[0].cost)

    def test_days_are_measured_against_the_fullest_day(self):
        def held(**hours):
            return self.usage('2026-11', **hours).host_flavors

        found = months.daily([
            dataclasses.replace(self.usage('2026-11', gpu=30, std=10), days=(
                usage_resources.Day('2026-11-01', held(std=10)),
                usage_resources.Day('2026-11-02', ()),
                usage_resources.Day('2026-11-03', held(std=10, gpu=30)))),
            self.usage('2026-10', a=1)])

        self.assertEqual(
            [(1, [('std', 25.0, 2)]), (2, []),
             (3, [('gpu', 75.0, 1), ('std', 25.0, 2)])],
            [(day.number, [(part.host_flavor, part.percent, part.tint)
                           for part in day.parts]) for day in found])
        self.assertEqual(
            ['November 1, std: 10 h', 'November 2, 0 h',
             'November 3, gpu: 30 h, std: 10 h'],
            [day.text for day in found])
        self.assertEqual([], months.daily([]))
        self.assertEqual([], months.daily([self.usage('2026-10', a=1)]))

    def test_nothing_was_held(self):
        month, = months.bars([self.usage('2026-11')])

        self.assertEqual(((), '0 h', None),
                         (month.parts, month.text, month.cost))


class UsageTest(base.PageTest):

    def setUp(self):
        super().setUp()
        patch = mock.patch.object(views, 'today', return_value=NOVEMBER)
        patch.start()
        self.addCleanup(patch.stop)
        self.asked = self.answer(
            'GET', f'/os-pcloud-usage/{self.owner}',
            json=base.sample('usage/show-resp'))

    def test_a_month_and_those_before(self):
        page = self.page('usage')

        self.assertContains(page, '67.50 EUR')
        self.assertContains(page, 'gpu: 45 h')
        self.assertEqual(
            ['month=2026-11&by=day',
             *(f'month=2026-{month:02}' for month in range(10, 5, -1))],
            [each.query for each in self.asked.request_history])
        self.assertNotContains(page, 'pcloud-days-title')

    def test_days(self):
        self.answer('GET', f'/os-pcloud-usage/{self.owner}',
                    json=base.sample('usage/show-by-day-resp'))
        page = self.page('usage', month='2026-10')

        self.assertContains(page, '<ol class="pcloud-days">', 1)
        self.assertContains(page, 'title="November 2, gpu: 12 h"')
        self.assertContains(page, 'style="height: 80.0%"')

    def test_an_earlier_month(self):
        self.page('usage', month='2025-12')

        self.assertEqual(
            ['month=2025-12', 'month=2025-11'],
            [each.query for each in self.asked.request_history])

    def test_a_month_that_is_none(self):
        page = self.page('usage', month='<b>')

        self.assertEqual('2026-11', page.context['month'])
        self.assertNotContains(page, '<b>')

    def test_nothing_was_held(self):
        self.answer('GET', f'/os-pcloud-usage/{self.owner}', json={'usage': {
            **base.sample('usage/show-resp')['usage'], 'host_flavors': []}})

        self.assertContains(self.page('usage'), 'The project has held no')

    def test_the_api_fails_once(self):
        failing = self.answer(
            'GET', f'/os-pcloud-usage/{self.owner}', status_code=503)
        page = self.page('usage')

        self.assertEqual(200, page.status_code)
        self.assertEqual(1, failing.call_count)

    def test_the_list_leads_there(self):
        self.answer('GET', '/os-pclouds', json={'pclouds': []})

        self.assertContains(self.page('index'), '/project/pclouds/usage"')


class UsagesTest(base.AdminPageTest):

    panel = 'admin:pclouds'

    def setUp(self):
        super().setUp()
        patch = mock.patch.object(views, 'today', return_value=NOVEMBER)
        patch.start()
        self.addCleanup(patch.stop)

    def held(self, number):
        body = base.sample('usage/list-resp')['usages'][0]
        self.answer('GET', '/os-pcloud-usage', [{'json': {'usages': [
            {**body, 'project': f'{each:032x}', 'host_flavors': [
                {**body['host_flavors'][0], 'unit_hours': each}]}
            for each in range(number)]}}, {'json': {'usages': []}}])

    def list(self, **query):
        with mock.patch('pcloud_dashboard.api.project_names',
                        return_value={f'{29:032x}': 'studio'}):
            return self.page('usage', **query)

    def test_those_that_held_most_come_first(self):
        self.held(30)
        page = self.list()

        rows = page.context['page'].object_list
        self.assertEqual((20, 'studio', '29'), (
            len(rows), rows[0]['name'], rows[0]['unit_hours']))
        self.assertContains(page, '?page=2"')
        self.assertContains(page, 'Page 1 of 2')

    def test_another_page(self):
        self.held(30)
        page = self.list(page='2', month='2026-10')

        self.assertEqual(10, len(page.context['page'].object_list))
        self.assertContains(page, '?month=2026-10&amp;page=1"')

    def test_a_page_that_is_not_there(self):
        self.held(1)

        self.assertEqual(1, self.list(page='x').context['page'].number)

    def test_nobody_held_anything(self):
        self.held(0)

        self.assertContains(self.list(), 'No project has held hosts')
