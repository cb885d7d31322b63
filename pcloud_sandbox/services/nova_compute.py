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
