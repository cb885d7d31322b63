# SPDX-License-Identifier: Apache-2.0

"""Make the guest of hosts with hypervisors.

Run as a program: ``python -m pcloud_sandbox.services.guest_setup DIR``.
"""

import sys

from pcloud_sandbox.configuration import layout
from pcloud_sandbox import errors
from pcloud_sandbox.hypervisors import guest


def main() -> None:
    """Make the guest of the sandbox in the folder sys.argv[1]."""
    try:
        guest.make(layout.Layout(sys.argv[1]))
    except errors.SandboxError as error:
        sys.exit(str(error))


if __name__ == '__main__':
    main()
