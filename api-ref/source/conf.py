# SPDX-License-Identifier: Apache-2.0

"""How Sphinx builds the API reference."""

from collections.abc import Mapping
import json
import pathlib

from pcloud.api import openapi

project = 'Pcloud API Reference'
copyright = 'The Pcloud developers, under the Apache License 2.0'

extensions = ['os_api_ref']

html_theme = 'furo'
html_title = 'Pcloud API'
html_static_path = ['_static']
html_css_files = ['calls.css']
smartquotes = False
highlight_language = 'json'


def _without_buttons(
    app: object, pagename: str, templatename: str, context: Mapping,
    doctree: object,
) -> None:
    """Leave out the script that opens and closes the details of a call.

    The script needs jQuery and Bootstrap, and the details are always open.
    """
    context['script_files'][:] = [
        each for each in context['script_files']
        if 'api-site.js' not in str(each.filename)]


def _write_description(app) -> None:
    """Write the description of the API, which the first page links to."""
    path = pathlib.Path(app.srcdir) / '_static' / 'openapi.json'
    path.write_text(json.dumps(openapi.description(), indent=2) + '\n')


def setup(app) -> None:
    """Show the details of all calls, and publish their description."""
    app.connect('builder-inited', _write_description)
    app.connect('html-page-context', _without_buttons)
