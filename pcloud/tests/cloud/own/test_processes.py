# SPDX-License-Identifier: Apache-2.0

"""The processes of a cloud, and what its databases hold."""

import psutil

from pcloud.tests.cloud import base
from pcloud.tests.cloud import needs
from pcloud.tests.cloud.own import audit
from pcloud.tests.cloud import own_cloud
from pcloud_sandbox.configuration import settings


@needs.own_cloud('looks at processes and databases')
class ProcessesTest(base.CloudTest):

    def test_processes(self):
        state = settings.load(own_cloud.start())
        names = set(state.processes)
        self.assertLessEqual({
            'nova', 'nova-conductor', 'nova-scheduler-1',
            'nova-scheduler-2', 'nova-worker',
            *(f'nova-compute-{host}'
              for host in state.settings.host_names())}, names)
        api = psutil.Process(state.processes['nova']['pid'])
        self.assertEqual(2, len(api.children()))

    def test_audit(self):
        where = own_cloud.start()
        self.assertEqual((0, []), audit.run(where))
        pcloud = self.new_pcloud(hosts=2)
        self.started('owner', pcloud=pcloud.id)
        self.assertEqual((0, []), audit.run(where))
