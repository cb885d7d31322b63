# Licensed under the Apache License, Version 2.0 (the "License"); you may
# not use this file except in compliance with the License. You may obtain
# a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the
# License for the specific language governing permissions and limitations
# under the License.

"""The devstack plugin: what it adds, twice, and what it takes back."""

import pathlib

import fixtures
from oslotest import base

from pcloud.sandbox import devstack
from pcloud.sandbox import paste

PLAIN = """\
[DEFAULT]
debug = True

[filter_scheduler]
enabled_filters = ComputeFilter,SameHostFilter
"""
OTHERS = """\
[filter_scheduler]
weight_classes = nova.scheduler.weights.all_weighers,other.weights
enabled_filters = ComputeFilter, OtherFilter
available_filters = nova.scheduler.filters.all_filters
available_filters = other.filters.OtherFilter

[pci]
alias = x
"""


class PluginTest(base.BaseTestCase):

    def setUp(self):
        super().setUp()
        folder = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        self.conf = folder / 'nova.conf'
        self.paste = folder / 'api-paste.ini'
        self.original = paste.installed(
            'nova', 'etc/nova/api-paste.ini').read_text()
        self.paste.write_text(self.original)

    def _run(self, *phase, **settings):
        return devstack.run_phase(
            list(phase), self.conf, self.paste, 'ComputeFilter', settings)

    def _configured(self, text, **settings):
        """Configure twice, and return what nova.conf is then."""
        self.conf.write_text(text)
        self._run('stack', 'post-config', **settings)
        once = self.conf.read_text(), self.paste.read_text()
        self._run('stack', 'post-config', **settings)
        self.assertEqual(
            once, (self.conf.read_text(), self.paste.read_text()))
        return sorted(filter(None, once[0].splitlines()))

    def _cleaned(self):
        self.assertIn('Removing', self._run('clean'))
        self.assertEqual(self.original.strip(),
                         self.paste.read_text().strip())
        return sorted(filter(None, self.conf.read_text().splitlines()))

    def test_adds_to_what_is_there(self):
        self.assertEqual(sorted([
            '[filter_scheduler]', '[pci]', 'alias = x',
            'weight_classes = nova.scheduler.weights.all_weighers,'
            'other.weights,pcloud.scheduler.weights.all_weighers',
            'enabled_filters = ComputeFilter,OtherFilter,PcloudFilter,'
            'RebootFilter,ConstraintsFilter,AffinityFilter,ColocationFilter,'
            'LocalityFilter',
            'available_filters = nova.scheduler.filters.all_filters',
            'available_filters = other.filters.OtherFilter',
            'available_filters = pcloud.scheduler.filters.all_filters',
        ]), self._configured(OTHERS))
        self.assertEqual(
            sorted(filter(None, OTHERS.replace(', ', ',').splitlines())),
            self._cleaned())

    def test_adds_to_what_nova_takes_anyway(self):
        found = self._configured(PLAIN, PCLOUD_QUOTA_UNITS='7',
                                 PCLOUD_FILTERS='PcloudFilter')
        for line in (
                'available_filters = nova.scheduler.filters.all_filters',
                'available_filters = pcloud.scheduler.filters.all_filters',
                'weight_classes = nova.scheduler.weights.all_weighers,'
                'pcloud.scheduler.weights.all_weighers',
                'enabled_filters = ComputeFilter,SameHostFilter,PcloudFilter',
                '[pcloud]', 'quota_units = 7'):
            self.assertIn(line, found)
        self.assertEqual(sorted(filter(None, PLAIN.splitlines())),
                         self._cleaned())

    def test_both_pipelines(self):
        self._configured(PLAIN)
        self.assertEqual(
            paste.with_pcloud(self.original).split(),
            self.paste.read_text().split())

    def test_nothing_without_its_service(self):
        self.conf.write_text(PLAIN)
        settings = devstack.folder() / 'settings'
        self.assertIn('enable_service pcloud', settings.read_text())
        self.useFixture(fixtures.MonkeyPatch(
            'pcloud.sandbox.devstack.FUNCTIONS', devstack.FUNCTIONS.replace(
                'ENABLED_SERVICES+=,$1', ':')))
        self._run('stack', 'post-config')
        self._run('clean')
        self.assertEqual(PLAIN, self.conf.read_text())
        self.assertEqual(self.original, self.paste.read_text())
