# SPDX-License-Identifier: Apache-2.0
"""Small worlds, explored in every order of the actors' steps.

The worlds run under eventlet: a process with a single thread can be copied by
fork, with all actors wherever the actors stand.
"""

import os

# Decides how Nova runs threads, so the line precedes all imports of Nova.
os.environ['OS_NOVA_DISABLE_EVENTLET_PATCHING'] = '0'

from pcloud.tests import functional  # noqa: E402,F401
