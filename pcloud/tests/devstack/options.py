# SPDX-License-Identifier: Apache-2.0

"""The options of ``tox -e devstack``."""

import argparse
from collections.abc import Mapping
from collections.abc import Sequence
import dataclasses
import pathlib

_DESCRIPTION = """\
Stack a devstack with this checkout as a plugin, in a box of its own: a root
file system of a distribution, namespaces, a systemd and a network. Run the
deployment tests there, unstack, stack again and clean, and compare what is
left with what was there before."""


@dataclasses.dataclass(frozen=True)
class Options:
    """What the caller chooses.

    :ivar suite: the name of a release in the archive, such as "trixie"
    :ivar mirror: the URL of the archive; None for debootstrap's own
    :ivar components: parts of the archive, separated by commas
    :ivar git_base: a URL or a folder; ``<git_base>/openstack/nova`` is a
        repository
    :ivar branch: the branch of devstack and of the services
    :ivar cache: the folder of what a later run takes again
    :ivar logs: the folder of logs; None for a new one in the cache
    :ivar localrc: more lines for the section localrc of local.conf
    :ivar keep: whether the box is kept after the last phase, or after the
        phase that failed, until the caller interrupts the command
    """

    suite: str
    mirror: str | None
    components: str
    git_base: str
    branch: str
    cache: pathlib.Path
    logs: pathlib.Path | None
    localrc: tuple[str, ...]
    keep: bool


def parse(words: Sequence[str], environment: Mapping[str, str]) -> Options:
    """Read a command line.

    :param environment: the environment of the process; GIT_BASE is the
        default of --git-base, as in devstack
    :raises SystemExit: the command line is wrong, or asks for help
    """
    parser = argparse.ArgumentParser(
        prog='tox -e devstack --', description=_DESCRIPTION,
        formatter_class=argparse.ArgumentDefaultsHelpFormatter)
    parser.add_argument('--suite', default='trixie',
                        help='the release that debootstrap installs')
    parser.add_argument('--mirror', help='the archive of the release, '
                        'where not the one that debootstrap knows')
    parser.add_argument('--components', default='main',
                        help='the parts of the archive; Ubuntu has what '
                        'devstack installs in main,universe')
    parser.add_argument('--git-base', help='<git-base>/openstack/nova is a '
                        'repository: a URL or a folder',
                        default=environment.get('GIT_BASE') or
                        'https://opendev.org')
    parser.add_argument('--branch', default='master',
                        help='the branch of devstack and of the services')
    parser.add_argument('--cache', type=_folder,
                        default=_folder('~/.cache/pcloud-devstack'),
                        help='the folder of what a later run takes again')
    parser.add_argument('--logs', type=_folder, default=None,
                        help='the folder of logs; a new one in the cache')
    parser.add_argument('--localrc', action='append', default=[],
                        metavar='LINE',
                        help='one more line for local.conf, several times')
    parser.add_argument('--keep', action='store_true',
                        help='keep the box until Ctrl-C, to look around')
    chosen = vars(parser.parse_args(words))
    return Options(**{**chosen, 'localrc': tuple(chosen['localrc'])})


def _folder(words: str) -> pathlib.Path:
    return pathlib.Path(words).expanduser().absolute()
