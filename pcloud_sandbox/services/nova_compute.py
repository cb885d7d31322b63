# SPDX-License-Identifier: Apache-2.0

"""Run nova-compute for a single fake host in a process of its own.

Run as a program: ``python -m pcloud_sandbox.services.nova_compute DIR HOST``.
"""

from nova import monkey_patch; monkey_patch.patch(backend='threading')  # noqa

import sys

from nova.cmd import compute

from pcloud_sandbox.configuration import layout
from pcloud_sandbox.services import identity


def main() -> None:
    """Run the host sys.argv[2] of the sandbox in the folder sys.argv[1]."""
    where, host = layout.Layout(sys.argv[1]), sys.argv[2]
    identity.keep(where, host)
    sys.argv[1:] = ['--config-file', str(where.etc / 'nova.conf'),
                    '--config-file', str(where.host_conf(host))]
    compute.main()


if __name__ == '__main__':
    main()
