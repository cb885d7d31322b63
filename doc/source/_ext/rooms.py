# SPDX-License-Identifier: Apache-2.0

"""Show the rooms of the code, and where the code defines a name.

``.. rooms::``
    A picture of the rooms, drawn from the imports of the code.
``.. floors:: ROOM``
    A picture of the modules and folders of one room, likewise.
``.. allowed-imports::``
    A table of what each room may import, from the list that the unit tests
    hold the code against.
``:def:`pcloud.module.name```
    The file and the line of a definition.

In the pictures an arrow is left out when other arrows lead to the same end.
Parts that import each other share one box.
"""

from collections.abc import Iterable
from collections.abc import Mapping
import pathlib

from docutils import nodes
from docutils.parsers.rst import directives
from docutils.statemachine import StringList
from sphinx.util.docutils import SphinxDirective
from sphinx.util.docutils import SphinxRole

from pcloud.tests.unit import definitions
from pcloud.tests.unit import walls

_ROOT = definitions.ROOT
_HEAD = ('    node [shape=box, style=rounded, fontname="sans-serif", '
         'fontsize=11];')

# Part of the code -> parts that the part imports, or leads to.
Arrows = Mapping[str, set[str]]


def arrows(below: tuple[str, ...] = ()) -> Arrows:
    """Return the imports between the parts of a folder of the package.

    :param below: the path of the folder; nothing for the whole package
    """
    found: dict[str, set[str]] = {}
    for path in _sources(_ROOT.joinpath(*below)):
        own = _part(path.relative_to(_ROOT).with_suffix('').parts, below)
        if own in ('tests', '__init__'):
            continue
        its = found.setdefault(own, set())
        for name in walls.imported(path):
            first, *rest = name.split('.')
            if first == 'pcloud':
                its.add(_part(tuple(rest), below))
    return {own: {each for each in its - {own} if each in found}
            for own, its in found.items()}


def _sources(folder: pathlib.Path) -> list[pathlib.Path]:
    return sorted(folder.rglob('*.py'))


def _part(parts: tuple[str, ...], below: tuple[str, ...]) -> str:
    """Return the part of a folder that a dotted name is in, '' if none."""
    depth = len(below)
    return parts[depth] if parts[:depth] == below and parts[depth:] else ''


def joined(found: Arrows) -> Arrows:
    """Return arrows between boxes: parts that import each other are one."""
    ends = _ends(found)
    box = {own: ', '.join(sorted(
        {own} | {each for each in ends[own] if own in ends[each]}))
        for own in found}
    made: dict[str, set[str]] = {each: set() for each in box.values()}
    for own, its in found.items():
        made[box[own]] |= {box[each] for each in its} - {box[own]}
    return made


def reduced(found: Arrows) -> Arrows:
    """Leave out the arrows to whose ends others lead.

    :param found: arrows without circles
    """
    ends = _ends(found)
    return {own: {each for each in its
                  if not any(each in ends[other] for other in its)}
            for own, its in found.items()}


def _ends(found: Arrows) -> Arrows:
    """Return what each part leads to, over any number of arrows."""
    ends = {}
    for own in found:
        seen, waiting = set(), list(found[own])
        while waiting:
            each = waiting.pop()
            if each not in seen:
                seen.add(each)
                waiting += found[each]
        ends[own] = seen
    return ends


def _drawn(found: Arrows, floors: Iterable[Iterable[str]] = ()) -> list[str]:
    """Return a digraph in the language of Graphviz.

    Floors become columns, for a floor may have many modules.
    """
    lines = ['digraph {', _HEAD]
    if floors:
        lines.append('    rankdir=LR;')
    for floor in floors:
        names = ' '.join(f'"{each}";' for each in sorted(floor))
        lines.append(f'    {{ rank=same; {names} }}')
    for own, its in sorted(found.items()):
        lines += [f'    "{own}" -> "{each}";' for each in sorted(its)]
    return [*lines, '}']


class _Generated(SphinxDirective):
    """A directive that stands for text of its own."""

    def parsed(self, lines: list[str]) -> list[nodes.Node]:
        """Return what a text stands for."""
        parent = nodes.container()
        self.state.nested_parse(
            StringList(lines, source=self.get_source_info()[0]),
            self.content_offset, parent)
        return parent.children

    def picture(self, caption: str, lines: list[str]) -> list[nodes.Node]:
        """Return a picture of a digraph."""
        for path in _sources(_ROOT):
            self.env.note_dependency(str(path))
        return self.parsed([
            '.. graphviz::', f'   :alt: {caption}', f'   :caption: {caption}',
            '', *(f'   {line}' for line in lines), ''])


class Rooms(_Generated):
    """Draw the rooms."""

    option_spec = {'caption': directives.unchanged_required}

    def run(self) -> list[nodes.Node]:
        """Return the picture."""
        return self.picture(
            self.options['caption'], _drawn(reduced(joined(arrows()))))


class Floors(_Generated):
    """Draw the floors of a room."""

    required_arguments = 1
    option_spec = {'caption': directives.unchanged_required}

    def run(self) -> list[nodes.Node]:
        """Return the picture."""
        room = self.arguments[0]
        return self.picture(self.options['caption'], _drawn(
            reduced(joined(arrows(tuple(room.split('/'))))),
            walls.ROOMS[room].floors))


class AllowedImports(_Generated):
    """Show what each room may import."""

    def run(self) -> list[nodes.Node]:
        """Return a table."""
        self.env.note_dependency(walls.__file__)
        lines = ['.. list-table::', '   :header-rows: 1',
                 '   :widths: 14 32 54', '', '   * - room',
                 '     - of Pcloud', '     - third parties']
        for name, room in walls.ROOMS.items():
            if '/' not in name:
                lines += [f'   * - ``{name}``',
                          f'     - {_listed(room.pcloud)}',
                          f'     - {_listed(room.others)}']
        return self.parsed([*lines, ''])


def _listed(names: Iterable[str]) -> str:
    return ', '.join(f'``{each}``' for each in sorted(names)) or 'nothing'


class DefinitionRole(SphinxRole):
    """Show the file and line of a definition."""

    def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        """Return the place and the name; a name without one is a warning."""
        try:
            found = definitions.find(self.text)
        except LookupError as error:
            message = self.inliner.reporter.warning(
                str(error), line=self.lineno)
            return [nodes.literal(text=self.text)], [message]
        path = _ROOT / found.path
        self.env.note_dependency(str(path))
        place = f'{_ROOT.name}/{found.path}:{found.line}'
        return [nodes.literal(text=place), nodes.Text(' '),
                nodes.literal(text=found.name)], []


def setup(app) -> dict:
    """Add the directives and the role."""
    app.add_directive('rooms', Rooms)
    app.add_directive('floors', Floors)
    app.add_directive('allowed-imports', AllowedImports)
    app.add_role('def', DefinitionRole())
    return {'parallel_read_safe': True}
