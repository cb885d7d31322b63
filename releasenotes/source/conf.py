# SPDX-License-Identifier: Apache-2.0

"""How Sphinx builds the release notes."""

import logging
import pathlib
import sys

sys.path.insert(0, str(
    pathlib.Path(__file__).parents[2] / 'doc' / 'source' / '_ext'))

project = 'Pcloud'
copyright = 'The Pcloud developers, under the Apache License 2.0'

extensions = ['release_titles', 'reno.sphinxext']

html_theme = 'furo'
# A package of the theme has the log of everything printed.
logging.getLogger('reno').setLevel(logging.WARNING)
html_title = 'Pcloud release notes'
smartquotes = False
highlight_language = 'shell'
