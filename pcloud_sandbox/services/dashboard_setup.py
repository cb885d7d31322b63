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
