# SPDX-License-Identifier: Apache-2.0

import argparse
import configparser
import contextlib
import io
import json
import pathlib
import shutil
import subprocess
import sys
from unittest import mock

import ddt
from oslotest import base
import testtools

from pcloud.cmd import metrics
from pcloud import exception

ETC = pathlib.Path(__file__).parents[4] / 'etc' / 'pcloud'


def parsed(*arguments):
    """Return the parsed command line."""
    parser = argparse.ArgumentParser()
    metrics.add_parser(parser.add_subparsers())
    return parser.parse_args(['metrics', *arguments])


@ddt.ddt
class CommandLineTest(base.BaseTestCase):

    def test_defaults(self):
        found = parsed()
        self.assertEqual((None, 0, None), (
            found.listen, found.projects, found.audit_interval))

    def test_options(self):
        found = parsed('--listen', '[::1]:9000', '--projects', '5',
                       '--audit-interval', '60')
        self.assertEqual(('[::1]:9000', 5, 60), (
            str(found.listen), found.projects, found.audit_interval))

    @ddt.data(('--listen', '9000'), ('--projects', '-1'),
              ('--projects', 'all'), ('--audit-interval', '0'),
              ('--audit-interval', 'nan'), ('--audit-interval', 'inf'))
    def test_wrong(self, arguments):
        told = io.StringIO()
        with contextlib.redirect_stderr(told):
            error = self.assertRaises(SystemExit, parsed, *arguments)
        self.assertEqual(2, error.code)
        self.assertIn(arguments[0], told.getvalue())

    def test_library_is_missing(self):
        with mock.patch.dict(sys.modules, {'prometheus_client': None}):
            error = self.assertRaises(
                exception.Conflict, metrics.run, parsed())
        self.assertIn('pip install prometheus_client', str(error))

    def test_other_commands_need_no_library(self):
        done = subprocess.run(
            [sys.executable, '-c',
             'import sys; sys.modules["prometheus_client"] = None\n'
             'import pcloud.cmd.manage\n'
             'import pcloud.objects.changing_hands.allocation\n'
             'assert "pcloud.metrics.showing" not in sys.modules'],
            capture_output=True, text=True)
        self.assertEqual((0, ''), (done.returncode, done.stderr))


class UnitTest(base.BaseTestCase):
    """The example of a unit for systemd."""

    PATH = ETC / 'pcloud-metrics.service'

    def test_command(self):
        unit = configparser.ConfigParser()
        unit.optionxform = str
        unit.read(self.PATH)
        command, *arguments = unit['Service']['ExecStart'].split()
        self.assertEqual('/usr/bin/pcloud-manage', command)
        found = parsed(*arguments[arguments.index('metrics') + 1:])
        self.assertEqual('127.0.0.1:9841', str(found.listen))

    @testtools.skipIf(shutil.which('systemd-analyze') is None,
                      'systemd judges the unit')
    def test_systemd(self):
        done = subprocess.run(
            ['systemd-analyze', 'verify', self.PATH],
            capture_output=True, text=True)
        self.assertEqual([], [
            line for line in done.stderr.splitlines()
            if self.PATH.name in line and 'is not executable' not in line])


class DashboardTest(base.BaseTestCase):
    """What Grafana asks of a dashboard that is imported."""

    def setUp(self):
        super().setUp()
        self.dashboard = json.loads(
            (ETC / 'grafana-dashboard.json').read_text())

    def test_head(self):
        self.assertEqual('Pcloud', self.dashboard['title'])
        self.assertGreaterEqual(self.dashboard['schemaVersion'], 36)
        # With an id Grafana would look for a dashboard to replace.
        self.assertNotIn('id', self.dashboard)

    def test_data_source_is_chosen_by_the_user(self):
        first, *_ = self.dashboard['templating']['list']
        self.assertEqual(('datasource', 'datasource', 'prometheus'), (
            first['name'], first['type'], first['query']))
        for variable in self.dashboard['templating']['list'][1:]:
            self.assertEqual('${datasource}', variable['datasource']['uid'])

    def test_panels(self):
        panels = self.dashboard['panels']
        self.assertEqual(list(range(1, len(panels) + 1)),
                         [panel['id'] for panel in panels])
        for panel in panels:
            self.assertIn(panel['type'], ('stat', 'timeseries', 'table'))
            self.assertTrue(panel['title'])
            self.assertTrue(panel['description'])
            self.assertEqual('${datasource}', panel['datasource']['uid'])
            self.assertNotEqual([], panel['targets'])
            names = [target['refId'] for target in panel['targets']]
            self.assertEqual(sorted(set(names)), names)
            for target in panel['targets']:
                self.assertEqual('${datasource}', target['datasource']['uid'])
                self.assertTrue(target['expr'])

    def test_panels_do_not_overlap(self):
        places = set()
        for panel in self.dashboard['panels']:
            at = panel['gridPos']
            self.assertLessEqual(at['x'] + at['w'], 24)
            own = {(x, y) for x in range(at['x'], at['x'] + at['w'])
                   for y in range(at['y'], at['y'] + at['h'])}
            self.assertEqual(at['w'] * at['h'], len(own))
            self.assertEqual(set(), own & places)
            places |= own
