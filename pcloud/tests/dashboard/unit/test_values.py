# SPDX-License-Identifier: Apache-2.0

"""Values that are judged before they are sent."""

import re

import ddt
from django.core import validators

from pcloud.api.schemas import types
from pcloud.rules import forms
from pcloud.rules import ratios
from pcloud.tests.dashboard.unit import base
from pcloud_dashboard import fields
from pcloud_dashboard.project import settings


@ddt.ddt
class NamesTest(base.PageTest):

    def test_the_forms_are_those_of_the_api(self):
        self.assertEqual(forms.HOST_NAME, fields.HOST_NAME)
        self.assertEqual(ratios.MOST, fields.MOST_RATIO)
        pattern = re.compile(types.display_name['pattern'])
        own, = (each.regex for each in fields.NameField().validators
                if isinstance(each, validators.RegexValidator))
        for code in (*range(0x2100), 0x2028, 0xd800, 0xffff, 0x10000,
                     0x1f600):
            text = f'a{chr(code)}b'
            self.assertEqual(
                bool(pattern.search(text)), bool(own.search(text)), code)

    @ddt.data(('farm \U0001f600', 'emojis'), ('  ', 'required'))
    @ddt.unpack
    def test_a_name_of_a_pcloud(self, name, expected):
        answer = self.send('create', name=name)

        self.assertContains(answer, expected)
        self.assertNotIn(('POST', '/os-pclouds'), self.calls())

    @ddt.data('web_{n}x', 'wéb', 'web 1', 'web/{n}', 'x' * 63 + '-{n}')
    def test_a_name_of_a_host(self, name):
        answer = self.send('add_hosts', self.pcloud_id, host_flavor='gpu',
                           count='2', name=name, availability_zone='')

        self.assertContains(answer, 'has-error')
        self.assertNotIn(('POST', f'{self.at}/hosts'), self.calls())


@ddt.ddt
class RatiosTest(base.PageTest):

    def save(self, ratio, **form):
        self.saved = self.answer('PUT', self.at, json={'pcloud': self.pcloud})
        return self.send('edit', self.pcloud_id, **{
            'name': self.pcloud['name'], 'cpu_allocation_ratio': ratio,
            'after_hours': '24', 'min_hosts': '1', 'keep_spare': '1', **form})

    @ddt.data('0', '-1', '1025')
    def test_a_ratio_that_is_none(self, ratio):
        self.assertContains(self.save(ratio), 'A ratio is more than 0')
        self.assertEqual(0, self.saved.call_count)

    def test_a_ratio_that_leaves_nothing_is_said_before(self):
        answer = self.save('0.01')
        self.assertContains(answer, 'less than one vCPU is left on web-1')
        self.assertContains(answer, 'name="seen" value="0.01"')
        self.assertEqual(0, self.saved.call_count)

        self.save('0.01', seen='0.01')
        self.assertEqual({'pcloud': {'cpu_allocation_ratio': 0.01}},
                         self.saved.last_request.json())

    def test_a_ratio_that_leaves_something(self):
        self.save('0.5')

        self.assertEqual({'pcloud': {'cpu_allocation_ratio': 0.5}},
                         self.saved.last_request.json())


@ddt.ddt
class LevelsTest(base.PageTest):

    @ddt.data(('cloud', 'the cloud'), ('role gpu', 'role gpu'),
              ('odd', 'odd'))
    @ddt.unpack
    def test_level(self, source, expected):
        self.assertEqual(expected, settings.level(source))
