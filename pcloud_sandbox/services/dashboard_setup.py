# SPDX-License-Identifier: Apache-2.0

"""Make the scripts and the styles of Horizon's pages.

Run as a program: ``python -m pcloud_sandbox.services.dashboard_setup DIR``.
"""

import sys

from pcloud_sandbox.configuration import layout
from pcloud_sandbox.services import dashboard_files


def main() -> None:
    """Compress what the pages of the sandbox in sys.argv[1] load."""
    where = layout.Layout(sys.argv[1])
    dashboard_files.use(where.dashboard)

    import django
    from django.core import management

    django.setup()
    management.call_command('compress', force=True)


if __name__ == '__main__':
    main()
