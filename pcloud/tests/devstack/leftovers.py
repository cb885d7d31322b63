# SPDX-License-Identifier: Apache-2.0

"""What a plugin has added, and what is left after the plugin's phase "clean".

The bookends of :mod:`pcloud.tests.devstack.local_conf` record files before
and after each phase of the plugin. A file is a bag of lines, each with the
section in which the line is, so that the order of lines does not matter.
"""

import collections
from collections.abc import Iterable
from collections.abc import Iterator
import dataclasses
import pathlib

from pcloud.tests.devstack import local_conf

# (path of a file, section of the file, line of the section)
Line = tuple[str, str, str]


@dataclasses.dataclass(frozen=True)
class Phase:
    """What a plugin found in a phase, and what the plugin left.

    :ivar name: a phase of devstack, such as "stack-post-config" or "clean"
    """

    name: str
    before: collections.Counter[Line]
    after: collections.Counter[Line]

    @property
    def added(self) -> collections.Counter[Line]:
        """The lines that are there only after the phase."""
        return self.after - self.before

    @property
    def removed(self) -> collections.Counter[Line]:
        """The lines that were there only before the phase."""
        return self.before - self.after


def lines(path: str, text: str) -> Iterator[Line]:
    """Yield the lines of a file that are neither blank nor comments.

    The head of a section is an empty line of the section.
    """
    section = ''
    for line in map(str.strip, text.splitlines()):
        if line.startswith('[') and line.endswith(']'):
            section = line
            yield path, section, ''
        elif line and not line.startswith('#'):
            yield path, section, line


def read(folder: pathlib.Path) -> collections.Counter[Line]:
    """Return the lines of all files below a folder."""
    found: collections.Counter[Line] = collections.Counter()
    for path in sorted(folder.rglob('*')):
        name = str(path.relative_to(folder))
        if path.is_symlink():
            found[name, '', f'-> {path.readlink()}'] += 1
        elif path.is_file():
            found.update(lines(name, path.read_text(errors='replace')))
    return found


def phases(records: pathlib.Path) -> list[Phase]:
    """Read the records of two bookends.

    :raises ValueError: a phase has not two records
    """
    folders = sorted(records.iterdir())
    found = []
    for before, after in zip(folders[::2], folders[1::2], strict=True):
        name = before.name[4:].removesuffix(f'-{local_conf.BEFORE}')
        if after.name[4:] != f'{name}-{local_conf.AFTER}':
            raise ValueError(f'{before.name} is followed by {after.name}')
        found.append(Phase(name, read(before), read(after)))
    return found


def faults(several: Iterable[Phase]) -> list[str]:
    """Return what a plugin's phase "clean" has not taken back, or has taken.

    Lines that devstack itself has changed meanwhile are of no concern.

    :param several: the phases in the order in which devstack went through
        the phases, the last of which is "clean"
    """
    *earlier, clean = several
    added: collections.Counter[Line] = collections.Counter()
    removed: collections.Counter[Line] = collections.Counter()
    for phase in earlier:
        added |= phase.added
        removed |= phase.removed
    return [f'{word}: {path} {section} {line}'.rstrip() for word, wrong in (
        ('left', added.keys() & clean.after.keys()),
        ('not put back', removed.keys() - clean.after.keys() - added.keys()),
        ('taken from others', clean.removed.keys() - added.keys()),
        ('new', clean.added.keys() - removed.keys()))
        for path, section, line in sorted(wrong)]
