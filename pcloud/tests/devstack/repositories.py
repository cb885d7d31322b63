# SPDX-License-Identifier: Apache-2.0

"""The repositories that devstack takes, cloned before devstack runs.

Zuul does likewise: devstack finds a clone in its place and takes the clone as
it is. git copies a mirror in a local folder without looking for old objects,
so that a mirror may be without them, and the tags stay, from which pbr
derives the versions.
"""

import pathlib
import subprocess

from pcloud.tests.devstack import options as box_options

NAMES = ('devstack', 'requirements', 'keystone', 'glance', 'neutron', 'nova',
         'placement')
# The clone of this checkout, which the box takes as the plugin.
PLUGIN = 'pcloud-source'
_BOOKEND = pathlib.Path(__file__).parent / 'bookend'
_CHECKOUT = pathlib.Path(__file__).parents[3]


def address(git_base: str, name: str) -> str:
    """Return the URL or the path of a repository."""
    return f'{git_base.removeprefix("file://").rstrip("/")}/openstack/{name}'


def clone(options: box_options.Options, folder: pathlib.Path) -> None:
    """Clone all repositories and this checkout.

    :param folder: the folder that devstack calls DEST
    :raises subprocess.CalledProcessError: git has refused
    """
    for name in NAMES:
        _git('clone', '--quiet', '--no-hardlinks', '--branch', options.branch,
             address(options.git_base, name), str(folder / name))
    # What is committed is tested. enable_plugin names the branch.
    _git('clone', '--quiet', '--no-hardlinks', str(_CHECKOUT),
         str(folder / PLUGIN))
    _git('-C', str(folder / PLUGIN), 'checkout', '--quiet', '-B', 'main')
    _commit_bookend(folder / 'bookend-source')


def is_changed() -> bool:
    """Whether this checkout has changes that are not committed."""
    return bool(subprocess.run(
        ['git', '-c', 'safe.directory=*', '-C', str(_CHECKOUT), 'status',
         '--porcelain'],
        stdout=subprocess.PIPE, check=True).stdout)


def _commit_bookend(folder: pathlib.Path) -> None:
    """Make a repository of the plugin that records before and after."""
    _git('init', '--quiet', '--initial-branch', 'main', str(folder))
    _git('-C', str(folder), '--work-tree', str(_BOOKEND), 'add', '.')
    _git('-C', str(folder), '-c', 'user.name=box',
         '-c', 'user.email=box@localhost', 'commit', '--quiet', '--message',
         'Record what a phase finds and leaves')


def _git(*words: str) -> None:
    # The checkout may belong to somebody who has called sudo.
    subprocess.run(['git', '-c', 'safe.directory=*', *words], check=True)
