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
