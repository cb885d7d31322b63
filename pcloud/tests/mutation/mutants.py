# SPDX-License-Identifier: Apache-2.0

"""Mutants of a module, by the operators of mutmut."""

from collections.abc import Iterator
import dataclasses
import pathlib

import libcst
from libcst import matchers
from libcst import metadata
from mutmut.mutation import file_mutation
from mutmut.mutation import mutators
from mutmut.mutation import pragma_handling

_LOGGED = matchers.Call(func=matchers.Attribute(value=matchers.Name('LOG')))


@dataclasses.dataclass(frozen=True)
class Mutant:
    """A module with a fault in a function.

    :ivar path: the file of the module, relative to the folder of all packages
    :ivar function: the function or the method, without the class
    :ivar lines: first and last line of what a test has to run to notice
    :ivar diff: the lines that differ, each after a minus or a plus
    :ivar source: the text of the whole module, with the fault
    """

    path: str
    function: str
    lines: tuple[int, int]
    diff: str
    source: str

    @property
    def module(self) -> str:
        """The name by which the module is imported."""
        return module_name(pathlib.Path(self.path))


class _Visitor(file_mutation.MutationVisitor):
    """mutmut's own visitor leaves most decorated functions out.

    mutmut puts copies of a function side by side, and each copy would be
    decorated. Here a fault is in the one function of a whole module.
    """

    def _skip_node_and_children(self, node: libcst.CSTNode) -> bool:
        return (not isinstance(node, libcst.FunctionDef) and
                super()._skip_node_and_children(node))


class _Places:
    """Where the nodes of a module are."""

    def __init__(self, wrapper: metadata.MetadataWrapper) -> None:
        self._positions = wrapper.resolve(metadata.PositionProvider)
        self._parents = wrapper.resolve(metadata.ParentNodeProvider)

    def is_message(self, node: libcst.CSTNode) -> bool:
        """Whether a node is a text for people, which no test repeats."""
        return isinstance(node, libcst.SimpleString) and any(
            isinstance(each, libcst.Raise) or matchers.matches(each, _LOGGED)
            for each in self._upwards(node))

    def lines(
        self, node: libcst.CSTNode, function: libcst.FunctionDef,
    ) -> tuple[int, int]:
        """Return the lines from the beginning of the statement to the node.

        Python tells of the lines of a statement by the first one, if at all.
        libcst does not know the place of every node.
        """
        node = node if node in self._positions else function
        statement = next(each for each in self._upwards(node) if isinstance(
            each, libcst.BaseCompoundStatement | libcst.SimpleStatementLine))
        return (self._positions[statement].start.line,
                self._positions[node].end.line)

    def _upwards(self, node: libcst.CSTNode) -> Iterator[libcst.CSTNode]:
        while not isinstance(node, libcst.Module):
            yield node
            node = self._parents[node]


def module_name(path: pathlib.Path) -> str:
    """Return the name by which the file of a relative path is imported."""
    return '.'.join(path.with_suffix('').parts).removesuffix('.__init__')


def of_module(path: pathlib.Path) -> Iterator[Mutant]:
    """Yield the mutants of the functions of a module, in order of lines.

    Faults outside of functions, and in functions of nested classes, are left
    out, as are faults in the texts of errors and logs.

    :param path: relative to the working directory
    """
    text = path.read_text()
    wrapper = metadata.MetadataWrapper(libcst.parse_module(text))
    visitor = _Visitor(
        mutators.mutation_operators,
        pragma_handling.IgnoredCode(set(), set(), set()))
    module = wrapper.visit(visitor)
    places = _Places(wrapper)
    seen = {text}
    for each in visitor.mutations:
        function = each.contained_by_top_level_function
        if (not isinstance(function, libcst.FunctionDef) or
                places.is_message(each.original_node)):
            continue
        source = module.deep_replace(
            each.original_node, each.mutated_node).code
        if source not in seen:
            seen.add(source)
            yield Mutant(str(path), function.name.value,
                         places.lines(each.original_node, function),
                         _diff(text, source), source)


def _diff(old: str, new: str) -> str:
    """Return what differs: one place, for a mutant has one fault."""
    before, after = old.splitlines(), new.splitlines()
    for end in (0, -1):
        while before and after and before[end] == after[end]:
            del before[end], after[end]
    return '\n'.join([f'-{each}' for each in before] +
                     [f'+{each}' for each in after])
