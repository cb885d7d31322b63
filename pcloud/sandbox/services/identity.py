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

"""Give a fake host an identity that it keeps when it is started again.

The hypervisor of a real host has one. Nova's fake one makes up a new one in
each process, and Nova refuses a host that comes back as another.
"""

import uuid

from nova.virt import fake
from nova.virt import node

from pcloud.sandbox import layout


def keep(where: layout.Layout, host: str) -> None:
    """Have the fake hypervisor of a host tell the same as ever."""
    path = where.host_data(host) / node.COMPUTE_ID_FILE
    if not path.exists():
        path.write_text(str(uuid.uuid4()))
    # What the driver asks for the identity of its node.
    setattr(fake.uuids, f'node_{host}', path.read_text())
