# SPDX-License-Identifier: Apache-2.0

"""How Sphinx builds the guides and references."""

import logging
import pathlib
import shutil
import sys

from docutils import nodes
from docutils.parsers import rst
from sphinx.directives import code

sys.path.insert(0, str(pathlib.Path(__file__).parent / '_ext'))

project = 'Pcloud'
copyright = 'The Pcloud developers, under the Apache License 2.0'

# Where the code is published. Pages write |repository|; instructions work from a
# clone, wherever that comes from.
repository = 'https://opendev.org/x/pcloud'
rst_prolog = f'.. |repository| replace:: {repository}'

extensions = [
    'cliff.sphinxext',
    'examples',
    'oslo_config.sphinxconfiggen',
    'oslo_config.sphinxext',
    'oslo_policy.sphinxext',
    'oslo_policy.sphinxpolicygen',
    'release_titles',
    'rooms',
    'sphinx.ext.autodoc',
    'sphinx.ext.intersphinx',
]

# Graphviz draws the diagrams where its command is installed.
HAS_DOT = shutil.which('dot') is not None
if HAS_DOT:
    extensions.append('sphinx.ext.graphviz')
# An archive of the sources, as packages of distributions are built from, is no
# clone.
IS_CLONE = (pathlib.Path(__file__).parents[2] / '.git').exists()
if IS_CLONE:
    extensions.append('reno.sphinxext')
graphviz_output_format = 'svg'

html_theme = 'furo'
# A package of the theme has the log of everything printed.
logging.getLogger('reno').setLevel(logging.WARNING)
html_title = 'Pcloud'
# Readers paste commands, also from sentences and from the help of commands:
# "--" and quotation marks stay what a shell reads.
smartquotes = False
# A block of code without a language is what somebody types.
highlight_language = 'shell'
# There is no other documentation to link into without a network.
intersphinx_mapping: dict = {}

# page, name, title, authors, section
_AUTHORS = ['The Pcloud developers']
man_pages = [
    ('cli/openstack', 'openstack-pcloud',
     'commands of openstack for Pclouds', _AUTHORS, 1),
    ('cli/nova', 'nova-pcloud', 'commands of nova for Pclouds', _AUTHORS, 1),
    ('cli/pcloud-manage', 'pcloud-manage', 'look after Pcloud', _AUTHORS, 1),
    ('cli/pcloud-status', 'pcloud-status',
     'check whether Nova loads Pcloud', _AUTHORS, 1),
    ('cli/pcloud-sandbox', 'pcloud-sandbox',
     'a whole OpenStack with Pcloud on one machine', _AUTHORS, 1),
]

autodoc_typehints = 'signature'
autodoc_member_order = 'bysource'
autoprogram_cliff_application = 'openstack'

config_generator_config_file = [
    ('../../etc/pcloud/config-generator.conf', '_static/pcloud'),
]
policy_generator_config_file = [
    ('../../etc/pcloud/policy-generator.conf', '_static/pcloud'),
]


class DiagramSource(code.CodeBlock):
    """Show the source of a diagram, which reads as a list of its arrows."""

    option_spec = {**code.CodeBlock.option_spec, 'alt': str}

    def run(self) -> list:
        """Return the source as a block of code."""
        self.arguments = ['dot']
        return super().run()


class NoReleaseNotes(rst.Directive):
    """Say where the notes are: reno reads them from a clone alone."""

    def run(self) -> list:
        """Return a paragraph."""
        return [nodes.paragraph(text=(
            'These pages were not built in a clone. The notes are the files '
            'of the folder releasenotes.'))]


def setup(app) -> None:
    """Build without a warning where Graphviz or a clone is missing."""
    if not HAS_DOT:
        app.add_directive('graphviz', DiagramSource)
    if not IS_CLONE:
        app.add_directive('release-notes', NoReleaseNotes)
