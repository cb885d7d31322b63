# SPDX-License-Identifier: Apache-2.0

"""What hypervisors need of the machine."""

from collections.abc import Iterator
import importlib.util
import os
import pathlib
import shutil
import subprocess
import sys

from pcloud_sandbox.configuration import layout
from pcloud_sandbox import errors

# Program -> the package that has the program in Debian.
PROGRAMS = {
    'apt-get': 'apt', 'bash': 'bash', 'busybox': 'busybox-static',
    'cpio': 'cpio', 'dpkg': 'dpkg', 'gzip': 'gzip',
    'libvirtd': 'libvirt-daemon', 'nsenter': 'util-linux',
    'qemu-img': 'qemu-utils', 'qemu-system-x86_64': 'qemu-system-x86',
    'setpriv': 'util-linux', 'unshare': 'util-linux',
    'virsh': 'libvirt-clients'}
# The driver for QEMU, a library that libvirtd loads.
DRIVER = 'libvirt/connection-driver/libvirt_driver_qemu.so'
DRIVER_PACKAGE = 'libvirt-daemon-driver-qemu'
# Folders of the machine in whose place each host has folders of its own.
REPLACED = ('/run', '/var/cache', '/var/lib', '/var/log')


def check(where: layout.Layout) -> None:
    """Make sure that this machine can run hypervisors.

    :raises NotInstalled: packages are missing; the message names all
    :raises SandboxError: the user is not root, or must not make namespaces,
        or a folder is where no host sees the folder
    """
    if os.geteuid():
        raise errors.SandboxError(
            '--hypervisors makes namespaces and mounts, which needs root; '
            'run pcloud-sandbox as root')
    missing = sorted(set(_missing_packages()))
    advice = [f'apt-get install --no-install-recommends {" ".join(missing)}'
              ] if missing else []
    if importlib.util.find_spec('libvirt') is None:
        missing.append('libvirt-python')
        advice.append('apt-get install gcc libvirt-dev pkg-config '
                      "python3-dev, and pip install -c constraints.txt "
                      "'.[sandbox,hypervisors]' in a clone of the "
                      'repository')
    if missing:
        raise errors.NotInstalled(
            f'{", ".join(missing)} not installed, which --hypervisors '
            f'needs: {"; ".join(advice)}')
    _check_folders(where)
    _check_namespaces()


def _missing_packages() -> Iterator[str]:
    for program, package in PROGRAMS.items():
        if shutil.which(program) is None:
            yield package
    if not any(pathlib.Path('/usr').glob(f'lib*/{DRIVER}')) and not any(
            pathlib.Path('/usr/lib').glob(f'*/{DRIVER}')):
        yield DRIVER_PACKAGE


def _check_folders(where: layout.Layout) -> None:
    for folder in (where.directory, pathlib.Path(sys.prefix)):
        for replaced in REPLACED:
            if folder.is_relative_to(replaced):
                raise errors.SandboxError(
                    f'{folder}: a hypervisor has a {replaced} of its own, '
                    'and does not see this folder; choose another '
                    'for --dir and for the environment of Python')


def _check_namespaces() -> None:
    done = subprocess.run(
        ['unshare', '--mount', '--uts', '--pid', '--fork', '--mount-proc',
         'mount', '-t', 'tmpfs', 'tmpfs', '/run'],
        stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if done.returncode:
        raise errors.SandboxError(
            '--hypervisors: this machine does not let root make namespaces '
            f'and mounts, as in a container: {done.stderr.strip()}')
