# SPDX-License-Identifier: Apache-2.0

"""Of which processes a sandbox consists."""

from oslotest import base

from pcloud_sandbox.configuration import layout
from pcloud_sandbox.configuration import parts
from pcloud_sandbox.configuration import ports
from pcloud_sandbox.configuration import settings
from pcloud_sandbox import errors

WHERE = layout.Layout('/sandbox')
PORTS = {name: 1 for name in ports.SERVICES}
SEPARATE = {'database': 'mysql+pymysql://db', 'messaging': 'rabbit://mq'}
OTHERS = {'keystone', 'placement', 'glance', 'neutron', 'nova'}


class PartsTest(base.BaseTestCase):

    def _settings(self, **options):
        return settings.Settings(hosts=2, ports=PORTS, **options)

    def test_one_nova(self):
        self.assertEqual(OTHERS, {
            each.name for each in parts.services(WHERE, self._settings())})

    def test_many_processes(self):
        self.assertEqual(
            OTHERS | {'nova-conductor', 'nova-scheduler-1',
                      'nova-scheduler-2', 'nova-compute-node-1',
                      'nova-compute-node-2', 'nova-worker'},
            {each.name for each in parts.services(
                WHERE, self._settings(**SEPARATE))})

    def test_a_dashboard(self):
        self.assertEqual(OTHERS | {'horizon'}, {
            each.name for each in parts.services(
                WHERE, self._settings(dashboard=True))})

    def test_heat(self):
        self.assertEqual(OTHERS | {'heat'}, {
            each.name for each in parts.services(
                WHERE, self._settings(heat=True))})

    def test_what_an_option_needs_is_missing(self):
        for needed, check, extra in (
                ('DASHBOARD_NEEDED', parts.check_dashboard_installed,
                 "'.[sandbox,dashboard]'"),
                ('HEAT_NEEDED', parts.check_heat_installed,
                 "'.[sandbox,heat]'")):
            self.patch(parts, needed, ('json', 'no_such_package'))
            error = self.assertRaises(errors.NotInstalled, check)
            self.assertIn('no_such_package not installed', str(error))
            self.assertIn(extra, str(error))

    def test_a_conductor_in_each_cell(self):
        one, two = ({each.name for each in parts.services(
            WHERE, self._settings(cells=cells, **SEPARATE))}
            for cells in (1, 2))
        self.assertEqual({'nova-conductor-cell2'}, two - one)
        self.assertEqual(set(), one - two)

    def test_readers_of_nova_conf(self):
        for options, section, expected in (
                ({}, 'pcloud', {'nova'}),
                ({}, 'DEFAULT', {'nova'}),
                (SEPARATE, 'pcloud', {
                    'nova', 'nova-scheduler-1', 'nova-scheduler-2',
                    'nova-worker'}),
                (SEPARATE, 'DEFAULT', {
                    'nova', 'nova-scheduler-1', 'nova-scheduler-2',
                    'nova-conductor', 'nova-compute-node-1',
                    'nova-compute-node-2', 'nova-worker'})):
            self.assertEqual(expected, {each.name for each in parts.readers(
                WHERE, self._settings(**options), section)})

    def test_each_can_start_at_last(self):
        for options in ({}, SEPARATE, {'cells': 2, **SEPARATE},
                        {'dashboard': True}, {'heat': True}):
            waiting = parts.all_parts(WHERE, self._settings(**options))
            done = set()
            while waiting:
                ready = [each for each in waiting
                         if done.issuperset(each.needs)]
                self.assertTrue(ready, waiting)
                done |= {each.name for each in ready}
                waiting = [each for each in waiting if each not in ready]
