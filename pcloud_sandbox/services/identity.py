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

"""Give a fake host a lasting node identity.

The hypervisor of a real host keeps the node's identity. Nova's fake
hypervisor draws a new identity in each process, and Nova refuses a host
that restarts with a new identity.
"""

import uuid

from nova.virt import fake
from nova.virt import node

from pcloud_sandbox.configuration import layout


def keep(where: layout.Layout, host: str) -> None:
    """Have the fake hypervisor of a host report the recorded identity.

    The first start draws and records the identity.
    """
    path = where.host_data(host) / node.COMPUTE_ID_FILE
    if not path.exists():
        path.write_text(str(uuid.uuid4()))
    # The attribute from which the driver takes the node's identity.
    setattr(fake.uuids, f'node_{host}', path.read_text())
