# SPDX-License-Identifier: Apache-2.0

"""When the alerts of the example fire, by Prometheus's own judgement.

The functional tests of metrics hold the names of the metrics.
"""

import pathlib
import shutil
import subprocess
import tempfile

from oslotest import base
import testtools
import yaml

ALERTS = pathlib.Path(__file__).parents[4] / 'etc' / 'pcloud' / 'alerts.yml'
FREE = 'pcloud_hosts{host_flavor="gpu",availability_zone="%s",state="free"}'
GPU = {'host_flavor': 'gpu'}
REFUSALS = ('pcloud_allocation_refusals_total{host_flavor="gpu",'
            'reason="%s"}')
# Alert -> series with which the alert fires after five hours, series with
# which the alert does not fire, and the labels. "0x300" is 0 each minute.
CASES = {
    'PcloudMetricsMissing': (
        {'up{job="pcloud"}': '0x300'}, {'up{job="pcloud"}': '1x300'},
        {'job': 'pcloud'}),
    'PcloudCellSilent': (
        # One machine reaches the cell, another does not.
        {'pcloud_cell_up{cell="a",uuid="u",instance="1"}': '1x300',
         'pcloud_cell_up{cell="a",uuid="u",instance="2"}': '0x300'},
        {'pcloud_cell_up{cell="a",uuid="u"}': '1x300'},
        {'cell': 'a', 'uuid': 'u'}),
    'PcloudPartMissing': (
        {'pcloud_up{part="audit",instance="1"}': '0x300'},
        {'pcloud_up{part="audit",instance="1"}': '1x300'},
        {'part': 'audit', 'instance': '1'}),
    'PcloudNoFreeHost': (
        {FREE % 'a': '0x300', FREE % 'b': '0x300'},
        {FREE % 'a': '0x300', FREE % 'b': '1x300'}, GPU),
    'PcloudHostsRunOut': (
        {FREE % 'a': '1x300'}, {FREE % 'a': '1x300', FREE % 'b': '1x300'},
        GPU),
    'PcloudHostsUnavailable': (
        {FREE.replace('free', 'unavailable') % 'a': '1x300'},
        {FREE.replace('free', 'unavailable') % 'a': '0x300',
         FREE % 'a': '4x300'}, GPU),
    'PcloudHostDoesNotSettle': (
        {'pcloud_oldest_settling_seconds': '0+60x300'},
        {'pcloud_oldest_settling_seconds': '3600x300'}, {}),
    'PcloudNoWorker': (
        {'pcloud_worker_seen_timestamp_seconds': '0x300'},
        {'pcloud_worker_seen_timestamp_seconds': '0+60x300'}, {}),
    'PcloudDrainOverdue': (
        {'pcloud_drains{state="overdue"}': '1x300'},
        {'pcloud_drains{state="open"}': '1x300'}, {}),
    'PcloudRecoveryHeld': (
        {'pcloud_recoveries{state="held"}': '1x300'},
        {'pcloud_recoveries{state="moving"}': '1x300'}, {}),
    'PcloudRefusals': (
        {REFUSALS % 'no_free_host': '0+1x300'},
        {REFUSALS % 'quota': '0+1x300'}, GPU),
    'PcloudErrors': (
        {REFUSALS % 'unavailable': '0+1x300'},
        {REFUSALS % 'no_free_host': '0+1x300'}, {'reason': 'unavailable'}),
    'PcloudAllocationsSlow': (
        {'pcloud_allocation_seconds_bucket{le="10"}': '0x300',
         'pcloud_allocation_seconds_bucket{le="20"}': '0+1x300',
         'pcloud_allocation_seconds_bucket{le="+Inf"}': '0+1x300'},
        {'pcloud_allocation_seconds_bucket{le="10"}': '0+1x300',
         'pcloud_allocation_seconds_bucket{le="+Inf"}': '0+1x300'}, {}),
    'PcloudAuditFindings': (
        {'pcloud_audit_findings{kind="orphan-allocation"}': '1x300'},
        {'pcloud_audit_timestamp_seconds': '0+60x300'},
        {'kind': 'orphan-allocation'}),
    'PcloudAuditOld': (
        {'pcloud_audit_timestamp_seconds': '0x300'},
        {'pcloud_audit_timestamp_seconds': '0+60x300'}, {}),
}


class AlertsTest(base.BaseTestCase):

    def setUp(self):
        super().setUp()
        rules = yaml.safe_load(ALERTS.read_text())['groups'][0]['rules']
        self.summaries = {rule['alert']: rule['annotations']['summary']
                          for rule in rules}

    def test_every_alert_has_a_case(self):
        self.assertEqual(set(CASES), set(self.summaries))

    @testtools.skipIf(shutil.which('promtool') is None,
                      'promtool of Prometheus judges the alerts')
    def test_when_they_fire(self):
        cases = []
        for alert, (firing, quiet, labels) in CASES.items():
            summary = self.summaries[alert]
            for label, value in labels.items():
                summary = summary.replace(
                    f'{{{{ $labels.{label} }}}}', value)
            told = [{'exp_labels': labels,
                     'exp_annotations': {'summary': summary}}]
            cases += [case(alert, firing, told), case(alert, quiet, [])]
        with tempfile.NamedTemporaryFile('w', suffix='.yml') as file:
            yaml.safe_dump({
                'rule_files': [str(ALERTS)], 'evaluation_interval': '1m',
                'tests': cases}, file)
            file.flush()
            for command in (['check', 'rules', str(ALERTS)],
                            ['test', 'rules', file.name]):
                done = subprocess.run(
                    ['promtool', *command], capture_output=True, text=True)
                self.assertEqual(
                    0, done.returncode, done.stdout + done.stderr)


def case(alert, series, told):
    """Return a test of promtool: what fires after five hours."""
    return {
        'interval': '1m', 'name': alert,
        'input_series': [{'series': name, 'values': values}
                         for name, values in series.items()],
        'alert_rule_test': [{'eval_time': '5h', 'alertname': alert,
                             'exp_alerts': told}]}
