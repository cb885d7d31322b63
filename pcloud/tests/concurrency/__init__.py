# SPDX-License-Identifier: Apache-2.0

"""Many requests at once on MariaDB, and processes killed in the middle.

The API runs in separate processes and over real HTTP. Most tests boot no
server, so there are no compute services: hosts are rows that a test writes.
"""

import os

# Before anything of Nova is imported. Tests that run under eventlet read some
# modules of this package too.
os.environ.setdefault('OS_NOVA_DISABLE_EVENTLET_PATCHING', '1')

from nova import monkey_patch  # noqa: E402

monkey_patch.patch(backend='threading')
