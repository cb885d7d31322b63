# SPDX-License-Identifier: Apache-2.0

"""The guest that counts on the guest's console.

A line of the console is ``TICK n up=S boot=ID disk=ID boots=N``. The number
``n`` grows each second. The kernel draws ``boot`` at each start; ``disk`` is
the boot that first wrote the guest's disk, and ``boots`` counts the starts
with this disk. So the console tells a guest that went on (``boot`` stays)
from a guest that was started again (``boots`` grows) and from a guest whose
disk was built anew (``disk`` changes).
"""

import pathlib
import shutil
import subprocess

from pcloud_sandbox.configuration import layout
from pcloud_sandbox import errors

# A package that depends on the newest kernel for virtual machines.
KERNEL_PACKAGE = 'linux-image-cloud-amd64'
# In the order in which the modules are loaded.
MODULES = ('virtio_ring', 'virtio', 'virtio_pci_legacy_dev',
           'virtio_pci_modern_dev', 'virtio_pci', 'virtio_blk')
# On a busy machine an emulated timer may tick too late for the kernel's check
# of the timer, which ends in a panic.
COMMAND_LINE = 'console=ttyS0 quiet no_timer_check'
# The disk's content, in bytes: nothing.
DISK_SIZE = 2 ** 20

INIT = """\
#!/bin/busybox sh
/bin/busybox mkdir -p /proc /sys /dev
/bin/busybox --install -s /bin
mount -t proc p /proc
mount -t sysfs s /sys
mount -t devtmpfs d /dev 2>/dev/null
exec >/dev/ttyS0 2>&1 </dev/ttyS0
for m in {modules}; do insmod /m/$m.ko 2>/dev/null; done
ID=$(head -c 6 /dev/urandom | od -An -tx1 | tr -d ' \\n')
DISK=none
BOOTS=0
if [ -b /dev/vda ]; then
  set -- $(dd if=/dev/vda bs=512 count=1 2>/dev/null | tr -d '\\0')
  if [ "$1" = PCLOUD ]; then DISK=$2; BOOTS=$3; else DISK=$ID; fi
  BOOTS=$((BOOTS+1))
  {{ echo "PCLOUD $DISK $BOOTS"; head -c 512 /dev/zero; }} |
    dd of=/dev/vda bs=512 count=1 conv=fsync 2>/dev/null
fi
n=0
while :; do
  n=$((n+1))
  read up rest < /proc/uptime
  echo "TICK $n up=$up boot=$ID disk=$DISK boots=$BOOTS"
  sleep 1
done
"""


def make(where: layout.Layout) -> None:
    """Make the guest's kernel and initial ramdisk.

    The kernel is downloaded with the package manager of the machine, and
    kept in a cache for the next sandbox.

    :raises SandboxError: the package manager has no kernel
    """
    unpacked = _unpacked_kernel(layout.guest_cache())
    where.guest.mkdir(exist_ok=True)
    kernel, = unpacked.glob('boot/vmlinuz-*')
    shutil.copy(kernel, where.guest_kernel)
    _pack(where, unpacked)


def _unpacked_kernel(cache: pathlib.Path) -> pathlib.Path:
    """Return the folder with the files of the kernel's package."""
    known = cache / 'kernel'
    if known.exists():
        return known
    fresh = cache / 'fresh'
    shutil.rmtree(fresh, ignore_errors=True)
    fresh.mkdir(parents=True)
    package = _newest_kernel()
    print(f'downloading {package}', flush=True)
    _output(['apt-get', 'download', package], fresh)
    archive, = fresh.glob('*.deb')
    _output(['dpkg', '-x', str(archive), 'kernel'], fresh)
    archive.unlink()
    # Another sandbox may have been faster.
    try:
        (fresh / 'kernel').rename(known)
    except OSError:
        if not known.exists():
            raise
    shutil.rmtree(fresh, ignore_errors=True)
    return known


def _newest_kernel() -> str:
    told = _output(['apt-cache', 'depends', '--important', KERNEL_PACKAGE],
                   pathlib.Path('/'))
    for line in told.splitlines():
        relation, _, name = line.strip().partition(': ')
        if relation == 'Depends' and name.startswith('linux-image-'):
            return name
    raise errors.SandboxError(
        f'apt-cache knows no {KERNEL_PACKAGE}, the kernel of the guests; '
        'apt-get update may help')


def _output(argv: list[str], folder: pathlib.Path) -> str:
    done = subprocess.run(argv, cwd=folder, stdin=subprocess.DEVNULL,
                          capture_output=True, text=True)
    if done.returncode:
        raise errors.SandboxError(
            f'{" ".join(argv)}: {done.stderr.strip()}; apt-get update may '
            'help')
    return done.stdout


def _pack(where: layout.Layout, unpacked: pathlib.Path) -> None:
    tree = where.guest / 'tree'
    shutil.rmtree(tree, ignore_errors=True)
    (tree / 'bin').mkdir(parents=True)
    (tree / 'm').mkdir()
    shutil.copy(shutil.which('busybox') or '/bin/busybox',
                tree / 'bin' / 'busybox')
    for name in MODULES:
        found, = unpacked.rglob(f'{name}.ko*')
        if found.suffix != '.ko':
            _output(['xz', '--decompress', '--keep', '--force', str(found)],
                    pathlib.Path('/'))
            found = found.with_suffix('')
        shutil.copy(found, tree / 'm' / f'{name}.ko')
    init = tree / 'init'
    init.write_text(INIT.format(modules=' '.join(MODULES)))
    init.chmod(0o755)
    _output(['sh', '-c', 'find . | cpio -o -H newc --quiet | gzip -9 > '
             f'"{where.guest_ramdisk}"'], tree)
    shutil.rmtree(tree)
