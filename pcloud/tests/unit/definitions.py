# SPDX-License-Identifier: Apache-2.0

"""Where the code defines what a page of the documentation names.

A page names a module, a class, a function or a constant by its dotted name.
The definition is found in the source, and nothing is imported: a page may
name what needs Keystone or a terminal.
"""

import ast
from collections.abc import Sequence
import dataclasses
import functools
import pathlib

import pcloud

ROOT = pathlib.Path(pcloud.__file__).parent


@dataclasses.dataclass(frozen=True)
class Definition:
    """A place in the source.

    :ivar path: the file, relative to the folder of the package `pcloud`
    :ivar line: the line of the definition, 1 for a module
    :ivar name: what is defined, with its class; '' for a module
    """

    path: pathlib.PurePath
    line: int
    name: str


def find(name: str) -> Definition:
    """Return the definition of a dotted name that begins with ``pcloud.``.

    :raises: `LookupError` when the source has no such definition
    """
    path, names = _file(name.split('.')[1:])
    line, body = 1, _parsed(path)
    for each in names:
        node = next((node for node in body if each in _defined(node)), None)
        if node is None:
            raise LookupError(f'{name} is not defined')
        line, body = node.lineno, getattr(node, 'body', [])
    return Definition(path.relative_to(ROOT), line, '.'.join(names))


def _file(parts: list[str]) -> tuple[pathlib.Path, list[str]]:
    """Return the file of a module, and the names that follow the module."""
    folder = ROOT
    for number, part in enumerate(parts):
        if (folder / f'{part}.py').is_file():
            return folder / f'{part}.py', parts[number + 1:]
        if not (folder / part).is_dir():
            return folder / '__init__.py', parts[number:]
        folder /= part
    return folder / '__init__.py', []


@functools.cache
def _parsed(path: pathlib.Path) -> Sequence[ast.stmt]:
    return ast.parse(path.read_text()).body


def _defined(node: ast.stmt) -> set[str]:
    """Return the names that a statement defines."""
    if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
        return {node.name}
    targets: list[ast.expr] = []
    if isinstance(node, ast.Assign):
        targets = node.targets
    elif isinstance(node, ast.AnnAssign):
        targets = [node.target]
    return {each.id for target in targets for each in ast.walk(target)
            if isinstance(each, ast.Name)}
