# SPDX-License-Identifier: Apache-2.0

"""A name in another letter case is another name, on MariaDB too.

SQLite compares letter case anyway; MariaDB does not, so these tests say more
with ``PCLOUD_TEST_DATABASE``.
"""

import random

from pcloud.backend.aggregates import closed_rows
from pcloud.backend.aggregates import isolation
from pcloud.backend.aggregates import pool_rows
from pcloud.backend.changes import change
from pcloud.backend.changes import journal
from pcloud import names
from pcloud.tests.support import base
from pcloud.tests.support import shared_cloud


class LetterCaseTest(shared_cloud.SharedCloudTestCase):

    hosts = {'node-1': 'az1', 'node-2': 'az1'}

    def furnish(self):
        super().furnish()
        self.make_pool('gpu', 'node-1', 'node-2')
        self.work()

    def test_pool(self):
        for flavor, hosts in (('gpu', ['node-1', 'node-2']), ('GPU', [])):
            self.assertEqual(hosts, sorted(pool_rows.unallocated(
                self.context, flavor)), flavor)
            self.assertEqual(hosts, sorted(pool_rows.drawn(
                self.context, flavor, 9, random.Random(1))), flavor)

    def test_settling_hosts_of_a_pool(self):
        self.aggregate(names.JOURNAL).update_metadata(
            {f'{names.DUE_PREFIX}node-1': 'x'})
        self.assertEqual(['node-1'], pool_rows.settling(self.context, 'gpu'))
        self.assertEqual([], pool_rows.settling(self.context, 'GPU'))

    def test_host(self):
        asked = ['node-1', 'NODE-2']
        self.assertEqual({'node-1'}, isolation.closed_among(
            self.context, asked).intersection(asked))
        self.assertEqual([], closed_rows.closed_of(self.context, 'NODE-1'))

    def test_project_that_has_released_a_host(self):
        self.aggregate(names.JOURNAL).update_metadata({
            f'{names.DUE_PREFIX}node-1': 'x',
            f'{names.RELEASED_PREFIX}node-1': f'units=3 project={base.ALICE}'})
        self.assertEqual({'node-1': 3}, journal.released_by(
            self.context, base.ALICE))
        self.assertEqual({}, journal.released_by(
            self.context, base.ALICE.upper()))

    def test_anchors_of_changes(self):
        """Changes with such anchors are made, one after the other."""
        for project in base.ALICE, base.ALICE.upper(), base.ALICE:
            self.assertEqual('made', change.run(
                self.context, [journal.owner_anchor(project)],
                lambda written: 'made'))
