# SPDX-License-Identifier: Apache-2.0

"""``pcloud-status upgrade check``, check by check."""

import pathlib
import time
from unittest import mock

import fixtures
from nova.compute import api as compute_api
from nova.scheduler import filters as nova_filters
from nova.scheduler import request_filter
from oslo_db import exception as db_exc
from oslo_upgradecheck import upgradecheck

from pcloud.backend.changes import journal
from pcloud.cmd import status
from pcloud import names
from pcloud.rules import looks
from pcloud.tests.support import base
from pcloud.tests.support import shared_cloud
from pcloud_sandbox.configuration import paste

SUCCESS = upgradecheck.Code.SUCCESS
WARNING = upgradecheck.Code.WARNING
FAILURE = upgradecheck.Code.FAILURE


class BadFilter(nova_filters.BaseHostFilter):
    """Cannot be made."""

    def __init__(self):
        raise ValueError('bad')


def filters():
    """Return a filter whose name is taken."""
    return [type('PcloudFilter', (nova_filters.BaseHostFilter,), {})]


class StatusTest(shared_cloud.SharedCloudTestCase):
    """The configuration of these tests is right; each test breaks it."""

    hosts = {}
    # A test writes the configuration of the API anew.
    own_cloud = True

    def setUp(self):
        super().setUp()
        self.work()

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

    def test_list_without_those_of_nova(self):
        """A list that is set replaces Nova's default."""
        self.flags(available_filters=['pcloud.scheduler.filters.all_filters'],
                   enabled_filters=['ComputeFilter', 'PcloudFilter',
                                    'ServerGroupAffinityFilter'],
                   group='filter_scheduler')
        self._assert_only('Scheduler filter', FAILURE)
        self.assertIn(
            'ComputeFilter, ServerGroupAffinityFilter of enabled_filters: in '
            'none of pcloud.scheduler.filters.all_filters. Add '
            '"available_filters = nova.scheduler.filters.all_filters"',
            status.Checks().check_filter().details)

    def test_names_of_no_filter(self):
        filters = base.CONF.filter_scheduler.enabled_filters
        self.flags(enabled_filters=[*filters, 'PcloudFilters'],
                   group='filter_scheduler')
        self._assert_only('Scheduler filter', FAILURE)
        details = status.Checks().check_filter().details
        self.assertIn('PcloudFilters of enabled_filters', details)
        self.assertNotIn('Add ', details)

    def test_filter_by_its_own_name(self):
        """One class does what the list of classes does."""
        self.flags(available_filters=[
            'nova.scheduler.filters.all_filters',
            'pcloud.scheduler.filters.pcloud.PcloudFilter'],
            enabled_filters=['ComputeFilter', 'PcloudFilter'],
            group='filter_scheduler')
        self._assert_only('Scheduler filter', SUCCESS)

    def test_filter_of_somebody_else(self):
        """Of two classes of one name, Nova takes the last."""
        self.flags(available_filters=[
            'pcloud.scheduler.filters.all_filters', f'{__name__}.filters'],
            enabled_filters=['PcloudFilter'], group='filter_scheduler')
        self._assert_only('Scheduler filter', FAILURE)

    def test_filters_that_cannot_be_loaded(self):
        available = base.CONF.filter_scheduler.available_filters
        self.flags(available_filters=[*available, 'nova.nothing'],
                   group='filter_scheduler')
        self._assert_only('Scheduler filter', FAILURE)
        self.assertIn('nova.nothing in available_filters cannot be loaded',
                      status.Checks().check_filter().details)
        self.flags(available_filters=[*available, f'{__name__}.BadFilter'],
                   enabled_filters=['PcloudFilter', 'BadFilter'],
                   group='filter_scheduler')
        self._assert_only('Scheduler filter', FAILURE)
        self.assertIn('BadFilter in available_filters cannot be loaded: bad',
                      status.Checks().check_filter().details)

    def test_filter_order(self):
        for filters_, code in (
                ('ConstraintsFilter LocalityFilter', SUCCESS),
                ('LocalityFilter ColocationFilter', SUCCESS),
                ('ConstraintsFilter', SUCCESS),
                ('LocalityFilter RebootFilter ConstraintsFilter', WARNING)):
            self.flags(enabled_filters=['PcloudFilter', *filters_.split()],
                       group='filter_scheduler')
            self._assert_only('Filter order', code)
        self.assertIn('Put LocalityFilter after ConstraintsFilter',
                      status.Checks().check_filter_order().details)

    def test_request_filter(self):
        with mock.patch.object(request_filter, 'ALL_REQUEST_FILTERS', []):
            self._assert_only('Request filter', FAILURE)

    def test_only_our_weighers(self):
        self.flags(weight_classes=['pcloud.scheduler.weights.all_weighers'],
                   group='filter_scheduler')
        self._assert_only('Scheduler weighers', WARNING)
        self.flags(weight_classes=[
            'nova.scheduler.weights.ram.RAMWeigher',
            'pcloud.scheduler.weights.all_weighers'],
            group='filter_scheduler')
        self._assert_only('Scheduler weighers', SUCCESS)

    def test_weighers_that_cannot_be_loaded(self):
        self.flags(weight_classes=[
            'nova.scheduler.weights.all_weighers',
            'pcloud.scheduler.weights.all_weigher'],
            group='filter_scheduler')
        self._assert_only('Scheduler weighers', FAILURE)
        self.assertIn('pcloud.scheduler.weights.all_weigher',
                      status.Checks().check_weighers().details)

    def test_pinned_ratios(self):
        self.flags(cpu_allocation_ratio=16.0)
        self._assert_only('Allocation ratios', WARNING)
        checks = status.Checks()
        self.assertIn('initial_cpu_allocation_ratio',
                      checks.check_ratios().details)

    def test_no_worker(self):
        self.aggregate(names.JOURNAL).update_metadata(
            {names.WORKER: looks.Look(int(time.time()) - 301).text()})
        self._assert_only('Worker', WARNING)
        result = status.Checks().check_worker()
        self.assertRegex(result.details, 'no worker has looked since 2')

    def test_database_that_is_away(self):
        with mock.patch.object(journal, 'look',
                               side_effect=db_exc.DBConnectionError):
            self._assert_only('Worker', WARNING)

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

    def test_paste_of_the_wsgi_application(self):
        """Nova's WSGI application does not ask where its file is."""
        folder = self.useFixture(fixtures.TempDir()).path
        self.useFixture(fixtures.EnvironmentVariable(
            'OS_NOVA_CONFIG_DIR', folder))
        self._assert_only('API filter', SUCCESS)
        other = pathlib.Path(folder, 'api-paste.ini')
        other.symlink_to(base.CONF.wsgi.api_paste_config)
        self._assert_only('API filter', SUCCESS)
        other.unlink()
        other.write_text(paste.installed(
            'nova', 'etc/nova/api-paste.ini').read_text())
        self._assert_only('API filter', FAILURE)
        self.assertIn(str(other), status.Checks().check_paste().details)

    def test_section_that_is_there_twice(self):
        path = base.CONF.wsgi.api_paste_config
        with open(path, 'a') as file:
            file.write(
                '\n[composite:osapi_compute]\n'
                'use = call:nova.api.openstack.urlmap:urlmap_factory\n')
        self._assert_only('API filter', FAILURE)
        self.assertIn("'composite:osapi_compute' already exists",
                      status.Checks().check_paste().details)

    def test_filter_behind_the_filter(self):
        """What a foreign filter makes of a request, nobody checks."""
        path = pathlib.Path(base.CONF.wsgi.api_paste_config)
        text = path.read_text()
        foreign = '\n[filter:occi]\npaste.filter_factory = no.occi:factory\n'
        path.write_text(text.replace(' pcloud ', ' pcloud occi ') + foreign)
        self._assert_only('API filter', WARNING)
        self.assertIn('no.occi:factory in openstack_compute_api_v21',
                      status.Checks().check_paste().details)
        path.write_text(text.replace(' pcloud ', ' occi pcloud ') + foreign)
        self._assert_only('API filter', SUCCESS)

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
