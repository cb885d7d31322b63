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

"""The number of queries of a call does not grow with what there is."""

import contextlib

from nova.db.api import api as api_db
from nova.scheduler.client import report
from nova.tests import fixtures as nova_fixtures
import sqlalchemy as sa

from pcloud.tests.functional import base


class QueryTest(base.PcloudTestCase):
    """Counts statements of all databases, and calls to Placement."""

    hosts = {f'node-{number}': 'az1' for number in range(1, 7)}

    @contextlib.contextmanager
    def _counted(self):
        """Count what is sent; the API runs in this thread."""
        count = {'sql': 0, 'http': 0}

        def on_execute(connection, cursor, statement, *args):
            if statement.startswith('SELECT'):
                count['sql'] += 1

        original = report.SchedulerReportClient.get

        def on_get(client, *args, **kwargs):
            count['http'] += 1
            return original(client, *args, **kwargs)

        sa.event.listen(sa.Engine, 'before_cursor_execute', on_execute)
        patch = nova_fixtures.fixtures.MonkeyPatch(
            'nova.scheduler.client.report.SchedulerReportClient.get', on_get)
        patch.setUp()
        try:
            yield count
        finally:
            patch.cleanUp()
            sa.event.remove(sa.Engine, 'before_cursor_execute', on_execute)

    def _cost(self, user, path):
        user.get_json(path)  # What is read once and cached is not the call's.
        # The services of this process read too, now and then; the call's own
        # queries are there each time.
        return min(self._once(user, path) for _ in range(5))

    def _once(self, user, path):
        with self._counted() as count:
            user.get_json(path)
        self.assertGreater(count['sql'], 0)
        self.assertEqual(0, count['http'])
        return count['sql']

    def test_reads_cost_the_same_for_few_and_many(self):
        self.assertIsNotNone(api_db.get_engine())
        self.make_pool('gpu', 'node-1', 'node-2')
        pcloud = self.make_pcloud(self.alice)
        self.add_host(self.alice, pcloud, 'a', 'gpu')
        paths = ['/os-host-flavors', '/os-host-flavors/gpu', '/os-pclouds',
                 f'/os-pclouds/{pcloud}', f'/os-pclouds/{pcloud}/hosts',
                 f'/os-pclouds/{pcloud}/hosts/a',
                 f'/os-pclouds/{pcloud}/tenants',
                 f'/os-pcloud-quotas/{base.ALICE}']
        for number in range(1, 7):
            self.admin.call_json('PUT', '/os-pcloud-attributes/rack', {
                'attribute': {'value': f'r{number}',
                              'hosts': [f'node-{number}']}})
        few = {path: self._cost(self.alice, path) for path in paths}

        self.make_pool('big', 'node-3', 'node-4', 'node-5', 'node-6')
        for name in 'bcdef':
            self.make_pcloud(self.alice, name)
        for number in range(4):
            self.add_host(self.alice, pcloud, f'h{number}', 'big')
        for _ in range(3):
            self.boot(self.alice, {'pcloud': pcloud})
        many = {path: self._cost(self.alice, path) for path in paths}
        self.assertEqual(few, many)
        # So that a change for the worse is seen here first.
        self.assertLessEqual(max(many.values()), 15, many)
