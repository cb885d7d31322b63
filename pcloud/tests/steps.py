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

"""Whatever a request of ours writes to a database or to Placement.

What the store does through Nova is taken apart into Nova's steps.
"""

from nova.objects import aggregate
from nova.scheduler.client import report

from pcloud.aggregates import store

# Where each is found, and its name there.
STEPS = [
    (store, 'create'), (store, 'delete'), (store, 'insert_metadata'),
    (store, 'change_metadata'), (store, 'delete_metadata'),
    (store, 'set_metadata'),
    (aggregate, '_host_add_to_db'), (aggregate, '_host_delete_from_db'),
    (report.SchedulerReportClient, 'set_aggregates_for_provider'),
    (report.SchedulerReportClient, 'put'),
]
