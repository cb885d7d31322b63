# SPDX-License-Identifier: Apache-2.0

"""What pages show: bars, words and names."""

import dataclasses
import unittest
from unittest import mock

import ddt
from django import http
from django.utils import translation

from pcloud.client import plan_resources
from pcloud.client import resources
from pcloud.tests.dashboard.unit import base
from pcloud_dashboard.project.hosts import names as host_names
from pcloud_dashboard.project.hosts import sizes
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

    def test_a_comma_in_german(self):
        with translation.override('de'):
            self.assertEqual('7,5 GiB', shown.memory(7680))

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


class ScaleTest(unittest.TestCase):

    SERVERS = {'a': sizes.ServerSize('db', {'VCPU': 3, 'MEMORY_MB': 512}),
               'b': sizes.ServerSize('www', {'VCPU': 1}),
               'c': sizes.ServerSize('own', None)}

    def parts(self, used, *servers):
        host = shown.host(resources.Host(
            'web-1', vcpus=10, vcpus_used=used, memory_mb=1024,
            memory_mb_used=512, instances=servers), PCLOUD, {})
        scaled = sizes.to_scale(host, self.SERVERS)
        self.assertEqual(host.vcpus.text, scaled.vcpus.text)
        return [(part.title, part.percent) for part in scaled.vcpus.parts]

    def test_a_part_is_as_wide_as_its_share(self):
        self.assertEqual([('db', 75), ('www', 25)], self.parts(4, 'a', 'b'))
        # What nobody tells of is the rest of the bar.
        self.assertEqual([('db', 50)], self.parts(6, 'a'))

    def test_servers_whose_size_nobody_tells(self):
        self.assertEqual(
            [('db', 30), ('own', 35), ('00000000', 35)],
            self.parts(10, 'a', 'c', '00000000-1'))

    def test_a_use_that_is_told_later(self):
        self.assertEqual([('db', 75), ('www', 25)], self.parts(3, 'a', 'b'))
        self.assertEqual([], self.parts(0, 'a'))

    def test_a_server_that_needs_nothing_of_a_resource(self):
        host = shown.host(resources.Host(
            'web-1', memory_mb=1024, memory_mb_used=512,
            instances=('a', 'b')), PCLOUD, {})
        self.assertEqual((shown.Part('db', 100),), sizes.to_scale(
            host, self.SERVERS).memory.parts)
        self.assertIsNone(sizes.to_scale(host, self.SERVERS).vcpus)


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

    PCLOUD = resources.Pcloud('a', 'farm', 'bob')
    HOST = resources.Host(
        'web-1', state='enabled', vcpus=10, vcpus_used=3, memory_mb=8192,
        memory_mb_used=5120, instances=('a', 'b'))
    NEED = {'VCPU': 1, 'MEMORY_MB': 1024}
    SERVERS = {'a': sizes.ServerSize('db', {'VCPU': 2, 'MEMORY_MB': 2048}),
               'b': sizes.ServerSize('www', {'VCPU': 1, 'MEMORY_MB': 512})}

    def picture(self, fits, *in_the_way, servers=None, pcloud=PCLOUD,
                **members):
        explanation = plan_resources.Explanation('1', fits, hosts=(
            plan_resources.ExplainedHost('web-1', fits, tuple(
                plan_resources.Obstacle('room', 'too little', 'too_little', {
                    'resource': resource, 'left': left, 'needed': 1024})
                for resource, left in in_the_way)),))
        picture, = fit.pictures(
            explanation, [dataclasses.replace(self.HOST, **members)], pcloud,
            self.NEED, self.SERVERS if servers is None else servers)
        return picture

    def parts(self, picture):
        return [(part.kind, part.percent) for part in picture.segments]

    def test_a_segment_is_as_wide_as_its_share(self):
        picture = self.picture(3)
        self.assertEqual('2 instances run, 3 more fit', picture.text)
        self.assertEqual('memory', picture.resource)
        self.assertEqual(
            [('server', 25), ('server', 6.25), ('other', 31.25),
             *[('ghost', 12.5)] * 3], self.parts(picture))
        self.assertEqual(['db', 'www'], [
            part.title for part in picture.segments[:2]])

    def test_the_resource_of_which_too_little_is_left(self):
        picture = self.picture(0, ('MEMORY_MB', 512))
        self.assertEqual(
            [('server', 36.36), ('server', 9.09), ('other', 45.45),
             ('rest', 9.09)], self.parts(picture))

    def test_a_host_that_lets_no_server_in(self):
        kind, _percent = self.parts(self.picture(0))[-1]
        self.assertEqual('closed', kind)

    def test_the_ratio_of_the_pcloud(self):
        picture = self.picture(1, pcloud=dataclasses.replace(
            self.PCLOUD, cpu_allocation_ratio=0.4))
        self.assertEqual('vCPUs', picture.resource)
        self.assertEqual([('server', 50), ('server', 25), ('ghost', 25)],
                         self.parts(picture))

    def test_the_ratio_of_the_cloud_is_not_known(self):
        picture = self.picture(20, memory_mb=None)
        self.assertEqual(23, len(picture.segments) + 1)
        self.assertAlmostEqual(100, sum(
            percent for _kind, percent in self.parts(picture)), delta=0.5)

    def test_servers_whose_size_nobody_tells(self):
        picture = self.picture(0, ('MEMORY_MB', 0), servers={})
        self.assertEqual([('server', 50), ('server', 50)],
                         self.parts(picture))

    def test_nothing_is_known(self):
        picture = self.picture(2, vcpus=None, memory_mb=None,
                               instances=None)
        self.assertEqual(((), ''), (picture.segments, picture.resource))
        self.assertIn('is not known', picture.text)

    def test_a_host_that_has_left(self):
        explanation = plan_resources.Explanation.from_body(
            base.sample('explain/show-resp')['explain'])
        picture, = fit.pictures(explanation, [], self.PCLOUD, {}, {})
        self.assertIn('is not known', picture.text)

    def test_no_more_ghosts_than_a_page_has_room_for(self):
        picture = self.picture(1000, memory_mb=1024 * 1024, vcpus=9999)
        ghost, = (part for part in picture.segments if part.kind == 'ghost')
        self.assertEqual('1000 would fit', ghost.title)

    def test_needs(self):
        flavor = mock.Mock(vcpus=1, ram=64, disk=1, swap=512)
        setattr(flavor, 'OS-FLV-EXT-DATA:ephemeral', 2)
        self.assertEqual({'VCPU': 1, 'MEMORY_MB': 64, 'DISK_GB': 4},
                         sizes.needs(flavor))

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
