# SPDX-License-Identifier: Apache-2.0

"""Name releases as people do who have several packages: ``pcloud-1.2.0``.

reno takes the tag of a release for the title of the notes, and pbr takes only
a bare version for the tag.
"""

import re

from docutils import nodes
from sphinx import application

_VERSION = re.compile(r'\d+(\.\d+)+\S*')


def _named(app: application.Sphinx, doctree: nodes.document) -> None:
    for title in doctree.findall(nodes.title):
        if _VERSION.fullmatch(title.astext()):
            title.children = [nodes.Text(f'pcloud-{title.astext()}')]


def setup(app: application.Sphinx) -> dict[str, bool]:
    """Change the titles once Sphinx has read a page."""
    app.connect('doctree-read', _named)
    return {'parallel_read_safe': True, 'parallel_write_safe': True}
