# SPDX-License-Identifier: Apache-2.0

"""What a list of all projects costs."""

import datetime
import itertools
from unittest import mock

import testtools

from pcloud.backend.aggregates import span_rows
from pcloud.backend.changes import spans
from pcloud.rules.usage import ledger
from pcloud.usage import held_hosts

PROJECTS = [f'project-{number}' for number in range(5)]
HOSTS = 3
# A minute before, it was the same month.
NOW = int(datetime.datetime(2026, 11, 15, tzinfo=datetime.UTC).timestamp())


class AllTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        there = span_rows.Rows({
            f'{project}-{number}': ledger.Span(
                'gpu', project, NOW - 60, project=project)
            for project in PROJECTS for number in range(HOSTS)}, {}, {})
        self.enterContext(mock.patch.object(
            span_rows, 'read', return_value=there))
        self.enterContext(mock.patch.object(spans, 'now', return_value=NOW))
        self.used = self.enterContext(mock.patch.object(
            ledger, 'used', wraps=ledger.used))

    def _read(self, after, most):
        found = held_hosts.of_all(None, None, after)
        return [(usage.project, usage.host_flavors['gpu'].spans)
                for usage in itertools.islice(found, most)]

    def test_a_page_adds_up_the_hosts_of_its_projects(self):
        self.assertEqual([(project, HOSTS) for project in PROJECTS[1:3]],
                         self._read(PROJECTS[0], 2))
        self.assertEqual(2 * HOSTS, self.used.call_count)

    def test_each_host_is_added_up_once(self):
        self.assertEqual([(project, HOSTS) for project in PROJECTS],
                         self._read('', None))
        self.assertEqual(len(PROJECTS) * HOSTS, self.used.call_count)
