# SPDX-License-Identifier: Apache-2.0


"""What a sandbox is, and its state file."""

import stat
import tempfile
import unittest

from pcloud_sandbox.configuration import layout
from pcloud_sandbox.configuration import settings


class SettingsTest(unittest.TestCase):

    def test_hosts_alternate_between_the_zones(self):
        chosen = settings.Settings(hosts=5, ports={})
        self.assertEqual({'az1': ['node-1', 'node-3', 'node-5'],
                          'az2': ['node-2', 'node-4']},
                         chosen.zone_hosts())

    def test_each_cell_has_hosts_in_both_zones(self):
        chosen = settings.Settings(hosts=6, ports={}, cells=2)
        self.assertEqual({'cell1': ['node-1', 'node-2', 'node-5', 'node-6'],
                          'cell2': ['node-3', 'node-4']},
                         chosen.cell_hosts())

    def test_one_cell(self):
        chosen = settings.Settings(hosts=3, ports={})
        self.assertEqual({'cell1': chosen.host_names()}, chosen.cell_hosts())

    def test_passwords_differ(self):
        one, other = (settings.Settings(hosts=1, ports={}) for _ in '12')
        self.assertNotEqual(one.password, other.password)


class StateFileTest(unittest.TestCase):

    def setUp(self):
        super().setUp()
        made = tempfile.TemporaryDirectory()
        self.addCleanup(made.cleanup)
        self.where = layout.Layout(made.name)

    def test_none(self):
        self.assertIsNone(settings.load(self.where))

    def test_read_what_was_written(self):
        state = settings.State(
            settings.Settings(hosts=2, ports={'nova': 1}, debug=True),
            processes={'nova': {'pid': 1, 'created': 2.5}}, ready=True)
        settings.save(self.where, state)
        self.assertEqual(state, settings.load(self.where))

    def test_nobody_else_reads_it(self):
        settings.save(self.where, settings.State(
            settings.Settings(hosts=1, ports={})))
        mode = stat.S_IMODE(self.where.state.stat().st_mode)
        self.assertEqual(0o600, mode)
