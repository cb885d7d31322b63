# SPDX-License-Identifier: Apache-2.0

"""Run a host with a hypervisor: namespaces with a libvirtd.

Run as a program: ``python -m pcloud_sandbox.services.hypervisor DIR HOST``.
The host ends with this process as a machine ends without power: the kernel
kills libvirtd, nova-compute and all guests. Files of the machine stay as they
are, for the host's own files are mounted in the host's namespace alone.
"""

import subprocess
import sys

from pcloud_sandbox.configuration import layout
from pcloud_sandbox.running import processes

# $1 is the host, $2 the host's folder, $3 the folder of all instances, which
# has the same path on each host. The shell is the first process of the host,
# and reaps what nobody waits for: libvirtd waits in vain for the end of a QEMU
# that is not reaped. As by systemd, libvirtd is started again after its end.
SCRIPT = """\
set -e
hostname "$1"
mount -t tmpfs run /run
for name in cache lib log; do mount --bind "$2/$name" "/var/$name"; done
mkdir -p /run/libvirt /var/{cache,lib,log}/libvirt
mount --bind "$2/etc" /etc/libvirt
for name in passwd group hosts; do mount --bind "$2/$name" "/etc/$name"; done
mount --bind "$2/instances" "$3"
set +e
while :; do
    libvirtd --listen --config /etc/libvirt/libvirtd.conf \\
        --pid-file /run/libvirt/libvirtd.pid
    sleep 1
done &
while :; do wait; sleep 1; done
"""


def main() -> int:
    """Run the host sys.argv[2] of the sandbox in the folder sys.argv[1]."""
    where, host = layout.Layout(sys.argv[1]), sys.argv[2]
    child = subprocess.Popen(
        ['unshare', '--mount', '--uts', '--pid', '--fork', '--kill-child',
         '--mount-proc', 'bash', '-c', SCRIPT, 'hypervisor', host,
         str(where.host_data(host)), str(where.instances)],
        preexec_fn=processes.die_with_parent)
    return child.wait()


if __name__ == '__main__':
    sys.exit(main())
