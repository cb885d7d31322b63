# SPDX-License-Identifier: Apache-2.0

"""Tests against a real Nova in this process.

Nova chooses between native threads and eventlet before anything else is
imported. Threads are the default here; set OS_NOVA_DISABLE_EVENTLET_PATCHING
to 0 for eventlet.
"""

import os

os.environ.setdefault('OS_NOVA_DISABLE_EVENTLET_PATCHING', '1')

from nova.tests import functional  # noqa: E402,F401
