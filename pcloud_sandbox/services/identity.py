# SPDX-License-Identifier: Apache-2.0

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
