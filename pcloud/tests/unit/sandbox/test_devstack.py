# SPDX-License-Identifier: Apache-2.0

"""The devstack plugin: what it adds, twice, and what it takes back.

The functions of devstack that the plugin calls are stand-ins, which the
sandbox needs too. Where PCLOUD_TEST_DEVSTACK names a checkout of devstack, the
tests run a second time with devstack's own functions.
"""

import os
import pathlib
import shutil
import sys

import fixtures
from oslotest import base

from pcloud.tests.support import next_steps
from pcloud_sandbox.configuration import devstack
from pcloud_sandbox.configuration import paste
from pcloud_sandbox import errors

PLAIN = """\
[DEFAULT]
debug = True

[filter_scheduler]
enabled_filters = ComputeFilter,SameHostFilter
"""
OTHERS = """\
[filter_scheduler]
weight_classes = nova.scheduler.weights.all_weighers,other.weights
enabled_filters=ComputeFilter,OtherFilter
available_filters = nova.scheduler.filters.all_filters
available_filters = other.filters.OtherFilter

[pci]
alias = x
"""
SEVERAL_LINES = """\
[filter_scheduler]
weight_classes = nova.scheduler.weights.all_weighers
weight_classes = other.weights, more.weights
enabled_filters = ComputeFilter
enabled_filters = PcloudFilter
"""
TEMPEST = """\
[compute-feature-enabled]
scheduler_enabled_filters = ComputeFilter,SameHostFilter

[other]
x = y
"""
# devstack's own functions, with nothing to uninstall.
DEVSTACK_FUNCTIONS = """
set -e
TOP_DIR=$PCLOUD_TEST_DEVSTACK
GLOBAL_VENV=False
OFFLINE=True
source $TOP_DIR/functions
echo_summary() { echo "$*"; }
"""


class PluginTest(base.BaseTestCase):

    def setUp(self):
        super().setUp()
        self.folder = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        self.conf = self.folder / 'nova.conf'
        self.paste = self.folder / 'api-paste.ini'
        self.tempest = self.folder / 'tempest.conf'
        self.original = paste.installed(
            'nova', 'etc/nova/api-paste.ini').read_text()
        self.paste.write_text(self.original)

    def _run(self, *phase, **settings):
        return devstack.run_phase(
            list(phase), self.conf, self.paste, 'ComputeFilter',
            {'DEST': str(self.folder), **settings})

    def _define(self, function):
        """Let the plugin find another function than devstack's."""
        self.useFixture(fixtures.MonkeyPatch(
            'pcloud_sandbox.configuration.devstack.FUNCTIONS',
            f'{devstack.FUNCTIONS}\n{function}\n'))

    def _configured(self, text, **settings):
        """Configure twice, and return the lines of nova.conf then."""
        self.conf.write_text(text)
        self._run('stack', 'post-config', **settings)
        once = self.conf.read_text(), self.paste.read_text()
        self._run('stack', 'post-config', **settings)
        self.assertEqual(
            once, (self.conf.read_text(), self.paste.read_text()))
        return once[0].splitlines()

    def _assert_cleaned(self, text):
        """Clean twice; nova.conf is the text again, to the byte."""
        for _ in range(2):
            self.assertIn('Removing', self._run('clean'))
            self.assertEqual(self.original, self.paste.read_text())
            self.assertEqual(text, self.conf.read_text())

    def test_adds_to_what_is_there(self):
        self.assertEqual([
            '[filter_scheduler]',
            'available_filters = pcloud.scheduler.filters.all_filters',
            'weight_classes = nova.scheduler.weights.all_weighers,'
            'other.weights,pcloud.scheduler.weights.all_weighers',
            'enabled_filters=ComputeFilter,OtherFilter,PcloudFilter,'
            'RebootFilter,ConstraintsFilter,AffinityFilter,ColocationFilter,'
            'LocalityFilter',
            'available_filters = nova.scheduler.filters.all_filters',
            'available_filters = other.filters.OtherFilter',
            '', '[pci]', 'alias = x',
        ], self._configured(OTHERS))
        self._assert_cleaned(OTHERS)

    def test_adds_to_what_nova_takes_anyway(self):
        self.assertEqual([
            '[DEFAULT]', 'debug = True', '', '[filter_scheduler]',
            'available_filters = nova.scheduler.filters.all_filters',
            'available_filters = pcloud.scheduler.filters.all_filters',
            'weight_classes = nova.scheduler.weights.all_weighers,'
            'pcloud.scheduler.weights.all_weighers',
            'enabled_filters = ComputeFilter,SameHostFilter,PcloudFilter',
            '', '[pcloud]', 'quota_units = 7',
        ], self._configured(PLAIN, PCLOUD_QUOTA_UNITS='7',
                            PCLOUD_FILTERS='PcloudFilter'))
        self._assert_cleaned(PLAIN)

    def test_lists_on_several_lines(self):
        """Nova takes the last line, which has the items of all lines."""
        found = self._configured(SEVERAL_LINES, PCLOUD_FILTERS='PcloudFilter')
        for line in (
                'weight_classes = nova.scheduler.weights.all_weighers,'
                'other.weights,more.weights,'
                'pcloud.scheduler.weights.all_weighers',
                'enabled_filters = ComputeFilter,PcloudFilter'):
            option = line.partition(' ')[0]
            self.assertEqual(
                line, [each for each in found if each.startswith(option)][-1])
        self._run('clean')
        self.assertNotIn('pcloud', self.conf.read_text().lower())

    def test_filters_between_others_are_taken_back(self):
        self.conf.write_text(
            '[filter_scheduler]\n'
            'enabled_filters = PcloudFilter, A, RebootFilter ,B,PcloudFilter\n'
            'weight_classes = pcloud.scheduler.weights.all_weighers\n')
        self._run('clean')
        self.assertEqual('[filter_scheduler]\nenabled_filters = A,B\n',
                         self.conf.read_text())

    def test_sections_behind_are_left(self):
        self._configured(PLAIN, PCLOUD_QUOTA_UNITS='7')
        behind = '\n[other]\nx = y\n\n# end\n'
        self.conf.write_text(
            self.conf.read_text() + '\nsettling_time = 5\n' + behind)
        self._assert_cleaned(PLAIN + behind)

    def test_both_pipelines(self):
        self._configured(PLAIN)
        self.assertEqual(
            paste.with_pcloud(self.original).split(),
            self.paste.read_text().split())

    def test_neutron_is_awaited_before_nova_conf_is_touched(self):
        self.conf.write_text(PLAIN)
        self._define("""async_wait() {
            grep -q pcloud $NOVA_CONF || echo "vif = $1" >> $NOVA_CONF
        }""")
        self._run('stack', 'post-config')
        lines = self.conf.read_text().splitlines()
        self.assertIn('vif = configure_neutron_nova', lines)
        self.assertTrue(any('PcloudFilter' in line for line in lines))

    def test_tempest_knows_the_filters(self):
        settings = {
            'ENABLED_SERVICES': 'tempest', 'PCLOUD_FILTERS': 'PcloudFilter',
            'TEMPEST_CONFIG': str(self.tempest)}
        self.conf.write_text(PLAIN)
        self.tempest.write_text(TEMPEST)
        self._run('stack', 'test-config', **settings)
        self._run('stack', 'test-config', **settings)
        self.assertEqual(
            TEMPEST.replace('SameHostFilter', 'SameHostFilter,PcloudFilter'),
            self.tempest.read_text())
        self._run('clean', **settings)
        self.assertEqual(TEMPEST, self.tempest.read_text())

    def _check(self, text):
        """Run the late phase, with the real ``pcloud-status``."""
        self.conf.write_text(
            f'{text}\n[wsgi]\napi_paste_config = {self.paste}\n')
        command = self.folder / 'pcloud-status'
        command.write_text(
            f'#!/bin/sh\nexec {sys.executable} -m pcloud.cmd.status "$@"\n')
        command.chmod(0o755)
        return self._run('stack', 'test-config',
                         NOVA_BIN_DIR=str(self.folder))

    def test_stacking_ends_where_isolation_was_replaced(self):
        """As a section of local.conf does, behind the plugin."""
        self._run('stack', 'post-config')
        text = self.conf.read_text()
        self.assertIn('Checking Pcloud', self._check(text))
        error = self.assertRaises(
            errors.SandboxError, self._check, text.replace('Pcloud', 'Other'))
        self.assertIn('enabled_filters = <the filters you want>,PcloudFilter',
                      str(error))

    def test_stacking_goes_on_with_warnings(self):
        self._run('stack', 'post-config')
        self.assertIn('will not last', self._check(
            f'[DEFAULT]\ncpu_allocation_ratio = 4\n{self.conf.read_text()}'
        ).replace('\n', ' '))

    def test_a_checkout_of_any_name(self):
        checkout = self.folder / 'my-clone'
        shutil.copytree(devstack.folder(), checkout / 'devstack')
        self.useFixture(fixtures.MonkeyPatch(
            'pcloud_sandbox.configuration.devstack.folder',
            lambda: checkout / 'devstack'))
        self._define('setup_develop() { echo "develop $*"; }')
        self.assertIn(f'develop {checkout} nova',
                      self._run('stack', 'install'))

    def test_commands_and_environment(self):
        """Linked by one phase; unlinked and uninstalled by another."""
        self._define("""
            setup_develop() { :; }
            sudo() { echo "sudo $*"; }
            pip_uninstall() { echo "pip $PIP_VIRTUAL_ENV $1"; }
            GLOBAL_VENV=True
            DEVSTACK_VENV=/venv
            """)
        self.assertEqual([
            'sudo ln -sf /venv/bin/pcloud-manage /usr/local/bin',
            'sudo ln -sf /venv/bin/pcloud-status /usr/local/bin',
        ], self._run('stack', 'install').splitlines()[1:])
        self.conf.write_text(PLAIN)
        self.assertEqual([
            'sudo rm -f /usr/local/bin/pcloud-manage',
            'sudo rm -f /usr/local/bin/pcloud-status',
            'pip /venv openstack-pcloud',
        ], self._run('clean').splitlines()[1:])

    def test_the_dashboard(self):
        """Enabled where there is a Horizon, and taken back alone."""
        enabled = self.folder / 'horizon/openstack_dashboard/local/enabled'
        enabled.mkdir(parents=True)
        (enabled / '_1000_other.py').touch()
        self.conf.write_text(PLAIN)
        self._run('stack', 'post-config')
        self.assertEqual(['_1000_other.py'], os.listdir(enabled))
        self._define('ENABLED_SERVICES+=,horizon')
        self._run('stack', 'post-config', PCLOUD_DASHBOARD='False')
        self.assertEqual(['_1000_other.py'], os.listdir(enabled))
        for _ in range(2):
            self._run('stack', 'post-config')
        self.assertEqual(
            ['_1000_other.py', '_1035_project_pclouds_panel.py',
             '_2135_admin_host_flavors_panel.py',
             '_2136_admin_pclouds_panel.py'], sorted(os.listdir(enabled)))
        for _ in range(2):
            self._run('clean')
        self.assertEqual(['_1000_other.py'], os.listdir(enabled))

    def _run_extra(self, services):
        """Run the phase in which the worker starts, with stand-ins."""
        self._define("""
            enable_service() { :; }
            openstack() {
                if [[ "$*" == *"domain list"* ]]; then echo one two; fi
                echo "openstack $*" >&3
            }
            run_process() { echo "run $1" >&3; }
            exec 3>&1
            NOVA_BIN_DIR=/bin
            SERVICE_DOMAIN_NAME=Default
            """)
        return self._run('stack', 'extra', ENABLED_SERVICES=services)

    def test_worker(self):
        """It runs beside nova-api, with its role in each domain."""
        told = self._run_extra('pcloud,pcloud-worker,n-api')
        self.assertIn('run pcloud-worker\n', told)
        for domain in ('one', 'two'):
            self.assertRegex(told, 'role add --user nova --user-domain '
                                   f'Default --domain {domain} --inherited')

    def test_no_worker(self):
        for services in ('pcloud,pcloud-worker,n-cpu', 'pcloud,n-api'):
            self.assertEqual('', self._run_extra(services))

    def test_nothing_without_its_service(self):
        self.conf.write_text(PLAIN)
        settings = devstack.folder() / 'settings'
        self.assertIn('enable_service pcloud', settings.read_text())
        self._define('enable_service() { :; }')
        self._run('stack', 'post-config')
        self._run('clean')
        self.assertEqual(PLAIN, self.conf.read_text())
        self.assertEqual(self.original, self.paste.read_text())


class TextsTest(base.BaseTestCase):
    """What newcomers copy."""

    def test_next_steps(self):
        """The README has blocks of commands, which a devstack can try."""
        text = (devstack.folder() / 'README.rst').read_text()
        pool, pcloud, back = next_steps.blocks(text)
        self.assertEqual(['. openrc admin admin', '. openrc demo demo'],
                         [pool[0], pcloud[0]])
        for line in pool[1:] + back:
            self.assertRegex(line, r'^openstack |^\. openrc ')
        self.assertEqual([], next_steps.blocks('Another\n=======\n'))

    def test_the_branch_is_named(self):
        """devstack takes master otherwise, which is not there."""
        root = devstack.folder().parent
        for name in ('README.rst', 'devstack/README.rst',
                     'devstack/local.conf.sample', 'devstack/plugin.sh',
                     'doc/source/admin/install.rst'):
            lines = [line for line in (root / name).read_text().splitlines()
                     if 'enable_plugin pcloud' in line]
            self.assertNotEqual([], lines, name)
            for line in lines:
                self.assertTrue(line.endswith(' main'), f'{name}: {line}')


class DevstackFunctionsTest(PluginTest):
    """The same with devstack's own functions."""

    def setUp(self):
        if not os.environ.get('PCLOUD_TEST_DEVSTACK'):
            self.skipTest('PCLOUD_TEST_DEVSTACK names no checkout of devstack')
        super().setUp()
        self.useFixture(fixtures.MonkeyPatch(
            'pcloud_sandbox.configuration.devstack.FUNCTIONS',
            DEVSTACK_FUNCTIONS))
