# SPDX-License-Identifier: Apache-2.0

"""What the box needs of the machine."""

from collections.abc import Iterator
import dataclasses
import os
import pathlib
import shutil
import subprocess

from pcloud.tests.devstack import options as box_options
from pcloud.tests.devstack import repositories

# Command -> the package that has the command in Debian and Ubuntu.
_COMMANDS = {
    'debootstrap': 'debootstrap', 'git': 'git', 'nsenter': 'util-linux',
    'setpriv': 'util-linux', 'slirp4netns': 'slirp4netns',
    'systemd-nspawn': 'systemd-container', 'unshare': 'util-linux'}
# The box of a run, and the caches of packages beside the box.
_GIGABYTES = 15


@dataclasses.dataclass(frozen=True)
class Machine:
    """What was found on a machine.

    :ivar user: the number of the user who runs the command
    :ivar commands: the commands in the PATH
    :ivar has_tun: whether /dev/net/tun is there
    :ivar has_cgroup2: whether a cgroup2 file system is mounted
    :ivar gigabytes: free space in the folder of the cache
    :ivar repositories: the repositories that have the wanted branch
    """

    user: int
    commands: frozenset[str]
    has_tun: bool
    has_cgroup2: bool
    gigabytes: int
    repositories: frozenset[str]


def look(options: box_options.Options) -> Machine:
    """Look at this machine; the folder of the cache is made."""
    options.cache.mkdir(parents=True, exist_ok=True)
    return Machine(
        user=os.geteuid(),
        commands=frozenset(name for name in _COMMANDS if shutil.which(name)),
        has_tun=pathlib.Path('/dev/net/tun').is_char_device(),
        has_cgroup2=' - cgroup2 ' in pathlib.Path(
            '/proc/self/mountinfo').read_text(),
        gigabytes=shutil.disk_usage(options.cache).free // 2 ** 30,
        repositories=frozenset(
            name for name in repositories.NAMES
            if shutil.which('git') and _has_branch(options, name)))


def _has_branch(options: box_options.Options, name: str) -> bool:
    return not subprocess.run(
        ['git', 'ls-remote', '--exit-code', '--heads',
         repositories.address(options.git_base, name), options.branch],
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL).returncode


def refusals(machine: Machine,
             options: box_options.Options) -> Iterator[str]:
    """Yield what is missing on a machine, and what would be right."""
    if machine.user:
        yield ('namespaces and debootstrap need root: run "sudo tox -e '
               'devstack"')
    missing = sorted(_COMMANDS.keys() - machine.commands)
    if missing:
        packages = ' '.join(sorted({_COMMANDS[name] for name in missing}))
        yield (f'no {", ".join(missing)} in the PATH: "apt-get install '
               f'{packages}" installs what is missing')
    if not machine.has_tun:
        yield ('no /dev/net/tun for the network of the box: "modprobe tun", '
               'or choose a machine with it')
    if not machine.has_cgroup2:
        yield ('no cgroup2 for the systemd of the box: "mount -t cgroup2 '
               'none /sys/fs/cgroup/unified", or where cgroups are mounted')
    if machine.gigabytes < _GIGABYTES:
        yield (f'{machine.gigabytes} GB free in {options.cache}: the box '
               f'takes {_GIGABYTES}; name another folder with --cache')
    absent = [repositories.address(options.git_base, name)
              for name in repositories.NAMES
              if name not in machine.repositories]
    if absent and 'git' in machine.commands:
        yield (f'no branch {options.branch} in {", ".join(absent)}: name a '
               'remote or a folder of mirrors with GIT_BASE or --git-base')
