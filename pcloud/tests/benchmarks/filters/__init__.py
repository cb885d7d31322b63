# SPDX-License-Identifier: Apache-2.0

"""The cost of Pcloud's filters and weighers, and of comparable filters.

``python -m pcloud.tests.benchmarks.filters`` needs the MariaDB of this
machine, and leaves no database there.
"""

import os

# Before any module of Nova is imported.
os.environ['OS_NOVA_DISABLE_EVENTLET_PATCHING'] = '1'

from nova import monkey_patch  # noqa: E402

monkey_patch.patch(backend='threading')
