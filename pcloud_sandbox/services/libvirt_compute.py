# SPDX-License-Identifier: Apache-2.0

"""Run nova-compute on a host with a hypervisor.

Run as a program: ``python -m pcloud_sandbox.services.libvirt_compute DIR
HOST``. nova-compute ends with this process.
"""

import os
import pathlib
import sys
import time

import psutil

from pcloud_sandbox.configuration import layout
from pcloud_sandbox.configuration import parts
from pcloud_sandbox.configuration import settings
from pcloud_sandbox.running import processes

# Seconds between two looks at a host that starts.
LOOK = 0.2


def first_process(where: layout.Layout, host: str) -> psutil.Process | None:
    """Return the first process of a host whose libvirtd listens, or None."""
    known = settings.read(where).processes.get(parts.hypervisor(host))
    program = processes.find(known)
    try:
        for unshare in program.children() if program else ():
            for first in unshare.children():
                if pathlib.Path(f'/proc/{first.pid}/root/run/libvirt/'
                                'libvirt-sock').exists():
                    return first
    except psutil.NoSuchProcess:
        pass
    return None


def main() -> None:
    """Run the host sys.argv[2] of the sandbox in the folder sys.argv[1]."""
    where, host = layout.Layout(sys.argv[1]), sys.argv[2]
    while (first := first_process(where, host)) is None:
        time.sleep(LOOK)
    path = f'{where.copiers}{os.pathsep}{os.environ.get("PATH", os.defpath)}'
    os.execvpe(
        'nsenter',
        ['nsenter', '--target', str(first.pid), '--mount', '--uts', '--pid',
         'setpriv', '--pdeathsig', 'KILL',
         sys.executable, '-m', 'pcloud_sandbox.services.nova_compute',
         str(where.directory), host],
        os.environ | {'PATH': path})


if __name__ == '__main__':
    main()
