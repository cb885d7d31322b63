# SPDX-License-Identifier: Apache-2.0

"""Show the examples of commands as code.

A command's help ends with "Example:" and an indented command, which
reStructuredText takes for a definition of the word.
"""

from docutils import nodes
from sphinx import application

_TERMS = ('Example:', 'Examples:')


def _lines(definition: nodes.definition) -> str:
    """Return the lines of an example as they were written.

    Continued lines are indented, and so are definitions in a definition.
    """
    return '\n'.join(
        '    ' * _depth(each, definition) + line
        for each in definition.findall(
            lambda node: isinstance(node, nodes.term | nodes.paragraph))
        for line in each.rawsource.splitlines())


def _depth(node: nodes.Node, ancestor: nodes.Node) -> int:
    """Return the number of definitions between a node and an ancestor."""
    depth = 0
    while (node := node.parent) is not ancestor:
        depth += isinstance(node, nodes.definition)
    return depth


def _as_code(app: application.Sphinx, doctree: nodes.document) -> None:
    for item in list(doctree.findall(nodes.definition_list_item)):
        term, definition = item[0], item[-1]
        if term.astext() in _TERMS:
            text = _lines(definition)
            definition.children = []
            definition += nodes.literal_block(text, text, language='shell')


def setup(app: application.Sphinx) -> dict[str, bool]:
    """Change each page once Sphinx has read the page."""
    app.connect('doctree-read', _as_code)
    return {'parallel_read_safe': True, 'parallel_write_safe': True}
