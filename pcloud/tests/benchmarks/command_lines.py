# SPDX-License-Identifier: Apache-2.0

"""What the commands of others cost where Pcloud's client is installed.

Commands of ``nova`` and ``openstack`` run in two folders of packages, which
differ in Pcloud alone. A folder has the packages of this environment that a
user's machine needs, and not the packages of services, which the libraries of
clients import where the packages are installed. The commands need no cloud.
"""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Sequence
import configparser
import contextlib
import dataclasses
import functools
from importlib import metadata
import os
import pathlib
import resource
import subprocess
import sys
import tempfile

from packaging import requirements

from pcloud.tests.benchmarks import results
from pcloud.tests.benchmarks import turns

_ROOTS = ('python-novaclient', 'python-openstackclient')
WITHOUT = 'without'
WITH = 'with'
_WHY = 'both clients load their plugins at every command'

FULL, SMALL = {'repeat': 15}, {'repeat': 1}

# stevedore keeps no list of entry points for a Python below /tmp, where a
# checkout may be.
_START = """
import sys
sys.path.append(sys.argv.pop(1))
sys.executable = '/usr/bin/python3'
from {module}.shell import main
sys.exit(main())
"""


@dataclasses.dataclass(frozen=True)
class Command:
    """A command of others, and the wanted ratio.

    :ivar bound: the most processor time of the command with Pcloud, as a
        multiple of the time without Pcloud
    """

    module: str
    arguments: Sequence[str]
    bound: float

    @property
    def name(self) -> str:
        """The command as a user types the command."""
        program = {'novaclient': 'nova', 'openstackclient': 'openstack'}
        return ' '.join((program[self.module], *self.arguments))


COMMANDS = (
    Command('novaclient', ('help', 'list'), 1.03),
    Command('openstackclient', ('--help',), 1.05),
    Command('openstackclient', ('server', 'list', '--help'), 1.03),
)


def needed(roots: Iterable[str] = _ROOTS) -> dict[str, metadata.Distribution]:
    """Return name -> distribution of all packages that `roots` need.

    :raises importlib.metadata.PackageNotFoundError: for a package that is not
        installed
    """
    found: dict[str, metadata.Distribution] = {}
    waiting = list(roots)
    while waiting:
        distribution = metadata.distribution(waiting.pop())
        name = distribution.metadata['Name']
        if name in found:
            continue
        found[name] = distribution
        for line in distribution.requires or ():
            wanted = requirements.Requirement(line)
            if wanted.marker is None or wanted.marker.evaluate({'extra': ''}):
                waiting.append(wanted.name)
    return found


def link_packages(folder: pathlib.Path) -> None:
    """Link all packages that the command lines need into a folder."""
    for distribution in needed().values():
        for name in {each.parts[0] for each in distribution.files or ()}:
            if name not in ('..', '__pycache__'):
                with contextlib.suppress(FileExistsError):
                    (folder / name).symlink_to(
                        pathlib.Path(str(distribution.locate_file(name))))


def install(checkout: pathlib.Path, folder: pathlib.Path) -> None:
    """Install Pcloud of a checkout into a folder, as pip does.

    :raises KeyError: when the checkout has no setup.cfg with entry points
    """
    (folder / 'pcloud').symlink_to(checkout / 'pcloud')
    parsed = configparser.ConfigParser()
    parsed.read(checkout / 'setup.cfg')
    information = folder / 'openstack_pcloud-0.dist-info'
    information.mkdir()
    (information / 'METADATA').write_text(
        'Metadata-Version: 2.1\nName: openstack-pcloud\nVersion: 0\n')
    (information / 'top_level.txt').write_text('pcloud\n')
    (information / 'entry_points.txt').write_text(''.join(
        f'[{group}]\n{entries.strip()}\n'
        for group, entries in parsed['entry_points'].items()))


def run(command: Command, folder: pathlib.Path) -> float:
    """Run a command; return the seconds of processor time.

    :raises subprocess.CalledProcessError: when the command fails
    """
    environment = {name: value for name, value in os.environ.items()
                   if not name.startswith(('OS_', 'PYTHON'))}
    environment['XDG_CACHE_HOME'] = str(folder / '.cache')
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(
        [sys.executable, '-S', '-W', 'ignore', '-c',
         _START.format(module=command.module), str(folder),
         *command.arguments],
        env=environment, check=True, stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (after.ru_utime - before.ru_utime
            + after.ru_stime - before.ru_stime)


@contextlib.contextmanager
def folders() -> Iterator[dict[str, pathlib.Path]]:
    """Make the folders of packages: name of the folder -> path."""
    with tempfile.TemporaryDirectory(prefix='pcloud-bench-') as parent:
        made = {name: pathlib.Path(parent, name) for name in (WITHOUT, WITH)}
        for folder in made.values():
            folder.mkdir()
            link_packages(folder)
        install(pathlib.Path(__file__).parents[3], made[WITH])
        yield made


def measure(repeat: int) -> Iterator[results.Row]:
    """Measure each command so many times at least, in turns."""
    with folders() as made:
        for command in COMMANDS:
            taken = turns.Turns(f'``{command.name}``', {
                name: functools.partial(run, command, folder)
                for name, folder in made.items()})
            taken.take(repeat, [turns.Bound(
                WITH, WITHOUT, command.bound, _WHY)])
            yield from taken.rows('Commands of others')
