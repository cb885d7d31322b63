# SPDX-License-Identifier: Apache-2.0

"""The root file system of the box."""

from collections.abc import Iterator
import contextlib
import fcntl
import hashlib
import pathlib
import shutil
import subprocess

from pcloud.tests.devstack import machine_settings
from pcloud.tests.devstack import options as box_options

HOSTNAME = 'devstack'
STACK_HOME = 'opt/stack'
# What a systemd with users and a network needs, and what fetches the rest.
_PACKAGES = ('ca-certificates', 'curl', 'dbus', 'git', 'iproute2',
             'libpam-systemd', 'locales', 'lsb-release', 'procps', 'python3',
             'sudo', 'systemd', 'systemd-sysv')
# slirp4netns answers at these addresses. devstack takes 10.0.0.0/22 and
# 172.24.4.0/24 for its own networks.
NETWORK = '10.77.0.0/24'
_NAME_SERVER = '10.77.0.3'
# devstack restarts iscsid for every nova-compute. The real iscsid needs a
# module of the kernel, and no volume is attached in the box.
_ISCSID = """\
[Service]
Type=oneshot
RemainAfterExit=yes
PIDFile=
ExecStartPre=
ExecStart=
ExecStart=/bin/true
"""
# Settings of the kernel, which the box shares with the machine.
_MASKED = ('ksm.service', 'ksmtuned.service', 'systemd-sysctl.service')


class Busy(Exception):
    """Another run has its box in the cache."""


@contextlib.contextmanager
def place(cache: pathlib.Path) -> Iterator[pathlib.Path]:
    """Give the place of a root file system, and remove the files at the end.

    Files of a run that was killed are removed first.

    :raises Busy: another run has its box in the cache
    """
    folder = cache / 'box'
    with (cache / 'lock').open('a') as lock:
        try:
            # The kernel releases the lock with the process, however it ends.
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise Busy(f'another run has its box in {cache}: wait for its '
                       'end, or name another folder with --cache') from None
        _remove(folder)
        try:
            folder.mkdir()
            yield folder / 'root'
        finally:
            _remove(folder)


def _remove(folder: pathlib.Path) -> None:
    # Much faster than Python on a hundred thousand files.
    subprocess.run(['rm', '--recursive', '--force', '--one-file-system',
                    str(folder)], check=True)


def base(options: box_options.Options, log: pathlib.Path) -> pathlib.Path:
    """Return the folder of a release as debootstrap leaves it.

    A folder in the cache is taken again.

    :raises subprocess.CalledProcessError: debootstrap has failed
    """
    mirror = [options.mirror] if options.mirror else []
    sources = ' '.join((*mirror, options.components, *_PACKAGES))
    mark = hashlib.sha256(sources.encode()).hexdigest()[:8]
    folder = options.cache / f'{options.suite}-{mark}'
    if not folder.is_dir():
        part = folder.with_suffix('.part')
        shutil.rmtree(part, ignore_errors=True)
        with log.open('a') as output:
            subprocess.run(
                ['debootstrap', '--variant=minbase',
                 f'--components={options.components}',
                 f'--include={",".join(_PACKAGES)}', options.suite,
                 str(part), *mirror],
                stdin=subprocess.DEVNULL, stdout=output,
                stderr=subprocess.STDOUT, check=True)
        part.rename(folder)
    return folder


def build(options: box_options.Options, root: pathlib.Path,
          log: pathlib.Path) -> None:
    """Make the root file system of a box, with the user "stack".

    :raises subprocess.CalledProcessError: a command has failed
    """
    subprocess.run(['cp', '--archive', '--reflink=auto',
                    str(base(options, log)), str(root)], check=True)
    (root / 'etc/resolv.conf').unlink(missing_ok=True)
    for path, text in {
            'etc/hostname': f'{HOSTNAME}\n',
            'etc/hosts': f'127.0.0.1 localhost {HOSTNAME}\n::1 localhost\n',
            'etc/locale.gen': 'en_US.UTF-8 UTF-8\n',
            'etc/resolv.conf': f'nameserver {_NAME_SERVER}\n',
            'etc/sudoers.d/stack': 'stack ALL=(ALL) NOPASSWD: ALL\n',
            'etc/systemd/system/iscsid.service.d/box.conf': _ISCSID}.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    for unit in _MASKED:
        (root / 'etc/systemd/system' / unit).symlink_to('/dev/null')
    machine_settings.hand_in(root)
    with log.open('a') as output:
        for command in (('locale-gen',),
                        ('useradd', '--create-home', '--shell', '/bin/bash',
                         '--home-dir', f'/{STACK_HOME}', 'stack'),
                        ('chmod', '0755', f'/{STACK_HOME}')):
            subprocess.run(['chroot', str(root), *command], stdout=output,
                           stderr=subprocess.STDOUT, check=True)


def give_to_stack(root: pathlib.Path) -> None:
    """Let the user "stack" own what is in the user's home."""
    subprocess.run(['chroot', str(root), 'chown', '--recursive',
                    'stack:stack', f'/{STACK_HOME}'], check=True)
