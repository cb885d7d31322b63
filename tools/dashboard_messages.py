# SPDX-License-Identifier: Apache-2.0

"""Bring the catalogues of the dashboard up to date, and compile them.

``python tools/dashboard_messages.py`` writes the .po and .mo files of
``pcloud_dashboard/locale``. New texts are there without a translation, and
texts that nobody shows any more are gone. A unit test holds that nothing is
missing.
"""

import ast
from collections.abc import Iterator
import datetime
import io
import pathlib
import re

from babel.messages import catalog
from babel.messages import mofile
from babel.messages import pofile
from django.utils.translation import template

from pcloud_dashboard.words import refusals

PACKAGE = pathlib.Path(__file__).parents[1] / 'pcloud_dashboard'
LOCALE = PACKAGE / 'locale'
FUNCTIONS = {'_': 1, 'gettext': 1, 'gettext_lazy': 1, 'ngettext': 2}
_STRING = r"""u?('(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")"""
_CALL = re.compile(rf'\b(_|gettext|ngettext)\(\s*{_STRING}(?:, {_STRING})?')
_TAG = re.compile(r'<\w+[^>]*\btranslate\b[^>]*>([^<]*)<')

# The catalogues of equal texts are equal.
_DATE = datetime.datetime(2026, 1, 1, tzinfo=datetime.UTC)

# A text, or a text for one and a text for several.
Message = str | tuple[str, str]


def of_python(text: str) -> Iterator[Message]:
    """Yield the texts of a module."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            number = FUNCTIONS.get(node.func.id, 0)
            texts = [each.value for each in node.args[:number]
                     if isinstance(each, ast.Constant)]
            if number and len(texts) == number:
                yield texts[0] if number == 1 else (texts[0], texts[1])


def of_calls(text: str) -> Iterator[Message]:
    """Yield the texts of a script, or of a template in the form of one."""
    for _, one, several in _CALL.findall(text):
        first = ast.literal_eval(one)
        yield (first, ast.literal_eval(several)) if several else first


def messages(domain: str) -> set[Message]:
    """Return all texts of a domain: "django" or "djangojs"."""
    found: set[Message] = set()
    if domain == 'django':
        for path in PACKAGE.rglob('*.py'):
            found.update(of_python(path.read_text()))
        for path in (PACKAGE / 'templates').rglob('*.html'):
            found.update(of_calls(template.templatize(path.read_text())))
        found.update(refusals.TEXTS)
    else:
        for path in (PACKAGE / 'static').rglob('*.js'):
            found.update(of_calls(path.read_text()))
        for path in (PACKAGE / 'static').rglob('*.html'):
            found.update(_TAG.findall(path.read_text()))
    return found


def read(path: pathlib.Path) -> catalog.Catalog:
    """Return the catalogue of a .po file; an empty one without a file."""
    language, domain = path.parts[-3], path.stem
    if not path.exists():
        return catalog.Catalog(locale=language, domain=domain)
    with path.open('rb') as stream:
        return pofile.read_po(stream, locale=language, domain=domain)


def compiled(known: catalog.Catalog) -> bytes:
    """Return the content of the .mo file of a catalogue."""
    stream = io.BytesIO()
    mofile.write_mo(stream, known)
    return stream.getvalue()


def update(path: pathlib.Path) -> None:
    """Bring a .po file up to date, and write the .mo file beside it."""
    known = read(path)
    fresh = catalog.Catalog(
        locale=known.locale, domain=known.domain, charset='utf-8',
        project='openstack-pcloud', version='dashboard', fuzzy=False,
        copyright_holder='The Pcloud developers',
        header_comment='# Texts of the dashboard of Pcloud.',
        creation_date=_DATE,
        revision_date=_DATE,
        last_translator='The Pcloud developers')
    for each in sorted(messages(path.stem), key=str):
        one = each if isinstance(each, str) else each[0]
        old = known.get(one)
        fresh.add(each, old.string if old else None)
    with path.open('wb') as stream:
        pofile.write_po(stream, fresh, width=79)
    path.with_suffix('.mo').write_bytes(compiled(read(path)))


if __name__ == '__main__':
    for language in LOCALE.iterdir():
        for domain in ('django', 'djangojs'):
            update(language / 'LC_MESSAGES' / f'{domain}.po')
