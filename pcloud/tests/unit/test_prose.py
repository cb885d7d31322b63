# SPDX-License-Identifier: Apache-2.0

"""The docstrings of each room name nouns: few of the words are pronouns.

A docstring is read alone, and a pronoun sends the reader back to look for the
noun. Words are what is left of a docstring without literals, roles, the rulers
of tables, and the names of fields. Pronouns are:

* the third person in every form: it, he, she, they, its, them, their ...;
* this, these, those and others, in every use;
* one and ones where no noun follows: "the one", "one of", "one that";
* who, whom, whose and whoever, whatever;
* somebody, nobody, anybody, everybody, the same with -one, and something;
* that before a form of to be or to have. A "that" elsewhere mostly begins a
  relative clause right after the noun, and is not counted.
"""

import ast
from collections.abc import Iterator
import dataclasses
import pathlib
import re

import ddt
import testtools

import pcloud
from pcloud.tests.unit import walls

_ROOT = pathlib.Path(pcloud.__file__).parent
_YARDS = (*walls.YARDS, 'pcloud_dashboard')
_ROOMS = {*_YARDS, *(name for name in walls.ROOMS if '/' not in name)}

# The most pronouns among a hundred words of the docstrings of a room.
_MOST = 3.0

_MARKUP = re.compile(
    r'``.*?``|:[a-z:]+:`[^`]*`|`[^`]*`|"[^"]*"|^ *[=+-][=+ -]+$|^ *Rule: .*$|'
    r'^ *:(?:(?:param|ivar|cvar) [\w, *]+|returns|raises|yields):',
    re.MULTILINE | re.DOTALL)
_WORD = re.compile(r"[A-Za-z]+(?:[-'][A-Za-z]+)*")
_PRONOUN = re.compile(
    r'\b(?:it|its|itself|he|him|his|himself|she|hers?|herself|they|them|'
    r'theirs?|themselves|this|these|those|others|who|whom|whose|'
    r'whoever|whatever|(?:no|some|any|every)(?:body|one)|(?:some|any)thing|'
    r'ones|one(?=\s*[.,;:)]|\s*\Z|\s+(?:of|that|who|which|is|has|or|and)\b)|'
    r'that(?=\s+(?:is|are|was|were|has|have|had)\b))\b', re.IGNORECASE)


@dataclasses.dataclass(frozen=True)
class Counted:
    """A docstring.

    :ivar place: the path of the module, and the documented name
    :ivar words: number of words
    :ivar pronouns: the pronouns, in order
    """

    place: str
    words: int
    pronouns: tuple[str, ...]


def counted(place: str, docstring: str) -> Counted:
    """Count the words and the pronouns of a docstring."""
    plain = _MARKUP.sub(' ', docstring)
    return Counted(place, len(_WORD.findall(plain)),
                   tuple(_PRONOUN.findall(plain)))


def docstrings(path: pathlib.Path) -> Iterator[Counted]:
    """Yield the docstrings of a module, or of the modules in a folder."""
    modules = sorted(path.rglob('*.py')) if path.is_dir() else [path]
    for module in modules:
        for node in ast.walk(ast.parse(module.read_text())):
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef |
                          ast.AsyncFunctionDef):
                where = module.relative_to(_ROOT.parent)
                name = getattr(node, 'name', 'the module')
                docstring = ast.get_docstring(node)
                if docstring:
                    yield counted(f'{where}, {name}', docstring)


@ddt.ddt
class PronounsTest(testtools.TestCase):

    @ddt.data(*sorted(_ROOMS))
    def test_room(self, room):
        path = (_ROOT.parent if room in _YARDS else _ROOT) / room
        if not path.is_dir():
            path = path.with_suffix('.py')
        found = list(docstrings(path))
        words = sum(each.words for each in found)
        pronouns = sum(len(each.pronouns) for each in found)
        share = 100 * pronouns / words
        worst = sorted(found, key=lambda each: len(each.pronouns))[-10:]
        self.assertLessEqual(share, _MOST, '\n'.join((
            f'{room} has {pronouns} pronouns in {words} words: '
            f'{share:.2f} %. Most of them:', *(
                f'{each.place}: {", ".join(each.pronouns)}'
                for each in reversed(worst)))))

    @ddt.data(
        ('It is theirs, and nobody knows whose.', 4),
        ('That has been; this is one of those.', 4),
        ('A host that leaves, the host that has left.', 1),
        ('One query, or one of many; the last one.', 2),
        ('The id that ``it`` holds, :func:`this`, and `that` is "it".', 0),
        (':param one: the item\n:returns: the thing\n\nRule: it', 0),
        ('====  ===\nit    its\n====  ===', 2))
    @ddt.unpack
    def test_counting(self, text, pronouns):
        self.assertEqual(pronouns, len(counted('', text).pronouns), text)
