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

"""``pcloud-status upgrade check``, check by check."""

from unittest import mock

import fixtures
from nova.compute import api as compute_api
from nova.scheduler import request_filter
from oslo_upgradecheck import upgradecheck

from pcloud.cmd import status
from pcloud.tests.functional import base
from pcloud.tests.functional import shared_cloud

SUCCESS = upgradecheck.Code.SUCCESS
WARNING = upgradecheck.Code.WARNING
FAILURE = upgradecheck.Code.FAILURE


class StatusTest(shared_cloud.SharedCloudTestCase):
    """The configuration of these tests is right; each test breaks it."""

    hosts = {}
    # A test writes the configuration of the API anew.
    own_cloud = True

    def _codes(self):
        checks = status.Checks()
        return {name: check(checks).code
                for name, check in checks._upgrade_checks}

    def _assert_only(self, name, code):
        expected = {each: SUCCESS for each in self._codes()}
        self.assertEqual({**expected, name: code}, self._codes())

    def test_all_is_well(self):
        self.assertEqual({SUCCESS}, set(self._codes().values()))

    def test_filters(self):
        self.flags(enabled_filters=['ComputeFilter'],
                   group='filter_scheduler')
        self._assert_only('Scheduler filter', FAILURE)
        self.flags(available_filters=['nova.scheduler.filters.all_filters'],
                   enabled_filters=['PcloudFilter'],
                   group='filter_scheduler')
        self._assert_only('Scheduler filter', FAILURE)

    def test_request_filter(self):
        with mock.patch.object(request_filter, 'ALL_REQUEST_FILTERS', []):
            self._assert_only('Request filter', FAILURE)
        self.flags(available_filters=[
            'pcloud.scheduler.filters.all_filters', 'nova.nothing'],
            group='filter_scheduler')
        self._assert_only('Request filter', FAILURE)

    def test_only_our_weighers(self):
        self.flags(weight_classes=['pcloud.scheduler.weights.all_weighers'],
                   group='filter_scheduler')
        self._assert_only('Scheduler weighers', WARNING)

    def test_pinned_ratios(self):
        self.flags(cpu_allocation_ratio=16.0)
        self._assert_only('Allocation ratios', WARNING)
        checks = status.Checks()
        self.assertIn('initial_cpu_allocation_ratio',
                      checks.check_ratios().details)

    def test_paste(self):
        path = base.CONF.wsgi.api_paste_config
        with open(path) as file:
            text = file.read()
        for broken in (
                text.replace('keystonecontext pcloud', 'keystonecontext'),
                text.replace('legacy_v2_compatible pcloud',
                             'legacy_v2_compatible'),
                text.replace('keystonecontext pcloud',
                             'pcloud keystonecontext'),
                text.replace('pcloud.api:filter_factory', 'other:factory')):
            with open(path, 'w') as file:
                file.write(broken)
            self._assert_only('API filter', FAILURE)
        with open(path, 'wb') as file:
            file.write(text.encode('utf-16'))
        self._assert_only('API filter', FAILURE)
        self.assertIn('cannot be read', status.Checks().check_paste().details)

    def test_nova_versions(self):
        for version, code in (
                ('31.3.1', FAILURE), ('32.2.0', FAILURE),
                ('32.2.1', SUCCESS), ('33.0.0', FAILURE),
                ('33.0.1', FAILURE), ('33.0.2', SUCCESS),
                ('34.0.0', SUCCESS), ('35.0.0', WARNING)):
            with mock.patch('nova.version.version_string',
                            return_value=version):
                self.assertEqual(
                    code, self._codes()['Nova version'], version)

    def test_development_build_before_the_fix(self):
        """The version is higher than 33.0.2, and the code is not fixed."""
        def create(api, *args, scheduler_hints):
            return api._create_instance(
                filter_properties={'scheduler_hints': scheduler_hints})

        self.useFixture(fixtures.MonkeyPatch(
            'nova.version.version_string', lambda: '33.1.0.dev110'))
        self._assert_only('Nova version', SUCCESS)
        with mock.patch.object(compute_api.API, 'create', create):
            self._assert_only('Internal hints', FAILURE)
            details = status.Checks().check_internal_hints().details
        for text in ('33.1.0.dev110', 'OSSA-2026-022', '33.0.2', '9666894b46'):
            self.assertIn(text, details)
