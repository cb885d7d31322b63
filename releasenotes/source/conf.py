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
