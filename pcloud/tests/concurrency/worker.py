# SPDX-License-Identifier: Apache-2.0

"""A worker: ``python -m pcloud.tests.concurrency.worker CONFIG``.

It is ``pcloud-manage work`` with fakes of Glance and Neutron: Nova asks
Neutron before Nova moves a server.
"""

import sys

# Loads the threading of Nova, so it comes first.
import pcloud.tests.concurrency  # noqa: F401

from pcloud.cmd import manage  # noqa: E402
from pcloud.tests.concurrency import neighbours
from pcloud.tests.concurrency import server


def main() -> int:
    """Work until the process is killed; return the exit status."""
    server.go_with_parent()
    neighbours.Neighbours().setUp()
    config, = sys.argv[1:]
    sys.argv[1:] = ['--config-file', config, 'work', '--interval', '1']
    return manage.main()


if __name__ == '__main__':
    sys.exit(main())
