# SPDX-License-Identifier: Apache-2.0

"""What pages show: bars, words and names."""

import unittest

import ddt
from django import http

from pcloud.client import plan_resources
from pcloud.client import resources
from pcloud.tests.dashboard.unit import base
from pcloud_dashboard.project.hosts import names as host_names
from pcloud_dashboard.project.planning import bundles
from pcloud_dashboard.project.planning import fit
from pcloud_dashboard.project.planning import moves
from pcloud_dashboard import shown

PCLOUD = resources.Pcloud('id', 'farm', 'owner')


@ddt.ddt
class BarTest(unittest.TestCase):

    # used, vCPUs, ratio: percent, level, text
    @ddt.data(
        ((5, 10, None), (50, 'normal', '5 of 10')),
        ((5, 10, 2.0), (25, 'normal', '5 of 20 (10 × 2)')),
        ((5, 10, 0.5), (100, 'full', '5 of 5 (10 × 0.5)')),
        ((16, 20, 1.0), (80, 'high', '16 of 20')),
        ((40, 10, None), (100, 'full', '40 of 10')),
        ((0, 0, None), (0, 'full', '0 of 0')),
    )
    @ddt.unpack
    def test_vcpus(self, values, expected):
        used, size, ratio = values
        bar = shown.vcpu_bar(
            resources.Host('web-1', vcpus=size, vcpus_used=used),
            resources.Pcloud('id', 'farm', 'owner',
                             cpu_allocation_ratio=ratio))
        self.assertEqual(expected, (bar.percent, bar.level, bar.text))

    def test_of_a_silent_host(self):
        self.assertIsNone(shown.memory_bar(resources.Host('web-1'), PCLOUD))

    @ddt.data((0, '0 MiB'), (512, '512 MiB'), (1024, '1 GiB'),
              (7680, '7.5 GiB'))
    @ddt.unpack
    def test_memory(self, mebibytes, expected):
        self.assertEqual(expected, shown.memory(mebibytes))

    @ddt.data((10, 3, 30, '3 of 10 in use'), (-1, 3, 0, '3 in use, no limit'),
              (0, 0, 0, '0 of 0 in use'))
    @ddt.unpack
    def test_quota(self, limit, used, percent, text):
        bar = shown.quota_bar(resources.Quota('project', limit, used))
        self.assertEqual((percent, text), (bar.percent, bar.text))


class HostTest(unittest.TestCase):

    def test_no_real_name(self):
        host = shown.host(resources.Host(
            'web-1', hypervisor_hostname='node-1'), PCLOUD, {})
        self.assertNotIn('node-1', repr(host))

    def test_blockers(self):
        def blockers(**members):
            return len(shown.host(resources.Host('web-1', **members),
                                  PCLOUD, {}).blockers)

        self.assertEqual(0, blockers(state='disabled'))
        self.assertEqual(1, blockers(state='enabled'))
        self.assertEqual(2, blockers(state='draining', instances=('a',)))
        self.assertEqual(1, blockers(state='disabled', instances=None))

    def test_order(self):
        hosts = [resources.Host(name) for name in ('b', 'a-10', 'a-2', 'A-1')]
        self.assertEqual(['A-1', 'a-2', 'a-10', 'b'], [
            each.name for each in shown.hosts(hosts, PCLOUD, {})])


@ddt.ddt
class NamesTest(unittest.TestCase):

    @ddt.data(
        ('web', 1, None), ('web', 2, 'web'), ('web-{n}', 1, 'web'),
        ('web-{n}', 2, 'web'),
    )
    @ddt.unpack
    def test_beginning(self, pattern, count, expected):
        self.assertEqual(expected, host_names.beginning(pattern, count))

    def test_first(self):
        self.assertEqual(4, host_names.first(
            'web', ['WEB-1', 'web-3', 'web-x', 'x-9', 'web']))
        self.assertEqual(1, host_names.first('web', []))

    def test_patterns(self):
        self.assertEqual([True, True, False, False], [
            host_names.is_pattern(text)
            for text in ('web', 'web-{n}', '{n}-{n}', '{n}-web')])


class FitTest(unittest.TestCase):

    def setUp(self):
        super().setUp()
        self.explanation = plan_resources.Explanation.from_body(
            base.sample('explain/show-resp')['explain'])

    def test_pictures(self):
        host = resources.Host.from_body(
            base.sample('hosts/list-resp')['hosts'][0])
        picture, = fit.pictures(self.explanation, [host])
        self.assertEqual('1 instance runs, 0 more fit', picture.text)
        self.assertEqual((1, 0), (len(picture.running_boxes),
                                  len(picture.ghost_boxes)))

    def test_a_host_that_has_left(self):
        picture, = fit.pictures(self.explanation, [])
        self.assertIn('is not known', picture.text)

    def test_no_more_boxes_than_a_page_has_room_for(self):
        picture = fit.Picture('web-1', 'enabled', 1000, 2000, ())
        self.assertEqual((fit.MOST_BOXES,) * 2, (
            len(picture.running_boxes), len(picture.ghost_boxes)))

    def test_numbers(self):
        long = '9' * 4301
        for text, number in (('7', 7), ('', ''), ('many', 'many'),
                             ('-1', '-1'), ('\u00b2', '\u00b2'),
                             (long, long)):
            self.assertEqual(number, shown.number(text))
        self.assertEqual(
            [{'flavor': '1', 'count': long}], bundles.asked(bundles.lines(
                http.QueryDict(f'bundle_flavor=1&bundle_count={long}'))))
        self.assertEqual(long, moves.RebalanceForm(
            goal=moves.FIT, flavor='1', count=long).wish['count'])

    def test_a_bundle(self):
        query = http.QueryDict(
            'bundle_count=2&bundle_flavor=1&bundle_count=&bundle_flavor=1&'
            'bundle_count=many&bundle_flavor=2&bundle_apart=0')
        self.assertEqual(
            [{'flavor': '1', 'count': 2, 'apart': True},
             {'flavor': '2', 'count': 'many'}],
            bundles.asked(bundles.lines(query)))
        self.assertEqual([], bundles.asked(
            bundles.lines(http.QueryDict('bundle_count=1'))))

    def test_the_answer_to_a_bundle(self):
        answer = bundles.answer(plan_resources.Simulation.from_body(
            base.sample('simulate/ask-resp')['simulate']), {'2': 'm1.small'})
        self.assertEqual(
            ('The bundle does not fit: 1 instance fits.',
             [('web-1', '1 × m1.small')],
             ['hosts: 1 more would be enough.']),
            (answer.text, answer.placed, answer.missing))
