# Licensed under the Apache License, Version 2.0 (the "License"); you may
# not use this file except in compliance with the License. You may obtain
# a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the
# License for the specific language governing permissions and limitations
# under the License.

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
